"""How to get there: `route`, by car, on foot, by bicycle or by public transport."""

from typing import Any

from amap_call import Call, Message, asked, result
from amap_fields import number_of, object_of, objects_of, text_of
from amap_service import Place, checked, need_key, request
from endpoints import endpoints, known
from measures import duration, length, whole, yuan
from providers import AMAP, source_line
from transit import leg_line, plan_details, plan_facts

TRANSIT = "transit"
PATHS = {
    "driving": "/v5/direction/driving",
    "walking": "/v5/direction/walking",
    "bicycling": "/v5/direction/bicycling",
    TRANSIT: "/v5/direction/transit/integrated",
}
WORDS = {
    "driving": ("驾车", "driving"),
    "walking": ("步行", "on foot"),
    "bicycling": ("骑行", "by bicycle"),
    TRANSIT: ("公共交通", "by public transport"),
}
STEPS = 12  # instructions shown; a long route keeps its first and last ones
ALTERNATIVES = 2


def route(call: Call) -> Message:
    """Plan a route between two places given by name or coordinates."""
    mode = call.choice("mode", tuple(PATHS))
    need_key(call)
    places = endpoints(call, ("origin", "destination"), need_city=mode == TRANSIT)
    if isinstance(places, dict):
        return places
    start, end = places
    if call.state.get("stage") != "route":
        return asked([_request(call, mode, start, end)], known(places, "route"))
    body = object_of(checked(call.responses[0]).get("route"))
    if mode == TRANSIT:
        plans = [plan_facts(plan) for plan in objects_of(body.get("transits"))]
    else:
        plans = [_path_facts(path) for path in objects_of(body.get("paths"))]
    taxi = number_of(body.get("taxi_cost")) or number_of(object_of(body.get("cost")).get("taxi_fee"))
    facts: dict[str, Any] = {
        "provider": AMAP,
        "mode": mode,
        "origin": start.facts(),
        "destination": end.facts(),
        "taxi_yuan": taxi,
        "plans": plans[: ALTERNATIVES + 1],
    }
    title = f"{start.name} → {end.name} ({call.say(*WORDS[mode])})"
    if not plans:
        return _no_plan(call, title, facts)
    lines = [f"{title}: {_summary(call, mode, plans[0], taxi)}"]
    lines += _instructions(call, mode, plans[0])
    for plan in plans[1 : ALTERNATIVES + 1]:
        lines.append(call.say("另一方案：", "Alternative: ") + _summary(call, mode, plan, None))
    lines.append(source_line(call, AMAP))
    return result("\n".join(lines), facts)


def _request(call: Call, mode: str, start: Place, end: Place) -> Message:
    """Ask for the route; without `show_fields=cost` AMap sends no duration."""
    query = {
        "origin": str(start.point),
        "destination": str(end.point),
        "show_fields": "cost",
        "city1": start.citycode if mode == TRANSIT else "",
        "city2": end.citycode if mode == TRANSIT else "",
    }
    way = call.say(*WORDS[mode])
    desc = call.say(f"规划路线（{way}）", f"Plan the route ({way})")
    return request(PATHS[mode], query, desc)


def _path_facts(path: dict[str, Any]) -> dict[str, Any]:
    """Read one path: totals (metres, seconds, yuan) and its instructions."""
    cost = object_of(path.get("cost"))
    steps = [text_of(step.get("instruction")) for step in objects_of(path.get("steps"))]
    return {
        "distance_m": whole(path.get("distance")),
        "duration_s": whole(cost.get("duration") or path.get("duration")),
        "tolls": text_of(cost.get("tolls")),
        "traffic_lights": whole(cost.get("traffic_lights")),
        "restricted": text_of(path.get("restriction")) == "1",
        "steps": [step for step in steps if step],
    }


def _summary(call: Call, mode: str, plan: dict[str, Any], taxi: float | None) -> str:
    parts = [length(call, plan["distance_m"]), duration(call, plan["duration_s"])]
    parts += plan_details(call, plan) if mode == TRANSIT else _path_details(call, mode, plan)
    if taxi and mode in ("driving", TRANSIT):
        price = yuan(call, taxi)
        parts.append(call.say(f"打车约 {price}", f"taxi about {price}"))
    return call.say("，", ", ").join(parts)


def _path_details(call: Call, mode: str, plan: dict[str, Any]) -> list[str]:
    """Return what matters to a driver: tolls, traffic lights, driving restrictions."""
    if mode != "driving":
        return []
    details: list[str] = []
    if number_of(plan["tolls"]):
        toll = yuan(call, plan["tolls"])
        details.append(call.say(f"过路费 {toll}", f"tolls {toll}"))
    lights = plan["traffic_lights"]
    if lights:
        details.append(call.say(f"红绿灯 {lights} 个", f"{lights} traffic lights"))
    if plan["restricted"]:
        details.append(call.say("途经限行区域", "passes a restricted area"))
    return details


def _instructions(call: Call, mode: str, plan: dict[str, Any]) -> list[str]:
    """Number the steps of a plan; the middle of a long one is left out."""
    steps = [leg_line(call, leg) for leg in plan["legs"]] if mode == TRANSIT else list(plan["steps"])
    lines = [f"{number}. {step}" for number, step in enumerate(steps, start=1)]
    if len(lines) <= STEPS:
        return lines
    left_out = len(lines) - STEPS
    gap = call.say(f"……（省略 {left_out} 步）", f"... ({left_out} steps left out)")
    return [*lines[: STEPS // 2], gap, *lines[-STEPS // 2 :]]


def _no_plan(call: Call, title: str, facts: dict[str, Any]) -> Message:
    hint = call.say(
        "没有可行的方案（可能太近、太远或没有线路）。可换一种 mode：driving、walking、bicycling、transit。",
        "no plan was found (too near, too far, or no line). Try another mode: driving, walking, bicycling, transit.",
    )
    return result(f"{title}: {hint}\n{source_line(call, AMAP)}", facts)
