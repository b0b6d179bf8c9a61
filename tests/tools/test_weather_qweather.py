"""The weather tools with QWeather: v1, v7 where v1 has not the interface, and what its errors lead to."""

import pytest

from tests.tools.host import Message, answer, recorded, recorded_body
from tests.tools.weather_answers import (
    AIR,
    CITY,
    FORECAST,
    GONE,
    HOST,
    NO_V1,
    OPEN_METEO,
    OPEN_METEO_SOURCE,
    V1,
    V7,
    ask,
    ask_keyless,
    at,
    paths,
)

KEY_HEADER = {"X-QW-Api-Key": "${QWEATHER_KEY}"}
CREDIT = "https://developer.qweather.com/attribution.html"
LATE = "当前预警数据可能存在延迟或信息过时，以官方数据发布为准。"
NO_ADDRESS: Message = {"error": {"code": "http_failed", "message": "the host 'x' has no address: unknown"}}
NOTHING_FROM_OPEN_METEO = "注：Open-Meteo 不提供灾害预警。"


def request(path: str, query: Message, desc: str) -> Message:
    return {
        "type": "http",
        "method": "GET",
        "url": f"https://{HOST}{path}",
        "query": query,
        "headers": KEY_HEADER,
        "desc": desc,
    }


def test_the_present_is_asked_side_by_side_with_the_latitude_first() -> None:
    played = ask("now", CITY, V1)

    assert played.batches == (1, 4)
    assert list(played.requests) == [
        request("/geo/v2/city/lookup", {"location": "北京", "number": "10", "lang": "zh"}, "查找地点“北京”"),
        request("/weather/v1/current/39.90/116.41", {"localTime": "true", "lang": "zh"}, "北京：实时天气"),
        request("/airquality/v1/current/39.90/116.41", {"lang": "zh"}, "北京：空气质量"),
        request("/weatheralert/v1/current/39.90/116.41", {"localTime": "true", "lang": "zh"}, "北京：灾害预警"),
        request("/weather/v1/daily/39.90/116.41", {"localTime": "true", "days": "1", "lang": "zh"}, "北京：今天的预报"),
    ]


def test_the_present_comes_with_air_and_alerts_in_one_short_answer() -> None:
    played = ask("now", CITY, V1)

    assert played.text.splitlines() == [
        "北京现在：少云，31.7°C，体感 33.6°C，湿度 69%，西南风 3 级（4.7 m/s），降水 0 mm，能见度 29 km。",
        (
            "今天：小雨转晴间多云，20.9～29.9°C，降水概率 64%，降水 0.8 mm，西风 2 级（1.9 m/s），"
            "日出 04:22 UTC、日落 19:34 UTC。"
        ),
        "空气：AQI (US) 46，优，首要污染物 PM 2.5，PM2.5 11 µg/m³，PM10 12 µg/m³。",
        "预警：临桂区气象台更新大风蓝色预警信号（至 2025-10-25 11:19）。",
        f"来源：和风天气 QWeather；{CREDIT}；{LATE}",
    ]
    assert "is_error" not in played.result
    facts = played.result["data"]
    assert facts["place"] == {
        "name": "北京",
        "adm1": "北京市",
        "adm2": "北京",
        "country": "中国",
        "lat": 39.90498,
        "lon": 116.40528,
    }
    assert facts["now"] == {
        "text": "少云",
        "temp_c": 31.71,
        "feels_c": 33.64,
        "humidity_pct": 69,
        "wind_ms": 4.74,
        "wind_scale": "3",
        "wind_deg": 226,
        "gust_ms": 7.07,
        "precip_mm": 0.0,
        "pressure_hpa": 1001.5,
        "visibility_m": 29020.0,
        "cloud_pct": 5,
        "uv": 3,
    }
    assert facts["air"] == {
        "aqi": "46",
        "standard": "AQI (US)",
        "category": "优",
        "primary": "PM 2.5",
        "pm2_5": 11.0,
        "pm10": 12.0,
    }
    assert [alert["headline"] for alert in facts["alerts"]] == ["临桂区气象台更新大风蓝色预警信号"]
    assert facts["sources"] == dict.fromkeys(("now", "air", "alerts", "today"), "qweather_v1")
    assert facts["notes"] == []


