"""QWeather: the search for cities, and weather API v1 (latitude first in the path, shares of 0 to 1, m/s, metres).

Source: dev.qweather.com, docs of 2026-07.
"""

from weather_failure import QWEATHER, checked_qweather, without
from weather_fields import (
    Json,
    degrees_of,
    filled,
    line_of,
    metric,
    number_of,
    object_of,
    objects_of,
    percent_of,
    text_of,
    whole_of,
)
from weather_place import CHINA, Place, Sought, bare
from weather_records import MAX_DAYS, MAX_HOURS, alert, alerts, clock, record, some
from weather_step import KEY, Call, get
from weather_terms import level_name

RANK_STEP = 10.0  # ranks count down; one that is 10 better stands for a much bigger place
PATHS = {
    "now": "/weather/v1/current",
    "today": "/weather/v1/daily",
    "daily": "/weather/v1/daily",
    "hourly": "/weather/v1/hourly",
    "air": "/airquality/v1/current",
    "alerts": "/weatheralert/v1/current",
}
DESCS = {
    "now": ("实时天气", "current weather"),
    "today": ("今天的预报", "today's forecast"),
    "daily": ("逐日预报", "daily forecast"),
    "hourly": ("逐小时预报", "hourly forecast"),
    "air": ("空气质量", "air quality"),
    "alerts": ("灾害预警", "weather alerts"),
}


def request(call: Call, path: str, query: Json, desc: str) -> Json:
    """Ask the account's host; the key is filled in by the host of this program."""
    query = {**query, "lang": call.lang}
    return get(f"https://{call.host}{path}", query, desc, {"X-QW-Api-Key": f"${{{KEY}}}"})


def ask_city(call: Call, sought: Sought) -> Json:
    """Search a city or district by its name."""
    desc = call.say(f"查找地点“{sought.name}”", f"Look up the place {sought.name}")
    query = {"location": sought.name, "adm": sought.adm, "number": 10}
    return request(call, "/geo/v2/city/lookup", query, desc)


def read_cities(response: Json) -> list[Place]:
    """Read the hits of a search.

    Raises:
        ServiceFailure: See `checked_qweather`; kind none or gone where the place is unknown.
    """
    hits = objects_of(checked_qweather(response).get("location"))
    return [_city(hit) for hit in hits if line_of(hit.get("name"))]


def _city(hit: Json) -> Place:
    """Read a hit; a district of a Chinese city has another name than what it lies in."""
    name, adm1, adm2, country = (line_of(hit.get(key)) for key in ("name", "adm1", "adm2", "country"))
    return Place(
        name=name,
        adm1=adm1,
        adm2=adm2,
        country=country,
        lat=number_of(hit.get("lat")),
        lon=number_of(hit.get("lon")),
        weight=-(number_of(hit.get("rank")) or 100.0) / RANK_STEP,
        is_city=country not in CHINA or bare(name) in (bare(adm1), bare(adm2)),
    )


def ask(call: Call, place: Place, part: str) -> Json:
    """Ask for one part of the weather at a place."""
    more: Json = {"localTime": "true"} if part != "air" else {}
    if part in ("daily", "today"):
        more["days"] = call.whole("days", default=3, high=MAX_DAYS) if part == "daily" else 1
    if part == "hourly":
        more["hours"] = call.whole("hours", default=24, high=MAX_HOURS)
    desc = call.say(f"{place.name}：{DESCS[part][0]}", f"{place.name}: {DESCS[part][1]}")
    return request(call, f"{PATHS[part]}/{place.lat:.2f}/{place.lon:.2f}", more, desc)


def read(call: Call, part: str, response: Json) -> Json:
    """Read one part of the weather out of an answer.

    Raises:
        ServiceFailure: QWeather reports an error, or the answer lacks what was asked for.
    """
    body = checked_qweather(response)
    match part:
        case "now":
            now = record(_conditions(body))
            if not now:
                raise without(QWEATHER, "天气", "weather")
            return now
        case "air":
            return _air(call, body)
        case "alerts":
            return _alerts(body)
        case "hourly":
            hours = [_hour(hour) for hour in objects_of(body.get("hours"))]
            return some(hours[: call.whole("hours", default=24, high=MAX_HOURS)], QWEATHER, "hours", "逐小时预报")
        case _:
            days = [_day(day) for day in objects_of(body.get("days"))]
            return some(days[: call.whole("days", default=3, high=MAX_DAYS)], QWEATHER, "days", "逐日预报")


