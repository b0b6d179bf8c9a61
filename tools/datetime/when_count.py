"""Time between two dates, dates some time before or after another, and the days until one."""

from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from when_call import Call, Message, Refusal, result
from when_festivals import find_festival
from when_holidays import step_working_days, unknown_years, working_days
from when_now import instant_of, moment_facts
from when_text import day_text, moment_text, plural, span_text, weekday
from when_words import When, read_when
from when_zones import Zone, default_zone, place, zone_of

UNITS = {
    "seconds": ("秒", "second"),
    "minutes": ("分钟", "minute"),
    "hours": ("小时", "hour"),
    "days": ("天", "day"),
    "business_days": ("个工作日", "working day"),
    "weeks": ("周", "week"),
    "months": ("个月", "month"),
    "years": ("年", "year"),
}
CLOCK_SECONDS = {"seconds": 1, "minutes": 60, "hours": 3600}
MOST_AMOUNT = 1_000_000
MOST_WORKING_DAYS = 20_000  # each is looked at; about 80 years


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A date or an instant; `moment` is aware, and midnight where the text named a whole day."""

    day: date
    moment: datetime
    has_time: bool
    notes: tuple[str, ...]


def difference(call: Call) -> Message:
    """Tell the time from one date to another, in calendar and in working days."""
    zone = zone_of(call, "timezone") or default_zone(call)
    if not call.text("date") and not call.text("end"):
        raise Refusal(
            "请用 date 和 end 给出两个日期，例如 2026-12-01 和 2027-02-06。",
            "Give the two dates in `date` and `end`, for example 2026-12-01 and 2027-02-06.",
        )
    start, end = _point(call, "date", zone), _point(call, "end", zone)
    days = (end.day - start.day).days
    years, months, rest = calendar_span(*sorted((start.day, end.day)))
    worked = working_days(start.day, end.day)
    facts: Message = {
        "start": _point_facts(start, zone),
        "end": _point_facts(end, zone),
        "days": days,
        "business_days": worked,
        "calendar": {"years": years, "months": months, "days": rest},
        "unknown_years": unknown_years(start.day, end.day),
    }
    lines = [_between(call, start, end)]
    if start.has_time or end.has_time:
        span = end.moment.astimezone(UTC) - start.moment.astimezone(UTC)
        facts["seconds"] = int(span.total_seconds())
        lines.append(call.say(f"相差 {span_text(span, 'zh')}。", f"That is {span_text(span, 'en')}."))
    else:
        lines.append(_days_line(call, days, (years, months, rest)))
    lines.append(
        call.say(
            f"其中工作日 {abs(worked)} 天（不算 {start.day.isoformat()} 当天）。",
            f"Working days in China: {abs(worked)} ({start.day.isoformat()} itself not counted).",
        )
    )
    return result("\n".join([*lines, *_unknown_note(call, start.day, end.day), *start.notes, *end.notes]), facts)


def add(call: Call) -> Message:
    """Tell the date or time that lies an amount of a unit after a date, before it for a negative amount."""
    zone = zone_of(call, "timezone") or default_zone(call)
    unit = call.text("unit") or "days"
    if unit not in UNITS:
        raise Refusal(
            f"没有单位 {unit[:40]!r}，可用：{'、'.join(UNITS)}。", f"No unit {unit[:40]!r}: {', '.join(UNITS)}."
        )
    most = MOST_WORKING_DAYS if unit == "business_days" else MOST_AMOUNT
    amount = call.whole("amount", least=-most, most=most)
    if amount is None:
        raise Refusal(
            "请用 amount 给出数量（之前写负数），用 unit 给出单位，例如 amount=3, unit=business_days。",
            "Give `amount` (negative for before) and `unit`, for example amount=3, unit=business_days.",
        )
    start = _point(call, "date", zone, with_time=unit in CLOCK_SECONDS)
    end, notes = _moved(call, start, unit=unit, amount=amount, zone=zone)
    facts: Message = {
        "start": _point_facts(start, zone),
        "amount": amount,
        "unit": unit,
        "result": _point_facts(end, zone),
    }
    zh, en = UNITS[unit]
    side, side_en = ("前", "before") if amount < 0 else ("后", "after")
    content = call.say(
        f"{_shown(call, start)} 的 {abs(amount)} {zh}{side}是 {_shown(call, end)}。",
        f"{plural(abs(amount), en)} {side_en} {_shown(call, start)} is {_shown(call, end)}.",
    )
    if unit == "business_days":
        facts["unknown_years"] = unknown_years(start.day, end.day)
        notes = [*notes, *_unknown_note(call, start.day, end.day)]
    return result("\n".join([content, *start.notes, *notes]), facts)


def until(call: Call) -> Message:
    """Tell how long it is until a festival or a date, or since when it is past."""
    zone = zone_of(call, "timezone") or default_zone(call)
    here = call.now.astimezone(zone.rules)
    year = call.whole("year", least=1, most=9999)
    name = ""
    if call.text("festival"):
        festival = find_festival(call.text("festival"))
        day = festival.within(year) if year is not None else festival.next_from(here.date())
        end, name = _whole_day(day, zone), call.say(festival.zh, festival.en)
    elif call.text("date"):
        end = _coming(call, zone, here)
    else:
        raise Refusal(
            "请用 festival 给出节日（如 春节）或用 date 给出日期（如 2027-02-06）。",
            "Give a festival in `festival` (Christmas) or a date in `date` (2027-02-06).",
        )
    days = (end.day - here.date()).days
    facts: Message = {"today": here.date().isoformat(), "target": _point_facts(end, zone), "days": days}
    if name:
        facts["festival"] = name
    label = f"{name}{call.say('（', ' (')}{_shown(call, end)}{call.say('）', ')')}" if name else _shown(call, end)
    if end.has_time:
        span = end.moment.astimezone(UTC) - call.now
        facts["seconds"] = int(span.total_seconds())
        length, is_past = span_text(span, call.lang), span < timedelta()
    else:
        length, is_past = call.say(f"{abs(days)} 天", plural(abs(days), "day")), days < 0
    return result("\n".join([_until_line(call, label, length, days=days, is_past=is_past, end=end), *end.notes]), facts)


def calendar_span(start: date, end: date) -> tuple[int, int, int]:
    """Return the whole years, months and days from a day to a later one."""
    months = (end.year - start.year) * 12 + end.month - start.month
    if add_months(start, months) > end:
        months -= 1
    return months // 12, months % 12, (end - add_months(start, months)).days


def add_months(day: date, months: int) -> date:
    """Return the same day of a month `months` later, its last day where it is shorter.

    Raises:
        OverflowError: The day leaves the years 1 to 9999.
    """
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        raise OverflowError(f"year {year}")
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _point(call: Call, name: str, zone: Zone, *, with_time: bool = False) -> Point:
    """Read a parameter; where it is missing it is today, or now."""
    here = call.now.astimezone(zone.rules)
    text = call.text(name)
    if text:
        return _placed(call, read_when(text, here), zone)
    if with_time:
        return Point(day=here.date(), moment=here.replace(microsecond=0), has_time=True, notes=())
    return _whole_day(here.date(), zone)


def _placed(call: Call, when: When, zone: Zone) -> Point:
    if when.at is None and when.instant is None:
        return _whole_day(when.day, zone)
    moment, notes = instant_of(call, when, zone)
    here = moment.astimezone(zone.rules)
    return Point(day=here.date(), moment=here, has_time=True, notes=tuple(notes))


def _whole_day(day: date, zone: Zone) -> Point:
    """Return a day; that its midnight may not exist or come twice does not matter."""
    return Point(day=day, moment=datetime(day.year, day.month, day.day, tzinfo=zone.rules), has_time=False, notes=())


def _coming(call: Call, zone: Zone, here: datetime) -> Point:
    """Read the date of `until`: without a year it is the next one to come, and a time alone too."""
    when = read_when(call.text("date"), here)
    end = _placed(call, when, zone)
    if when.is_yearless and end.day < here.date():
        later = When(day=add_months(when.day, 12), at=when.at)
        return _placed(call, later, zone)
    if when.is_clock and end.moment < here:
        return _placed(call, When(day=when.day + timedelta(days=1), at=when.at), zone)
    return end


def _moved(call: Call, start: Point, *, unit: str, amount: int, zone: Zone) -> tuple[Point, list[str]]:
    """Move a point; a unit of the clock in real time, the others on the calendar with the time of day kept."""
    if unit in CLOCK_SECONDS:
        span = timedelta(seconds=CLOCK_SECONDS[unit] * amount)
        moment = (start.moment.astimezone(UTC) + span).astimezone(zone.rules)
        return Point(day=moment.date(), moment=moment, has_time=True, notes=()), []
    notes: list[str] = []
    if unit in ("months", "years"):
        day = add_months(start.day, amount * (12 if unit == "years" else 1))
        if day.day != start.day.day:
            notes = [
                call.say(
                    f"那个月没有 {start.day.day} 日，取月末。", f"That month has no day {start.day.day}: its last day."
                )
            ]
    elif unit == "business_days":
        day = step_working_days(start.day, amount)
    else:
        day = start.day + timedelta(days=amount * (7 if unit == "weeks" else 1))
    if not start.has_time:
        return _whole_day(day, zone), notes
    placed = place(datetime.combine(day, start.moment.time()), zone)
    note = call.say(placed.zh, placed.en)
    point = Point(day=placed.moment.date(), moment=placed.moment, has_time=True, notes=())
    return point, [*notes, note] if note else notes


def _shown(call: Call, point: Point) -> str:
    return moment_text(point.moment, call.lang) if point.has_time else day_text(point.day, call.lang)


def _point_facts(point: Point, zone: Zone) -> Message:
    facts: Message = {"date": point.day.isoformat(), "weekday": weekday(point.day, "en")}
    return facts | moment_facts(point.moment, zone) if point.has_time else facts


def _between(call: Call, start: Point, end: Point) -> str:
    return call.say(
        f"从 {_shown(call, start)} 到 {_shown(call, end)}：", f"From {_shown(call, start)} to {_shown(call, end)}:"
    )


def _days_line(call: Call, days: int, span: tuple[int, int, int]) -> str:
    """Write a number of days, split into years and months where it is long."""
    before = call.say("（后者更早）", " (the second is earlier)") if days < 0 else ""
    years, months, rest = span
    parts = ((years, "年", "year"), (months, "个月", "month"), (rest, "天", "day"))
    given = [part for part in parts if part[0]]
    split_zh = "（" + " ".join(f"{number} {zh}" for number, zh, _ in given) + "）" if years or months else ""
    split_en = " (" + ", ".join(plural(number, en) for number, _, en in given) + ")" if years or months else ""
    return call.say(f"相差 {abs(days)} 天{split_zh}{before}。", f"{plural(abs(days), 'day')}{split_en}{before}.")


def _unknown_note(call: Call, start: date, end: date) -> list[str]:
    """Say which years are counted by weekends alone."""
    years = unknown_years(start, end)
    if not years:
        return []
    return [
        call.say(
            f"注意：国务院关于 {'、'.join(years)} 年放假的通知不在本版本中，这些年的工作日只除去周末。",
            f"Note: the State Council's notice is not known for {', '.join(years)}: only weekends are left out there.",
        )
    ]


def _until_line(call: Call, label: str, length: str, *, days: int, is_past: bool, end: Point) -> str:
    if days == 0 and not end.has_time:
        return call.say(f"今天就是{label}。", f"Today is {label}.")
    if is_past:
        return call.say(f"{label}已经过去 {length}。", f"{label} was {length} ago.")
    return call.say(f"离{label}还有 {length}。", f"{length} until {label}.")
