"""The weather tools without a key: Open-Meteo's answers, its errors, and units as they come."""

import pytest

from tests.tools.host import Message, answer, module, recorded, recorded_body
from tests.tools.weather_answers import AIR, FORECAST, OPEN_METEO, OPEN_METEO_SOURCE, SEARCH, Table, ask_keyless

NO_ALERTS = "Open-Meteo 不提供灾害预警"
HOURLY: Table = [(FORECAST, recorded("open_meteo/forecast_current_hourly_long_island.json"))]
DOWN: Message = {"error": {"code": "http_failed", "message": "connection refused"}}


def test_the_present_and_the_air_are_asked_side_by_side() -> None:
    played = ask_keyless("now", OPEN_METEO)

    assert played.batches == (1, 2)
    assert played.requests[0] == {
        "type": "http",
        "method": "GET",
        "url": "https://geocoding-api.open-meteo.com/v1/search",
        "query": {"name": "北京", "count": "10", "language": "zh", "format": "json"},
        "desc": "查找地点“北京”",
    }
    forecast, air = played.requests[1:]
    assert (forecast["url"], forecast["desc"]) == ("https://api.open-meteo.com/v1/forecast", "北京：实时天气")
    assert (
        forecast["query"].items()
        >= {
            "latitude": "39.9075",
            "longitude": "116.3972",
            "timezone": "auto",
            "wind_speed_unit": "ms",
            "forecast_days": "1",
        }.items()
    )
    assert air == {
        "type": "http",
        "method": "GET",
        "url": "https://air-quality-api.open-meteo.com/v1/air-quality",
        "query": {
            "latitude": "39.9075",
            "longitude": "116.3972",
            "timezone": "auto",
            "current": "pm2_5,pm10,us_aqi,european_aqi",
        },
        "desc": "北京：空气质量",
    }


def test_the_present_comes_with_the_chance_of_rain_and_the_air() -> None:
    played = ask_keyless("now", OPEN_METEO)

    assert played.result == {
        "type": "result",
        "content": "\n".join(
            [
                "北京现在：阴，18.8°C，体感 19.8°C，湿度 80%，风 1 级（1.3 m/s），降水 0 mm。",
                "今天：小毛毛雨，17.2～26.2°C，降水概率 47%，日出 06:08、日落 18:00。",
                "空气：AQI (US) 26，优，PM2.5 3.4 µg/m³，PM10 6.3 µg/m³。",
                f"注：{NO_ALERTS}。",
                f"来源：{OPEN_METEO_SOURCE}",
            ]
        ),
        "data": {
            "place": {"name": "北京", "adm1": "北京市", "country": "中国", "lat": 39.9075, "lon": 116.39723},
            "now": {
                "at": "2026-09-29 00:45",
                "text": "阴",
                "temp_c": 18.8,
                "feels_c": 19.8,
                "humidity_pct": 80,
                "wind_ms": 1.31,
                "precip_mm": 0.0,
                "today": {
                    "date": "2026-09-29",
                    "text_day": "小毛毛雨",
                    "max_c": 26.2,
                    "min_c": 17.2,
                    "pop_pct": 47,
                    "sunrise": "06:08",
                    "sunset": "18:00",
                },
            },
            "air": {"aqi": "26", "standard": "AQI (US)", "category": "优", "pm2_5": 3.4, "pm10": 6.3},
            "alerts": None,
            "sources": {"now": "open_meteo", "air": "open_meteo"},
            "notes": [NO_ALERTS],
        },
    }


def test_an_english_name_is_answered_in_english() -> None:
    assert ask_keyless("now", OPEN_METEO, location="116.4,39.9").text.splitlines() == [
        (
            "116.4,39.9 now: overcast, 18.8°C, feels like 19.8°C, humidity 80%, wind force 1 (1.3 m/s),"
            " precipitation 0 mm."
        ),
        "Today: light drizzle, 17.2 to 26.2°C, chance of rain 47%, sunrise 06:08, sunset 18:00.",
        "Air: AQI (US) 26, Good, PM2.5 3.4 µg/m³, PM10 6.3 µg/m³.",
        "Note: Open-Meteo gives no weather alerts.",
        f"Source: {OPEN_METEO_SOURCE}",
    ]


def test_days_are_shown_one_a_line() -> None:
    played = ask_keyless("daily", OPEN_METEO, days=1)

    assert played.requests[1]["query"]["forecast_days"] == "1"
    assert played.text.splitlines() == [
        "北京 1 天预报：",
        "2026-09-29：小毛毛雨，17.2～26.2°C，降水概率 47%，日出 06:08、日落 18:00。",
        f"来源：{OPEN_METEO_SOURCE}",
    ]


def test_hours_begin_with_the_present_one() -> None:
    played = ask_keyless("hourly", HOURLY, location="-73.2,40.8", lang="zh", hours=48)

    assert played.requests[0]["query"]["forecast_hours"] == "48"
    assert played.text.splitlines() == [
        "-73.2,40.8未来 6 小时：",
        "2026-08-23 18:00：晴，23.9°C，降水概率 0%。",
        "19:00：晴，22.9°C，降水概率 0%。",
        "20:00：晴，22°C，降水概率 0%。",
        "21:00：晴，21.2°C，降水概率 1%。",
        "22:00：晴，20.6°C，降水概率 0%。",
        "23:00：晴，19.7°C，降水概率 0%。",
        f"注：{NO_ALERTS}。",
        f"来源：{OPEN_METEO_SOURCE}",
    ]


def test_the_present_of_the_other_recorded_answer_has_a_wind_with_a_direction() -> None:
    played = ask_keyless("now", HOURLY, OPEN_METEO, location="-73.2,40.8")

    assert played.text.splitlines()[0] == (
        "-73.2,40.8 now: clear sky, 23.2°C, feels like 25.7°C, humidity 85%, S wind force 2 (3.1 m/s),"
        " precipitation 0 mm."
    )


