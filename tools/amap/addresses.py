"""Addresses and coordinates: `geocode` and `regeocode`."""

import math
from typing import Any

import nominatim
from amap_call import Call, Message, Refusal, asked, result
from amap_fields import number_of, object_of, objects_of, text_of
from amap_service import DATUM as GCJ02
from amap_service import Place, checked, found, geocode_request, request
from geodesy import Point, read_point
from providers import AMAP, OSM, position, position_facts, provider_of, source_line, to_provider

CANDIDATES = 5
NEARBY = 3
RADIUS = "1000"  # m, around the point of a reverse lookup (AMap's default)


def geocode(call: Call) -> Message:
    """Turn an address into coordinates."""
    address = call.needed("address")
    provider = provider_of(call)
    if not call.responses:
        if provider == AMAP:
            ask = geocode_request(call, address, call.text("city"))
        else:
            ask = nominatim.search_request(call, with_city(address, call.text("city")), limit=CANDIDATES)
        return asked([ask], {"provider": provider})
    places = located(call.responses[0], provider)
    if not places:
        raise nothing_there(address, provider)
    if len(places) > 1 and provider == AMAP:
        choice = ambiguous(address, places)
        return result(call.say(choice.zh, choice.en), choice.facts)
    place = places[0]
    level = call.say(f"，精度：{place.level}", f", level: {place.level}") if place.level else ""
    lines = [f"{place.name}: {position(call, place.point, provider)}{level}"]
    if len(places) > 1:
        lines.append(call.say("其他同名地点：", "Other matches:"))
        lines.append(choice_lines(places[1:]))
    lines.append(source_line(call, provider))
    facts = {"provider": provider, **place.facts(), **position_facts(place.point, provider)}
    facts["others"] = [other.facts() for other in places[1:]]
    return result("\n".join(lines), facts)


def regeocode(call: Call) -> Message:
    """Turn coordinates into an address."""
    given = call.needed("location")
    point = read_point(given)
    if point is None:
        raise Refusal(
            f"{given!r} 不是坐标。请写成“经度,纬度”，例如 116.397,39.909。",
            f"{given!r} is no pair of coordinates. Write longitude,latitude, as 116.397,39.909.",
        )
    provider = provider_of(call)
    point = to_provider(call, point, provider)
    if not call.responses:
        if provider == AMAP:
            ask = regeocode_request(call, point, extensions="all")
        else:
            ask = nominatim.reverse_request(call, point)
        return asked([ask], {"provider": provider})
    if provider == OSM:
        return _osm_address(call, point)
    return _amap_address(call, point)


def with_city(words: str, city: str) -> str:
    """Add a city to words that do not name it, for a service without a city field."""
    return words if not city or city in words else f"{words}, {city}"


def regeocode_request(call: Call, point: Point, *, extensions: str) -> Message:
    """Ask AMap for the address at a GCJ-02 point; `extensions` is base or all."""
    query = {"location": str(point), "radius": RADIUS, "extensions": extensions}
    desc = call.say(f"查询坐标 {point} 的地址", f"Address at {point}")
    return request("/v3/geocode/regeo", query, desc)


def located(response: dict[str, Any], provider: str) -> list[Place]:
    """Return the places in a geocoding answer of either map; a point is in that map's datum."""
    if provider == AMAP:
        return found(response)
    return [
        Place(name=hit["address"] or hit["name"], point=hit["point"], level=hit["kind"])
        for hit in nominatim.places_of(response)
    ]


def nothing_there(address: str, provider: str) -> Refusal:
    """Say that an address was not found, and what may help."""
    if provider == OSM:
        return Refusal(
            f"OpenStreetMap 里没有找到“{address}”。请换一个更常见或更完整的写法；设置 AMAP_KEY"
            " 后可用高德地图查中国的详细地址。",
            f"OpenStreetMap has no place {address!r}. Try a fuller or more common form; with"
            " AMAP_KEY set, AMap finds detailed addresses in China.",
            provider=provider,
        )
    return Refusal(
        f"高德地图没有找到“{address}”。请写得更完整（省、市、区、路、门牌号）；中国以外的地点请用"
        " source=openstreetmap。",
        f"AMap found no place for {address!r}. Write it more fully (province, city, district,"
        " street, number); for places outside China use source=openstreetmap.",
        provider=provider,
    )


