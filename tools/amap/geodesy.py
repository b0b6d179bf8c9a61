"""Coordinates: reading them, moving between the datums WGS-84 and GCJ-02, straight-line distance."""

import math
import re
from dataclasses import dataclass

from amap_call import Refusal

EARTH_RADIUS = 6_371_008.8  # m, mean radius of WGS-84 (IUGG)
# GCJ-02 is defined on the Krasovsky 1940 ellipsoid; axis in metres.
KRASOVSKY_AXIS = 6_378_245.0
KRASOVSKY_E2 = 0.006693421622965943
# GCJ-02 shifts points inside this box only (degrees).
CHINA_LON = (72.004, 137.8347)
CHINA_LAT = (0.8293, 55.8271)
NUMBER = r"([+-]?\d{1,3}(?:\.\d+)?)"
WITH_COMMA = re.compile(rf"[(（]?\s*{NUMBER}\s*[,，;；]\s*{NUMBER}\s*[)）]?")
WITH_BLANK = re.compile(r"([+-]?\d{1,3}\.\d+)\s+([+-]?\d{1,3}\.\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A position in degrees, in a datum that the holder knows."""

    lon: float
    lat: float

    def __str__(self) -> str:
        """Write `lon,lat` with at most six decimals (about 0.1 m), as AMap wants it."""
        return ",".join(f"{value:.6f}".rstrip("0").rstrip(".") for value in (self.lon, self.lat))


def read_point(text: str) -> Point | None:
    """Read `lon,lat`; None where the text is not a pair of numbers.

    A pair that can only be `lat,lon` is turned round: a latitude never exceeds 90.

    Raises:
        Refusal: A pair of numbers that is no place on earth.
    """
    match = WITH_COMMA.fullmatch(text.strip()) or WITH_BLANK.fullmatch(text.strip())
    if match is None:
        return None
    lon, lat = float(match[1]), float(match[2])
    if abs(lat) > 90 >= abs(lon):
        lon, lat = lat, lon
    if abs(lat) > 90 or abs(lon) > 180:
        raise Refusal(
            f"坐标 {text!r} 不在地球上。请写成“经度,纬度”，例如 116.397,39.909。",
            f"{text!r} is not a place on earth. Write longitude,latitude, such as 116.397,39.909.",
        )
    return Point(lon=lon, lat=lat)


def gcj02_of(point: Point) -> Point:
    """Move a WGS-84 point to GCJ-02; points outside China stay where they are."""
    if not (CHINA_LON[0] <= point.lon <= CHINA_LON[1] and CHINA_LAT[0] <= point.lat <= CHINA_LAT[1]):
        return point
    x, y = point.lon - 105.0, point.lat - 35.0
    phi = math.radians(point.lat)
    w = 1 - KRASOVSKY_E2 * math.sin(phi) ** 2
    meridian = KRASOVSKY_AXIS * (1 - KRASOVSKY_E2) / w**1.5
    parallel = KRASOVSKY_AXIS / math.sqrt(w) * math.cos(phi)
    return Point(
        lon=point.lon + math.degrees(_metres_east(x, y) / parallel),
        lat=point.lat + math.degrees(_metres_north(x, y) / meridian),
    )


def wgs84_of(point: Point) -> Point:
    """Move a GCJ-02 point back to WGS-84, to better than 1 cm (the shift has no closed inverse)."""
    guess = point
    for _ in range(4):
        shifted = gcj02_of(guess)
        guess = Point(lon=guess.lon + point.lon - shifted.lon, lat=guess.lat + point.lat - shifted.lat)
    return guess


def straight_line(start: Point, end: Point) -> float:
    """Return the great-circle distance in metres (haversine, within 0.5 % of the ellipsoid)."""
    phi1, phi2 = math.radians(start.lat), math.radians(end.lat)
    half_lat = (phi2 - phi1) / 2
    half_lon = math.radians(end.lon - start.lon) / 2
    chord = math.sin(half_lat) ** 2 + math.cos(phi1) * math.cos(phi2) * math.sin(half_lon) ** 2
    return 2 * EARTH_RADIUS * math.asin(min(1.0, math.sqrt(chord)))


def _waves(*terms: tuple[float, float]) -> float:
    """Sum sine terms (amplitude in metres, phase in units of pi), two thirds of each."""
    return sum(amplitude * math.sin(phase * math.pi) * 2 / 3 for amplitude, phase in terms)


def _metres_east(x: float, y: float) -> float:
    """Return the eastward shift; `x`, `y` are degrees from 105 E, 35 N."""
    shift = 300 + x + 2 * y + 0.1 * x * x + 0.1 * x * y + 0.1 * math.sqrt(abs(x))
    shift += _waves((20, 6 * x), (20, 2 * x), (20, x), (40, x / 3), (150, x / 12), (300, x / 30))
    return shift


def _metres_north(x: float, y: float) -> float:
    """Return the northward shift; `x`, `y` are degrees from 105 E, 35 N."""
    shift = -100 + 2 * x + 3 * y + 0.2 * y * y + 0.1 * x * y + 0.2 * math.sqrt(abs(x))
    shift += _waves((20, 6 * x), (20, 2 * x), (20, y), (40, y / 3), (160, y / 12), (320, y / 30))
    return shift
