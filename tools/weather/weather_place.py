"""Places: read what was asked for, and choose among the hits of a search."""

import re
from dataclasses import dataclass

from weather_fields import Json, line_of, number_of, object_of
from weather_step import Call, Refusal

COORDINATES = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*[,，]\s*([+-]?\d+(?:\.\d+)?)\s*", re.ASCII)
# "北京市朝阳区": a province or city, and a place in it.
WITHIN = re.compile(r"(.{2,}?[省市州盟])(.{2,}[市区县旗州])")
SUFFIX = re.compile(r"(?<=..)(省|市|区|县|特别行政区|\scity|\sprovince|\scounty)$")
CHINA = ("中国", "China")
DISTRICTS = ("区", "县", "旗")
SHORT_NAMES = {"uk": "united kingdom", "us": "united states", "usa": "united states", "uae": "united arab emirates"}
SAME_DEGREES = 0.25  # hits of one name this near are one place, listed twice
MAX_CANDIDATES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A place that weather can be asked for.

    Attributes:
        name: Its own name; `adm1`, `adm2` and `country` are what it lies in, "" where that is unknown.
        lat: Degrees, as `lon`; None where a search gave no position.
        weight: Compares hits of one search: one that is heavier by 1 is far more likely to be meant.
        is_city: It is no mere district of a Chinese city; such a one is never taken for granted.
    """

    name: str
    adm1: str = ""
    adm2: str = ""
    country: str = ""
    lat: float | None = None
    lon: float | None = None
    weight: float = 0.0
    is_city: bool = True

    def label(self, lang: str) -> str:
        """Name it with what tells it from others of its name."""
        if lang == "zh":
            parts = ["" if self.country in CHINA else self.country, self.adm1, self.adm2]
        else:
            parts = [self.adm2, self.adm1, self.country]
        kept: list[str] = []
        for part in parts:
            if part and bare(part) != bare(self.name) and bare(part) not in [bare(one) for one in kept]:
                kept.append(part)
        if not kept:
            return self.name
        return f"{self.name}（{''.join(kept)}）" if lang == "zh" else f"{self.name} ({', '.join(kept)})"

    def facts(self) -> Json:
        """Return it as JSON, without what is unknown."""
        known = {"name": self.name, "adm1": self.adm1, "adm2": self.adm2, "country": self.country}
        return {key: text for key, text in known.items() if text} | {"lat": self.lat, "lon": self.lon}

    @classmethod
    def of_facts(cls, facts: object) -> "Place | None":
        """Read back what `facts` wrote; None where there is no position."""
        read = object_of(facts)
        lat, lon = number_of(read.get("lat")), number_of(read.get("lon"))
        if lat is None or lon is None:
            return None
        name, adm1, adm2, country = (line_of(read.get(key)) for key in ("name", "adm1", "adm2", "country"))
        return cls(name=name, adm1=adm1, adm2=adm2, country=country, lat=lat, lon=lon)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """A name to look up, and what it lies in ("" where that was not said)."""

    name: str
    adm: str

    @property
    def is_district(self) -> bool:
        """Tell whether the name says that it is a part of a city: 朝阳区 is in Beijing, 朝阳 a city in Liaoning."""
        return self.name.endswith(DISTRICTS)


def sought_of(call: Call) -> Sought:
    """Split "Paris, Texas" and "北京市朝阳区" into a name and what it lies in."""
    if call.adm:
        return Sought(name=call.location, adm=call.adm)
    name, comma, adm = (part.strip() for part in call.location.replace("，", ",").partition(","))
    if comma and name and adm:
        return Sought(name=name, adm=adm)
    if match := WITHIN.fullmatch(call.location):
        return Sought(name=match[2], adm=match[1])
    return Sought(name=call.location, adm="")


def read_point(call: Call) -> Place | None:
    """Read a location that is "lon,lat"; None where it is a name.

    Raises:
        Refusal: There is no location, or no such point on the earth.
    """
    if not call.location:
        raise Refusal("缺少参数 location。", "The parameter location is missing.")
    match = COORDINATES.fullmatch(call.location)
    if match is None:
        return None
    lon, lat = float(match[1]), float(match[2])
    if abs(lat) > 90 or abs(lon) > 180:
        raise Refusal(
            f"坐标 {call.location} 不对：请写“经度,纬度”，例如 116.41,39.90（纬度在 -90 到 90 之间）。",
            f"There is no point {call.location}: write longitude,latitude, such as 116.41,39.90"
            " (the latitude is between -90 and 90).",
        )
    return Place(name=f"{lon:g},{lat:g}", lat=lat, lon=lon)


def bare(name: str) -> str:
    """Reduce a name to what is compared: small letters, no "市", "省" or "city" at its end."""
    return SUFFIX.sub("", name.strip().casefold()).strip()


def lies_in(place: Place, adm: str) -> bool:
    """Tell whether a place is in `adm`, as far as the names of both say."""
    wanted = SHORT_NAMES.get(bare(adm), bare(adm))
    around = [bare(part) for part in (place.adm1, place.adm2, place.country) if part]
    return any(wanted in part or part in wanted for part in around)


def choose(hits: list[Place], sought: Sought) -> list[Place]:
    """Return the one place that is meant, or the places that it may be; none where nothing fits.

    A hit is meant if it alone has the name, if all others lie in it, or if it is far more likely than the next and
    no mere district of a Chinese city.
    """
    if sought.adm:
        hits = [hit for hit in hits if lies_in(hit, sought.adm)]
    exact = [hit for hit in hits if bare(hit.name) == bare(sought.name)]
    hits = sorted(_distinct(exact or hits), key=lambda hit: -hit.weight)
    if len(hits) < 2:
        return hits
    first, others = hits[0], hits[1:]
    holds_all = all(_holds(first, other) for other in others)
    is_far_likelier = first.is_city and not sought.is_district and first.weight >= others[0].weight + 1
    if first.lat is not None and (holds_all or is_far_likelier):
        return [first]
    return hits[:MAX_CANDIDATES]


def _holds(city: Place, part: Place) -> bool:
    """Tell whether a hit is a district of another; one of the same name is another city."""
    return bare(part.adm2) == bare(city.name) != bare(part.name) and part.adm1 == city.adm1


def _distinct(hits: list[Place]) -> list[Place]:
    """Leave out hits that are a place named before: near it, or with the same label."""
    kept: list[Place] = []
    for hit in hits:
        if not any(_same(hit, other) for other in kept):
            kept.append(hit)
    return kept


def _same(one: Place, other: Place) -> bool:
    if bare(one.name) != bare(other.name):
        return False
    if one.lat is None or one.lon is None or other.lat is None or other.lon is None:
        return one.label("en") == other.label("en")
    return abs(one.lat - other.lat) < SAME_DEGREES and abs(one.lon - other.lon) < SAME_DEGREES
