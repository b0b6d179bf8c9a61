"""What a person reads: the weather in a few lines, with units, its source, and what is missing."""

from weather_failure import QWEATHER
from weather_fields import Json, list_of, number_of, object_of, objects_of, text_of
from weather_open_meteo import LICENCE
from weather_step import Call
from weather_terms import beaufort, wind_name

OPEN_METEO_SOURCE = f"Open-Meteo {LICENCE}"
DENSE_HOURS = 24  # a longer forecast shows every third hour


def show_now(call: Call, where: str, got: Json) -> list[str]:
    """Write the present weather, the air and the alerts' headlines."""
    now = object_of(got.get("now"))
    days = [object_of(now.get("today")), *objects_of(object_of(got.get("today")).get("days"))]
    parts = [*_conditions(call, now), _visibility(call, now)]
    lines = [_head(call, call.say(f"{where}现在", f"{where} now"), parts)]
    lines += [_head(call, call.say("今天", "Today"), _day(call, day)) for day in days if day][:1]
    if air := object_of(got.get("air")):
        lines.append(_head(call, call.say("空气", "Air"), _air(call, air)))
    if "alerts" in got:
        warned = object_of(got["alerts"])
        rows = objects_of(warned.get("alerts"))
        headlines = [_headline(call, row) for row in rows] or [call.say("目前没有", "none now")]
        joined = "；".join(headlines) if call.lang == "zh" else "; ".join(headlines)
        lines.append(call.say(f"预警：{joined}{_more(call, warned)}。", f"Alerts: {joined}{_more(call, warned)}."))
    return lines


def show_daily(call: Call, where: str, got: Json) -> list[str]:
    """Write one line a day."""
    days = objects_of(object_of(got.get("daily")).get("days"))
    lines = [call.say(f"{where} {len(days)} 天预报：", f"{where}, {len(days)}-day forecast:")]
    return lines + [_head(call, text_of(day.get("date")) or "?", _day(call, day)) for day in days]


def show_hourly(call: Call, where: str, got: Json) -> list[str]:
    """Write one line an hour, every third hour of a long forecast, and the alerts in full."""
    hours = objects_of(object_of(got.get("hourly")).get("hours"))
    step = 1 if len(hours) <= DENSE_HOURS else 3
    note = "" if step == 1 else call.say("（每 3 小时）", " (every third hour)")
    lines = [call.say(f"{where}未来 {len(hours)} 小时{note}：", f"{where}, {len(hours)}-hour forecast{note}:")]
    date = ""
    for hour in hours[::step]:
        at = text_of(hour.get("at"))
        shown, date = (at[11:] if at[:10] == date else at), at[:10]
        lines.append(_head(call, shown or "?", _hour(call, hour)))
    if "alerts" in got:
        warned = object_of(got["alerts"])
        rows = objects_of(warned.get("alerts"))
        lines += [_full(call, row) for row in rows]
        if not rows:
            lines.append(call.say("预警：目前没有。", "Alerts: none now."))
        elif more := _more(call, warned):
            lines.append(call.say(f"预警{more}。", f"Alerts{more}."))
    return lines


def show_sources(call: Call, sources: Json, got: Json) -> str:
    """Name who answered, with what has to stand beside alerts."""
    names: list[str] = []
    for source in sources.values():
        name = OPEN_METEO_SOURCE if source == "om" else QWEATHER + (" v7" if source == "v7" else "")
        names += [name] if name not in names else []
    warned = object_of(got.get("alerts"))
    if objects_of(warned.get("alerts")):
        names += [text for one in list_of(warned.get("attributions")) if (text := text_of(one))]
    return call.say("来源：" + "；".join(names), "Source: " + "; ".join(names))


def _head(call: Call, head: str, parts: list[str]) -> str:
    kept = list(filter(None, parts))
    return call.say(f"{head}：{'，'.join(kept)}。", f"{head}: {', '.join(kept)}.")


def _number(value: object, unit: str) -> str:
    """Show a number with at most one decimal; "" for none."""
    number = number_of(value)
    return "" if number is None else f"{round(number, 1) + 0.0:g}{unit}"


def _temperature(value: object) -> str:
    return _number(value, "°C")


def _named(call: Call, zh: str, en: str, shown: str) -> str:
    return shown and call.say(f"{zh} {shown}", f"{en} {shown}")


