"""How far it is: `distance`, straight or by road."""

from typing import Any

from amap_call import MESSAGE_CHARS, Call, Message, Refusal, asked, result
from amap_fields import number_of, objects_of, text_of
from amap_service import Place, checked, need_key, request
from endpoints import endpoints, known
from geodesy import straight_line
from measures import duration, length, whole
from providers import AMAP, DATUMS, OSM, provider_of, source_line

STRAIGHT = "straight"
# AMap's `type` of each way to measure (lbs.amap.com, "distance").
TYPES = {STRAIGHT: "0", "driving": "1", "walking": "3"}
WORDS = {
    STRAIGHT: ("直线距离", "straight-line distance"),
    "driving": ("驾车距离", "driving distance"),
    "walking": ("步行距离", "walking distance"),
}
# Codes of a single result, sent beside status "1" (same page).
RESULT_CODES = {
    "1": ("两地之间没有可以通行的道路", "there is no passable road between the two places"),
    "2": ("起点或终点离所有道路都太远", "a place is too far from every road"),
    "3": ("起点或终点不在中国境内", "a place is outside China"),
}


def distance(call: Call) -> Message:
    """Measure the way between two places given by name or coordinates."""
    mode = call.choice("mode", tuple(TYPES))
    provider = provider_of(call)
    if mode != STRAIGHT and provider == OSM:
        need_key(call)
        raise Refusal(
            "OpenStreetMap 只能算直线距离；驾车和步行距离请去掉 source。",
            "OpenStreetMap gives straight lines only; leave out source for driving or walking.",
        )
    places = endpoints(call, ("origin", "destination"))
    if isinstance(places, dict):
        return places
    start, end = places
    if provider == OSM:
        metres = straight_line(start.point, end.point)
        return _answer(call, mode, provider, (start, end), {"distance": metres})
    if call.state.get("stage") != "distance":
        query = {
            "origins": str(start.point),
            "destination": str(end.point),
            "type": TYPES[mode],
        }
        desc = call.say(f"测量距离（{mode}）", f"Measure the distance ({mode})")
        return asked([request("/v3/distance", query, desc)], known(places, "distance"))
    measured = objects_of(checked(call.responses[0]).get("results"))
    return _answer(call, mode, provider, (start, end), measured[0] if measured else {})


def _answer(call: Call, mode: str, provider: str, ends: tuple[Place, Place], measured: dict[str, Any]) -> Message:
    """Write the answer; a straight line has no duration."""
    metres = number_of(measured.get("distance"))
    if metres is None or text_of(measured.get("code")):
        raise _unmeasured(measured)
    seconds = None if mode == STRAIGHT else number_of(measured.get("duration"))
    start, end = ends
    time = "" if seconds is None else call.say("，约 ", ", about ") + duration(call, seconds)
    kind = call.say(*WORDS[mode])
    line = f"{start.name} → {end.name}: {kind} {length(call, metres)}{time}"
    facts = {
        "provider": provider,
        "mode": mode,
        "distance_m": round(metres),
        "duration_s": whole(seconds),
        "origin": start.facts(),
        "destination": end.facts(),
        "datum": DATUMS[provider],
    }
    return result(f"{line}\n{source_line(call, provider)}", facts)


def _unmeasured(measured: dict[str, Any]) -> Refusal:
    code = text_of(measured.get("code"))
    info = text_of(measured.get("info"))[:MESSAGE_CHARS]
    zh, en = RESULT_CODES.get(code, (info or "没有返回距离", info or "it returned no distance"))
    return Refusal(
        f"高德无法测量这段距离：{zh}。",
        f"AMap could not measure this distance: {en}.",
        provider=AMAP,
        code=code,
        info=info,
    )
