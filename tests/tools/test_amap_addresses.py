"""The map tool's addresses: geocode and regeocode, with AMap and with OpenStreetMap."""

import pytest

from tests.tools.host import play_in_order, recorded_body, refusal

AMAP = "https://restapi.amap.com"
OSM = "https://nominatim.openstreetmap.org"


def test_an_address_becomes_coordinates_in_both_datums() -> None:
    requests, result = play_in_order(
        "amap_geocode",
        {"address": "北京市朝阳区阜通东大街6号", "city": "北京"},
        recorded_body("amap/geo_one_futong.json"),
    )

    assert requests == [
        {
            "type": "http",
            "method": "GET",
            "url": f"{AMAP}/v3/geocode/geo",
            "query": {"key": "${AMAP_KEY}", "address": "北京市朝阳区阜通东大街6号", "city": "北京"},
            "desc": "查询“北京市朝阳区阜通东大街6号”的坐标",
        }
    ]
    assert result == {
        "type": "result",
        "content": (
            "北京市朝阳区阜通东大街6号: 116.483038,39.990633 (经度,纬度, GCJ-02)，精度：门牌号\n来源：高德地图"
        ),
        "data": {
            "provider": "amap",
            "name": "北京市朝阳区阜通东大街6号",
            "location": "116.483038,39.990633",
            "citycode": "010",
            "adcode": "110105",
            "level": "门牌号",
            "datum": "GCJ-02",
            "wgs84": "116.476935,39.989341",
            "others": [],
        },
    }


def test_a_name_of_several_places_is_answered_with_the_candidates() -> None:
    _, result = play_in_order("amap_geocode", {"address": "朝阳"}, recorded_body("amap/geo_several_chaoyang.json"))

    assert result["content"] == (
        "“朝阳”可能是 2 个地点，请确认是哪一个，再用完整地址或加上 city 重试：\n"
        "1. 辽宁省朝阳市 [市] 120.488801,41.601855\n"
        "2. 北京市朝阳区 [区县] 116.443136,39.921444\n"
        "坐标为经度,纬度（GCJ-02）。来源：高德地图"
    )
    assert result["data"]["ambiguous"] is True
    assert [place["adcode"] for place in result["data"]["candidates"]] == ["211300", "110105"]


def test_an_address_that_amap_cannot_resolve_is_said_to_be_unknown() -> None:
    _, result = play_in_order(
        "amap_geocode", {"address": "没有的地方"}, recorded_body("amap/geo_unresolvable_30001.json")
    )

    assert result == {
        "type": "result",
        "content": (
            "高德地图没有找到“没有的地方”。请写得更完整（省、市、区、路、门牌号）；中国以外的地点请用"
            " source=openstreetmap。"
        ),
        "data": {"provider": "amap"},
        "is_error": True,
    }


def test_a_hit_without_a_position_counts_as_none_and_a_missing_address_is_put_together() -> None:
    hits = [
        {"formatted_address": "某地", "location": []},
        {
            "formatted_address": [],
            "province": "北京市",
            "city": "北京市",
            "district": "海淀区",
            "location": "116.3,39.9",
        },
    ]

    _, result = play_in_order("amap_geocode", {"address": "某地"}, {"status": "1", "geocodes": hits})

    assert result["content"] == "北京市海淀区: 116.3,39.9 (经度,纬度, GCJ-02)\n来源：高德地图"


