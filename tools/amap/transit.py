"""Public transport plans in AMap's route answers: their legs, as facts and as text."""

from typing import Any

from amap_call import Call
from amap_fields import number_of, object_of, objects_of, text_of
from measures import length, whole, yuan


def plan_facts(transit: dict[str, Any]) -> dict[str, Any]:
    """Read one plan: totals (metres, seconds, yuan) and its legs in order."""
    cost = object_of(transit.get("cost"))
    legs = [leg for segment in objects_of(transit.get("segments")) for leg in _legs(segment)]
    return {
        "distance_m": whole(transit.get("distance")),
        "duration_s": whole(cost.get("duration") or transit.get("duration")),
        "walking_m": whole(transit.get("walking_distance")),
        "fare": text_of(cost.get("transit_fee")),
        "legs": legs,
    }


def plan_details(call: Call, plan: dict[str, Any]) -> list[str]:
    """Return what is known of a plan besides length and duration."""
    fare, walking = yuan(call, plan["fare"]), plan["walking_m"]
    details = [call.say(f"票价 {fare}", f"fare {fare}")] if fare else []
    if walking:
        on_foot = length(call, walking)
        details.append(call.say(f"步行 {on_foot}", f"{on_foot} on foot"))
    return details


def leg_line(call: Call, leg: dict[str, Any]) -> str:
    """Write one leg."""
    if leg["kind"] == "walk":
        return call.say(f"步行 {length(call, leg['distance_m'])}", f"Walk {length(call, leg['distance_m'])}")
    if leg["kind"] == "taxi":
        return call.say(f"打车 {length(call, leg['distance_m'])}", f"Taxi {length(call, leg['distance_m'])}")
    stops = leg["stops"]
    count = call.say(f"，{stops} 站", f", {stops} stops") if stops else ""
    entrance = call.say(f"（{leg['entrance']}进）", f" (in by {leg['entrance']})") if leg["entrance"] else ""
    return call.say(
        f"乘 {leg['line']}{entrance}：{leg['from']} → {leg['to']}{count}",
        f"Take {leg['line']}{entrance}: {leg['from']} → {leg['to']}{count}",
    )


def _legs(segment: dict[str, Any]) -> list[dict[str, Any]]:
    """Read one segment: a walk, then at most one of bus or metro, train, taxi."""
    legs: list[dict[str, Any]] = []
    walked = whole(object_of(segment.get("walking")).get("distance"))
    if walked:
        legs.append({"kind": "walk", "distance_m": walked})
    lines = objects_of(object_of(segment.get("bus")).get("buslines"))
    if lines:  # several lines are alternatives for the same leg; the first is AMap's choice
        legs.append(_line_leg(lines[0], segment))
    train = object_of(segment.get("railway"))
    if text_of(train.get("name")) or text_of(train.get("trip")):
        legs.append(_train_leg(train))
    taxi = object_of(segment.get("taxi"))
    if number_of(taxi.get("distance")):
        legs.append({"kind": "taxi", "distance_m": whole(taxi.get("distance"))})
    return legs


def _line_leg(line: dict[str, Any], segment: dict[str, Any]) -> dict[str, Any]:
    between = whole(line.get("via_num"))
    return {
        "kind": "line",
        "line": text_of(line.get("name")) or text_of(line.get("type")) or "?",
        "from": text_of(object_of(line.get("departure_stop")).get("name")) or "?",
        "to": text_of(object_of(line.get("arrival_stop")).get("name")) or "?",
        "stops": None if between is None else between + 1,  # AMap counts those in between
        "distance_m": whole(line.get("distance")),
        "entrance": text_of(object_of(segment.get("entrance")).get("name")),
    }


def _train_leg(train: dict[str, Any]) -> dict[str, Any]:
    names = dict.fromkeys(filter(None, (text_of(train.get("trip")), text_of(train.get("name")))))
    return {
        "kind": "train",
        "line": " ".join(names),
        "from": text_of(object_of(train.get("departure_stop")).get("name")) or "?",
        "to": text_of(object_of(train.get("arrival_stop")).get("name")) or "?",
        "stops": None,
        "distance_m": whole(train.get("distance")),
        "entrance": "",
    }
