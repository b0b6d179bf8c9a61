"""China's days off and make-up workdays, as the State Council arranged them, and the counting of working days.

The files `holidays/YEAR.json` hold a year's notice. Nothing is guessed for a year without one: it was not known when
this version was made.
"""

import json
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

NOTICES = Path(__file__).with_name("holidays")
SATURDAY = 5


class Status(StrEnum):
    """What a day is for people who work by China's official calendar."""

    WORKDAY = "workday"
    MAKEUP = "makeup_workday"
    WEEKEND = "weekend"
    HOLIDAY = "holiday"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Holiday:
    """One holiday of a year's notice: its days off, from `first` to `last`, and the weekend days worked for it."""

    zh: str
    en: str
    first: date
    last: date
    workdays: tuple[date, ...]

    @property
    def days(self) -> int:
        """Return the number of days off."""
        return (self.last - self.first).days + 1


def known_years() -> list[int]:
    """Return the years whose notice is in this version, oldest first."""
    return sorted(int(path.stem) for path in NOTICES.glob("*.json"))


@cache
def arrangement(year: int) -> tuple[Holiday, ...]:
    """Return the holidays of a year's notice, none where the notice is not known."""
    path = NOTICES / f"{year}.json"
    if not path.is_file():
        return ()
    read: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return tuple(
        Holiday(
            zh=row["name"],
            en=row["name_en"],
            first=date.fromisoformat(row["first"]),
            last=date.fromisoformat(row["last"]),
            workdays=tuple(date.fromisoformat(day) for day in row["workdays"]),
        )
        for row in read["holidays"]
    )


def status_of(day: date) -> tuple[Status, Holiday | None]:
    """Return what a day is, and the holiday that makes it so."""
    for holiday in _around(day.year):
        if holiday.first <= day <= holiday.last:
            return Status.HOLIDAY, holiday
        if day in holiday.workdays:
            return Status.MAKEUP, holiday
    if day.year not in known_years():
        return Status.UNKNOWN, None
    return (Status.WEEKEND if day.weekday() >= SATURDAY else Status.WORKDAY), None


def next_holiday(day: date) -> Holiday | None:
    """Return the first holiday that begins after a day, None where no notice tells."""
    coming = [holiday for year in (day.year, day.year + 1) for holiday in arrangement(year) if holiday.first > day]
    return min(coming, key=lambda holiday: holiday.first, default=None)


def works(day: date) -> bool:
    """Tell whether a day is worked; where the notice is not known, weekends alone count as free."""
    shift = _shifts().get(day)
    return day.weekday() < SATURDAY if shift is None else shift > 0


def working_days(start: date, end: date) -> int:
    """Count the working days after `start` up to `end`; backwards negative, from `end` to the day before `start`."""
    first, last = start.toordinal(), end.toordinal()
    return -_worked(last, first) if last < first else _worked(first + 1, last + 1)


def step_working_days(start: date, amount: int) -> date:
    """Return the day that is `amount` working days after `start`, before it where `amount` is negative.

    Raises:
        OverflowError: The day leaves the years 1 to 9999.
    """
    one = timedelta(days=1 if amount > 0 else -1)
    day, left = start, abs(amount)
    while left:
        day += one
        left -= works(day)
    return day


def unknown_years(start: date, end: date) -> list[str]:
    """Return the years from one day to another whose notice is not known, as texts like 2027 and 2027-2030."""
    first, last = sorted((start.year, end.year))
    spans: list[str] = []
    begin = first
    for known in [*(year for year in known_years() if first <= year <= last), last + 1]:
        if begin < known:
            spans.append(str(begin) if begin == known - 1 else f"{begin}-{known - 1}")
        begin = known + 1
    return spans


def _around(year: int) -> tuple[Holiday, ...]:
    """Return the holidays that may touch a year: the next one's notice reaches into December."""
    return arrangement(year) + arrangement(year + 1)


@cache
def _shifts() -> dict[date, int]:
    """Return every day whose rest or work is not what its weekday says: 1 worked, -1 off."""
    shifts: dict[date, int] = {}
    for year in known_years():
        for holiday in arrangement(year):
            shifts |= dict.fromkeys(holiday.workdays, 1)
            for number in range(holiday.days):
                day = holiday.first + timedelta(days=number)
                if day.weekday() < SATURDAY:
                    shifts[day] = -1
    return shifts


def _worked(first: int, after: int) -> int:
    """Count the working days from one day to the day before another, both as proleptic Gregorian ordinals."""
    weeks, rest = divmod(after - first, 7)
    days = weeks * SATURDAY + sum((first - 1 + number) % 7 < SATURDAY for number in range(rest))
    return days + sum(shift for day, shift in _shifts().items() if first <= day.toordinal() < after)
