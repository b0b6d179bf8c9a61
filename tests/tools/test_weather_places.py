"""Which place the weather tools take a name for, and what they ask back."""

import pytest

from tests.tools.host import Message, answer, recorded, recorded_body
from tests.tools.weather_answers import CITY, HOST, OPEN_METEO, SEARCH, V1, Table, ask, ask_keyless, at, paths

PARIS: Table = [(SEARCH, recorded("open_meteo/geocoding_several_paris.json"))]
NOWHERE: Table = [(SEARCH, recorded("open_meteo/geocoding_none.json"))]


def cities(name: str) -> Table:
    return [(at("/geo/"), recorded(f"qweather_v7/geo_city_lookup_{name}.json"))]


def city(name: str, adm2: str, adm1: str, rank: int, lat: float) -> Message:
    places = {"name": name, "adm2": adm2, "adm1": adm1, "country": "中国", "rank": str(rank)}
    return {**places, "lat": str(lat), "lon": "120.0"}


def hit(name: str, admin1: str, population: int | None, lat: float) -> Message:
    place = {"name": name, "admin1": admin1, "country": "中国", "latitude": lat, "longitude": 120.0}
    return place if population is None else place | {"population": population}


def test_several_places_of_one_name_are_asked_back() -> None:
    played = ask("now", cities("several_chaoyang"), location="朝阳")

    assert played.result == {
        "type": "result",
        "content": "“朝阳”可能是：朝阳（北京）；朝阳（辽宁）。请用 adm 指明是哪一个。",
        "data": {
            "candidates": [
                {"name": "朝阳", "adm1": "北京", "adm2": "北京", "country": "中国", "lat": None, "lon": None},
                {"name": "朝阳", "adm1": "辽宁", "adm2": "朝阳", "country": "中国", "lat": None, "lon": None},
            ]
        },
    }


def test_a_city_far_better_known_than_others_of_its_name_is_meant() -> None:
    played = ask("daily", cities("several_zhongshan"), V1, location="中山")

    assert (played.text.splitlines()[0], paths(played)[1]) == (
        "中山（广东省） 2 天预报：",
        "/weather/v1/daily/22.52/113.38",
    )


def test_a_city_is_meant_where_the_other_hits_lie_in_it() -> None:
    assert ask("daily", CITY, V1, location="beij").result["data"]["place"]["name"] == "北京"


def test_the_only_hit_is_meant() -> None:
    played = ask("daily", cities("one"), V1, location="东城")

    assert (played.text.splitlines()[0], paths(played)[1]) == (
        "东城（北京市） 2 天预报：",
        "/weather/v1/daily/39.92/116.42",
    )


@pytest.mark.parametrize(
    ("location", "params", "query"),
    [
        ("朝阳", {"adm": "辽宁"}, {"location": "朝阳", "adm": "辽宁"}),
        ("朝阳，辽宁", {}, {"location": "朝阳", "adm": "辽宁"}),
        ("北京市朝阳区", {}, {"location": "朝阳区", "adm": "北京市"}),
        ("广西壮族自治州柳州市", {}, {"location": "柳州市", "adm": "广西壮族自治州"}),
        ("${QWEATHER_KEY}", {}, {"location": "$ {QWEATHER_KEY}", "lang": "en"}),
        ("  New \n York ", {}, {"location": "New York", "lang": "en"}),
    ],
)
def test_what_a_place_lies_in_may_be_said_in_three_ways(location: str, params: Message, query: Message) -> None:
    played = ask("daily", CITY, V1, OPEN_METEO, location=location, **params)

    assert played.requests[0]["query"] == {"number": "10", "lang": "zh", **query}


def test_a_district_and_a_city_of_one_name_are_asked_back() -> None:
    hits = [city("朝阳", "北京", "北京市", 15, 39.9), city("朝阳", "朝阳", "辽宁省", 25, 41.6)]

    played = ask("now", [(at("/geo/"), answer({"code": "200", "location": hits}))], location="朝阳")

    assert played.text == "“朝阳”可能是：朝阳（北京市）；朝阳（辽宁省）。请用 adm 指明是哪一个。"


def test_a_district_of_a_chinese_city_is_never_taken_for_granted() -> None:
    hits = [city("鼓楼", "南京", "江苏省", 15, 32.0), city("鼓楼", "徐州", "江苏省", 35, 34.2)]

    played = ask("now", [(at("/geo/"), answer({"code": "200", "location": hits}))], location="鼓楼")

    assert played.text == "“鼓楼”可能是：鼓楼（江苏省南京）；鼓楼（江苏省徐州）。请用 adm 指明是哪一个。"


@pytest.mark.parametrize(("rank", "count"), [(24, 2), (25, 1)])
def test_a_city_is_meant_where_its_rank_is_ten_better(rank: int, count: int) -> None:
    hits = [city("太平", "太平", "安徽省", rank, 30.3), city("太平", "太平", "山东省", 15, 36.0)]

    played = ask("daily", [(at("/geo/"), answer({"code": "200", "location": hits}))], V1, location="太平")

    assert len(played.result["data"].get("candidates", [None])) == count


def test_the_name_of_a_district_is_not_taken_for_a_city() -> None:
    hits = [city("朝阳", "朝阳", "辽宁省", 13, 41.5), city("朝阳", "长春", "吉林省", 35, 43.8)]

    played = ask("now", [(at("/geo/"), answer({"code": "200", "location": hits}))], location="朝阳区")

    assert [place["adm1"] for place in played.result["data"]["candidates"]] == ["辽宁省", "吉林省"]
    keyless = ask_keyless(
        "now", [(SEARCH, answer({"results": [hit("朝阳", "辽宁", 400_000, 41.5)]}))], location="朝阳区"
    )
    assert (keyless.requests[0]["query"]["name"], keyless.result["is_error"]) == ("朝阳区", True)


