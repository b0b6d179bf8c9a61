"""QWeather's web API v7, which is being switched off (texts for numbers, `lon,lat`, km/h, kilometres).

Source: dev.qweather.com, docs of 2026-07; `code` is "200" on success.
"""

from weather_failure import QWEATHER, checked_qweather, without
from weather_fields import Json, degrees_of, filled, line_of, metric, object_of, objects_of, text_of, whole_of
from weather_place import Place
from weather_qweather import DESCS, request
from weather_records import MAX_DAYS, MAX_HOURS, alert, alerts, clock, record, some
from weather_step import Call
from weather_terms import level_name

PATHS = {"now": "/v7/weather/now", "air": "/v7/air/now", "alerts": "/v7/warning/now"}
SPANS = {"days": (3, 7, MAX_DAYS), "hours": (24, MAX_HOURS)}


def ask(call: Call, place: Place, part: str) -> Json:
    """Ask for one part of the weather at a place; a forecast comes in fixed spans."""
    path = PATHS.get(part, "")
    if part in ("daily", "today"):
        days = call.whole("days", default=3, high=MAX_DAYS) if part == "daily" else 1
        path = f"/v7/weather/{next(span for span in SPANS['days'] if span >= days)}d"
    if part == "hourly":
        hours = call.whole("hours", default=24, high=MAX_HOURS)
        path = f"/v7/weather/{next(span for span in SPANS['hours'] if span >= hours)}h"
    desc = call.say(f"{place.name}：{DESCS[part][0]}（v7）", f"{place.name}: {DESCS[part][1]} (v7)")
    return request(call, path, {"location": f"{place.lon:.2f},{place.lat:.2f}"}, desc)


def read(call: Call, part: str, response: Json) -> Json:
    """Read one part of the weather out of an answer.

    Raises:
        ServiceFailure: QWeather reports an error, or the answer lacks what was asked for.
    """
    body = checked_qweather(response)
    match part:
        case "now":
            seen = object_of(body.get("now"))
            now = record({"at": clock(seen.get("obsTime")), **_conditions(seen)})
            if not now:
                raise without(QWEATHER, "天气", "weather")
            return now
        case "air":
            return _air(call, object_of(body.get("now")))
        case "alerts":
            return _alerts(body)
        case "hourly":
            hours = [
                record({"at": clock(hour.get("fxTime")), **_conditions(hour)})
                for hour in objects_of(body.get("hourly"))
            ]
            return some(hours[: call.whole("hours", default=24, high=MAX_HOURS)], QWEATHER, "hours", "逐小时预报")
        case _:
            days = [_day(day) for day in objects_of(body.get("daily"))]
            return some(days[: call.whole("days", default=3, high=MAX_DAYS)], QWEATHER, "days", "逐日预报")


def _conditions(now: Json) -> Json:
    return {
        "text": line_of(now.get("text")),
        "temp_c": metric(now.get("temp")),
        "feels_c": metric(now.get("feelsLike")),
        "humidity_pct": whole_of(now.get("humidity")),
        "wind_ms": metric(now.get("windSpeed"), "km/h"),
        "wind_scale": line_of(now.get("windScale")),
        "wind_deg": degrees_of(now.get("wind360")),
        "precip_mm": metric(now.get("precip")),
        "pop_pct": whole_of(now.get("pop")),
        "pressure_hpa": metric(now.get("pressure")),
        "visibility_m": metric(now.get("vis"), "km"),
        "cloud_pct": whole_of(now.get("cloud")),
    }


def _day(day: Json) -> Json:
    return record(
        {
            "date": text_of(day.get("fxDate"), limit=10),
            "text_day": line_of(day.get("textDay")),
            "text_night": line_of(day.get("textNight")),
            "max_c": metric(day.get("tempMax")),
            "min_c": metric(day.get("tempMin")),
            "precip_mm": metric(day.get("precip")),
            "wind_ms": metric(day.get("windSpeedDay"), "km/h"),
            "wind_scale": line_of(day.get("windScaleDay")),
            "wind_deg": degrees_of(day.get("wind360Day")),
            "uv": whole_of(day.get("uvIndex")),
            "sunrise": text_of(day.get("sunrise"), limit=5),
            "sunset": text_of(day.get("sunset"), limit=5),
        }
    )


def _air(call: Call, now: Json) -> Json:
    if metric(now.get("aqi")) is None:
        raise without(QWEATHER, "空气质量", "air quality")
    primary = line_of(now.get("primary"))
    return filled(
        {
            "aqi": line_of(now.get("aqi")),
            "standard": "AQI (CN)",
            "category": level_name("cn-mee", whole_of(now.get("level")), call.lang) or line_of(now.get("category")),
            "primary": "" if primary == "NA" else primary,
            "pm2_5": metric(now.get("pm2p5")),
            "pm10": metric(now.get("pm10")),
        }
    )


def _alerts(body: Json) -> Json:
    credit = object_of(body.get("refer")).get("sources")
    return alerts(body.get("warning"), _alert, is_none=False, credit=credit)


def _alert(one: Json) -> Json | None:
    if text_of(one.get("status")) == "cancel":
        return None
    return alert(
        {
            **one,
            "headline": one.get("title"),
            "type": one.get("typeName"),
            "color": one.get("severityColor"),
            "issued": one.get("pubTime"),
            "expires": one.get("endTime"),
        }
    )