@pytest.mark.parametrize(
    ("params", "query"),
    [
        ({"days": 10}, "10"),
        ({"days": 99}, "10"),
        ({"days": 0}, "1"),
        ({"days": "7"}, "7"),
        ({"days": [1]}, "3"),
        ({"days": None}, "3"),
        ({}, "3"),
    ],
)
def test_the_number_of_days_stays_within_what_is_offered(params: Message, query: str) -> None:
    assert ask_keyless("daily", OPEN_METEO, **params).requests[1]["query"]["forecast_days"] == query


@pytest.mark.parametrize(
    ("unit", "speed", "text"),
    [("km/h", 36, "10 m/s"), ("m/s", 10, "10 m/s"), ("mp/h", 10, "4.5 m/s"), ("kn", 10, "5.1 m/s"), ("?", 1, "1 m/s")],
)
def test_wind_is_read_in_the_unit_of_the_answer(unit: str, speed: float, text: str) -> None:
    body = {
        "current": {"temperature_2m": 0, "wind_speed_10m": speed, "wind_direction_10m": 315},
        "current_units": {"wind_speed_10m": unit},
    }

    played = ask_keyless("now", [(FORECAST, answer(body))], OPEN_METEO)

    assert played.text.splitlines()[0].endswith(f"（{text}）。")


@pytest.mark.parametrize(
    ("failed", "reason"),
    [
        (
            recorded("open_meteo/error_400_latitude.json", status=400),
            "没有接受请求（HTTP 400 Latitude must be in range of -90 to 90°. Given: 999.0.）",
        ),
        (answer({"error": True, "reason": "Minutely limit"}, status=429), "没有接受请求（HTTP 429 Minutely limit）"),
        (answer({"error": True}), "没有接受请求（HTTP 200）"),
        (answer("<html>", status=502), "回答不是 JSON（HTTP 502）"),
        (answer({}), "回答里没有天气"),
        (answer([]), "回答里没有天气"),
        (DOWN, "连接不上"),
    ],
)
def test_a_failure_of_the_only_service_is_an_error_with_its_reason(failed: Message, reason: str) -> None:
    played = ask_keyless("now", [(FORECAST, failed)], OPEN_METEO)

    assert played.result == {
        "type": "result",
        "content": f"没有查到“北京”的天气。Open-Meteo：{reason}。请稍后再试。",
        "data": {"reasons": [f"Open-Meteo：{reason}"]},
        "is_error": True,
    }


def test_a_failure_of_the_search_is_an_error_with_its_reason() -> None:
    played = ask_keyless("daily", [(SEARCH, DOWN)], location="Beijing")

    assert (played.text, played.result["is_error"]) == (
        ("There is no weather for Beijing. Open-Meteo: not reachable. Try again later."),
        True,
    )


def test_missing_air_is_told_and_is_no_error() -> None:
    played = ask_keyless("now", [(AIR, DOWN)], OPEN_METEO)

    assert "注：空气质量暂缺（Open-Meteo：连接不上）。" in played.text.splitlines()
    assert (played.result["data"]["air"], "is_error" in played.result) == (None, False)


@pytest.mark.parametrize(
    ("aqi", "category"),
    [(50, "优"), (51, "中等"), (101, "对敏感人群不健康"), (151, "不健康"), (201, "非常不健康"), (301, "危险")],
)
def test_the_air_index_is_named_by_its_limits(aqi: int, category: str) -> None:
    played = ask_keyless("now", [(AIR, answer({"current": {"us_aqi": aqi}}))], OPEN_METEO)

    assert f"空气：AQI (US) {aqi}，{category}。" in played.text.splitlines()


def test_every_weather_code_has_a_name_in_both_languages() -> None:
    terms = module("weather", "weather_terms")

    codes = [0, 1, 2, 3, 45, 48, 51, 53, 55, 56, 57, 61, 63, 65, 66, 67, 71, 73, 75, 77, 80, 81, 82, 85, 86, 95, 96, 99]
    assert sorted(terms.WMO) == codes
    assert [code for code in codes if not terms.sky(code, "zh") or not terms.sky(code, "en").isascii()] == []
    assert (terms.sky(4, "zh"), terms.sky(None, "en")) == ("", "")


@pytest.mark.parametrize(
    ("degrees", "zh", "en"),
    [
        (0, "北风", "N"),
        (22, "北风", "N"),
        (23, "东北风", "NE"),
        (180, "南风", "S"),
        (338, "北风", "N"),
        (360, "北风", "N"),
    ],
)
def test_wind_is_named_by_where_it_comes_from(degrees: int, zh: str, en: str) -> None:
    terms = module("weather", "weather_terms")

    assert (terms.wind_name(degrees, "zh"), terms.wind_name(degrees, "en")) == (zh, en)


@pytest.mark.parametrize(("speed", "force"), [(0, 0), (0.3, 1), (5.4, 3), (5.5, 4), (10.8, 6), (32.6, 11), (32.7, 12)])
def test_wind_has_the_force_of_its_speed(speed: float, force: int) -> None:
    assert module("weather", "weather_terms").beaufort(speed) == force


def test_a_late_column_leaves_its_values_out() -> None:
    body = recorded_body("open_meteo/forecast_current_daily_beijing.json")
    body["daily"] |= {"time": ["2026-09-29", "2026-09-30"], "sunrise": []}

    played = ask_keyless("daily", [(FORECAST, answer(body))], OPEN_METEO)

    assert played.text.splitlines()[:2] == ["北京 1 天预报：", "2026-09-29：小毛毛雨，17.2～26.2°C，降水概率 47%。"]
