"""Open-Meteo: weather without a key, for non-commercial use, under CC BY 4.0. It has no alerts.

Source: open-meteo.com/en/docs. The units of an answer stand beside its values.
"""

from itertools import zip_longest
from math import log

from weather_failure import OPEN_METEO, checked_open_meteo, without
from weather_fields import (
    Json,
    degrees_of,
    filled,
    line_of,
    list_of,
    metric,
    number_of,
    object_of,
    objects_of,
    whole_of,
)
from weather_place import DISTRICTS, Place, Sought, bare
from weather_records import MAX_DAYS, MAX_HOURS, clock, record, some
from weather_step import Call, get
from weather_terms import level_name, sky, us_level

SEARCH = "https://geocoding-api.open-meteo.com/v1/search"
FORECAST = "https://api.open-meteo.com/v1/forecast"
AIR = "https://air-quality-api.open-meteo.com/v1/air-quality"
LICENCE = "https://open-meteo.com/ (CC BY 4.0)"
LIKELIER = 5  # times as many people make a place far more likely to be meant
PARTS = ("now", "air", "daily", "hourly")

NOW = (
    "temperature_2m,relative_humidity_2m,apparent_temperature,precipitation,weather_code,cloud_cover,"
    "pressure_msl,wind_speed_10m,wind_direction_10m,wind_gusts_10m"
)
DAILY = (
    "weather_code,temperature_2m_max,temperature_2m_min,precipitation_sum,precipitation_probability_max,"
    "wind_speed_10m_max,wind_direction_10m_dominant,uv_index_max,sunrise,sunset"
)
HOURLY = (
    "temperature_2m,relative_humidity_2m,apparent_temperature,precipitation_probability,precipitation,"
    "weather_code,wind_speed_10m,wind_direction_10m"
)


def ask_city(call: Call, sought: Sought) -> Json:
    """Search a city by its name; it knows no districts of Chinese cities."""
    name = bare(sought.name) if call.lang == "zh" and not sought.is_district else sought.name
    desc = call.say(f"查找地点“{name}”", f"Look up the place {name}")
    return get(SEARCH, {"name": name, "count": 10, "language": call.lang, "format": "json"}, desc)


def read_cities(response: Json, sought: Sought) -> list[Place]:
    """Read the hits of a search; there is no list where nothing was found.

    A city is no answer to the name of a district: 朝阳区 is in Beijing, 朝阳 in Liaoning.

    Raises:
        ServiceFailure: See `checked_open_meteo`.
    """
    return [
        Place(
            name=line_of(hit.get("name")),
            adm1=line_of(hit.get("admin1")),
            adm2=line_of(hit.get("admin2")),
            country=line_of(hit.get("country")),
            lat=number_of(hit.get("latitude")),
            lon=number_of(hit.get("longitude")),
            weight=log(max(1.0, number_of(hit.get("population")) or 1.0), LIKELIER),
        )
        for hit in objects_of(checked_open_meteo(response).get("results"))
        if line_of(hit.get("name")) and (not sought.is_district or line_of(hit.get("name")).endswith(DISTRICTS))
    ]


def ask(call: Call, place: Place, part: str) -> Json:
    """Ask for one part of the weather at a place."""
    where: Json = {"latitude": f"{place.lat:.4f}", "longitude": f"{place.lon:.4f}", "timezone": "auto"}
    match part:
        case "air":
            desc = call.say(f"{place.name}：空气质量", f"{place.name}: air quality")
            return get(AIR, {**where, "current": "pm2_5,pm10,us_aqi,european_aqi"}, desc)
        case "now":
            more: Json = {"current": NOW, "daily": DAILY, "forecast_days": 1}
            desc = call.say(f"{place.name}：实时天气", f"{place.name}: current weather")
        case "hourly":
            hours = call.whole("hours", default=24, high=MAX_HOURS)
            more = {"current": "weather_code", "hourly": HOURLY, "forecast_hours": hours}
            desc = call.say(f"{place.name}：逐小时预报", f"{place.name}: hourly forecast")
        case _:
            more = {"daily": DAILY, "forecast_days": call.whole("days", default=3, high=MAX_DAYS)}
            desc = call.say(f"{place.name}：逐日预报", f"{place.name}: daily forecast")
    return get(FORECAST, {**where, "wind_speed_unit": "ms", **more}, desc)