def test_no_alert_is_said_where_the_service_says_so() -> None:
    played = ask("now", [(at("/weatheralert/"), recorded("qweather_v1/weatheralert_v1_none.json"))], CITY, V1)

    assert "预警：目前没有。" in played.text.splitlines()
    assert played.text.endswith("\n来源：和风天气 QWeather")
    assert played.result["data"]["alerts"] == []


@pytest.mark.parametrize("body", [{}, {"alerts": None}, {"alerts": [{}]}, {"alerts": [1]}, {"metadata": {}}])
def test_an_answer_without_a_readable_list_of_alerts_is_not_taken_for_none(body: Message) -> None:
    played = ask("now", [(at("/weatheralert/"), answer(body))], CITY, V1)

    assert "注：灾害预警暂缺（和风天气 QWeather：回答里没有预警）。" in played.text.splitlines()
    assert played.result["data"]["alerts"] is None


def test_a_cancelled_alert_is_none() -> None:
    v1 = recorded_body("qweather_v1/weatheralert_v1_current.json")
    v1["alerts"][0]["messageType"]["code"] = "cancel"
    v7 = recorded_body("qweather_v7/warning_now_shanghai.json")
    v7["warning"][0]["status"] = "cancel"

    for table in ([(at("/weatheralert/"), answer(v1))], [(at("/v7/warning/"), answer(v7)), *NO_V1]):
        played = ask("now", table, CITY, V1, V7)
        assert (played.result["data"]["alerts"], played.result["data"]["notes"]) == ([], [])


def test_more_alerts_than_fit_are_counted() -> None:
    body = recorded_body("qweather_v1/weatheralert_v1_current.json")
    body["alerts"] = body["alerts"] * 7

    played = ask("hourly", [(at("/weatheralert/"), answer(body))], CITY, V1)

    assert played.text.splitlines().count("预警，另有 2 条。") == 1
    assert len(played.result["data"]["alerts"]) == 5


def test_days_are_asked_and_shown_with_their_own_date() -> None:
    played = ask("daily", CITY, V1, days=2)

    assert played.requests[1]["query"] == {"localTime": "true", "days": "2", "lang": "zh"}
    assert played.text.splitlines() == [
        "北京 2 天预报：",
        (
            "2024-08-11：小雨转晴间多云，20.9～29.9°C，降水概率 64%，降水 0.8 mm，西风 2 级（1.9 m/s），"
            "日出 04:22 UTC、日落 19:34 UTC。"
        ),
        (
            "2024-08-12：多云转晴间多云，19.7～29.2°C，降水概率 0%，降水 0 mm，北风 2 级（1.6 m/s），"
            "日出 04:23 UTC、日落 19:32 UTC。"
        ),
        "来源：和风天气 QWeather",
    ]
    assert played.result["data"]["days"][1]["max_c"] == 29.24


def test_hours_come_with_the_alerts_in_full() -> None:
    played = ask("hourly", CITY, V1, location="116.4,39.9", lang="zh", hours=2)

    assert paths(played) == ["/weather/v1/hourly/39.90/116.40", "/weatheralert/v1/current/39.90/116.40"]
    lines = played.text.splitlines()
    assert lines[:5] == [
        "116.4,39.9未来 2 小时：",
        "2024-05-31 03:00 UTC：Overcast，31.1°C，降水概率 31%，降水 0.1 mm，西南风 3 级（3.4 m/s）。",
        "04:00 UTC：Cloudy，31°C，降水概率 30%，降水 0.2 mm，西南风 2 级（3.3 m/s）。",
        "预警：临桂区气象台更新大风蓝色预警信号（至 2025-10-25 11:19），临桂区气象台 2025-10-24 11:19 发布",
        "临桂区气象台24日11时19分继续发布大风蓝色预警信号：预计未来24小时内临桂将出现6级（或阵风7级）以上大风，请做好防范。",
    ]
    assert lines[5].startswith("1. 政府及有关部门")
    assert lines[-1] == f"来源：和风天气 QWeather；{CREDIT}；{LATE}"


