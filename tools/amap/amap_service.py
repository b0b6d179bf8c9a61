"""The AMap Web service: requests, and answers checked for its own errors.

Source: lbs.amap.com, Web service API. Every answer has `status` ("1" or "0"), `info` and
`infocode`, with HTTP 200 also on errors. Coordinates are `lon,lat` in GCJ-02.
"""

from dataclasses import dataclass
from typing import Any

from amap_call import KEY, MESSAGE_CHARS, Call, Message, Refusal, json_body
from amap_fields import object_of, objects_of, text_of
from geodesy import Point, read_point
from infocodes import KEY_PAGE, meaning_of

ORIGIN = "https://restapi.amap.com"
DATUM = "GCJ-02"
# Infocodes of the engine: "no such address" is an answer about the place, not a failure.
ENGINE_CODES = "300"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A place with a position in GCJ-02."""

    name: str
    point: Point
    citycode: str = ""
    adcode: str = ""
    level: str = ""

    def facts(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "name": self.name,
            "location": str(self.point),
            "citycode": self.citycode,
            "adcode": self.adcode,
            "level": self.level,
        }

    @classmethod
    def of_facts(cls, facts: dict[str, Any]) -> "Place | None":
        """Read back what `facts` wrote; None where there is no position."""
        point = read_point(text_of(facts.get("location")))
        if point is None:
            return None
        texts = {name: text_of(facts.get(name)) for name in ("name", "citycode", "adcode", "level")}
        return cls(point=point, **texts)


def need_key(call: Call) -> None:
    """Make sure that there is a key.

    Raises:
        Refusal: There is none; the text says where to get one.
    """
    if not call.has_key:
        raise Refusal(
            f"这个功能需要高德地图的 key：没有设置 {KEY}。请在 {KEY_PAGE} 免费申请（服务平台选"
            f"“Web服务”），然后把它设为 {KEY}。",
            f"This needs an AMap key and {KEY} is not set. Get a free one at {KEY_PAGE} (platform"
            f" 'Web服务', Web service), then set it as {KEY}.",
            missing_secret=KEY,
            key_page=KEY_PAGE,
        )


def request(path: str, query: dict[str, str], desc: str) -> Message:
    """Build a GET request; empty query values are left out."""
    filled = {name: value for name, value in query.items() if value}
    return {
        "type": "http",
        "method": "GET",
        "url": f"{ORIGIN}{path}",
        "query": {"key": f"${{{KEY}}}", **filled},
        "desc": desc,
    }


def geocode_request(call: Call, address: str, city: str) -> Message:
    """Ask for the coordinates of an address, within a city unless that is empty."""
    desc = call.say(f"查询“{address}”的坐标", f"Locate {address}")
    return request("/v3/geocode/geo", {"address": address, "city": city}, desc)


def text_search_request(call: Call, words: str, query: dict[str, str]) -> Message:
    """Ask for places whose name or kind matches `words`; `query` holds the other fields."""
    desc = call.say(f"搜索“{words}”", f"Search for {words}")
    return request("/v3/place/text", {"keywords": words, "extensions": "all", **query}, desc)


def checked(response: dict[str, Any]) -> dict[str, Any]:
    """Return the body of a good answer.

    Raises:
        Refusal: The network, AMap or its answer failed. `facts` hold the infocode.
    """
    body = object_of(json_body(response, "高德地图 AMap"))
    if text_of(body.get("status")) == "1":
        return body
    infocode = text_of(body.get("infocode"))
    info = text_of(body.get("info"))[:MESSAGE_CHARS]
    meaning = meaning_of(infocode)
    http_status = text_of(response.get("status")) or "?"
    detail = " ".join(filter(None, (info, infocode))) or f"HTTP {http_status}"
    raise Refusal(
        f"{meaning.zh}（{detail}）。",
        f"{meaning.en} ({detail}).",
        provider="amap",
        infocode=infocode,
        info=info,
        retry=meaning.retry,
    )


def found(response: dict[str, Any]) -> list[Place]:
    """Return the places of a geocode answer; "no such address" is an empty list.

    Raises:
        Refusal: As `checked`.
    """
    try:
        body = checked(response)
    except Refusal as refusal:
        if text_of(refusal.facts.get("infocode")).startswith(ENGINE_CODES):
            return []
        raise
    places: list[Place] = []
    for hit in objects_of(body.get("geocodes")):
        point = read_point(text_of(hit.get("location")))
        if point is not None:
            places.append(_place(hit, point))
    return places


def _place(hit: dict[str, Any], point: Point) -> Place:
    """Read one geocode; a missing full address is put together from its parts."""
    parts = [text_of(hit.get(part)) for part in ("province", "city", "district", "street", "number")]
    unique = dict.fromkeys(filter(None, parts))
    return Place(
        name=text_of(hit.get("formatted_address")).replace("|", "") or "".join(unique),
        point=point,
        citycode=text_of(hit.get("citycode")),
        adcode=text_of(hit.get("adcode")),
        level=text_of(hit.get("level")),
    )
