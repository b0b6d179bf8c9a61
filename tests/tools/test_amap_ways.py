"""The map tool's ways: route, distance."""

import pytest

from tests.tools.host import Message, play_in_order, recorded_body, refusal

START, END = "116.481499,39.990475", "116.434446,39.90816"
HERE_TO_THERE = {"origin": START, "destination": END}


def paths(requests: list[Message]) -> list[str]:
    return [request["url"].removeprefix("https://restapi.amap.com") for request in requests]


def test_a_drive_has_length_duration_tolls_lights_and_taxi_price() -> None:
    requests, result = play_in_order(
        "amap_route", HERE_TO_THERE | {"lang": "zh"}, recorded_body("amap/v5_driving_cost_tmcs.json")
    )

    assert [request["query"] for request in requests] == [
        {"key": "${AMAP_KEY}", "origin": START, "destination": END, "show_fields": "cost"}
    ]
    assert result == {
        "type": "result",
        "content": (
            f"{START} → {END} (驾车): 8.1 公里，13 分钟，过路费 6 元，红绿灯 12 个，打车约 21 元\n"
            "1. 沿阜通东大街向西行驶500米\n"
            "来源：高德地图"
        ),
        "data": {
            "provider": "amap",
            "mode": "driving",
            "origin": {"name": START, "location": START, "citycode": "", "adcode": "", "level": ""},
            "destination": {"name": END, "location": END, "citycode": "", "adcode": "", "level": ""},
            "taxi_yuan": 21.0,
            "plans": [
                {
                    "distance_m": 8100,
                    "duration_s": 780,
                    "tolls": "6",
                    "traffic_lights": 12,
                    "restricted": False,
                    "steps": ["沿阜通东大街向西行驶500米"],
                }
            ],
        },
    }


def test_a_path_without_cost_has_no_duration() -> None:
    _, result = play_in_order("amap_route", HERE_TO_THERE, recorded_body("amap/v5_driving_no_show_fields.json"))

    assert result["content"] == (
        f"{START} → {END} (driving): 12.3 km, duration unknown\n1. 沿阜通东大街向西行驶500米\nSource: AMap (Gaode)"
    )


def test_a_walk_between_names_locates_both_side_by_side() -> None:
    requests, result = play_in_order(
        "amap_route",
        {"origin": "阜通东大街6号", "destination": "北京站", "mode": "walking"},
        [recorded_body("amap/geo_one_futong.json"), recorded_body("amap/geo_one_futong.json")],
        recorded_body("amap/v5_walking_beijing.json"),
    )

    assert paths(requests) == ["/v3/geocode/geo", "/v3/geocode/geo", "/v5/direction/walking"]
    assert requests[2]["query"]["origin"] == "116.483038,39.990633"
    assert result["content"] == (
        "北京市朝阳区阜通东大街6号 → 北京市朝阳区阜通东大街6号 (步行): 4.4 公里，58 分钟\n"
        "1. 向北步行391米右转\n"
        "2. 沿北京站东街步行11米到达目的地\n"
        "来源：高德地图"
    )


def test_only_the_place_that_is_no_address_is_searched_again() -> None:
    requests, result = play_in_order(
        "amap_route",
        {"origin": "电子科技大学", "destination": "阜通东大街6号", "city": "成都", "destination_city": "北京"},
        [recorded_body("amap/geo_unresolvable_30001.json"), recorded_body("amap/geo_one_futong.json")],
        recorded_body("amap/place_text_all_uestc.json"),
        recorded_body("amap/v5_driving_cost_tmcs.json"),
    )

    assert [request["query"].get("city") for request in requests] == ["成都", "北京", "成都", None]
    assert paths(requests)[2:] == ["/v3/place/text", "/v5/direction/driving"]
    assert result["content"].startswith("电子科技大学沙河校区（成都市成华区） → 北京市朝阳区阜通东大街6号 (驾车): ")


def test_a_ride_by_bicycle() -> None:
    requests, result = play_in_order(
        "amap_route", HERE_TO_THERE | {"mode": "bicycling"}, recorded_body("amap/v5_bicycling_docs_shape.json")
    )

    assert paths(requests) == ["/v5/direction/bicycling"]
    assert result["content"] == (f"{START} → {END} (by bicycle): 4.3 km, 25 min\n1. 骑行54米右转\nSource: AMap (Gaode)")