def test_v7_is_asked_with_the_longitude_first_where_v1_is_not_there() -> None:
    played = ask("now", CITY, NO_V1, V7)

    assert played.batches == (1, 4, 4)
    assert [(one["url"].removeprefix(f"https://{HOST}"), one["query"]) for one in played.requests[5:]] == [
        ("/v7/weather/now", {"location": "116.41,39.90", "lang": "zh"}),
        ("/v7/air/now", {"location": "116.41,39.90", "lang": "zh"}),
        ("/v7/warning/now", {"location": "116.41,39.90", "lang": "zh"}),
        ("/v7/weather/3d", {"location": "116.41,39.90", "lang": "zh"}),
    ]
    assert played.text.splitlines() == [
        "北京现在：多云，24°C，体感 26°C，湿度 72%，东南风 1 级（0.8 m/s），降水 0 mm，能见度 16 km。",
        "今天：多云转晴，-1～12°C，降水 0 mm，东北风 1-2 级（0.8 m/s），日出 06:58、日落 16:59。",
        "空气：AQI (CN) 28，优，PM2.5 5 µg/m³，PM10 28 µg/m³。",
        "预警：上海中心气象台发布大风蓝色预警[Ⅳ级/一般]（至 2023-04-04 10:30）。",
        f"来源：和风天气 QWeather v7；{CREDIT}",
    ]


@pytest.mark.parametrize(("status", "asks_v7"), [(404, True), (405, True), (410, True), (204, False), (500, False)])
def test_v7_is_asked_only_where_the_interface_is_missing(status: int, *, asks_v7: bool) -> None:
    played = ask("daily", [(at("/weather/v1/daily"), answer({}, status=status))], CITY, V7, OPEN_METEO)

    assert [path for path in paths(played) if path.startswith("/v7/")] == (["/v7/weather/3d"] if asks_v7 else [])
    assert played.result["data"]["sources"] == {"daily": "qweather_v7" if asks_v7 else "open_meteo"}


@pytest.mark.parametrize(("days", "path"), [(1, "3d"), (3, "3d"), (4, "7d"), (7, "7d"), (8, "10d"), (10, "10d")])
def test_v7_gives_days_in_fixed_spans_that_are_cut(days: int, path: str) -> None:
    span = (at(f"/v7/weather/{path}"), recorded("qweather_v7/weather_3d_beijing.json"))

    played = ask("daily", CITY, NO_V1, [span], days=days)

    assert paths(played)[-1] == f"/v7/weather/{path}"
    assert len(played.result["data"]["days"]) == min(days, 3)


def test_v7_gives_hours_and_every_third_is_shown_of_a_long_forecast() -> None:
    body = recorded_body("qweather_v7/weather_24h_beijing.json")
    long = {**body, "hourly": body["hourly"] * 3}

    day = ask("hourly", CITY, NO_V1, V7)
    days = ask("hourly", CITY, NO_V1, [(at("/v7/weather/72h"), answer(long))], V7, hours=72)

    lines = day.text.splitlines()
    assert lines[:3] == [
        "北京未来 24 小时：",
        "2021-02-16 15:00：晴，2°C，降水概率 0%，西北风 3-4 级（5.6 m/s）。",
        "16:00：晴，1°C，降水概率 0%，北风 3-4 级（6.7 m/s）。",
    ]
    assert lines[-3].startswith(
        "预警：上海中心气象台发布大风蓝色预警[Ⅳ级/一般]（至 2023-04-04 10:30），上海中心气象台 "
    )
    assert days.text.splitlines()[0] == "北京未来 72 小时（每 3 小时）："
    assert (len(days.result["data"]["hours"]), days.text.count("°C")) == (72, 24)


