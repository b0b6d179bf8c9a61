"""OpenStreetMap's Nominatim: the keyless fallback for addresses and places.

Source: operations.osmfoundation.org/policies/nominatim: at most one request a second, an own
User-Agent, the attribution shown. Coordinates are WGS-84.
"""

from typing import Any

from amap_call import MESSAGE_CHARS, Call, Message, Refusal, json_body
from amap_fields import number_of, object_of, objects_of, text_of
from geodesy import Point

ORIGIN = "https://nominatim.openstreetmap.org"
USER_AGENT = "ias-tool/0.1"
DATUM = "WGS-84"
ATTRIBUTION = "© OpenStreetMap contributors"
SERVICE = "Nominatim (OpenStreetMap)"
HINT_ZH = "设置 AMAP_KEY 后可改用高德地图。"
HINT_EN = "With AMAP_KEY set, AMap can be asked instead."
PAUSE = 1.0  # s, between two requests of one call


def search_request(call: Call, words: str, *, limit: int = 5) -> Message:
    """Ask for up to `limit` places (1-40) that match `words`."""
    query = {"q": words, "format": "jsonv2", "limit": str(limit), "accept-language": call.lang}
    return _request("/search", query, call.say(f"查询“{words}”", f"Look up {words}"))


def reverse_request(call: Call, point: Point) -> Message:
    """Ask for the address at a WGS-84 point."""
    query = {
        "lat": f"{point.lat:.6f}",
        "lon": f"{point.lon:.6f}",
        "format": "jsonv2",
        "accept-language": call.lang,
    }
    return _request("/reverse", query, call.say(f"查询坐标 {point} 的地址", f"Address at {point}"))


def places_of(response: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the hits of a search that have a position, each with `name`, `address`, `point`.

    Raises:
        Refusal: The network, the service or its answer failed.
    """
    places: list[dict[str, Any]] = []
    for hit in objects_of(_checked(response)):
        point = point_of(hit)
        if point is not None:
            address = text_of(hit.get("display_name"))
            name = text_of(hit.get("name")) or address.split(",")[0]
            kind = text_of(hit.get("type"))
            places.append({"name": name, "address": address, "kind": kind, "point": point})
    return places


def address_of(response: dict[str, Any]) -> dict[str, Any]:
    """Return the answer of a reverse request, empty where there is no address.

    Raises:
        Refusal: The network, the service or its answer failed.
    """
    return object_of(_checked(response))


def point_of(hit: dict[str, Any]) -> Point | None:
    """Read `lat` and `lon`, which are texts in most versions."""
    lon, lat = number_of(hit.get("lon")), number_of(hit.get("lat"))
    return None if lon is None or lat is None else Point(lon=lon, lat=lat)


def _request(path: str, query: dict[str, str], desc: str) -> Message:
    return {
        "type": "http",
        "method": "GET",
        "url": f"{ORIGIN}{path}",
        "query": query,
        "headers": {"User-Agent": USER_AGENT},
        "desc": desc,
    }


def _checked(response: dict[str, Any]) -> Any:
    """Parse an answer and turn its errors into refusals ("Unable to geocode" is none)."""
    status = text_of(response.get("status"))
    if status == "429":
        raise _refusal("请求过于频繁，请稍后再试", "too many requests, try again later", status)
    if status == "403":
        raise _refusal("拒绝了请求", "it refused the request", status)
    try:
        body = json_body(response, SERVICE)
    except Refusal as refusal:
        raise Refusal(f"{refusal.zh}{HINT_ZH}", f"{refusal.en} {HINT_EN}", **refusal.facts) from None
    error = object_of(body).get("error")
    if not error:
        return body
    reason = text_of(object_of(error).get("message")) or text_of(error)
    if reason.lower() == "unable to geocode":
        return {}
    reason = reason[:MESSAGE_CHARS] or f"HTTP {status}"
    raise _refusal(reason, reason, status)


def _refusal(zh: str, en: str, status: str) -> Refusal:
    return Refusal(
        f"{SERVICE}：{zh}（HTTP {status}）。{HINT_ZH}",
        f"{SERVICE}: {en} (HTTP {status}). {HINT_EN}",
        provider="openstreetmap",
        http_status=status,
    )
