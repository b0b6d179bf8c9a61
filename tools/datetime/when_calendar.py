"""The lunar calendar, the solar terms, and China's holidays, as answers."""

import re
from datetime import date

from when_call import Call, Message, Refusal, result
from when_festivals import festival_day, find_festival
from when_holidays import Holiday, Status, arrangement, known_years, next_holiday, status_of
from when_lunar import FIRST_YEAR, LAST_YEAR, TERMS_EN, Term, lunar_of, solar_of, terms_after, terms_of
from when_now import instant_of, lunar_facts, lunar_text, status_text, term_facts
from when_numerals import NUMERAL, number_of
from when_text import day_text, plural, short_day, weekday
from when_words import read_when
from when_zones import Zone, default_zone, zone_of

LUNAR = re.compile(
    rf"(?:农历|阴历|旧历)?(?:(?P<year>\d{{4}}|[{NUMERAL}]{{4}})(?:年|[-/.]))?(?:农历|阴历)?(?P<leap>闰)?"
    rf"(?P<month>\d{{1,2}}|[正冬腊{NUMERAL}]{{1,3}})(?:月|[-/.])初?(?P<day>\d{{1,2}}|[{NUMERAL}]{{1,3}})[日号]?"
)
NAMED_MONTHS = {"正": 1, "冬": 11, "腊": 12}


def tell_lunar(call: Call) -> Message:
    """Turn a date into the lunar calendar's, or a lunar date into the common one."""
    zone = zone_of(call, "timezone") or default_zone(call)
    text = call.text("lunar_date")
    written = call.text("date")
    if not text and re.match("农历|阴历|旧历", written):
        text = written
    day = _from_lunar(call, text, zone) if text else _day(call, zone)
    lunar = lunar_of(day)
    facts: Message = {"date": day.isoformat(), "weekday": weekday(day, "en"), "lunar": lunar_facts(lunar)}
    names = call.say(f"，{lunar.month_name}月{lunar.day_name}日", "")
    if text:
        content = f"{lunar_text(call, lunar)} = {day_text(day, call.lang)}"
    else:
        content = f"{day_text(day, call.lang)} = {lunar_text(call, lunar)}"
    return result(f"{content}{names}{call.say('。', '.')}", facts)


def tell_solar_terms(call: Call) -> Message:
    """Tell the next solar term, a named one, or all of a year."""
    zone = zone_of(call, "timezone") or default_zone(call)
    year = call.whole("year", least=FIRST_YEAR, most=LAST_YEAR)
    if call.text("festival"):
        return _named_term(call, zone, year)
    if year is not None:
        terms = terms_of(year)
        head = call.say(f"{year} 年的二十四节气（北京时间）：", f"The 24 solar terms of {year} (Beijing time):")
        return result("\n".join([head, *(f"- {_term_line(call, term)}" for term in terms)]), _terms_facts(terms))
    when = read_when(call.text("date"), call.now.astimezone(zone.rules)) if call.text("date") else None
    moment = instant_of(call, when, zone)[0] if when else call.now
    last, coming = terms_after(moment)
    content = call.say(
        f"下一个节气是{_term_line(call, coming)}（北京时间）；上一个是{_term_line(call, last)}。",
        f"The next solar term is {_term_line(call, coming)} Beijing time; the last was {_term_line(call, last)}.",
    )
    return result(content, {"next": term_facts(coming), "last": term_facts(last)})


def tell_holidays(call: Call) -> Message:
    """Tell whether a day is worked, or how a year's holidays or one of them is arranged."""
    zone = zone_of(call, "timezone") or default_zone(call)
    year = call.whole("year", least=1, most=9999)
    today = call.now.astimezone(zone.rules).date()
    if call.text("festival"):
        return _named_holiday(call, year, today)
    if year is not None and not call.text("date"):
        return _year_holidays(call, year)
    day = _day(call, zone)
    status, holiday = status_of(day)
    coming = next_holiday(day)
    facts: Message = {
        "date": day.isoformat(),
        "weekday": weekday(day, "en"),
        "status": status,
        "is_workday": None if status is Status.UNKNOWN else status in (Status.WORKDAY, Status.MAKEUP),
        "holiday": _holiday_facts(holiday) if holiday else None,
        "next_holiday": _holiday_facts(coming) if coming else None,
    }
    content = f"{day_text(day, call.lang)}{call.say('：', ': ')}{status_text(call, day)}{call.say('。', '.')}"
    if holiday and status is Status.HOLIDAY:
        content += f"\n{_holiday_line(call, holiday)}"
    elif coming and not call.text("date"):
        content += call.say("\n下一个假期：", "\nNext holiday: ") + _holiday_line(call, coming)
    return result(content, facts)


def tell_day(call: Call) -> Message:
    """Tell a date's weekday and week, and China's calendar where the clock is China's."""
    zone = zone_of(call, "timezone") or default_zone(call)
    day = _day(call, zone)
    year, week, _ = day.isocalendar()
    facts: Message = {"date": day.isoformat(), "weekday": weekday(day, "en"), "iso_week": f"{year}-W{week:02}"}
    lines = [call.say(f"{day_text(day, 'zh')}，第 {week} 周。", f"{day_text(day, 'en')}, week {week}.")]
    if zone.is_chinese and FIRST_YEAR < day.year < LAST_YEAR:
        lunar, (status, _) = lunar_of(day), status_of(day)
        facts |= {"lunar": lunar_facts(lunar), "china_day": status}
        if call.lang == "zh":
            known = "" if status is Status.UNKNOWN else f"；{status_text(call, day)}"
            lines.append(f"{lunar_text(call, lunar)}{known}。")
    return result("\n".join(lines), facts)


