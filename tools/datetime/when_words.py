"""Dates and times as people and models write them: ISO 8601, numbers, names of months and days, 明天下午3点."""

import re
import unicodedata
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from when_call import Refusal
from when_festivals import festival_day
from when_numerals import with_digits

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS_EN = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
RELATIVE = {
    "大前天": -3, "前天": -2, "昨天": -1, "昨日": -1, "今天": 0, "今日": 0, "今晚": 0, "今早": 0, "现在": 0,
    "明天": 1, "明日": 1, "明晚": 1, "明早": 1, "后天": 2, "大后天": 3,
    "yesterday": -1, "today": 0, "tonight": 0, "now": 0, "tomorrow": 1,
    "day before yesterday": -2, "day after tomorrow": 2,
}  # fmt: skip
AGO = re.compile(r"(in )?(\d{1,5}) ?个?(天|周|星期|days?|weeks?) ?(?:之|以)?(后|前|ago|later|(?<=\w))")
MONTH_END = ("月底", "月末", "本月底", "这个月底", "end of the month", "end of this month")
YEAR_END = ("年底", "年末", "今年底", "今年年底", "end of the year", "end of this year")
SAME = {
    "周末": "周六",
    "weekend": "saturday",
    "今晚": "今天晚上",
    "明晚": "明天晚上",
    "今早": "今天早上",
    "明早": "明天早上",
}
AFTERNOON = ("下午", "晚上", "傍晚", "晚", "pm")
MORNING = ("上午", "早上", "凌晨", "早", "am")
NIGHT = ("晚上", "晚")
STAMP = re.compile(r"@?(-?\d{9,14}(?:\.\d{1,6})?)|@(-?\d{1,8})")
STAMP_MS = 10**11  # from here on (year 5138 in seconds, 1973 in milliseconds) a timestamp counts milliseconds
ISO_TIME = re.compile(r"\d{4}-?\d{2}-?\d{2}[T ]\d{2}.*", re.IGNORECASE)
CLOCK = re.compile(
    r"(?P<half>上午|下午|晚上|傍晚|早上|凌晨|中午|晚|早)?\s*"
    r"(?:(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}))?"
    r"|(?P<hour_zh>\d{1,2})[点时](?:(?P<half_hour>半)|(?P<quarter>[一1三3])刻|(?P<minute_zh>\d{1,2})分?|整)?"
    r"|(?P<hour_en>\d{1,2})(?=\s*[ap]\.?m))"
    r"(?:\s*(?P<half_en>[ap]\.?m\.?))?(?![\d:])"
)
NOON = re.compile(r"\b(noon|midnight)\b|正午|午夜")


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """A date as it was written; `at` is None for a whole day, `instant` is set where the text fixes it.

    Attributes:
        is_yearless: No year was written, the current one is assumed.
        is_clock: A time of day alone was written, today is assumed.
        is_stamp: A Unix timestamp was written.
    """

    day: date
    at: time | None = None
    instant: datetime | None = None
    is_yearless: bool = False
    is_clock: bool = False
    is_stamp: bool = False


def read_when(text: str, now: datetime) -> When:
    """Read a date, a date and time, a time of today, or a Unix timestamp.

    Args:
        text: What was written.
        now: The present in the zone of the text; relative words count from it.

    Raises:
        Refusal: It is none of these, or there is no such day; it says what to write.
    """
    plain = with_digits(unicodedata.normalize("NFKC", text).strip().casefold())
    for short, long in SAME.items():
        plain = plain.replace(short, long)
    try:
        when = _stamp(plain, now) or _iso(plain) or _spoken(plain, now)
    except ValueError as error:
        raise Refusal(
            f"没有 {text[:60]!r} 这个日期或时间，请检查后重写，例如 2026-12-01 或 2026-12-01 15:30。",
            f"There is no such date or time as {text[:60]!r}: write for example 2026-12-01 or 2026-12-01 15:30.",
        ) from error
    if when is None:
        raise Refusal(
            f"看不懂日期 {text[:60]!r}，请写成 2026-12-01、2026-12-01 15:30、12月1日、明天、下周五或 Unix 时间戳。",
            f"The date {text[:60]!r} is not understood: write 2026-12-01, 2026-12-01 15:30, 1 December, tomorrow, "
            "next Friday or a Unix timestamp.",
        )
    return when


def _stamp(text: str, now: datetime) -> When | None:
    match = STAMP.fullmatch(text)
    if match is None:
        return None
    number = float(match[1] or match[2])
    seconds = number / 1000 if abs(number) >= STAMP_MS else number
    instant = datetime.fromtimestamp(0, UTC) + timedelta(seconds=seconds)
    here = instant.astimezone(now.tzinfo)
    return When(day=here.date(), at=here.time(), instant=instant, is_stamp=True)


def _iso(text: str) -> When | None:
    """Read ISO 8601 that has a time; a date alone is left to the readers of dates."""
    if not ISO_TIME.fullmatch(text):
        return None
    try:
        moment = datetime.fromisoformat(text.upper())
    except ValueError:
        return None  # such as 2026-12-01 3点
    if moment.tzinfo is None:
        return When(day=moment.date(), at=moment.time())
    return When(day=moment.date(), at=moment.time(), instant=moment)


def _spoken(text: str, now: datetime) -> When | None:
    """Read a date and a time of day in any order; what is left over must be nothing."""
    at, nights, rest = _clock(text)
    rest = re.sub(r"^(?:on|at)\b|[,，]|\bat\b|的|^在", " ", rest).strip()
    if not rest:
        return None if at is None else When(day=now.date() + nights, at=at, is_clock=True)
    if at is None and rest in ("现在", "now"):
        return When(day=now.date(), at=now.time(), instant=now)
    for reader in READERS:
        found = reader(rest, now.date())
        if found:
            day, is_yearless = found
            return When(day=day + nights, at=at, is_yearless=is_yearless)
    return None


