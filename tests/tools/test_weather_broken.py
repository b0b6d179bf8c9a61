"""The weather tools with answers that have holes, with broken calls, and as real processes."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.tools.host import RECORDED, Message, answer, recorded_body, run_line, serve, spec, specs_of
from tests.tools.weather_answers import (
    AIR,
    CITY,
    ENV,
    FORECAST,
    KEYED,
    NO_V1,
    OPEN_METEO,
    SEARCH,
    V1,
    V7,
    Table,
    ask,
    ask_keyless,
    at,
)

WRONG: tuple[Any, ...] = ([], None, "?")  # for each value alone
WRONG_LEAVES: tuple[Any, ...] = (
    *WRONG,
    "",
    {},
    0,
    -7,
    1e300,
    True,
    [[]],
    "\ud800",
    "9" * 400,
)  # for all leaves at once
ROWS = 1  # of a list that are damaged; the others are alike

QWEATHER_ANSWERS = [
    ("now", at("/geo/"), "qweather_v7/geo_city_lookup_one.json", [V1]),
    ("now", at("/geo/"), "qweather_v7/geo_city_lookup_several_beij.json", [V1]),
    ("now", at("/geo/"), "qweather_v7/geo_city_lookup_several_chaoyang.json", [V1]),
    ("now", at("/geo/"), "qweather_v7/geo_city_lookup_several_zhongshan.json", [V1]),
    ("now", at("/geo/"), "qweather_v7/code_404_no_such_city.json", [V1]),
    ("now", at("/weather/v1/current/"), "qweather_v1/weather_v1_current.json", [CITY, V1]),
    ("now", at("/airquality/"), "qweather_v1/airquality_v1_current.json", [CITY, V1]),
    ("now", at("/weatheralert/"), "qweather_v1/weatheralert_v1_current.json", [CITY, V1]),
    ("hourly", at("/weatheralert/"), "qweather_v1/weatheralert_v1_current.json", [CITY, V1]),
    ("hourly", at("/weatheralert/"), "qweather_v1/weatheralert_v1_none.json", [CITY, V1]),
    ("hourly", at("/weather/v1/hourly/"), "qweather_v1/weather_v1_hourly.json", [CITY, V1]),
    ("daily", at("/weather/v1/daily/"), "qweather_v1/weather_v1_daily.json", [CITY]),
    ("now", at("/v7/weather/now"), "qweather_v7/weather_now_beijing.json", [CITY, NO_V1]),
    ("now", at("/v7/air/now"), "qweather_v7/air_now_v7.json", [CITY, NO_V1]),
    ("now", at("/v7/warning/now"), "qweather_v7/warning_now_shanghai.json", [CITY, NO_V1]),
    ("hourly", at("/v7/warning/now"), "qweather_v7/warning_now_none.json", [CITY, NO_V1]),
    ("hourly", at("/v7/weather/24h"), "qweather_v7/weather_24h_beijing.json", [CITY, NO_V1]),
    ("daily", at("/v7/weather/3d"), "qweather_v7/weather_3d_beijing.json", [CITY, NO_V1]),
    *(
        ("daily", at("/weather/v1/daily/"), f"{name}.json", [CITY])
        for name in (
            "qweather_v7/code_401",
            "qweather_errors/http400_invalid_parameters",
            "qweather_errors/http400_no_such_location",
            "qweather_errors/http401_unauthorized",
            "qweather_errors/http403_invalid_host",
            "qweather_errors/http429_too_many_requests",
        )
    ),
]
OPEN_METEO_ANSWERS = [
    ("now", SEARCH, "open_meteo/geocoding_beijing.json"),
    ("now", SEARCH, "open_meteo/geocoding_several_paris.json"),
    ("now", SEARCH, "open_meteo/geocoding_none.json"),
    ("now", FORECAST, "open_meteo/forecast_current_daily_beijing.json"),
    ("daily", FORECAST, "open_meteo/forecast_current_daily_beijing.json"),
    ("now", FORECAST, "open_meteo/forecast_current_hourly_long_island.json"),
    ("hourly", FORECAST, "open_meteo/forecast_current_hourly_long_island.json"),
    ("now", FORECAST, "open_meteo/error_400_latitude.json"),
    ("now", AIR, "open_meteo/air_quality_london.json"),
]


def damaged(body: Any) -> Iterator[Any]:
    """Yield copies of a JSON document in which one value is missing, or another one."""
    for path in list(_paths(body)):
        for value in WRONG:
            copied = copy.deepcopy(body)
            _parent(copied, path)[path[-1]] = value
            yield copied
        copied = copy.deepcopy(body)
        del _parent(copied, path)[path[-1]]
        yield copied
    for value in WRONG_LEAVES:
        yield _with_leaves(body, value)


def _with_leaves(body: Any, leaf: Any) -> Any:
    if isinstance(body, dict):
        return {key: _with_leaves(inner, leaf) for key, inner in body.items()}
    return [_with_leaves(inner, leaf) for inner in body] if isinstance(body, list) else leaf


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value[:ROWS]) if isinstance(value, list) else ()
    for key, inner in items:
        yield from _paths(inner, (*path, key))


def _parent(document: Any, path: tuple[Any, ...]) -> Any:
    for key in path[:-1]:
        document = document[key]
    return document


def is_answer(message: Message) -> bool:
    """Tell whether a message ends a call with a text that shows no gap."""
    text = message["content"]
    gaps = [gap for gap in ("None", "nan", "inf°", "，，", "：，", "（）", "{", "Traceback") if gap in text]
    return message["type"] == "result" and bool(text.strip()) and gaps == []


@pytest.mark.parametrize(("command", "matcher", "name", "others"), QWEATHER_ANSWERS)
def test_an_answer_of_qweather_with_a_hole_anywhere_still_gives_an_answer(
    command: str, matcher: Any, name: str, others: list[Table]
) -> None:
    whole = recorded_body(name)

    for body in damaged(whole):
        played = ask(command, [(matcher, answer(body))], *others, V7, OPEN_METEO)
        assert is_answer(played.result), (body, played.text)


@pytest.mark.parametrize(("command", "matcher", "name"), OPEN_METEO_ANSWERS)
def test_an_answer_of_open_meteo_with_a_hole_anywhere_still_gives_an_answer(
    command: str, matcher: Any, name: str
) -> None:
    whole = recorded_body(name)

    for body in damaged(whole):
        played = ask_keyless(command, [(matcher, answer(body))], OPEN_METEO)
        assert is_answer(played.result), (body, played.text)


def test_every_recorded_body_is_damaged_above() -> None:
    folders = ("qweather_v1", "qweather_v7", "qweather_errors", "open_meteo")
    recorded_names = {f"{path.parent.name}/{path.name}" for name in folders for path in (RECORDED / name).iterdir()}

    assert recorded_names == {row[2] for row in (*QWEATHER_ANSWERS, *OPEN_METEO_ANSWERS)}


@pytest.mark.parametrize("status", [200, 204, 301, 400, 401, 402, 403, 404, 405, 410, 429, 500, 503, "x", None])
@pytest.mark.parametrize("text", ["", "{}", "[]", "null", "7", '"x"', "<html>", "[" * 10_000])
def test_any_status_with_any_body_ends_in_an_answer(status: Any, text: str) -> None:
    failed: Message = {"status": status, "headers": {}, "body": text}

    everything: Table = [(bool, failed)]
    forecast: Table = [(FORECAST, failed)]
    for command in ("now", "daily", "hourly"):
        for tables in ([everything], [CITY, everything], [forecast, CITY, NO_V1, OPEN_METEO, everything]):
            assert is_answer(ask(command, *tables).result)


@pytest.mark.parametrize(
    "state",
    [
        {"stage": "v1"},
        {"stage": "v1", "asked": ["now"], "place": {"name": "x"}},
        {"stage": "v1", "asked": [1, "x"], "place": {"lat": 1, "lon": 2}, "failures": [[1], "x"], "got": []},
        {"stage": "om", "asked": ["now"], "place": {"lat": 1, "lon": 2}, "got": {"air": 1}, "sources": {"air": []}},
        {"stage": "moon"},
        {"stage": ["v1"]},
        [],
        "x",
    ],
)
@pytest.mark.parametrize("given", [{}, {"response": {}}, {"responses": [1, {}]}, {"response": "x"}])
def test_a_state_or_response_of_another_shape_is_survived(state: Any, given: Message) -> None:
    envelope = {"params": {"location": "北京"}, "secrets": [*KEYED], "step": 1, "state": state, **given}

    for command in ("now", "daily", "hourly"):
        assert serve(f"weather_{command}", envelope, ENV)["type"] in ("http", "batch", "result")


@pytest.mark.parametrize("envelope", [{}, {"params": None}, {"params": [], "secrets": {}, "state": [], "response": 1}])
def test_an_empty_call_is_told_what_is_missing(envelope: Message) -> None:
    assert serve("weather_now", envelope) == {
        "type": "result",
        "content": "The parameter location is missing.",
        "data": {},
        "is_error": True,
    }


def test_a_state_with_the_longest_alerts_stays_small_enough() -> None:
    body = recorded_body("qweather_v1/weatheralert_v1_current.json")
    long = {**body["alerts"][0], "description": "风" * 9_000, "instruction": "雨" * 9_000, "headline": "雷" * 900}
    hours = recorded_body("qweather_v7/weather_24h_beijing.json")["hourly"] * 3
    alerts = (at("/weatheralert/"), answer({"alerts": [long] * 50}))

    played = ask(
        "hourly", [alerts, *NO_V1, (at("/v7/weather/72h"), answer({"code": "200", "hourly": hours}))], CITY, hours=72
    )

    assert (len(played.result["data"]["alerts"]), len(played.result["data"]["hours"])) == (5, 72)
    assert "，另有 45 条" in played.text


def test_an_unknown_command_is_answered_with_the_known_ones() -> None:
    code, out, err = run_line({**spec("weather_now"), "command": "storm"}, json.dumps({"params": {}}) + "\n", {})

    assert (code, err) == (0, "")
    assert json.loads(out) == {
        "type": "result",
        "content": "no command 'storm': now, daily, hourly",
        "data": {},
        "is_error": True,
    }


@pytest.mark.parametrize("command", ["now", "daily", "hourly"])
def test_real_processes_answer_as_the_function_does(command: str) -> None:
    tables = (CITY, NO_V1, V7)

    assert ask(command, *tables, as_process=True) == ask(command, *tables)


def test_the_program_reads_one_line_and_ends_quietly_without_one() -> None:
    tool = spec("weather_now")

    code, out, err = run_line(tool, json.dumps({"params": {"location": "北京 \ud800"}}) + "\n", {})

    assert (code, err, out.count("\n")) == (0, "", 1)
    assert json.loads(out)["query"]["name"] == "北京 \ud800"
    assert run_line(tool, "", {}) == (0, "", "")


def test_there_is_one_spec_for_each_command() -> None:
    assert [(tool["name"], tool["command"]) for tool in specs_of("weather")] == [
        ("weather_daily", "daily"),
        ("weather_hourly", "hourly"),
        ("weather_now", "now"),
    ]


@pytest.mark.parametrize("tool", specs_of("weather"), ids=lambda tool: str(tool["name"]))
def test_the_examples_of_a_spec_lead_to_an_answer(tool: Message) -> None:
    declared = {param["name"] for param in tool["params"]}

    for example in tool["examples"]:
        assert set(example["params"]) <= declared
        played = ask_keyless(tool["command"], OPEN_METEO, **example["params"])
        assert is_answer(played.result)
