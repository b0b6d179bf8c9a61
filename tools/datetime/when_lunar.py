"""The lunar calendar and the solar terms, by lunar_python; its import takes 16 ms, so it waits until it is needed."""

import importlib
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from functools import cache
from typing import Any

from when_call import Refusal

FIRST_YEAR, LAST_YEAR = 1900, 2100  # where tables and computations of the calendar agree but for single days
BEIJING = timezone(timedelta(hours=8), "Beijing")  # the calendar is computed for 120° east, without summer time
MONTHS = "正二三四五六七八九十冬腊"
ANIMALS_EN = {
    "鼠": "Rat", "牛": "Ox", "虎": "Tiger", "兔": "Rabbit", "龙": "Dragon", "蛇": "Snake",
    "马": "Horse", "羊": "Goat", "猴": "Monkey", "鸡": "Rooster", "狗": "Dog", "猪": "Pig",
}  # fmt: skip
TERMS_EN = {
    "小寒": "Minor Cold", "大寒": "Major Cold", "立春": "Start of Spring", "雨水": "Rain Water",
    "惊蛰": "Awakening of Insects", "春分": "Spring Equinox", "清明": "Pure Brightness", "谷雨": "Grain Rain",
    "立夏": "Start of Summer", "小满": "Grain Buds", "芒种": "Grain in Ear", "夏至": "Summer Solstice",
    "小暑": "Minor Heat", "大暑": "Major Heat", "立秋": "Start of Autumn", "处暑": "End of Heat",
    "白露": "White Dew", "秋分": "Autumn Equinox", "寒露": "Cold Dew", "霜降": "Frost's Descent",
    "立冬": "Start of Winter", "小雪": "Minor Snow", "大雪": "Major Snow", "冬至": "Winter Solstice",
}  # fmt: skip
# lunar_python names the terms outside the lunar year in Latin letters.
LATIN = {
    "DA_XUE": "大雪", "DONG_ZHI": "冬至", "XIAO_HAN": "小寒", "DA_HAN": "大寒",
    "LI_CHUN": "立春", "YU_SHUI": "雨水", "JING_ZHE": "惊蛰",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class LunarDay:
    """A day of the lunar calendar; the sexagenary year begins at the lunar new year, the month at its solar term."""

    year: int
    month: int
    day: int
    is_leap: bool
    zh: str
    year_name: str
    month_name: str
    day_name: str
    animal: str

    @property
    def animal_en(self) -> str:
        """Return the English name of the year's animal."""
        return ANIMALS_EN[self.animal]

    @property
    def en(self) -> str:
        """Write month and day in English."""
        return f"{'leap ' if self.is_leap else ''}month {self.month}, day {self.day}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A solar term and its instant in Beijing time."""

    zh: str
    moment: datetime

    @property
    def en(self) -> str:
        """Return the English name."""
        return TERMS_EN[self.zh]


def lunar_of(day: date) -> LunarDay:
    """Return the lunar date of a day.

    Raises:
        Refusal: The year is outside 1900 to 2100.
    """
    _check_year(day.year)
    lunar = _library().Solar.fromYmd(day.year, day.month, day.day).getLunar()
    month = int(lunar.getMonth())
    return LunarDay(
        year=int(lunar.getYear()),
        month=abs(month),
        day=int(lunar.getDay()),
        is_leap=month < 0,
        zh=f"{month_zh(abs(month), is_leap=month < 0)}{lunar.getDayInChinese()}",
        year_name=str(lunar.getYearInGanZhi()),
        month_name=str(lunar.getMonthInGanZhi()),
        day_name=str(lunar.getDayInGanZhi()),
        animal=str(lunar.getYearShengXiao()),
    )


def solar_of(year: int, month: int, day: int, *, is_leap: bool) -> date:
    """Return the day of a lunar date.

    Raises:
        Refusal: The year is outside 1900 to 2100, has no such leap month, or the month no such day.
    """
    _check_year(year)
    leap = leap_month(year)
    if is_leap and leap != month:
        zh = f"闰月是{month_zh(leap, is_leap=True)}" if leap else "没有闰月"
        en = f"its leap month follows month {leap}" if leap else "it has no leap month"
        raise Refusal(
            f"农历{year}年没有{month_zh(month, is_leap=True)}：{zh}。",
            f"The lunar year {year} has no leap month {month}: {en}.",
        )
    days = month_days(year, month, is_leap=is_leap)
    if not 1 <= day <= days:
        name = month_zh(month, is_leap=is_leap)
        raise Refusal(
            f"农历{year}年{name}只有 {days} 天，没有第 {day} 天。",
            f"Month {month} of the lunar year {year} has {days} days, no day {day}.",
        )
    solar = _library().Lunar.fromYmd(year, -month if is_leap else month, day).getSolar()
    return date(int(solar.getYear()), int(solar.getMonth()), int(solar.getDay()))


def leap_month(year: int) -> int:
    """Return the month that a lunar year's leap month follows and is named after, 0 where it has none."""
    return int(_library().LunarYear.fromYear(year).getLeapMonth())


def month_days(year: int, month: int, *, is_leap: bool) -> int:
    """Return the number of days of a lunar month, 29 or 30."""
    return int(_library().LunarYear.fromYear(year).getMonth(-month if is_leap else month).getDayCount())


def month_zh(month: int, *, is_leap: bool) -> str:
    """Write the name of a lunar month."""
    return f"{'闰' if is_leap else ''}{MONTHS[month - 1]}月"


@cache
def terms_of(year: int) -> tuple[Term, ...]:
    """Return the 24 solar terms of a year of the common calendar, in order.

    Raises:
        Refusal: The year is outside 1900 to 2100.
    """
    _check_year(year)
    table = _library().Solar.fromYmd(year, 6, 1).getLunar().getJieQiTable()
    terms = [Term(zh=LATIN.get(str(name), str(name)), moment=_moment(solar)) for name, solar in table.items()]
    return tuple(sorted((term for term in terms if term.moment.year == year), key=lambda term: term.moment))


def terms_after(moment: datetime) -> tuple[Term, Term]:
    """Return the last solar term before or at an aware moment, and the next one."""
    here = moment.astimezone(BEIJING)
    years = [year for year in range(here.year - 1, here.year + 2) if FIRST_YEAR <= year <= LAST_YEAR]
    _check_year(here.year)
    terms = [term for year in years for term in terms_of(year)]
    coming = [term for term in terms if term.moment > here]
    past = [term for term in terms if term.moment <= here]
    if not coming or not past:
        raise _outside(here.year)
    return past[-1], coming[0]


def _library() -> Any:
    return importlib.import_module("lunar_python")


def _moment(solar: Any) -> datetime:
    return datetime.fromisoformat(str(solar.toYmdHms())).replace(tzinfo=BEIJING)


def _check_year(year: int) -> None:
    if not FIRST_YEAR <= year <= LAST_YEAR:
        raise _outside(year)


def _outside(year: int) -> Refusal:
    return Refusal(
        f"农历和节气只能算 {FIRST_YEAR} 到 {LAST_YEAR} 年，不能算 {year} 年。",
        f"The lunar calendar and solar terms are known for {FIRST_YEAR} to {LAST_YEAR}, not for {year}.",
    )