def test_a_place_that_qweather_does_not_know_is_looked_up_elsewhere_and_its_weather_asked_from_qweather() -> None:
    unknown = recorded("qweather_v7/code_404_no_such_city.json")

    played = ask("daily", [(at("/geo/"), unknown)], OPEN_METEO, V1)

    assert [request["url"].split("/")[2] for request in played.requests] == [HOST, "geocoding-api.open-meteo.com", HOST]
    assert (played.result["data"]["sources"], played.result["data"]["notes"]) == ({"daily": "qweather_v1"}, [])


def test_a_city_of_the_world_is_meant_by_its_people() -> None:
    played = ask_keyless("daily", PARIS, OPEN_METEO, location="Paris")

    assert played.text.splitlines()[0] == "Paris (Île-de-France, France), 1-day forecast:"


@pytest.mark.parametrize(("location", "adm"), [("Paris, Texas", ""), ("Paris", "Texas"), ("paris", "texas")])
def test_a_smaller_city_is_found_by_what_it_lies_in(location: str, adm: str) -> None:
    played = ask_keyless("daily", PARIS, OPEN_METEO, location=location, adm=adm)

    assert played.result["data"]["place"]["lat"] == 33.66094


def test_a_place_that_is_nowhere_in_what_was_said_is_told_with_where_it_is() -> None:
    played = ask_keyless("daily", PARIS, location="Paris", adm="Japan")

    assert played.text.startswith("There is no Paris in Japan; elsewhere there is: Paris (Île-de-France, France); ")
    assert (played.result["is_error"], len(played.result["data"]["candidates"])) == (True, 5)


@pytest.mark.parametrize(
    ("hits", "names"),
    [
        ([hit("太平", "安徽", 90_000, 30.3), hit("太平", "黑龙江", 80_000, 45.8)], 2),
        ([hit("太平", "安徽", None, 30.3), hit("太平", "黑龙江", None, 45.8)], 2),
        ([hit("太平", "安徽", 90_000, 30.3), hit("太平", "安徽", None, 30.4)], 1),
        ([hit("太平", "安徽", 500_000, 30.3), hit("太平", "安徽", 1_000, 45.8)], 1),
        ([hit("太平", "安徽", 500_000, 30.3), hit("太平", "安徽", 100_001, 45.8)], 2),
    ],
)
def test_hits_are_told_apart_by_their_distance_and_their_people(hits: list[Message], names: int) -> None:
    played = ask_keyless("daily", [(SEARCH, answer({"results": hits}))], OPEN_METEO, location="太平")

    assert len(played.result["data"].get("candidates", [None])) == names


def test_an_unknown_place_is_told_with_what_to_write_instead() -> None:
    assert ask_keyless("now", NOWHERE, location="海淀区").result == {
        "type": "result",
        "content": (
            "没有找到“海淀区”。Open-Meteo 只认城市，不认中国的区县、街道和景点：请换成所在城市（写“北京”而不是"
            "“海淀区”），或给出坐标“经度,纬度”；设置 QWEATHER_KEY 和 QWEATHER_HOST（和风天气）后可以查区县。"
        ),
        "data": {"candidates": []},
        "is_error": True,
    }
    assert ask_keyless("now", NOWHERE, location="Qwxz").text == (
        "The place Qwxz was not found. Open-Meteo knows cities, but no Chinese districts, streets or sights: name the"
        " city (Beijing, not Haidian) or give longitude,latitude; with QWEATHER_KEY and QWEATHER_HOST (QWeather)"
        " districts work."
    )


def test_the_end_of_a_citys_name_is_not_searched_for() -> None:
    assert ask_keyless("daily", OPEN_METEO, location="北京市").requests[0]["query"]["name"] == "北京"


@pytest.mark.parametrize("location", ["116.404,39.914", " 116.404， 39.914 ", "+116.404,+39.914"])
def test_coordinates_are_not_looked_up(location: str) -> None:
    played = ask("daily", V1, location=location)

    assert (paths(played), played.result["data"]["place"]) == (
        ["/weather/v1/daily/39.91/116.40"],
        {"name": "116.404,39.914", "lat": 39.914, "lon": 116.404},
    )


@pytest.mark.parametrize("location", ["39.9,116.4", "181,0", "0,-90.5"])
def test_coordinates_in_the_wrong_order_are_told(location: str) -> None:
    assert ask("now", location=location).result == {
        "type": "result",
        "content": (
            f"There is no point {location}: write longitude,latitude, such as 116.41,39.90"
            " (the latitude is between -90 and 90)."
        ),
        "data": {},
        "is_error": True,
    }


@pytest.mark.parametrize("location", ["", "  ", None, [], {}, True])
def test_a_missing_location_is_told(location: object) -> None:
    played = ask_keyless("now", location=location)

    assert (played.text, played.result["is_error"]) == ("The parameter location is missing.", True)


def test_hits_without_coordinates_are_asked_back_or_looked_up_elsewhere() -> None:
    hits = recorded_body("qweather_v7/geo_city_lookup_several_chaoyang.json")

    played = ask("daily", [(at("/geo/"), answer(hits))], V1, OPEN_METEO, location="朝阳", adm="辽宁")

    assert paths(played)[1] == "/v1/search"
