"""Places of a call that may be given by name: coordinates for each, over as many steps as it takes.

The call's state holds what is known so far: `places` (facts, or null), `tried` (how each was last
looked up) and `pending` (which places the next answers are for).
"""

import time
from dataclasses import dataclass, replace
from typing import Any, cast

import nominatim
from addresses import ambiguous, located, nothing_there, regeocode_request, with_city
from amap_call import Call, Message, Refusal, asked
from amap_fields import object_of, objects_of, text_of
from amap_service import Place, checked, geocode_request, text_search_request
from geodesy import read_point
from providers import AMAP, provider_of, to_provider

BY_ADDRESS = "address"
BY_NAME = "name"  # AMap's place search, for what is no address
BY_POINT = "point"  # AMap's reverse lookup, where only the city is wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """A place that is looked for: what is known of it, and how it was last looked up."""

    text: str
    city: str
    place: Place | None
    tried: str

    def is_found(self, *, need_city: bool) -> bool:
        """Tell whether enough is known."""
        return self.place is not None and bool(self.place.citycode or not need_city)


def endpoints(call: Call, names: tuple[str, ...], *, need_city: bool = False) -> Message | list[Place]:
    """Find the places that the parameters `names` say, in order.

    Args:
        call: The step; coordinates are in the provider's datum unless `datum` says another.
        names: The parameters; all are required.
        need_city: Whether each place needs its citycode too (AMap only).

    Returns:
        The places; or the request to print before going on.

    Raises:
        Refusal: A place is missing, unknown or ambiguous, or a service failed.
    """
    provider = provider_of(call)
    sought = _sought(call, names, provider)
    pending = cast("list[int]", call.state.get("pending") or [])
    for index, response in zip(pending, call.responses, strict=False):
        sought[index] = replace(sought[index], place=_settled(sought[index], response, provider))
    wanted = [index for index, item in enumerate(sought) if not item.is_found(need_city=need_city)]
    if not wanted:
        return [item.place for item in sought if item.place is not None]
    if provider != AMAP:
        wanted = wanted[:1]
        if call.responses:
            time.sleep(nominatim.PAUSE)
    requests: list[Message] = []
    for index in wanted:
        how, ask = _lookup(call, sought[index], provider)
        sought[index] = replace(sought[index], tried=how)
        requests.append(ask)
    state = {
        "provider": provider,
        "places": [item.place.facts() if item.place else None for item in sought],
        "tried": [item.tried for item in sought],
        "pending": wanted,
    }
    return asked(requests, state)


def known(places: list[Place], stage: str) -> dict[str, Any]:
    """Build the state for a step after all places were found with AMap."""
    return {"provider": AMAP, "places": [place.facts() for place in places], "stage": stage}


def _sought(call: Call, names: tuple[str, ...], provider: str) -> list[Sought]:
    """Read the places of the call from its parameters and, after the first step, from its state."""
    kept = cast("list[Any]", call.state.get("places") or [None] * len(names))
    tried = cast("list[Any]", call.state.get("tried") or [""] * len(names))
    cities = (call.text("city"), call.text("destination_city") or call.text("city"))
    sought: list[Sought] = []
    for name, city, facts, how in zip(names, cities, kept, tried, strict=False):
        text = call.needed(name)
        place = Place.of_facts(object_of(facts)) if call.state else _from_coordinates(call, text, provider)
        sought.append(Sought(text=text, city=city, place=place, tried=text_of(how)))
    return sought


def _from_coordinates(call: Call, text: str, provider: str) -> Place | None:
    point = read_point(text)
    if point is None:
        return None
    point = to_provider(call, point, provider)
    return Place(name=str(point), point=point)


def _lookup(call: Call, item: Sought, provider: str) -> tuple[str, Message]:
    """Return the next way to look a place up, and its request."""
    if item.place is not None:
        return BY_POINT, regeocode_request(call, item.place.point, extensions="base")
    if provider != AMAP:
        return BY_ADDRESS, nominatim.search_request(call, with_city(item.text, item.city), limit=1)
    if item.tried == BY_ADDRESS:
        query = {"city": item.city, "offset": "1", "page": "1"}
        return BY_NAME, text_search_request(call, item.text, query)
    return BY_ADDRESS, geocode_request(call, item.text, item.city)


def _settled(item: Sought, response: dict[str, Any], provider: str) -> Place | None:
    """Read the answer of one lookup; None when another kind of lookup may still find the place."""
    if item.place is not None:
        return _with_city(item.place, response)
    if item.tried == BY_NAME:
        return _first_poi(item.text, response)
    places = located(response, provider)
    if len(places) > 1 and provider == AMAP:
        raise ambiguous(item.text, places)
    if not places and provider != AMAP:
        raise nothing_there(item.text, provider)
    return places[0] if places else None


def _with_city(place: Place, response: dict[str, Any]) -> Place:
    """Add the citycode from a reverse lookup."""
    parts = object_of(object_of(checked(response).get("regeocode")).get("addressComponent"))
    citycode = text_of(parts.get("citycode"))
    if not citycode:
        raise Refusal(
            f"坐标 {place.point} 不在中国的任何城市里，高德不能规划公交路线。",
            f"{place.point} is in no city of China, so AMap cannot plan public transport.",
            provider=AMAP,
        )
    return replace(place, citycode=citycode)


def _first_poi(text: str, response: dict[str, Any]) -> Place:
    for poi in objects_of(checked(response).get("pois")):
        point = read_point(text_of(poi.get("location")))
        if point is not None:
            area = "".join(dict.fromkeys(text_of(poi.get(part)) for part in ("cityname", "adname")))
            name = text_of(poi.get("name"))
            return Place(
                name=f"{name}（{area}）" if area else name,
                point=point,
                citycode=text_of(poi.get("citycode")),
                adcode=text_of(poi.get("adcode")),
            )
    raise nothing_there(text, AMAP)
