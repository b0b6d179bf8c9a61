"""Finding places: `search` by words, `around` a place."""

from typing import Any

import nominatim
from addresses import with_city
from amap_call import Call, Message, asked, result
from amap_fields import object_of, objects_of, text_of
from amap_service import Place, checked, need_key, request, text_search_request
from endpoints import endpoints, known
from geodesy import read_point
from measures import length, whole, yuan
from providers import AMAP, DATUMS, OSM, provider_of, source_line

LIMIT = 5
MOST = 20
PAGES = 40  # AMap shows at most 200 places for one search
MAX_RADIUS = 50_000  # m, AMap's limit


def search(call: Call) -> Message:
    """Find places by name or kind, anywhere or in a city."""
    words = call.needed("keywords")
    provider = provider_of(call)
    limit = call.whole("limit", default=LIMIT, low=1, high=MOST)
    if not call.responses:
        return asked([_search_request(call, words, provider, limit)], {"provider": provider})
    if provider == OSM:
        return _osm_hits(call, words)
    body = checked(call.responses[0])
    pois = _pois(body, limit)
    if not pois:
        return _nothing(call, words, body)
    total = whole(body.get("count"))
    head = call.say(
        f"“{words}”：{len(pois)} 个结果（高德共 {total or len(pois)} 个）",
        f"{words!r}: {len(pois)} results (of {total or len(pois)} at AMap)",
    )
    return _listed(call, head, pois, {"total": total})


def around(call: Call) -> Message:
    """Find places near a place name or coordinates."""
    need_key(call)
    call.needed("location")
    words = call.text("keywords")
    radius = call.whole("radius", default=3000, low=1, high=MAX_RADIUS)
    limit = call.whole("limit", default=LIMIT, low=1, high=MOST)
    centre = endpoints(call, ("location",))
    if isinstance(centre, dict):
        return centre
    place = centre[0]
    if call.state.get("stage") != "around":
        return _around_request(call, place, words, radius=radius, limit=limit)
    body = checked(call.responses[0])
    pois = _pois(body, limit)
    name, reach = place.name, length(call, radius)
    what = words or call.say("地点", "places")
    if not pois:
        text = call.say(
            f"{name} 周围 {reach} 内没有找到“{what}”。可以加大 radius 或换关键词。",
            f"No {what} within {reach} of {name}. Try a larger radius or other words.",
        )
        facts: dict[str, Any] = {"provider": AMAP, "centre": place.facts(), "radius_m": radius, "places": []}
        return result(f"{text}\n{source_line(call, AMAP)}", facts)
    head = call.say(
        f"{name} 周围 {reach} 内的“{what}”（由近到远）：",
        f"{what} within {reach} of {name}, nearest first:",
    )
    return _listed(call, head, pois, {"centre": place.facts(), "radius_m": radius})


def _search_request(call: Call, words: str, provider: str, limit: int) -> Message:
    city = call.text("city")
    if provider == OSM:
        return nominatim.search_request(call, with_city(words, city), limit=limit)
    query = {
        "city": city,
        "citylimit": "true" if city else "",
        "offset": str(limit),
        "page": str(call.whole("page", default=1, low=1, high=PAGES)),
    }
    return text_search_request(call, words, query)


def _around_request(call: Call, place: Place, words: str, *, radius: int, limit: int) -> Message:
    query = {
        "location": str(place.point),
        "keywords": words,
        "radius": str(radius),
        "sortrule": "distance",
        "offset": str(limit),
        "page": "1",
        "extensions": "all",
    }
    desc = call.say(f"搜索周边“{words}”", f"Search nearby for {words or 'places'}")
    return asked([request("/v3/place/around", query, desc)], known([place], "around"))