def test_public_transport_between_coordinates_asks_for_the_cities_first() -> None:
    requests, result = play_in_order(
        "amap_route",
        HERE_TO_THERE | {"mode": "transit"},
        [recorded_body("amap/regeo_base_pku.json"), recorded_body("amap/regeo_base_pku.json")],
        recorded_body("amap/v5_transit_cost_beijing.json"),
    )

    assert paths(requests) == ["/v3/geocode/regeo", "/v3/geocode/regeo", "/v5/direction/transit/integrated"]
    assert (requests[2]["query"]["city1"], requests[2]["query"]["city2"]) == ("010", "010")
    assert result["content"] == (
        f"{START} → {END} (by public transport): 12.0 km, 46 min, fare CNY 5, 1.2 km on foot, taxi about CNY 45\n"
        "1. Walk 1.0 km\n"
        "2. Take 地铁14号线(善各庄--张郭庄) (in by A西北口): 望京南 → 朝阳公园, 4 stops\n"
        "3. Walk 187 m\n"
        "4. Take 地铁3号线(东坝北--东四十条): 朝阳公园 → 东四十条, 3 stops\n"
        "Source: AMap (Gaode)"
    )


def test_trains_taxis_and_bare_lines_are_legs_too() -> None:
    segments = [
        {"walking": [], "taxi": {"distance": "5000"}, "bus": {"buslines": []}},
        {
            "railway": {
                "trip": "G1",
                "name": "G1(北京南-上海虹桥)",
                "departure_stop": {"name": "北京南"},
                "arrival_stop": [],
            }
        },
        {"bus": {"buslines": [{"name": [], "type": [], "departure_stop": [], "via_num": []}]}, "entrance": []},
    ]
    plan = {"status": "1", "route": {"transits": [{"distance": [], "duration": "60", "segments": segments}]}}
    regeo = recorded_body("amap/regeo_base_pku.json")

    _, result = play_in_order("amap_route", HERE_TO_THERE | {"mode": "transit", "lang": "zh"}, [regeo, regeo], plan)

    assert result["content"] == (
        f"{START} → {END} (公共交通): 距离未知，1 分钟\n"
        "1. 打车 5.0 公里\n"
        "2. 乘 G1 G1(北京南-上海虹桥)：北京南 → ?\n"
        "3. 乘 ?：? → ?\n"
        "来源：高德地图"
    )


def test_no_plan_is_an_answer_that_names_the_other_ways() -> None:
    regeo = recorded_body("amap/regeo_base_pku.json")

    _, result = play_in_order(
        "amap_route", HERE_TO_THERE | {"mode": "transit"}, [regeo, regeo], recorded_body("amap/v5_transit_no_plan.json")
    )

    assert result["content"] == (
        f"{START} → {END} (by public transport): no plan was found (too near, too far, or no line). Try another mode:"
        " driving, walking, bicycling, transit.\n"
        "Source: AMap (Gaode)"
    )
    assert ("is_error" in result, result["data"]["plans"]) == (False, [])


def test_public_transport_abroad_is_refused() -> None:
    overseas = recorded_body("amap/regeo_empty_overseas.json")

    _, result = play_in_order("amap_route", HERE_TO_THERE | {"mode": "transit"}, [overseas, overseas])

    assert (result["is_error"], result["content"]) == (
        True,
        f"{START} is in no city of China, so AMap cannot plan public transport.",
    )


def test_a_long_route_shows_its_ends_and_the_alternatives_in_short() -> None:
    steps = [{"instruction": f"step {number}"} for number in range(1, 21)]
    first = {"distance": "20000", "restriction": "1", "cost": {"duration": "3600", "tolls": "0"}, "steps": steps}
    other = {"distance": "900", "cost": {"duration": "30"}}

    _, result = play_in_order("amap_route", HERE_TO_THERE, {"status": "1", "route": {"paths": [first, other]}})

    assert result["content"].splitlines() == [
        f"{START} → {END} (driving): 20.0 km, 1 h, passes a restricted area",
        *[f"{number}. step {number}" for number in range(1, 7)],
        "... (8 steps left out)",
        *[f"{number}. step {number}" for number in range(15, 21)],
        "Alternative: 900 m, 1 min",
        "Source: AMap (Gaode)",
    ]


