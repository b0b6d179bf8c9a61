"""The present in a place, and times carried from one zone to another."""

import os
from datetime import date, datetime, time

from when_call import Call, Message, result
from when_holidays import Status, next_holiday, status_of
from when_lunar import FIRST_YEAR, LAST_YEAR, LunarDay, Term, lunar_of, terms_after
from when_text import day_text, moment_text, offset_text, short_day, weekday
from when_words import When, read_when
from when_zones import CHINA, Zone, default_zone, place, zone_of

STATUS_TEXT = {
    Status.WORKDAY: ("工作日", "a working day"),
    Status.MAKEUP: ("调休上班日", "a make-up working day"),
    Status.WEEKEND: ("周末休息日", "a weekend day off"),
    Status.HOLIDAY: ("放假", "a day off"),
}


def tell_now(call: Call) -> Message:
    """Tell time and date in a zone, and China's calendar where the clock is China's."""
    zone = zone_of(call, "timezone") or default_zone(call)
    here = call.now.astimezone(zone.rules)
    week = here.isocalendar()
    facts: Message = {
        **moment_facts(here, zone),
        "weekday": weekday(here.date(), "en"),
        "iso_week": f"{week.year}-W{week.week:02}",
        "day_of_year": here.timetuple().tm_yday,
    }
    offset = offset_text(here)
    name = zone.label if offset == zone.label else f"{zone.label}，{offset}"
    name_en = zone.label if offset == zone.label else f"{zone.label}, {offset}"
    stamp = f"{here:%H:%M:%S}"
    lines = [
        call.say(
            f"现在是 {day_text(here.date(), 'zh')} {stamp}（{name}），第 {week.week} 周。",
            f"It is {stamp} on {day_text(here.date(), 'en')} ({name_en}), week {week.week}.",
        )
    ]
    if call.lang == "en" and not call.text("timezone") and zone.key == CHINA and not os.environ.get("TZ"):
        lines.append("No zone is set, so this is China's time: name a city, or set TZ where ias runs.")
    if FIRST_YEAR < here.year < LAST_YEAR:
        lunar, coming = lunar_of(here.date()), terms_after(call.now)[1]
        facts |= {"lunar": lunar_facts(lunar), "next_solar_term": term_facts(coming)}
        facts["china_day"] = status_of(here.date())[0]
        if zone.is_chinese:
            lines += [*_calendar_lines(call, here.date(), lunar, coming)]
    return result("\n".join(lines), facts)


def convert(call: Call) -> Message:
    """Carry a time or a Unix timestamp from one zone to another."""
    source = zone_of(call, "timezone")
    target = zone_of(call, "to_timezone")
    start = source or default_zone(call)
    text = call.text("date")
    here = call.now.astimezone(start.rules)
    when = read_when(text, here) if text else When(day=here.date(), at=here.time(), instant=here)
    moment, notes = instant_of(call, when, start)
    aim = target or (start if when.instant else default_zone(call))
    there = moment.astimezone(aim.rules)
    stamp = int(moment.timestamp())
    facts: Message = {
        "from": moment_facts(moment.astimezone(start.rules), start),
        "to": moment_facts(there, aim),
        "unix_seconds": stamp,
        "unix_milliseconds": int(moment.timestamp() * 1000),
    }
    aimed = call.say(
        f"{aim.label} {moment_text(there, 'zh')}（{offset_text(there)}）",
        f"{moment_text(there, 'en')} in {aim.label} ({offset_text(there)})",
    )
    given = _given(call, when, moment, start)
    unix = call.say(f"Unix 时间戳：{stamp} 秒。", f"Unix timestamp: {stamp} s.")
    return result("\n".join([f"{given} = {aimed}" if given != aimed else aimed, unix, *notes]), facts)


def instant_of(call: Call, when: When, zone: Zone) -> tuple[datetime, list[str]]:
    """Return the instant of what was written, midnight for a whole day, and notes about changes of the clock."""
    if when.instant is not None:
        return when.instant, []
    placed = place(datetime.combine(when.day, when.at or time()), zone)
    note = call.say(placed.zh, placed.en)
    return placed.moment, [note] if note else []


def moment_facts(moment: datetime, zone: Zone) -> Message:
    """Write an aware moment as facts."""
    return {
        "datetime": moment.isoformat(timespec="seconds"),
        "timezone": zone.key,
        "utc_offset": offset_text(moment),
    }


def lunar_facts(lunar: LunarDay) -> Message:
    """Write a lunar date as facts."""
    return {
        "text": lunar.zh,
        "year": lunar.year,
        "month": lunar.month,
        "day": lunar.day,
        "is_leap_month": lunar.is_leap,
        "year_ganzhi": lunar.year_name,
        "month_ganzhi": lunar.month_name,
        "day_ganzhi": lunar.day_name,
        "zodiac": lunar.animal,
        "zodiac_en": lunar.animal_en,
    }


def term_facts(term: Term) -> Message:
    """Write a solar term as facts; its time is Beijing's."""
    return {"name": term.zh, "name_en": term.en, "datetime": term.moment.isoformat()}


def lunar_text(call: Call, lunar: LunarDay) -> str:
    """Write a lunar date with the names of its year."""
    return call.say(
        f"农历{lunar.year_name}年（{lunar.animal}年）{lunar.zh}",
        f"Chinese calendar: {lunar.en} of the year of the {lunar.animal_en} ({lunar.year_name})",
    )


def status_text(call: Call, day: date) -> str:
    """Say what a day is for people who work in China."""
    status, holiday = status_of(day)
    if status is Status.UNKNOWN:
        return call.say(
            f"是否上班未知（国务院关于 {day.year} 年放假的通知不在本版本中）",
            f"not known whether it is worked (the State Council's notice for {day.year} is not in this version)",
        )
    zh, en = STATUS_TEXT[status]
    if holiday:
        return call.say(f"{zh}（{holiday.zh}）", f"{en} ({holiday.en})")
    return call.say(zh, en)


def _calendar_lines(call: Call, day: date, lunar: LunarDay, coming: Term) -> list[str]:
    term_day = short_day(coming.moment.date(), call.lang)
    lines = [
        f"{lunar_text(call, lunar)}{call.say('。', '.')}",
        call.say(
            f"今天：{status_text(call, day)}。下一个节气：{coming.zh}，{term_day} {coming.moment:%H:%M:%S}。",
            f"In China today is {status_text(call, day)}. Next solar term: {coming.en}, {term_day} "
            f"{coming.moment:%H:%M:%S} Beijing time.",
        ),
    ]
    holiday = next_holiday(day)
    if holiday and (holiday.first - day).days <= 7:
        lines.append(
            call.say(
                f"{holiday.zh}放假：{short_day(holiday.first, 'zh')}起 {holiday.days} 天。",
                f"{holiday.en}: {holiday.days} days off from {short_day(holiday.first, 'en')}.",
            )
        )
    return lines


def _given(call: Call, when: When, moment: datetime, zone: Zone) -> str:
    """Write back what was given, so that a misread date is seen."""
    if when.is_stamp:
        return call.say("时间戳 ", "Timestamp ") + call.text("date").lstrip("@")
    shown = when.instant or moment.astimezone(zone.rules)
    is_local = shown.utcoffset() == moment.astimezone(zone.rules).utcoffset()
    return call.say(
        f"{zone.label if is_local else ''} {moment_text(shown, 'zh')}（{offset_text(shown)}）".strip(),
        f"{moment_text(shown, 'en')}{f' in {zone.label}' if is_local else ''} ({offset_text(shown)})",
    )