def _day(call: Call, zone: Zone) -> date:
    """Return the day that `date` names, today where it is missing."""
    here = call.now.astimezone(zone.rules)
    if not call.text("date"):
        return here.date()
    when = read_when(call.text("date"), here)
    return when.instant.astimezone(zone.rules).date() if when.instant else when.day


def _from_lunar(call: Call, text: str, zone: Zone) -> date:
    match = LUNAR.fullmatch(re.sub(r"\s+", "", text))
    today = call.now.astimezone(zone.rules).date()
    named = None if match else festival_day(text, today)
    if named:
        return named
    month = NAMED_MONTHS.get(match["month"]) or number_of(match["month"]) if match else None
    day = number_of(match["day"]) if match else None
    if match is None or month is None or day is None or not 1 <= month <= 12:
        raise Refusal(
            f"看不懂农历日期 {text[:60]!r}，请写成 八月十五、2026年正月初一、闰六月初一 或 2026-08-15。",
            f"The lunar date {text[:60]!r} is not understood: write 2026-08-15 (lunar year, month, day) or 八月十五.",
        )
    written = number_of(match["year"]) if match["year"] else call.whole("year", least=FIRST_YEAR, most=LAST_YEAR)
    year = written if written is not None else lunar_of(today).year
    is_leap = bool(match["leap"]) or call.params.get("is_leap") is True
    return solar_of(year, month, day, is_leap=is_leap)


def _named_term(call: Call, zone: Zone, year: int | None) -> Message:
    festival = find_festival(call.text("festival"))
    name = festival.zh.removesuffix("节")
    if name not in TERMS_EN:
        raise Refusal(
            f"{festival.zh}不是节气。节气有：{'、'.join(TERMS_EN)}。",
            f"{festival.en} is no solar term. There are: {', '.join(TERMS_EN.values())}.",
        )
    first = call.now.astimezone(zone.rules).year if year is None else year
    years = (first,) if year is not None else (first, min(first + 1, LAST_YEAR))
    named = [term for one in years for term in terms_of(one) if term.zh == name]
    term = next((one for one in named if one.moment > call.now), named[-1]) if year is None else named[0]
    text = _term_line(call, term)
    return result(call.say(f"{text}（北京时间）。", f"{text} Beijing time."), term_facts(term))


def _terms_facts(terms: tuple[Term, ...]) -> Message:
    return {"terms": [term_facts(term) for term in terms]}


def _term_line(call: Call, term: Term) -> str:
    name = call.say(term.zh, f"{term.en} ({term.zh})")
    return f"{name} {term.moment.isoformat(sep=' ')[:19]}"


def _named_holiday(call: Call, year: int | None, today: date) -> Message:
    """Tell the days off of one holiday: of the year given, else of the next time it comes."""
    festival = find_festival(call.text("festival"))
    first = year if year is not None else festival.next_from(today).year
    named = [holiday for holiday in arrangement(first) if festival.zh in holiday.zh.split("、")]
    if not arrangement(first):
        return _year_holidays(call, first)
    if not named:
        content = call.say(
            f"{festival.zh}不在 {first} 年国务院的放假安排里。",
            f"{festival.en} is no public holiday in China in {first}.",
        )
        return result(content, {"year": first, "holidays": []})
    lines = [_holiday_line(call, holiday) for holiday in named]
    return result("\n".join(lines), {"year": first, "holidays": [_holiday_facts(holiday) for holiday in named]})


def _year_holidays(call: Call, year: int) -> Message:
    holidays = arrangement(year)
    if not holidays:
        known = known_years()
        content = call.say(
            f"{year} 年的放假调休安排未知：国务院的通知不在本版本中（有 {known[0]} 到 {known[-1]} 年）。",
            f"Unknown: the State Council's notice for {year} is not in this version "
            f"(it has {known[0]} to {known[-1]}).",
        )
        return result(content, {"year": year, "holidays": None, "known_years": known})
    head = call.say(f"{year} 年放假调休安排（国务院）：", f"China's public holidays in {year} (State Council):")
    lines = [f"- {_holiday_line(call, holiday)}" for holiday in holidays]
    return result("\n".join([head, *lines]), {"year": year, "holidays": [_holiday_facts(one) for one in holidays]})


def _holiday_line(call: Call, holiday: Holiday) -> str:
    if holiday.first == holiday.last:
        span = _short(call, holiday.first)
    else:
        span = f"{_short(call, holiday.first)}{call.say('至', ' to ')}{_short(call, holiday.last)}"
    worked = call.say("、", ", ").join(_short(call, day) for day in holiday.workdays)
    zh = f"{holiday.zh}：{span}放假 {holiday.days} 天" + (f"，{worked}上班" if worked else "") + "。"
    en = f"{holiday.en}: {span}, {plural(holiday.days, 'day')} off" + (f"; worked: {worked}" if worked else "") + "."
    return call.say(zh, en)


def _short(call: Call, day: date) -> str:
    if call.lang == "zh":
        return f"{short_day(day, 'zh')}（周{weekday(day, 'zh')[-1]}）"
    return f"{weekday(day, 'en')[:3]} {short_day(day, 'en')}"


def _holiday_facts(holiday: Holiday) -> Message:
    return {
        "name": holiday.zh,
        "name_en": holiday.en,
        "first": holiday.first.isoformat(),
        "last": holiday.last.isoformat(),
        "days": holiday.days,
        "workdays": [day.isoformat() for day in holiday.workdays],
    }
