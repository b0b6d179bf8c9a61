"""The map tool's places: search, around."""

from tests.tools.host import play_in_order, recorded_body, refusal

PARKING = (
    "1. 三轻楼地上停车场: 109 米，天津市河西区宾馆西路18号附近，评分 3.0，[117.199722,39.08406]\n"
    "2. 天津市人民政府地面停车场: 113 米，天津市河西区叠彩道与宾馆西路交叉口东南50米，[117.200725,39.083156]\n"
)


def test_places_are_found_in_a_city_with_address_telephone_and_position() -> None:
    requests, result = play_in_order(
        "amap_search",
        {"keywords": "电子科技大学", "city": "成都", "limit": 2},
        recorded_body("amap/place_text_all_uestc.json"),
    )

    assert [(request["url"], request["query"]) for request in requests] == [
        (
            "https://restapi.amap.com/v3/place/text",
            {
                "key": "${AMAP_KEY}",
                "keywords": "电子科技大学",
                "extensions": "all",
                "city": "成都",
                "citylimit": "true",
                "offset": "2",
                "page": "1",
            },
        )
    ]
    assert result["content"] == (
        "“电子科技大学”：2 个结果（高德共 889 个）\n"
        "1. 电子科技大学沙河校区: 四川省成都市成华区建设北路二段4号，电话 028-83201999，[104.100227,30.675702]\n"
        "2. 电子科技大学清水河校区: 四川省成都市郫都区西源大道2006号，电话 028-61830539，[103.931664,30.749142]\n"
        "坐标为经度,纬度（GCJ-02）。来源：高德地图"
    )
    assert result["data"]["places"][0] == {
        "name": "电子科技大学沙河校区",
        "kind": "高等院校",
        "area": "四川省成都市成华区",
        "address": "建设北路二段4号",
        "tel": "028-83201999",
        "rating": "",
        "price": "",
        "distance_m": None,
        "location": "104.100227,30.675702",
    }


def test_finding_nothing_is_an_answer_and_no_error() -> None:
    _, result = play_in_order("amap_search", {"keywords": "zzz"}, recorded_body("amap/place_text_none.json"))

    assert result == {
        "type": "result",
        "content": "AMap found nothing for 'zzz'. Try other words, or check the city.\nSource: AMap (Gaode)",
        "data": {"provider": "amap", "total": 0, "places": [], "cities": []},
    }


def test_a_general_word_without_a_city_is_answered_with_the_cities() -> None:
    cities = [{"name": "北京市", "num": "1250"}, {"name": "上海市", "num": []}]

    _, result = play_in_order(
        "amap_search", {"keywords": "火锅"}, {"status": "1", "pois": [], "suggestion": {"cities": cities}}
    )

    assert result["content"] == (
        "“火锅”范围太大，请用 city 指定城市。结果较多的城市：北京市 (1250), 上海市 (?)\n来源：高德地图"
    )


def test_a_place_with_nothing_but_a_name_is_listed() -> None:
    pois = [{"name": "肯德基", "location": [], "address": [], "biz_ext": []}, {"name": [], "location": "1,2"}]

    _, result = play_in_order("amap_search", {"keywords": "kfc"}, {"status": "1", "count": "2", "pois": pois})

    assert result["content"] == (
        "'kfc': 1 results (of 2 at AMap)\n1. 肯德基\nCoordinates are lon,lat (GCJ-02). Source: AMap (Gaode)"
    )


def test_without_a_key_places_are_searched_in_openstreetmap() -> None:
    requests, result = play_in_order(
        "amap_search",
        {"keywords": "bakery", "city": "Berlin", "limit": 3},
        recorded_body("nominatim/search_jsonv2_bakery_berlin.json"),
        secrets=(),
    )

    assert (requests[0]["query"]["q"], requests[0]["query"]["limit"]) == ("bakery, Berlin", "3")
    assert result["content"] == (
        "'bakery': 1 results\n"
        "1. Ditsch (bakery): Ditsch, Lindower Straße, Sprengelkiez, Wedding, Mitte, Berlin, 13347, Deutschland"
        " [13.366903,52.542743]\n"
        "Coordinates are lon,lat (WGS-84). Source: © OpenStreetMap contributors (Nominatim)"
    )


def test_a_nameless_hit_of_openstreetmap_is_called_by_the_start_of_its_address() -> None:
    hits = [{"lat": "1", "lon": "2", "name": "", "display_name": "12, High Street, Town"}, {"name": "nowhere"}]

    _, result = play_in_order("amap_search", {"keywords": "12"}, hits, secrets=())

    assert result["content"].splitlines()[1:-1] == ["1. 12: 12, High Street, Town [2,1]"]


