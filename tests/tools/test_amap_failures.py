"""What the map tool makes of errors, of answers with holes, and of broken calls."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.tools.host import Message, play_in_order, recorded_body, run_line, serve, spec

KEY_PAGE = "https://console.amap.com/dev/key/app"
HINT = "With AMAP_KEY set, AMap can be asked instead."

ANSWERS = [
    ("geocode", {"address": "x"}, "amap/geo_one_futong.json"),
    ("geocode", {"address": "x"}, "amap/geo_several_chaoyang.json"),
    ("regeocode", {"location": "116.3,39.9"}, "amap/regeo_all_pku.json"),
    ("regeocode", {"location": "116.3,39.9"}, "amap/regeo_empty_overseas.json"),
    ("search", {"keywords": "x"}, "amap/place_text_all_uestc.json"),
    ("around", {"location": "117.2,39.1"}, "amap/place_around_parking_tianjin.json"),
    ("route", {"origin": "1,2", "destination": "3,4"}, "amap/v5_driving_cost_tmcs.json"),
    ("distance", {"origin": "1,2", "destination": "3,4", "mode": "driving"}, "amap/distance_one.json"),
]
OSM_ANSWERS = [
    ("geocode", {"address": "x"}, "nominatim/search_jsonv2_bakery_berlin.json"),
    ("search", {"keywords": "x"}, "nominatim/search_jsonv2_bakery_berlin.json"),
    ("regeocode", {"location": "1,2"}, "nominatim/reverse_jsonv2_autopista.json"),
]


def damaged(body: Any) -> Iterator[Any]:
    """Yield copies of a JSON document in which one value is missing, or of another type."""
    for path in list(_paths(body)):
        for value in ([], None, "", "?", {}, 1, [[]]):
            copied = copy.deepcopy(body)
            _parent(copied, path)[path[-1]] = value
            yield copied
        copied = copy.deepcopy(body)
        del _parent(copied, path)[path[-1]]
        yield copied


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from _paths(inner, (*path, key))


def _parent(document: Any, path: tuple[Any, ...]) -> Any:
    for key in path[:-1]:
        document = document[key]
    return document


@pytest.mark.parametrize(
    ("name", "zh", "en", "retry"),
    [
        (
            "10001_invalid_user_key",
            (f"高德 key 不正确或已过期。请在 {KEY_PAGE} 核对后重新设置 AMAP_KEY（INVALID_USER_KEY 10001）。"),
            (
                f"The AMap key is wrong or expired. Check it at {KEY_PAGE} and set AMAP_KEY again"
                " (INVALID_USER_KEY 10001)."
            ),
            False,
        ),
        (
            "10003_daily_over_limit",
            "高德 key 今天的配额已用完，明天（北京时间）再试，或在控制台提升配额（DAILY_QUERY_OVER_LIMIT 10003）。",
            (
                "The AMap key has used up its quota for today; try tomorrow (Beijing time) or raise the quota"
                " (DAILY_QUERY_OVER_LIMIT 10003)."
            ),
            False,
        ),
        (
            "10009_plat_nomatch",
            (
                "高德 key 的类型不对：需要“Web服务”类型的 key（不是 JS API、Android 或 iOS）。请在"
                f" {KEY_PAGE} 新建一个并设置 AMAP_KEY（USERKEY_PLAT_NOMATCH 10009）。"
            ),
            (
                "The AMap key has the wrong type: it must be a 'Web服务' (Web service) key, not one for the JS API,"
                f" Android or iOS. Make one at {KEY_PAGE} and set AMAP_KEY (USERKEY_PLAT_NOMATCH 10009)."
            ),
            False,
        ),
        (
            "10021_qps",
            "请求高德过于频繁，请过几秒再试（CUQPS_HAS_EXCEEDED_THE_LIMIT 10021）。",
            "Too many AMap requests at once; try again in a few seconds (CUQPS_HAS_EXCEEDED_THE_LIMIT 10021).",
            True,
        ),
        (
            "20000_invalid_params",
            "高德不接受这些参数，请检查地点、坐标（经度,纬度）和其他参数（INVALID_PARAMS 20000）。",
            (
                "AMap refused the parameters; check the place, the coordinates (longitude,latitude) and the rest"
                " (INVALID_PARAMS 20000)."
            ),
            False,
        ),
        (
            "20803_over_direction_range",
            "起点和终点相距太远，这种出行方式无法规划；请换驾车或公交（OVER_DIRECTION_RANGE 20803）。",
            (
                "Start and end are too far apart for this way of travel; try driving or transit"
                " (OVER_DIRECTION_RANGE 20803)."
            ),
            False,
        ),
    ],
)
def test_an_error_of_amap_is_explained_in_both_languages(name: str, zh: str, en: str, *, retry: bool) -> None:
    body = recorded_body(f"amap_errors/{name}.json")

    results = [play_in_order("amap_search", {"keywords": "x", "lang": lang}, body)[1] for lang in ("zh", "en")]

    assert [(result["content"], result["is_error"]) for result in results] == [(zh, True), (en, True)]
    assert (results[0]["data"]["infocode"], results[0]["data"]["retry"]) == (name[:5], retry)


@pytest.mark.parametrize(
    ("body", "content"),
    [
        ({"status": "0", "infocode": "99999", "info": "NEW"}, "AMap answered with an error (NEW 99999)."),
        ({"status": "0", "infocode": [], "info": []}, "AMap answered with an error (HTTP 200)."),
        ({}, "AMap answered with an error (HTTP 200)."),
        (
            {"status": "0", "infocode": "30002", "info": "ENGINE"},
            "AMap found no result; try a fuller address or another place (ENGINE 30002).",
        ),
        ("<html>502</html>", "The answer of 高德地图 AMap is not JSON (HTTP 200)."),
        ("", "The answer of 高德地图 AMap is not JSON (HTTP 200)."),
    ],
)
def test_an_unknown_error_is_passed_on(body: Any, content: str) -> None:
    _, result = play_in_order("amap_search", {"keywords": "x"}, body)

    assert (result["is_error"], result["content"]) == (True, content)


def test_a_network_failure_is_told_in_plain_words() -> None:
    failure = {"error": {"code": "http_timeout", "message": "no answer within 20 s"}}
    state = {"provider": "amap"}

    result = serve(
        "amap_search", {"params": {"keywords": "火锅"}, "state": state, "response": failure, "secrets": ["AMAP_KEY"]}
    )

    assert result == {
        "type": "result",
        "content": "高德地图 AMap 没有及时回答，请稍后再试。",
        "data": {"code": "http_timeout", "retry": True},
        "is_error": True,
    }


def test_an_answer_that_was_cut_is_not_taken_for_a_whole_one() -> None:
    cut = {"status": 200, "body": '{"status": "1", "pois": [', "truncated": True}

    result = serve("amap_search", {"params": {"keywords": "x"}, "state": {"provider": "amap"}, "response": cut})

    assert result["content"] == "The answer of 高德地图 AMap was cut (HTTP 200)."


@pytest.mark.parametrize(
    ("response", "content"),
    [
        (
            {"error": {"code": "http_failed", "message": "connection refused"}},
            (f"Nominatim (OpenStreetMap) could not be reached. Try again later. {HINT}"),
        ),
        (
            {"status": 429, "body": "slow down"},
            (f"Nominatim (OpenStreetMap): too many requests, try again later (HTTP 429). {HINT}"),
        ),
        (
            {"status": 403, "body": "<html>Access blocked</html>"},
            (f"Nominatim (OpenStreetMap): it refused the request (HTTP 403). {HINT}"),
        ),
        (
            {"status": 400, "body": '{"error": {"code": 400, "message": "Parameter missing"}}'},
            f"Nominatim (OpenStreetMap): Parameter missing (HTTP 400). {HINT}",
        ),
    ],
)
def test_failures_of_openstreetmap_are_told_and_lead_to_the_key(response: Message, content: str) -> None:
    envelope = {"params": {"address": "x"}, "state": {"provider": "openstreetmap"}, "response": response}

    result = serve("amap_geocode", envelope)

    assert (result["is_error"], result["content"]) == (True, content)


@pytest.mark.parametrize(("command", "params", "name"), ANSWERS)
def test_an_answer_of_amap_with_a_hole_anywhere_still_gives_an_answer(command: str, params: Message, name: str) -> None:
    for body in damaged(recorded_body(name)):
        _, result = play_in_order(f"amap_{command}", params, body)
        assert (result["type"], bool(result["content"])) == ("result", True), body


@pytest.mark.parametrize(("command", "params", "name"), OSM_ANSWERS)
def test_an_answer_of_openstreetmap_with_a_hole_anywhere_still_gives_an_answer(
    command: str, params: Message, name: str
) -> None:
    for body in damaged(recorded_body(name)):
        _, result = play_in_order(f"amap_{command}", params, body, secrets=())
        assert (result["type"], bool(result["content"])) == ("result", True), body


def test_a_plan_with_a_hole_anywhere_still_gives_an_answer() -> None:
    place = {"name": "x", "location": "1,2", "citycode": "010"}
    state = {"provider": "amap", "stage": "route", "places": [place, place]}
    params = {"origin": "a", "destination": "b", "mode": "transit"}

    for body in damaged(recorded_body("amap/v5_transit_cost_beijing.json")):
        response = {"status": 200, "body": json.dumps(body)}
        result = serve("amap_route", {"params": params, "state": state, "response": response, "secrets": ["AMAP_KEY"]})
        assert (result["type"], bool(result["content"])) == ("result", True), body


@pytest.mark.parametrize("envelope", [{}, {"params": None}, {"params": [], "secrets": {}, "state": [], "response": 1}])
def test_an_empty_call_is_told_what_is_missing(envelope: Message) -> None:
    assert serve("amap_search", envelope) == {
        "type": "result",
        "content": "The parameter keywords is missing.",
        "data": {},
        "is_error": True,
    }


def test_an_unknown_command_is_answered_with_the_known_ones() -> None:
    result = serve("amap_search", {"params": {}}, command="weather")

    assert (result["is_error"], result["content"]) == (
        True,
        "no command 'weather': geocode, regeocode, search, around, route, distance",
    )


def test_the_program_reads_one_line_and_prints_one_line() -> None:
    line = json.dumps({"params": {"address": "天安门 \ud800"}, "secrets": ["AMAP_KEY"]})

    code, out, err = run_line(spec("amap_geocode"), line + "\n", {})

    assert (code, err, out.count("\n")) == (0, "", 1)
    assert json.loads(out)["query"]["address"] == "天安门 \ud800"


def test_the_program_ends_quietly_without_a_line() -> None:
    assert run_line(spec("amap_geocode"), "", {}) == (0, "", "")