def _conditions(body: Json) -> Json:
    """Read the fields that the present and an hour have in common."""
    wind = object_of(body.get("wind"))
    rain = object_of(body.get("precipitation"))
    return {
        "text": line_of(object_of(body.get("condition")).get("text")),
        "temp_c": metric(body.get("temperature")),
        "feels_c": metric(body.get("feelsLike")),
        "humidity_pct": percent_of(body.get("humidity")),
        "wind_ms": metric(wind.get("speed")),
        "wind_scale": line_of(wind.get("scale")),
        "wind_deg": degrees_of(object_of(wind.get("direction")).get("degree")),
        "gust_ms": metric(body.get("windGust")),
        "precip_mm": metric(rain.get("amount")),
        "pop_pct": percent_of(rain.get("probability")),
        "pressure_hpa": metric(body.get("pressure")),
        "visibility_m": metric(body.get("visibility")),
        "cloud_pct": percent_of(body.get("cloudCover")),
        "uv": whole_of(body.get("uvIndex")),
    }


def _hour(hour: Json) -> Json:
    return record({"at": clock(hour.get("forecastTime")), **_conditions(hour)})


def _day(day: Json) -> Json:
    """Read a day; its date is that of its daytime, as its own start may be the evening before in UTC."""
    light, dark = object_of(day.get("daytime")), object_of(day.get("nighttime"))
    halves = [object_of(half.get("precipitation")) for half in (light, dark)]
    chances = [chance for half in halves if (chance := percent_of(half.get("probability"))) is not None]
    amounts = [amount for half in halves if (amount := metric(half.get("amount"))) is not None]
    astro = object_of(day.get("astro"))
    starts = (light.get("forecastStartTime"), astro.get("sunrise"), day.get("forecastStartTime"))
    wind = object_of(light.get("wind"))
    return record(
        {
            "date": next((at[:10] for start in starts if (at := clock(start))), ""),
            "text_day": line_of(object_of(light.get("condition")).get("text")),
            "text_night": line_of(object_of(dark.get("condition")).get("text")),
            "max_c": metric(day.get("temperatureMax")),
            "min_c": metric(day.get("temperatureMin")),
            "pop_pct": max(chances, default=None),
            "precip_mm": round(sum(amounts), 2) if amounts else None,
            "wind_ms": metric(wind.get("speed")),
            "wind_scale": line_of(wind.get("scale")),
            "wind_deg": degrees_of(object_of(wind.get("direction")).get("degree")),
            "uv": whole_of(day.get("uvIndexMax")),
            "sunrise": clock(astro.get("sunrise"))[11:],
            "sunset": clock(astro.get("sunset"))[11:],
        }
    )


def _air(call: Call, body: Json) -> Json:
    """Read the local index before QWeather's own one, and one of a day before one of an hour."""
    found = [index for index in objects_of(body.get("indexes")) if number_of(index.get("aqi")) is not None]
    found.sort(key=lambda index: (text_of(index.get("code")) == "qaqi", text_of(index.get("code")).endswith("-1h")))
    dust = {text_of(one.get("code")): metric(one.get("concentration")) for one in objects_of(body.get("pollutants"))}
    if not found:
        raise without(QWEATHER, "空气质量", "air quality")
    index = found[0]
    code = text_of(index.get("code"))
    return filled(
        {
            "aqi": line_of(index.get("aqiDisplay")) or line_of(index.get("aqi")),
            "standard": line_of(index.get("name")) or code,
            "category": level_name(code, whole_of(index.get("level")), call.lang) or line_of(index.get("category")),
            "primary": line_of(object_of(index.get("primaryPollutant")).get("name")),
            "pm2_5": dust.get("pm2p5"),
            "pm10": dust.get("pm10"),
        }
    )


def _alerts(body: Json) -> Json:
    metadata = object_of(body.get("metadata"))
    is_none = metadata.get("zeroResult") is True
    return alerts(body.get("alerts"), _alert, is_none=is_none, credit=metadata.get("attributions"))


def _alert(one: Json) -> Json | None:
    if text_of(object_of(one.get("messageType")).get("code")) == "cancel":
        return None
    return alert(
        {
            **one,
            "type": object_of(one.get("eventType")).get("name"),
            "color": object_of(one.get("color")).get("code"),
            "sender": one.get("senderName"),
            "issued": one.get("issuedTime"),
            "expires": one.get("expireTime"),
            "text": one.get("description"),
        }
    )
