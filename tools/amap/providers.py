"""Which map answers, in which datum it counts, and how positions are shown."""

from amap_call import Call
from amap_service import DATUM as GCJ02
from amap_service import need_key
from geodesy import Point, gcj02_of, wgs84_of
from nominatim import ATTRIBUTION
from nominatim import DATUM as WGS84

AMAP = "amap"
OSM = "openstreetmap"
DATUMS = {AMAP: GCJ02, OSM: WGS84}


def provider_of(call: Call) -> str:
    """Choose the map: the one of the earlier steps, the one asked for, else AMap if it has a key.

    Raises:
        Refusal: AMap is asked for by name and has no key.
    """
    chosen = str(call.state.get("provider") or "")
    if chosen in DATUMS:
        return chosen
    usual = AMAP if call.has_key else OSM
    chosen = call.choice("source", (usual, AMAP, OSM))
    if chosen == AMAP:
        need_key(call)
    return chosen


def to_provider(call: Call, point: Point, provider: str) -> Point:
    """Move a point from the caller's `datum` (by default the provider's own) to the provider's."""
    wanted = DATUMS[provider]
    given = call.choice("datum", (wanted.lower(), "gcj-02", "wgs-84"))
    if given == wanted.lower():
        return point
    return gcj02_of(point) if wanted == GCJ02 else wgs84_of(point)


def source_line(call: Call, provider: str) -> str:
    """Name the source, with the attribution that OpenStreetMap demands."""
    if provider == OSM:
        return call.say(f"来源：{ATTRIBUTION}（Nominatim）", f"Source: {ATTRIBUTION} (Nominatim)")
    return call.say("来源：高德地图", "Source: AMap (Gaode)")


def position(call: Call, point: Point, provider: str) -> str:
    """Show a position with its order and datum."""
    order = call.say("经度,纬度", "lon,lat")
    return f"{point} ({order}, {DATUMS[provider]})"


def position_facts(point: Point, provider: str) -> dict[str, str]:
    """Return a position in the provider's datum and, where that differs, in WGS-84 too."""
    facts = {"location": str(point), "datum": DATUMS[provider]}
    if provider == AMAP:
        facts["wgs84"] = str(wgs84_of(point))
    return facts