def test_only_the_part_that_v1_lacks_is_asked_from_v7() -> None:
    none = (at("/v7/warning/now"), recorded("qweather_v7/warning_now_none.json"))

    played = ask("now", [(at("/weatheralert/"), GONE), none], CITY, V1)

    assert (played.batches, paths(played)[-1]) == ((1, 4, 1), "/v7/warning/now")
    assert "预警：目前没有。" in played.text.splitlines()
    assert played.text.endswith("来源：和风天气 QWeather；和风天气 QWeather v7")


def test_air_that_qweather_lacks_comes_from_open_meteo() -> None:
    played = ask("now", [(at("/airquality/"), answer({"code": "204"}))], CITY, V1, OPEN_METEO)

    assert (played.batches, paths(played)[-1]) == ((1, 4, 1), "/v1/air-quality")
    assert played.result["data"]["sources"]["air"] == "open_meteo"
    assert played.result["data"]["notes"] == []


@pytest.mark.parametrize(
    ("name", "status", "reason"),
    [
        (
            "qweather_errors/http401_unauthorized.json",
            401,
            "认证失败，请核对 QWEATHER_KEY 和 QWEATHER_HOST（401 Unauthorized）",
        ),
        (
            "qweather_errors/http403_invalid_host.json",
            403,
            "QWEATHER_HOST 不正确，请在控制台“设置”里核对 API Host（403 Invalid Host）",
        ),
        (
            "qweather_errors/http429_too_many_requests.json",
            429,
            "请求过于频繁或超过限额，请稍后再试（429 Too Many Requests）",
        ),
        ("qweather_v7/code_401.json", 200, "认证失败，请核对 QWEATHER_KEY 和 QWEATHER_HOST（401）"),
    ],
)
@pytest.mark.parametrize("where", ["/geo/", "/weather/v1/current"])
def test_a_refused_account_is_told_in_a_clause_and_asked_no_more(
    name: str, status: int, reason: str, where: str
) -> None:
    played = ask("now", [(at(where), recorded(name, status=status))], CITY, V1, OPEN_METEO)

    assert f"注：和风天气 QWeather：{reason}，改用 Open-Meteo。" in played.text.splitlines()
    assert [path for path in paths(played) if path.startswith("/v7/")] == []
    assert len([path for path in paths(played) if path.startswith("/geo/")]) == 1
    if where == "/geo/":
        assert (played.batches, played.text.splitlines()[-1]) == ((1, 1, 2), f"来源：{OPEN_METEO_SOURCE}")
        assert NOTHING_FROM_OPEN_METEO in played.text.splitlines()


@pytest.mark.parametrize(
    ("name", "status", "asks_v7"),
    [
        ("qweather_errors/http400_invalid_parameters.json", 400, True),
        ("qweather_errors/http400_no_such_location.json", 400, False),
        ("qweather_v7/code_404_no_such_city.json", 200, True),
    ],
)
def test_weather_that_qweather_has_not_comes_from_open_meteo(name: str, status: int, *, asks_v7: bool) -> None:
    failed = recorded(name, status=status)

    played = ask("daily", [(at("/weather/"), failed), (at("/v7/"), failed)], CITY, OPEN_METEO)

    assert [path for path in paths(played) if path.startswith("/v7/")] == (["/v7/weather/3d"] if asks_v7 else [])
    assert played.result["data"]["sources"] == {"daily": "open_meteo"}
    assert "，改用 Open-Meteo。" in played.text