def test_without_a_key_an_address_is_looked_up_in_openstreetmap() -> None:
    requests, result = play_in_order(
        "amap_geocode",
        {"address": "Lindower Straße", "city": "Berlin"},
        recorded_body("nominatim/search_jsonv2_bakery_berlin.json"),
        secrets=(),
    )

    assert requests == [
        {
            "type": "http",
            "method": "GET",
            "url": f"{OSM}/search",
            "query": {
                "q": "Lindower Straße, Berlin",
                "format": "jsonv2",
                "limit": "5",
                "accept-language": "en",
            },
            "headers": {"User-Agent": "ias-tool/0.1"},
            "desc": "Look up Lindower Straße, Berlin",
        }
    ]
    assert result["content"] == (
        "Ditsch, Lindower Straße, Sprengelkiez, Wedding, Mitte, Berlin, 13347, Deutschland: 13.366903,52.542743"
        " (lon,lat, WGS-84), level: bakery\n"
        "Source: © OpenStreetMap contributors (Nominatim)"
    )
    assert result["data"]["datum"] == "WGS-84"


def test_openstreetmap_can_be_asked_although_there_is_a_key() -> None:
    hits = [
        {"lat": "52.5", "lon": "13.4", "display_name": "Berlin, Deutschland", "type": "city"},
        {"lat": 44.4, "lon": -71.1, "display_name": "Berlin, New Hampshire", "type": "town"},
    ]

    requests, result = play_in_order("amap_geocode", {"address": "柏林", "source": "openstreetmap"}, hits)

    assert [request["url"] for request in requests] == [f"{OSM}/search"]
    assert result["content"] == (
        "Berlin, Deutschland: 13.4,52.5 (经度,纬度, WGS-84)，精度：city\n"
        "其他同名地点：\n"
        "1. Berlin, New Hampshire [town] -71.1,44.4\n"
        "来源：© OpenStreetMap contributors（Nominatim）"
    )


def test_an_address_unknown_to_openstreetmap_leads_to_the_key() -> None:
    _, result = play_in_order(
        "amap_geocode", {"address": "zzz"}, recorded_body("nominatim/search_none.json"), secrets=()
    )

    assert result["is_error"] is True
    assert result["content"] == (
        "OpenStreetMap has no place 'zzz'. Try a fuller or more common form; with AMAP_KEY set, AMap finds detailed"
        " addresses in China."
    )


def test_coordinates_become_an_address_with_the_nearest_places_first() -> None:
    requests, result = play_in_order(
        "amap_regeocode", {"location": "116.310003,39.991957", "lang": "zh"}, recorded_body("amap/regeo_all_pku.json")
    )

    assert [request["query"] for request in requests] == [
        {"key": "${AMAP_KEY}", "location": "116.310003,39.991957", "radius": "1000", "extensions": "all"}
    ]
    assert result["content"] == (
        "116.310003,39.991957 (经度,纬度, GCJ-02): 北京市海淀区燕园街道北京大学\n"
        "最近的门牌：颐和园路5号\n"
        "附近：北京大学静园五院 (西 98 m)、北京大学第1教学楼 (东北 104 m)、北京大学 (东北 121 m)\n"
        "来源：高德地图"
    )
    assert {name: result["data"][name] for name in ("province", "city", "district", "adcode")} == {
        "province": "北京市",
        "city": "",
        "district": "海淀区",
        "adcode": "110108",
    }


def test_an_answer_without_places_nearby_is_enough() -> None:
    _, result = play_in_order(
        "amap_regeocode", {"location": "116.310003 39.991957"}, recorded_body("amap/regeo_base_pku.json")
    )

    assert result["content"] == (
        "116.310003,39.991957 (lon,lat, GCJ-02): 北京市海淀区燕园街道北京大学\n"
        "Nearest door: 颐和园路5号\n"
        "Source: AMap (Gaode)"
    )


def test_a_point_abroad_is_empty_at_amap_and_the_answer_says_whom_to_ask() -> None:
    _, result = play_in_order(
        "amap_regeocode", {"location": "139.69171,35.6895"}, recorded_body("amap/regeo_empty_overseas.json")
    )

    assert result == {
        "type": "result",
        "content": (
            "AMap has no address at 139.69171,35.6895: it may be at sea or outside China (for places abroad use"
            " source=openstreetmap), or the order is wrong (it is longitude,latitude)."
        ),
        "data": {"provider": "amap", "location": "139.69171,35.6895"},
        "is_error": True,
    }


