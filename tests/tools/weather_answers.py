"""What the weather services answer in tests: recorded bodies, by the part of the address that they belong to."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from tests.tools.host import Matcher, Message, Played, answer, play, recorded

HOST = "abc123.re.qweatherapi.com"
ENV = {"QWEATHER_HOST": HOST}
KEYED = ("QWEATHER_KEY",)
SEARCH = ("GET", "geocoding-api.open-meteo.com", "/v1/search")
FORECAST = ("GET", "api.open-meteo.com", "/v1/forecast")
AIR = ("GET", "air-quality-api.open-meteo.com", "/v1/air-quality")
GONE = answer({}, status=404)

Table = list[tuple[Matcher, Message]]


def at(path: str) -> Matcher:
    """Match what is sent to the QWeather host with a path that begins with `path`."""

    def fits(request: Message) -> bool:
        parts = urlsplit(request["url"])
        return parts.hostname == HOST and parts.path.startswith(path)

    return fits


CITY: Table = [(at("/geo/v2/city/lookup"), recorded("qweather_v7/geo_city_lookup_several_beij.json"))]
V1: Table = [
    (at("/weather/v1/current/"), recorded("qweather_v1/weather_v1_current.json")),
    (at("/weather/v1/daily/"), recorded("qweather_v1/weather_v1_daily.json")),
    (at("/weather/v1/hourly/"), recorded("qweather_v1/weather_v1_hourly.json")),
    (at("/airquality/v1/current/"), recorded("qweather_v1/airquality_v1_current.json")),
    (at("/weatheralert/v1/current/"), recorded("qweather_v1/weatheralert_v1_current.json")),
]
V7: Table = [
    (at("/v7/weather/now"), recorded("qweather_v7/weather_now_beijing.json")),
    (at("/v7/weather/3d"), recorded("qweather_v7/weather_3d_beijing.json")),
    (at("/v7/weather/24h"), recorded("qweather_v7/weather_24h_beijing.json")),
    (at("/v7/air/now"), recorded("qweather_v7/air_now_v7.json")),
    (at("/v7/warning/now"), recorded("qweather_v7/warning_now_shanghai.json")),
]
NO_V1: Table = [(at(path), GONE) for path in ("/weather/v1/", "/airquality/v1/", "/weatheralert/v1/")]
OPEN_METEO: Table = [
    (SEARCH, recorded("open_meteo/geocoding_beijing.json")),
    (FORECAST, recorded("open_meteo/forecast_current_daily_beijing.json")),
    (AIR, recorded("open_meteo/air_quality_london.json")),
]
OPEN_METEO_SOURCE = "Open-Meteo https://open-meteo.com/ (CC BY 4.0)"


def ask(
    command: str,
    *answers: Table,
    location: Any = "北京",
    secrets: tuple[str, ...] = KEYED,
    env: Mapping[str, str] = ENV,
    as_process: bool = False,
    **params: Any,
) -> Played:
    """Serve a whole call with QWeather set up; the first table that has an answer gives it."""
    table = [row for rows in answers for row in rows]
    given = {"location": location, **params}
    return play(f"weather_{command}", given, table, secrets=secrets, env=env, as_process=as_process)


def ask_keyless(command: str, *answers: Table, location: Any = "北京", **params: Any) -> Played:
    """Serve a whole call without a key."""
    return ask(command, *answers, location=location, secrets=(), env={}, **params)


def paths(played: Played) -> list[str]:
    """Return the paths of the requests, in order."""
    return [urlsplit(request["url"]).path for request in played.requests]