def _clock(text: str) -> tuple[time | None, timedelta, str]:
    """Take a time of day out of a text; returns it, the day to add for 24:00, and what is left."""
    word = NOON.search(text)
    if word:
        hour = 12 if word[0] in ("noon", "正午") else 0
        return time(hour), timedelta(), text.replace(word[0], " ")
    match = CLOCK.search(text)
    if match is None:
        return None, timedelta(), text
    hour = int(match["hour"] or match["hour_zh"] or match["hour_en"])
    minute = int(match["minute"] or match["minute_zh"] or 0)
    if match["half_hour"]:
        minute = 30
    elif match["quarter"]:
        minute = 15 if match["quarter"] in "一1" else 45
    half = (match["half"] or match["half_en"] or "").replace(".", "")
    hour = _of_day(hour, half)
    nights = timedelta(days=hour == 24 and minute == 0)
    at = time(0 if nights else hour, minute, int(match["second"] or 0))
    return at, nights, text[: match.start()] + " " + text[match.end() :]


def _of_day(hour: int, half: str) -> int:
    """Return the hour of the day; 12 in the night (晚上12点) is 24, 12 in the morning 0, 1 at noon (中午1点) 13."""
    if half in NIGHT and hour == 12:
        return 24
    if (half in AFTERNOON and hour < 12) or (half == "中午" and hour < 3):
        return hour + 12
    return 0 if half in MORNING and hour == 12 else hour


def _whole(text: str, _today: date) -> tuple[date, bool] | None:
    match = re.fullmatch(r"(\d{4})(?:年|[-/.])\s*(\d{1,2})(?:月|[-/.])\s*(\d{1,2})[日号]?", text)
    if match:
        return date(int(match[1]), int(match[2]), int(match[3])), False
    if re.fullmatch(r"\d{8}|\d{4}-w\d{2}-\d", text):
        return date.fromisoformat(text.upper()), False
    return None


def _yearless(text: str, today: date) -> tuple[date, bool] | None:
    match = re.fullmatch(r"(这|本|下|上)个?月(\d{1,2})[日号]", text)
    if match:
        months = today.year * 12 + today.month - 1 + {"下": 1, "上": -1}.get(match[1], 0)
        return date(months // 12, months % 12 + 1, int(match[2])), False
    match = re.fullmatch(r"(今年|明年|后年|去年)?(\d{1,2})(?:月|[-/])(\d{1,2})[日号]?", text)
    if match is None:
        return None
    shift = {"今年": 0, "明年": 1, "后年": 2, "去年": -1}.get(match[1] or "", 0)
    month, day = int(match[2]), int(match[3])
    if (month, day) == (2, 29) and not match[1]:
        return _leap_day(today), True
    return date(today.year + shift, month, day), not match[1]


def _leap_day(today: date) -> date:
    """Return the 29 February of this year or the next one that has it."""
    year = today.year
    while year % 4 or (year % 100 == 0 and year % 400):
        year += 1
    return date(year, 2, 29)


def _month_name(text: str, today: date) -> tuple[date, bool] | None:
    match = re.fullmatch(
        r"(?:(?:the )?(?P<d1>\d{1,2})(?:st|nd|rd|th)?(?: of)?[ -])?(?P<m>[a-z]{3,9})\.?"
        r"(?: (?P<d2>\d{1,2})(?:st|nd|rd|th)?)?(?:[ -]+(?P<y>\d{4}))?",
        re.sub(r"\s+", " ", text),
    )
    if match is None or match["m"][:3] not in MONTHS or bool(match["d1"]) == bool(match["d2"]):
        return None
    year = int(match["y"]) if match["y"] else today.year
    return date(year, MONTHS.index(match["m"][:3]) + 1, int(match["d1"] or match["d2"])), not match["y"]


def _relative(text: str, today: date) -> tuple[date, bool] | None:
    shift = RELATIVE.get(text.removeprefix("the "))
    match = AGO.fullmatch(text)
    if match:
        days = int(match[2]) * (7 if match[3] in ("周", "星期", "week", "weeks") else 1)
        shift = -days if match[4] in ("前", "ago") else days
    if shift is not None:
        return today + timedelta(days=shift), False
    if text in MONTH_END:
        return today.replace(day=monthrange(today.year, today.month)[1]), False
    return (date(today.year, 12, 31), False) if text in YEAR_END else None


def _weekday(text: str, today: date) -> tuple[date, bool] | None:
    """Read 周五, 下周五, friday, next friday: with no word before it, today or the first one to come."""
    match = re.fullmatch(r"(这个?|本|下下个?|下个?|上个?)?(?:周|星期|礼拜)([一二三四五六日天])", text)
    if match:
        number, week = "一二三四五六日".index(match[2].replace("天", "日")), (match[1] or "").replace("个", "")
    else:
        match = re.fullmatch(r"(this|next|last)? ?(mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?", text)
        if match is None:
            return None
        number, week = DAYS_EN.index(match[2][:3]), match[1] or ""
    if not week:
        return today + timedelta(days=(number - today.weekday()) % 7), False
    weeks = {"下下": 2, "下": 1, "next": 1, "上": -1, "last": -1}.get(week, 0)
    return today + timedelta(days=number - today.weekday() + 7 * weeks), False


def _festival(text: str, today: date) -> tuple[date, bool] | None:
    day = festival_day(text, today)
    return None if day is None else (day, False)


READERS: tuple[Callable[[str, date], tuple[date, bool] | None], ...] = (
    _whole,
    _yearless,
    _month_name,
    _relative,
    _weekday,
    _festival,
)