@pytest.mark.parametrize(
    ("failed", "reason"),
    [
        ({"error": {"code": "http_timeout", "message": "no answer"}}, "it did not answer in time"),
        ({"error": {}}, "not reachable"),
        (NO_ADDRESS, "no network or no DNS; run `ias doctor --online`"),
        ({"status": 502, "body": "<html>"}, "its answer is not JSON (HTTP 502)"),
        ({"status": 200, "body": '{"days": [', "truncated": True}, "its answer was cut (HTTP 200)"),
        ({"status": 200, "body_base64": "H4sI"}, "its answer is not JSON (HTTP 200)"),
        ({"status": 500, "body": "{}"}, "the service failed (500)"),
        ({"status": 402, "body": "{}"}, "its credit has run out; renew it in the console (402)"),
        ({"status": 200, "body": '{"days": []}'}, "its answer has no days"),
    ],
)
def test_a_service_that_fails_is_replaced_and_the_reason_told(failed: Message, reason: str) -> None:
    played = ask("daily", [(at("/weather/v1/daily"), failed)], CITY, OPEN_METEO, lang="en")

    note = f"Note: 和风天气 QWeather: {reason}; Open-Meteo was asked instead."
    assert (note in played.text.splitlines(), "is_error" in played.result) == (True, False)


def test_when_no_service_answers_both_reasons_are_told() -> None:
    unauthorized = recorded("qweather_errors/http401_unauthorized.json", status=401)
    down: Message = {"error": {"code": "http_failed", "message": "connection refused"}}

    played = ask("now", [(at("/weather/"), unauthorized), (FORECAST, down), (AIR, down)], CITY, V1)

    assert played.result == {
        "type": "result",
        "content": (
            "没有查到“北京”的天气。和风天气 QWeather：认证失败，请核对 QWEATHER_KEY 和 QWEATHER_HOST"
            "（401 Unauthorized）；Open-Meteo：连接不上。请稍后再试。"
        ),
        "data": {
            "reasons": [
                "和风天气 QWeather：认证失败，请核对 QWEATHER_KEY 和 QWEATHER_HOST（401 Unauthorized）",
                "Open-Meteo：连接不上",
            ]
        },
        "is_error": True,
    }


@pytest.mark.parametrize(
    ("host", "clause"),
    [
        (
            "",
            "已有 QWEATHER_KEY，还要设置 QWEATHER_HOST（和风天气控制台“设置”里的 API Host）才能用和风天气 QWeather",
        ),
        (
            "api.example.com",
            "QWEATHER_HOST 不是和风天气的 API Host（形如 abc123.re.qweatherapi.com），因此没有用和风天气 QWeather",
        ),
    ],
)
def test_a_key_without_the_accounts_host_is_told_and_open_meteo_asked(host: str, clause: str) -> None:
    played = ask("daily", OPEN_METEO, env={"QWEATHER_HOST": host})

    assert f"注：{clause}。" in played.text.splitlines()
    assert played.result["data"]["notes"] == [clause]


def test_a_host_without_a_key_is_as_good_as_none() -> None:
    played = ask("daily", OPEN_METEO, secrets=())

    assert played.text == ask_keyless("daily", OPEN_METEO).text


@pytest.mark.parametrize("written", [f"https://{HOST}/", f" {HOST.upper()} ", f"http://{HOST}/v7"])
def test_the_host_may_be_written_as_an_address(written: str) -> None:
    played = ask("daily", CITY, V1, env={"QWEATHER_HOST": written})

    assert played.result["data"]["sources"] == {"daily": "qweather_v1"}


def test_the_local_air_index_is_preferred_to_qweathers_own() -> None:
    indexes = [
        {"code": "qaqi", "name": "QAQI", "aqi": 1, "category": "x"},
        {"code": "cn-mee-1h", "name": "AQI-1H (CN)", "aqi": 60, "level": "2"},
        {"code": "cn-mee", "name": "AQI (CN)", "aqi": 120, "level": "3", "category": "Light"},
    ]

    played = ask("now", [(at("/airquality/"), answer({"indexes": indexes}))], CITY, V1)

    assert played.result["data"]["air"] == {"aqi": "120", "standard": "AQI (CN)", "category": "轻度污染"}


def test_rotating_wind_and_fahrenheit_are_read() -> None:
    body = {"temperature": {"value": 50, "unit": "°F"}, "wind": {"direction": {"degree": -999}, "scale": 0}}

    played = ask("now", [(at("/weather/v1/current"), answer(body))], CITY, V1)

    assert played.text.splitlines()[0] == "北京现在：10°C，风 0 级。"