def _pois(body: dict[str, Any], limit: int) -> list[dict[str, Any]]:
    """Read the named places of an answer; prices are yuan a head, ratings out of 5."""
    pois: list[dict[str, Any]] = []
    for poi in objects_of(body.get("pois")):
        name = text_of(poi.get("name"))
        if not name:
            continue
        extra = object_of(poi.get("biz_ext"))
        areas = [text_of(poi.get(part)) for part in ("pname", "cityname", "adname")]
        point = read_point(text_of(poi.get("location")))
        pois.append(
            {
                "name": name,
                "kind": text_of(poi.get("type")).split(";")[-1],
                "area": "".join(dict.fromkeys(filter(None, areas))),
                "address": text_of(poi.get("address")),
                "tel": text_of(poi.get("tel")),
                "rating": text_of(extra.get("rating")),
                "price": text_of(extra.get("cost")),
                "distance_m": whole(poi.get("distance")),
                "location": "" if point is None else str(point),
            }
        )
    return pois[:limit]


def _line(call: Call, poi: dict[str, Any]) -> str:
    """Write one place: name, distance, address, telephone, rating, price, position."""
    price = yuan(call, poi["price"])
    distance = "" if poi["distance_m"] is None else length(call, poi["distance_m"])
    parts = (
        distance,
        f"{poi['area']}{poi['address']}",
        call.say(f"电话 {poi['tel']}", f"tel. {poi['tel']}") if poi["tel"] else "",
        call.say(f"评分 {poi['rating']}", f"rating {poi['rating']}") if poi["rating"] else "",
        call.say(f"人均 {price}", f"{price} a head") if price else "",
        f"[{poi['location']}]" if poi["location"] else "",
    )
    details = call.say("，", ", ").join(filter(None, parts))
    return f"{poi['name']}: {details}" if details else str(poi["name"])


def _listed(call: Call, head: str, pois: list[dict[str, Any]], extra: dict[str, Any]) -> Message:
    """Write the list of places of an AMap answer."""
    lines = [head]
    lines += [f"{number}. {_line(call, poi)}" for number, poi in enumerate(pois, start=1)]
    datum = DATUMS[AMAP]
    order = call.say(f"坐标为经度,纬度（{datum}）。", f"Coordinates are lon,lat ({datum}). ")
    lines.append(f"{order}{source_line(call, AMAP)}")
    return result("\n".join(lines), {"provider": AMAP, "datum": datum, **extra, "places": pois})


def _nothing(call: Call, words: str, body: dict[str, Any]) -> Message:
    """Say that nothing matched; for a general word without a city AMap names cities instead."""
    suggestion = object_of(body.get("suggestion"))
    cities = [
        {"name": text_of(city.get("name")), "count": whole(city.get("num"))}
        for city in objects_of(suggestion.get("cities"))
    ]
    if cities:
        shown = ", ".join(f"{city['name']} ({city['count'] or '?'})" for city in cities[:MOST])
        text = call.say(
            f"“{words}”范围太大，请用 city 指定城市。结果较多的城市：{shown}",
            f"{words!r} is too general without a city. Cities with most results: {shown}",
        )
    else:
        text = call.say(
            f"高德地图没有找到“{words}”。请换关键词，或检查 city。",
            f"AMap found nothing for {words!r}. Try other words, or check the city.",
        )
    facts = {"provider": AMAP, "total": 0, "places": [], "cities": cities}
    return result(f"{text}\n{source_line(call, AMAP)}", facts)


def _osm_hits(call: Call, words: str) -> Message:
    """Write the list of places of a Nominatim answer."""
    hits = nominatim.places_of(call.responses[0])
    places = [{**hit, "point": str(hit["point"])} for hit in hits]
    source = source_line(call, OSM)
    facts = {"provider": OSM, "datum": DATUMS[OSM], "places": places}
    if not places:
        text = call.say(
            f"OpenStreetMap 里没有找到“{words}”。设置 AMAP_KEY 后可用高德地图搜索。",
            f"OpenStreetMap has nothing for {words!r}. With AMAP_KEY set, AMap is searched.",
        )
        return result(f"{text}\n{source}", facts)
    lines = [call.say(f"“{words}”：{len(places)} 个结果", f"{words!r}: {len(places)} results")]
    for number, hit in enumerate(places, start=1):
        kind = f" ({hit['kind']})" if hit["kind"] else ""
        lines.append(f"{number}. {hit['name']}{kind}: {hit['address']} [{hit['point']}]")
    order = call.say("坐标为经度,纬度（WGS-84）。", "Coordinates are lon,lat (WGS-84). ")
    return result("\n".join([*lines, f"{order}{source}"]), facts)