def read(call: Call, part: str, response: Json) -> Json:
    """Read one part of the weather out of an answer.

    Raises:
        ServiceFailure: Open-Meteo reports an error, or the answer lacks what was asked for.
    """
    body = checked_open_meteo(response)
    match part:
        case "now":
            return _now(call, body)
        case "air":
            return _air(call, object_of(body.get("current")))
        case "hourly":
            since = clock(object_of(body.get("current")).get("time"))[:13]
            hours = [_conditions(call, row, units) for row, units in _rows(body, "hourly")]
            hours = [hour for hour in hours if str(hour.get("at", "9")) >= since]
            return some(hours[: call.whole("hours", default=24, high=MAX_HOURS)], OPEN_METEO, "hours", "逐小时预报")
        case _:
            days = [_day(call, row, units) for row, units in _rows(body, "daily")]
            return some(days[: call.whole("days", default=3, high=MAX_DAYS)], OPEN_METEO, "days", "逐日预报")


def _rows(body: Json, name: str) -> list[tuple[Json, Json]]:
    """Turn columns of one length into rows, each with the units of its columns."""
    columns = {key: list_of(column) for key, column in object_of(body.get(name)).items()}
    units = object_of(body.get(f"{name}_units"))
    rows = zip_longest(*columns.values())
    return [(dict(zip(columns, row, strict=True)), units) for row in rows]


def _now(call: Call, body: Json) -> Json:
    now = _conditions(call, object_of(body.get("current")), object_of(body.get("current_units")))
    if not now:
        raise without(OPEN_METEO, "天气", "weather")
    days = [_day(call, row, units) for row, units in _rows(body, "daily")]
    return {**now, "today": days[0]} if days and days[0] else now


def _conditions(call: Call, row: Json, units: Json) -> Json:
    """Read the fields that the present and an hour have in common."""
    return record(
        {
            "at": clock(row.get("time")),
            "text": sky(whole_of(row.get("weather_code")), call.lang),
            "temp_c": metric(row.get("temperature_2m"), units.get("temperature_2m")),
            "feels_c": metric(row.get("apparent_temperature"), units.get("apparent_temperature")),
            "humidity_pct": whole_of(row.get("relative_humidity_2m")),
            "wind_ms": metric(row.get("wind_speed_10m"), units.get("wind_speed_10m")),
            "wind_deg": degrees_of(row.get("wind_direction_10m")),
            "gust_ms": metric(row.get("wind_gusts_10m"), units.get("wind_gusts_10m")),
            "precip_mm": metric(row.get("precipitation"), units.get("precipitation")),
            "pop_pct": whole_of(row.get("precipitation_probability")),
            "pressure_hpa": metric(row.get("pressure_msl"), units.get("pressure_msl")),
            "cloud_pct": whole_of(row.get("cloud_cover")),
        }
    )


def _day(call: Call, row: Json, units: Json) -> Json:
    return record(
        {
            "date": line_of(row.get("time"), limit=10),
            "text_day": sky(whole_of(row.get("weather_code")), call.lang),
            "max_c": metric(row.get("temperature_2m_max"), units.get("temperature_2m_max")),
            "min_c": metric(row.get("temperature_2m_min"), units.get("temperature_2m_min")),
            "pop_pct": whole_of(row.get("precipitation_probability_max")),
            "precip_mm": metric(row.get("precipitation_sum"), units.get("precipitation_sum")),
            "wind_ms": metric(row.get("wind_speed_10m_max"), units.get("wind_speed_10m_max")),
            "wind_deg": degrees_of(row.get("wind_direction_10m_dominant")),
            "uv": whole_of(row.get("uv_index_max")),
            "sunrise": clock(row.get("sunrise"))[11:],
            "sunset": clock(row.get("sunset"))[11:],
        }
    )


def _air(call: Call, now: Json) -> Json:
    aqi = number_of(now.get("us_aqi"))
    dust = {name: metric(now.get(name)) for name in ("pm2_5", "pm10")}
    if aqi is None and dust["pm2_5"] is None:
        raise without(OPEN_METEO, "空气质量", "air quality")
    return filled(
        {
            "aqi": "" if aqi is None else f"{aqi:g}",
            "standard": "" if aqi is None else "AQI (US)",
            "category": "" if aqi is None else level_name("us-epa", us_level(aqi), call.lang),
            "european_aqi": whole_of(now.get("european_aqi")),
            **dust,
        }
    )