def choice_lines(places: list[Place]) -> str:
    """Number the candidates, one a line."""
    lines: list[str] = []
    for number, place in enumerate(places[:CANDIDATES], start=1):
        level = f" [{place.level}]" if place.level else ""
        lines.append(f"{number}. {place.name}{level} {place.point}")
    return "\n".join(lines)


def ambiguous(address: str, places: list[Place]) -> Refusal:
    """Ask which of several places in AMap's answer is meant."""
    listed = choice_lines(places)
    return Refusal(
        f"“{address}”可能是 {len(places)} 个地点，请确认是哪一个，再用完整地址或加上 city 重试：\n"
        f"{listed}\n坐标为经度,纬度（{GCJ02}）。来源：高德地图",
        f"{address!r} may be one of {len(places)} places; ask which one is meant, then call again"
        f" with the full address or a city:\n{listed}\nCoordinates are lon,lat ({GCJ02})."
        " Source: AMap (Gaode)",
        provider=AMAP,
        ambiguous=True,
        datum=GCJ02,
        candidates=[place.facts() for place in places[:CANDIDATES]],
    )


def _amap_address(call: Call, point: Point) -> Message:
    """Read a regeo answer; abroad every field of it is empty."""
    body = object_of(checked(call.responses[0]).get("regeocode"))
    parts = object_of(body.get("addressComponent"))
    names = ("country", "province", "city", "district", "township", "adcode", "citycode")
    facts = {name: text_of(parts.get(name)) for name in names}
    address = text_of(body.get("formatted_address")) or "".join(
        dict.fromkeys(filter(None, (facts["province"], facts["city"], facts["district"])))
    )
    if not address:
        raise Refusal(
            f"高德地图在坐标 {point} 没有地址：可能在海上或中国以外（海外请用"
            " source=openstreetmap），也可能经纬度写反了（应为“经度,纬度”）。",
            f"AMap has no address at {point}: it may be at sea or outside China (for places abroad"
            " use source=openstreetmap), or the order is wrong (it is longitude,latitude).",
            provider=AMAP,
            location=str(point),
        )
    street = object_of(parts.get("streetNumber"))
    facts["street"] = text_of(street.get("street")) + text_of(street.get("number"))
    nearby = [_nearby(poi) for poi in objects_of(body.get("pois")) if text_of(poi.get("name"))]
    nearby.sort(key=lambda poi: math.inf if poi["distance_m"] is None else poi["distance_m"])
    lines = [f"{position(call, point, AMAP)}: {address}"]
    if facts["street"] and facts["street"] not in address:
        lines.append(call.say(f"最近的门牌：{facts['street']}", f"Nearest door: {facts['street']}"))
    if nearby:
        shown = call.say("、", ", ").join(_nearby_text(poi) for poi in nearby[:NEARBY])
        lines.append(call.say(f"附近：{shown}", f"Nearby: {shown}"))
    lines.append(source_line(call, AMAP))
    where = position_facts(point, AMAP)
    whole = {"provider": AMAP, "address": address, **where, **facts, "nearby": nearby[:NEARBY]}
    return result("\n".join(lines), whole)


def _nearby(poi: dict[str, Any]) -> dict[str, Any]:
    """Keep the name of a place nearby, its distance in metres and its direction."""
    metres = number_of(poi.get("distance"))
    return {
        "name": text_of(poi.get("name")),
        "direction": text_of(poi.get("direction")),
        "distance_m": None if metres is None else round(metres),
    }


def _nearby_text(poi: dict[str, Any]) -> str:
    metres = poi["distance_m"]
    where = " ".join(filter(None, (poi["direction"], "" if metres is None else f"{metres} m")))
    return f"{poi['name']} ({where})" if where else str(poi["name"])


def _osm_address(call: Call, point: Point) -> Message:
    """Read a reverse answer of Nominatim."""
    body = nominatim.address_of(call.responses[0])
    address = text_of(body.get("display_name"))
    if not address:
        raise Refusal(
            f"OpenStreetMap 在坐标 {point} 没有地址：可能在海上，或经纬度写反了（应为“经度,纬度”）。",
            f"OpenStreetMap has no address at {point}: it may be at sea, or the order is wrong (it"
            " is longitude,latitude).",
            provider=OSM,
            location=str(point),
        )
    parts = {name: text_of(part) for name, part in object_of(body.get("address")).items()}
    where = position_facts(point, OSM)
    content = f"{position(call, point, OSM)}: {address}\n{source_line(call, OSM)}"
    return result(content, {"provider": OSM, "address": address, **where, "parts": parts})