def test_a_route_too_long_to_walk_is_refused_in_clear_words() -> None:
    _, result = play_in_order(
        "amap_route",
        HERE_TO_THERE | {"mode": "walking", "lang": "zh"},
        recorded_body("amap_errors/20803_over_direction_range.json"),
    )

    assert (result["is_error"], result["content"]) == (
        True,
        "起点和终点相距太远，这种出行方式无法规划；请换驾车或公交（OVER_DIRECTION_RANGE 20803）。",
    )


def test_a_route_needs_the_key() -> None:
    assert "AMAP_KEY" in refusal("amap_route", HERE_TO_THERE, secrets=())


def test_an_unknown_way_of_travel_is_refused_with_the_known_ones() -> None:
    assert refusal("amap_route", HERE_TO_THERE | {"mode": "swimming"}) == (
        "mode must be one of: driving, walking, bicycling, transit."
    )


def test_a_straight_line_is_measured_by_amap() -> None:
    requests, result = play_in_order("amap_distance", HERE_TO_THERE, recorded_body("amap/distance_straight_line.json"))

    assert [request["query"] for request in requests] == [
        {"key": "${AMAP_KEY}", "origins": START, "destination": END, "type": "0"}
    ]
    assert result == {
        "type": "result",
        "content": f"{START} → {END}: straight-line distance 487 m\nSource: AMap (Gaode)",
        "data": {
            "provider": "amap",
            "mode": "straight",
            "distance_m": 487,
            "duration_s": None,
            "origin": {"name": START, "location": START, "citycode": "", "adcode": "", "level": ""},
            "destination": {"name": END, "location": END, "citycode": "", "adcode": "", "level": ""},
            "datum": "GCJ-02",
        },
    }


def test_a_distance_by_road_has_a_duration() -> None:
    requests, result = play_in_order(
        "amap_distance",
        {"origin": "阜通东大街6号", "destination": END, "mode": "driving"},
        recorded_body("amap/geo_one_futong.json"),
        recorded_body("amap/distance_one.json"),
    )

    assert (requests[1]["query"]["type"], requests[1]["query"]["origins"]) == ("1", "116.483038,39.990633")
    assert result["content"] == (
        f"北京市朝阳区阜通东大街6号 → {END}: 驾车距离 270.4 公里，约 4 小时 6 分钟\n来源：高德地图"
    )


@pytest.mark.parametrize(
    ("results", "reason"),
    [
        ([{"distance": "0", "code": "1", "info": "x"}], "there is no passable road between the two places"),
        ([{"distance": [], "info": "NO_ROAD"}], "NO_ROAD"),
        ([], "it returned no distance"),
    ],
)
def test_a_distance_that_cannot_be_measured_says_why(results: list[Message], reason: str) -> None:
    _, result = play_in_order("amap_distance", HERE_TO_THERE | {"mode": "walking"}, {"status": "1", "results": results})

    assert (result["is_error"], result["content"]) == (True, f"AMap could not measure this distance: {reason}.")


def test_without_a_key_a_straight_line_is_measured_with_openstreetmap_one_request_a_step() -> None:
    berlin = [{"lat": "52.5170365", "lon": "13.3888599", "display_name": "Berlin"}]
    paris = [{"lat": "48.8588897", "lon": "2.3200410", "display_name": "Paris"}]

    requests, result = play_in_order(
        "amap_distance", {"origin": "Berlin", "destination": "Paris"}, berlin, paris, secrets=()
    )

    assert [request["query"]["q"] for request in requests] == ["Berlin", "Paris"]
    assert result["content"] == (
        "Berlin → Paris: straight-line distance 878.2 km\nSource: © OpenStreetMap contributors (Nominatim)"
    )


def test_a_straight_line_between_coordinates_takes_no_request_without_a_key() -> None:
    requests, result = play_in_order("amap_distance", {"origin": "0,0", "destination": "0,1"}, secrets=())

    assert (requests, result["data"]["distance_m"]) == ([], 111195)


def test_openstreetmap_measures_no_roads() -> None:
    by_car = HERE_TO_THERE | {"mode": "driving"}

    assert "AMAP_KEY" in refusal("amap_distance", by_car, secrets=())
    assert refusal("amap_distance", by_car | {"source": "openstreetmap"}) == (
        "OpenStreetMap gives straight lines only; leave out source for driving or walking."
    )