def _conditions(call: Call, now: Json) -> list[str]:
    return [
        text_of(now.get("text")),
        _temperature(now.get("temp_c")),
        _named(call, "体感", "feels like", _temperature(now.get("feels_c"))),
        _named(call, "湿度", "humidity", _number(now.get("humidity_pct"), "%")),
        _wind(call, now),
        _named(call, "降水", "precipitation", _number(now.get("precip_mm"), " mm")),
    ]


def _visibility(call: Call, now: Json) -> str:
    metres = number_of(now.get("visibility_m"))
    return "" if metres is None else _named(call, "能见度", "visibility", _number(metres / 1000, " km"))


def _wind(call: Call, record: Json) -> str:
    """Show direction, force and speed; the force is the service's own where it gives one."""
    speed = number_of(record.get("wind_ms"))
    degrees = number_of(record.get("wind_deg"))
    direction = wind_name(None if degrees is None else round(degrees), call.lang)
    force = text_of(record.get("wind_scale")) or ("" if speed is None else str(beaufort(speed)))
    if not force:
        return direction and call.say(direction, f"{direction} wind")
    name = direction or call.say("风", "")
    shown = _number(speed, " m/s")
    if call.lang == "zh":
        return f"{name} {force} 级" + (f"（{shown}）" if shown else "")
    return f"{name} wind force {force}".strip() + (f" ({shown})" if shown else "")


def _range(day: Json) -> str:
    """Show the lowest and the highest temperature, or the one that is known."""
    low, high = (_number(day.get(name), "") for name in ("min_c", "max_c"))
    if low and high:
        return f"{low}～{high}°C"
    return f"{low or high}°C" if low or high else ""


def _day(call: Call, day: Json) -> list[str]:
    light, dark = text_of(day.get("text_day")), text_of(day.get("text_night"))
    sky = call.say(f"{light}转{dark}", f"{light}, then {dark}") if light and dark and light != dark else light or dark
    rise, fall = text_of(day.get("sunrise")), text_of(day.get("sunset"))
    return [
        sky,
        _range(day) if call.lang == "zh" else _range(day).replace("～", " to "),
        _named(call, "降水概率", "chance of rain", _number(day.get("pop_pct"), "%")),
        _named(call, "降水", "precipitation", _number(day.get("precip_mm"), " mm")),
        _wind(call, day),
        call.say(f"日出 {rise}、日落 {fall}", f"sunrise {rise}, sunset {fall}") if rise and fall else "",
    ]


def _hour(call: Call, hour: Json) -> list[str]:
    rain = number_of(hour.get("precip_mm"))
    return [
        text_of(hour.get("text")),
        _temperature(hour.get("temp_c")),
        _named(call, "降水概率", "chance of rain", _number(hour.get("pop_pct"), "%")),
        _named(call, "降水", "precipitation", _number(rain, " mm")) if rain else "",
        _wind(call, hour),
    ]


def _air(call: Call, air: Json) -> list[str]:
    index = text_of(air.get("aqi"))
    standard = text_of(air.get("standard")) or "AQI"
    primary = text_of(air.get("primary"))
    return [
        f"{standard} {index}" if index else "",
        text_of(air.get("category")),
        _named(call, "首要污染物", "mainly", primary),
        _named(call, "PM2.5", "PM2.5", _number(air.get("pm2_5"), " µg/m³")),
        _named(call, "PM10", "PM10", _number(air.get("pm10"), " µg/m³")),
    ]


def _headline(call: Call, row: Json) -> str:
    until = text_of(row.get("expires"))
    tail = call.say(f"（至 {until}）", f" (until {until})") if until else ""
    return text_of(row.get("headline")) + tail


def _full(call: Call, row: Json) -> str:
    texts = [text_of(row.get("text")), text_of(row.get("instruction"))]
    sender = text_of(row.get("sender"))
    issued = text_of(row.get("issued"))
    given = " ".join(filter(None, (sender, issued)))
    head = call.say("预警：", "Alert: ") + _headline(call, row)
    if given:
        head += call.say(f"，{given} 发布", f", issued by {given}" if sender else f", issued {given}")
    return "\n".join([head, *filter(None, texts)])


def _more(call: Call, warned: Json) -> str:
    more = number_of(warned.get("more"))
    return call.say(f"，另有 {more:g} 条", f", and {more:g} more") if more else ""
