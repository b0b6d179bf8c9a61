"""Places of a call that may be given by name: coordinates for each, over as many steps as it takes.

The call's state holds what is known so far: `places` (facts, or null), `tried` (how each was last
looked up) and `pending` (which places the next answers are for).
"""

import time
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

# None: not known yet.
Known = list[Place | None]


def endpoints(call: Call, names: tuple[str, ...], *, need_city: bool = False) -> Message | Known:
    """Find the places that the parameters `names` say, in order.

    Args:
        call: The step; coordinates are in the provider's datum unless `datum` says another.
        names: The parameters; all are required.
        need_city: Whether each place needs its citycode too (AMap only).

    Returns:
        The places, none of them None; or the request to print before going on.

    Raises:
        Refusal: A place is missing, unknown or ambiguous, or a service failed.
    """
    provider = provider_of(call)
    words = [call.needed(name) for name in names]
    if not call.state:
        places: Known = [_from_coordinates(call, text, provider) for text in words]
        tried = [""] * len(words)
    else:
        stored = cast("list[Any]", call.state.get("places") or [])
        places = [Place.of_facts(object_of(facts)) for facts in stored]
        tried = [text_of(how) for how in cast("list[Any]", call.state.get("tried") or [])]
        pending = cast("list[int]", call.state.get("pending") or [])
        for index, response in zip(pending, call.responses, strict=False):
            places[index] = _settled(places[index], words[index], tried[index], response, provider)
    wanted = [i for i, place in enumerate(places) if place is None or (need_city and not place.citycode)]
    if not wanted:
        return places
    if provider != AMAP:
        wanted = wanted[:1]
        if call.responses:
            time.sleep(nominatim.PAUSE)
    requests = [_lookup(call, index, places, tried, words, provider) for index in wanted]
    return asked(requests, known(provider, places) | {"tried": tried, "pending": wanted})


def known(provider: str, places: Known) -> dict[str, Any]:
    """Build the state that keeps the places found so far."""
    facts = [None if place is None else place.facts() for place in places]
    return {"provider": provider, "places": facts}


def _from_coordinates(call: Call, text: str, provider: str) -> Place | None:
    point = read_point(text)
    if point is None:
        return None
    point = to_provider(call, point, provider)
    return Place(name=str(point), point=point)


def _lookup(call: Call, index: int, places: Known, tried: list[str], words: list[str], provider: str) -> Message:
    """Build the next request for one place and note its kind in `tried`."""
    place, text = places[index], words[index]
    if place is not None:
        tried[index] = BY_POINT
        return regeocode_request(call, place.point, extensions="base")
    city = _city(call, index)
    if provider != AMAP:
        tried[index] = BY_ADDRESS
        return nominatim.search_request(call, with_city(text, city), limit=1)
    if tried[index] == BY_ADDRESS:
        tried[index] = BY_NAME
        return text_search_request(call, text, {"city": city, "offset": "1", "page": "1"})
    tried[index] = BY_ADDRESS
    return geocode_request(call, text, city)


def _city(call: Call, index: int) -> str:
    """Return the city of a place: the second one may have its own."""
    own = call.text("destination_city") if index == 1 else ""
    return own or call.text("city")


def _settled(place: Place | None, text: str, how: str, response: dict[str, Any], provider: str) -> Place | None:
    """Read the answer of one lookup; None when another kind of lookup may still find it."""
    if how == BY_POINT and place is not None:
        return _with_city(place, response)
    if how == BY_NAME:
        return _first_poi(text, response)
    places = located(response, provider)
    if len(places) > 1 and provider == AMAP:
        raise ambiguous(text, places)
    if places:
        return places[0]
    if provider != AMAP:
        raise nothing_there(text, provider)
    return None


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
    return Place(name=place.name, point=place.point, citycode=citycode)


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