def test_openstreetmap_finding_nothing_is_an_answer_and_no_error() -> None:
    _, result = play_in_order(
        "amap_search", {"keywords": "火锅"}, recorded_body("nominatim/search_none.json"), secrets=()
    )

    assert result == {
        "type": "result",
        "content": (
            "OpenStreetMap 里没有找到“火锅”。设置 AMAP_KEY 后可用高德地图搜索。\n"
            "来源：© OpenStreetMap contributors（Nominatim）"
        ),
        "data": {"provider": "openstreetmap", "datum": "WGS-84", "places": []},
    }


def test_places_around_coordinates_take_one_request() -> None:
    requests, result = play_in_order(
        "amap_around",
        {"location": "117.2009,39.0841", "keywords": "停车场", "radius": 500, "limit": 2},
        recorded_body("amap/place_around_parking_tianjin.json"),
    )

    assert [(request["url"], request["query"]) for request in requests] == [
        (
            "https://restapi.amap.com/v3/place/around",
            {
                "key": "${AMAP_KEY}",
                "location": "117.2009,39.0841",
                "keywords": "停车场",
                "radius": "500",
                "sortrule": "distance",
                "offset": "2",
                "page": "1",
                "extensions": "all",
            },
        )
    ]
    assert result["content"] == (
        f"117.2009,39.0841 周围 500 米 内的“停车场”（由近到远）：\n{PARKING}坐标为经度,纬度（GCJ-02）。来源：高德地图"
    )


def test_the_centre_is_located_by_its_name_first() -> None:
    requests, result = play_in_order(
        "amap_around",
        {"location": "阜通东大街6号", "city": "北京", "keywords": "停车场", "limit": 2},
        recorded_body("amap/geo_one_futong.json"),
        recorded_body("amap/place_around_parking_tianjin.json"),
    )

    assert [(request["url"][24:], request["query"].get("location")) for request in requests] == [
        ("/v3/geocode/geo", None),
        ("/v3/place/around", "116.483038,39.990633"),
    ]
    assert result["content"].startswith("北京市朝阳区阜通东大街6号 周围 3.0 公里 内的“停车场”（由近到远）：\n1. ")


def test_a_centre_that_is_no_address_is_searched_as_a_place() -> None:
    requests, result = play_in_order(
        "amap_around",
        {"location": "电子科技大学", "keywords": "停车场"},
        recorded_body("amap/geo_unresolvable_30001.json"),
        recorded_body("amap/place_text_all_uestc.json"),
        recorded_body("amap/place_around_parking_tianjin.json"),
    )

    assert [request["url"][24:] for request in requests] == ["/v3/geocode/geo", "/v3/place/text", "/v3/place/around"]
    assert requests[2]["query"]["location"] == "104.100227,30.675702"
    assert result["data"]["centre"] == {
        "name": "电子科技大学沙河校区（成都市成华区）",
        "location": "104.100227,30.675702",
        "citycode": "028",
        "adcode": "510108",
        "level": "",
    }


def test_a_centre_that_nobody_knows_ends_the_call() -> None:
    _, result = play_in_order(
        "amap_around",
        {"location": "没有的地方", "keywords": "停车场"},
        recorded_body("amap/geo_unresolvable_30001.json"),
        recorded_body("amap/place_text_none.json"),
    )

    assert result["is_error"] is True
    assert result["content"].startswith("高德地图没有找到“没有的地方”。")


def test_a_centre_of_several_places_is_asked_back() -> None:
    _, result = play_in_order(
        "amap_around", {"location": "朝阳", "keywords": "停车场"}, recorded_body("amap/geo_several_chaoyang.json")
    )

    assert (result["is_error"], result["data"]["ambiguous"]) == (True, True)
    assert result["content"].startswith("“朝阳”可能是 2 个地点，请确认是哪一个")


def test_nothing_around_is_an_answer_and_no_error() -> None:
    _, result = play_in_order("amap_around", {"location": "117.2,39.08"}, recorded_body("amap/place_text_none.json"))

    assert result["content"] == (
        "No places within 3.0 km of 117.2,39.08. Try a larger radius or other words.\nSource: AMap (Gaode)"
    )
    assert "is_error" not in result


def test_around_needs_the_key() -> None:
    assert refusal("amap_around", {"location": "Beijing"}, secrets=()) == (
        "This needs an AMap key and AMAP_KEY is not set. Get a free one at https://console.amap.com/dev/key/app"
        " (platform 'Web服务', Web service), then set it as AMAP_KEY."
    )