def test_latitude_first_is_turned_round_where_it_cannot_be_meant() -> None:
    requests, _ = play_in_order(
        "amap_regeocode", {"location": "39.991957, 116.310003"}, recorded_body("amap/regeo_base_pku.json")
    )

    assert requests[0]["query"]["location"] == "116.310003,39.991957"


def test_coordinates_of_a_gps_are_moved_to_the_datum_of_amap() -> None:
    location = {"location": "121.5272106,31.1774276", "datum": "wgs-84"}

    requests, _ = play_in_order("amap_regeocode", location, recorded_body("amap/regeo_base_pku.json"))

    assert requests[0]["query"]["location"] == "121.531542,31.175304"


def test_coordinates_of_amap_are_moved_to_the_datum_of_openstreetmap() -> None:
    location = {"location": "121.531542,31.175304", "datum": "gcj-02"}

    requests, _ = play_in_order(
        "amap_regeocode", location, recorded_body("nominatim/reverse_jsonv2_autopista.json"), secrets=()
    )

    assert requests[0]["query"] == {
        "lat": "31.177428",
        "lon": "121.527211",
        "format": "jsonv2",
        "accept-language": "en",
    }


def test_without_a_key_coordinates_are_looked_up_in_openstreetmap() -> None:
    _, result = play_in_order(
        "amap_regeocode",
        {"location": "-58.7064573,-34.4391708"},
        recorded_body("nominatim/reverse_jsonv2_autopista.json"),
        secrets=(),
    )

    assert result["content"] == (
        "-58.706457,-34.439171 (lon,lat, WGS-84): Autopista Pedro Eugenio Aramburu, El Triángulo, Partido de Malvinas"
        " Argentinas, Buenos Aires, 1.619, Argentina\n"
        "Source: © OpenStreetMap contributors (Nominatim)"
    )
    assert result["data"]["parts"]["country_code"] == "ar"


def test_a_point_without_address_in_openstreetmap_is_said_to_have_none() -> None:
    _, result = play_in_order(
        "amap_regeocode", {"location": "0,0"}, recorded_body("nominatim/reverse_unable_to_geocode.json"), secrets=()
    )

    assert (result["is_error"], result["content"]) == (
        True,
        "OpenStreetMap has no address at 0,0: it may be at sea, or the order is wrong (it is longitude,latitude).",
    )


def test_words_are_no_coordinates() -> None:
    assert refusal("amap_regeocode", {"location": "天安门"}) == (
        "'天安门' 不是坐标。请写成“经度,纬度”，例如 116.397,39.909。"
    )


@pytest.mark.parametrize("location", ["200,95", "200,9", "-181,0"])
def test_coordinates_must_be_on_earth(location: str) -> None:
    assert refusal("amap_regeocode", {"location": location}) == (
        f"{location!r} is not a place on earth. Write longitude,latitude, such as 116.397,39.909."
    )


def test_a_city_that_the_address_names_is_not_added_again() -> None:
    address = {"address": "Alexanderplatz, Berlin", "city": "Berlin"}

    requests, _ = play_in_order("amap_geocode", address, recorded_body("nominatim/search_none.json"), secrets=())

    assert requests[0]["query"]["q"] == "Alexanderplatz, Berlin"


def test_a_missing_address_is_named() -> None:
    assert refusal("amap_geocode", {"address": "  "}) == "The parameter address is missing."


def test_amap_by_name_needs_the_key() -> None:
    assert refusal("amap_geocode", {"address": "天安门", "source": "amap"}, secrets=()) == (
        "这个功能需要高德地图的 key：没有设置 AMAP_KEY。请在 https://console.amap.com/dev/key/app 免费申请"
        "（服务平台选“Web服务”），然后把它设为 AMAP_KEY。"
    )
