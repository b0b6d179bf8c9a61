"""Dates, times and offsets as people read them, in both languages."""

from datetime import date, datetime, timedelta

WEEKDAYS_ZH = "一二三四五六日"
WEEKDAYS_EN = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS_EN = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def weekday(day: date, lang: str) -> str:
    """Name the day of the week."""
    return f"星期{WEEKDAYS_ZH[day.weekday()]}" if lang == "zh" else WEEKDAYS_EN[day.weekday()]


def day_text(day: date, lang: str) -> str:
    """Write a date with its weekday."""
    if lang == "zh":
        return f"{day.year}年{day.month}月{day.day}日 {weekday(day, lang)}"
    return f"{weekday(day, lang)}, {day.day} {MONTHS_EN[day.month - 1]} {day.year}"


def short_day(day: date, lang: str) -> str:
    """Write a date without its year."""
    return f"{day.month}月{day.day}日" if lang == "zh" else f"{day.day} {MONTHS_EN[day.month - 1]}"


def clock_text(moment: datetime) -> str:
    """Write the time of day, with seconds where there are any."""
    return moment.strftime("%H:%M:%S" if moment.second else "%H:%M")


def moment_text(moment: datetime, lang: str) -> str:
    """Write a date with its weekday, and the time of day."""
    return f"{day_text(moment.date(), lang)} {clock_text(moment)}"


def offset_text(moment: datetime) -> str:
    """Write an aware moment's offset from UTC, such as UTC+8 or UTC+5:30."""
    seconds = int((moment.utcoffset() or timedelta()).total_seconds())
    sign = "-" if seconds < 0 else "+"
    hours, rest = divmod(abs(seconds), 3600)
    minutes, rest = divmod(rest, 60)
    tail = f":{minutes:02}" if minutes or rest else ""
    return f"UTC{sign}{hours}{tail}" + (f":{rest:02}" if rest else "")


def span_text(span: timedelta, lang: str) -> str:
    """Write a length of time in days, hours, minutes and seconds; the sign is left out."""
    minutes, seconds = divmod(int(abs(span).total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = ((days, "天", "day"), (hours, "小时", "hour"), (minutes, "分钟", "minute"), (seconds, "秒", "second"))
    given = [part for part in parts if part[0]] or [parts[2]]
    if lang == "zh":
        return "".join(f"{number}{zh}" for number, zh, _ in given)
    return " ".join(plural(number, en) for number, _, en in given)


def plural(number: int, noun: str) -> str:
    """Write a number with its English noun."""
    return f"{number} {noun}" if abs(number) == 1 else f"{number} {noun}s"
