"""The steps of a call: find the place, ask QWeather v1, then v7 for what v1 lacks, then Open-Meteo."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field

import weather_open_meteo
import weather_qweather
import weather_qweather_v7
from weather_failure import OPEN_METEO, QWEATHER, Kind, ServiceFailure
from weather_fields import Json, list_of, object_of, text_of
from weather_place import Place, choose, read_point, sought_of
from weather_show import show_daily, show_hourly, show_now, show_sources
from weather_step import HOST, KEY, Call, Refusal, asked, result

# The first part is the answer, the others belong to it.
PARTS = {"now": ("now", "air", "alerts"), "daily": ("daily",), "hourly": ("hourly", "alerts")}
EXTRAS = {"now": ("today",)}  # asked along with others, never on their own
SERVICES = {"v1": weather_qweather, "v7": weather_qweather_v7, "om": weather_open_meteo}
SHOW: dict[str, Callable[[Call, str, Json], list[str]]] = {
    "now": show_now,
    "daily": show_daily,
    "hourly": show_hourly,
}
SOURCE_NAMES = {"v1": "qweather_v1", "v7": "qweather_v7", "om": "open_meteo"}
NO_RESPONSE: Json = {}
NAMES = {"air": ("空气质量", "air quality"), "alerts": ("灾害预警", "weather alerts")}


@dataclass(slots=True, kw_only=True)
class Progress:
    """What is known so far; it travels as the call's `state`.

    Attributes:
        stage: What was asked last: geo, om_geo, v1, v7 or om.
        asked: The parts that were asked for, in order.
        got: The parts that came, `sources` which stage gave them.
        failures: `[stage, part, kind, Chinese text, English text]`, in order.
        is_open: QWeather may still be asked.
    """

    stage: str = ""
    asked: list[str] = field(default_factory=list[str])
    place: Place | None = None
    got: Json = field(default_factory=dict[str, object])
    sources: Json = field(default_factory=dict[str, object])
    failures: list[list[str]] = field(default_factory=list[list[str]])
    is_open: bool = False

    def state(self) -> Json:
        """Return it as JSON."""
        return {
            "stage": self.stage,
            "asked": self.asked,
            "place": self.place.facts() if self.place else None,
            "got": self.got,
            "sources": self.sources,
            "failures": self.failures,
            "is_open": self.is_open,
        }

    @classmethod
    def of(cls, state: Json) -> "Progress":
        """Read back what `state` wrote; fields of a wrong type count as missing."""
        failures = [[text_of(item) for item in list_of(row)] for row in list_of(state.get("failures"))]
        return cls(
            stage=text_of(state.get("stage")),
            asked=[text_of(part) for part in list_of(state.get("asked"))],
            place=Place.of_facts(state.get("place")),
            got=object_of(state.get("got")),
            sources=object_of(state.get("sources")),
            failures=[row for row in failures if len(row) == 5],
            is_open=state.get("is_open") is True,
        )

    def failed(self, part: str, failure: ServiceFailure) -> None:
        """Keep a failure; QWeather is asked no more where it refuses the account, or no search was answered."""
        self.failures.append([self.stage, part, failure.kind, failure.zh, failure.en])
        is_down = self.stage == "geo" and failure.kind is Kind.DOWN
        if self.stage in ("geo", "v1", "v7") and (failure.kind is Kind.REFUSED or is_down):
            self.is_open = False

    def reason(self, call: Call, *, part: str = "", stages: tuple[str, ...] = ()) -> str:
        """Return the newest failure of a part or of some stages, "" where there is none."""
        for stage, failed_part, _, zh, en in reversed(self.failures):
            if part in ("", failed_part) and (not stages or stage in stages):
                return call.say(zh, en)
        return ""

    def kind(self, stage: str, part: str) -> str:
        """Return the kind of a failure, "" where there is none."""
        return next((row[2] for row in self.failures if row[:2] == [stage, part]), "")


def take_step(call: Call, command: str) -> Json:
    """Serve one step of a call.

    Raises:
        Refusal: The call cannot be answered.
    """
    progress = Progress.of(call.state)
    if progress.stage in ("geo", "om_geo"):
        return _located(call, command, progress)
    if progress.stage in SERVICES and progress.place and progress.asked:
        return _answered(call, command, progress)
    progress = Progress(is_open=call.has_qweather, place=read_point(call))
    if progress.place:
        return _ask_next(call, command, progress)
    return _locate(call, progress, "geo" if progress.is_open else "om_geo")


def _locate(call: Call, progress: Progress, stage: str) -> Json:
    """Ask for the place, QWeather (`geo`) or Open-Meteo (`om_geo`)."""
    progress.stage = stage
    service = weather_qweather if stage == "geo" else weather_open_meteo
    return asked([service.ask_city(call, sought_of(call))], progress.state())


def _located(call: Call, command: str, progress: Progress) -> Json:
    """Take the hits of a search: go on with the one that is meant, or list them."""
    sought = sought_of(call)
    response = call.responses[0] if call.responses else NO_RESPONSE
    try:
        if progress.stage == "geo":
            hits = weather_qweather.read_cities(response)
        else:
            hits = weather_open_meteo.read_cities(response, sought)
    except ServiceFailure as failure:
        progress.failed("place", failure)
        if progress.stage == "geo":
            return _locate(call, progress, "om_geo")
        reasons = [progress.reason(call, stages=("geo",)), progress.reason(call, stages=("om_geo",))]
        raise _nothing(call, call.location, reasons) from failure
    fitting = choose(hits, sought)
    if len(fitting) > 1:
        return _candidates(call, fitting)
    if fitting and fitting[0].lat is not None and fitting[0].lon is not None:
        progress.place = fitting[0]
        return _ask_next(call, command, progress)
    if progress.stage == "geo":
        return _locate(call, progress, "om_geo")
    raise _unknown(call, hits)


def _candidates(call: Call, places: list[Place]) -> Json:
    """Ask back which of several places is meant."""
    labels = [place.label(call.lang) for place in places]
    text = call.say(
        f"“{call.location}”可能是：{'；'.join(labels)}。请用 adm 指明是哪一个。",
        f"{call.location} may be: {'; '.join(labels)}. Say which one with adm.",
    )
    return result(text, {"candidates": [place.facts() for place in places]})


def _unknown(call: Call, hits: list[Place]) -> Refusal:
    """Say that no such place is known, and what to write instead."""
    if hits:
        labels = [place.label(call.lang) for place in hits[:6]]
        adm = sought_of(call).adm
        return Refusal(
            f"在“{adm}”没有找到“{call.location}”，别处有：{'；'.join(labels)}。",
            f"There is no {sought_of(call).name} in {adm}; elsewhere there is: {'; '.join(labels)}.",
            candidates=[place.facts() for place in hits[:6]],
        )
    return Refusal(
        f"没有找到“{call.location}”。{OPEN_METEO} 只认城市，不认中国的区县、街道和景点：请换成所在城市"
        f"（写“北京”而不是“海淀区”），或给出坐标“经度,纬度”；设置 {KEY} 和 {HOST}（和风天气）后可以查区县。",
        f"The place {call.location} was not found. {OPEN_METEO} knows cities, but no Chinese districts, streets or"
        f" sights: name the city (Beijing, not Haidian) or give longitude,latitude; with {KEY} and {HOST} (QWeather)"
        " districts work.",
        candidates=[],
    )


def _answered(call: Call, command: str, progress: Progress) -> Json:
    """Take the answers of one stage."""
    service = SERVICES[progress.stage]
    responses = [*call.responses, *(NO_RESPONSE for _ in progress.asked)]
    for part, response in zip(progress.asked, responses, strict=False):
        try:
            progress.got[part] = service.read(call, part, response)
            progress.sources[part] = progress.stage
        except ServiceFailure as failure:
            progress.failed(part, failure)
    return _ask_next(call, command, progress)


def _ask_next(call: Call, command: str, progress: Progress) -> Json:
    """Ask the next stage that can give what is missing, or end with what there is."""
    stages = list(SERVICES)
    later = stages[stages.index(progress.stage) + 1 :] if progress.stage in stages else stages
    place = progress.place
    for stage in later:
        parts = _wanted(command, progress, stage)
        if parts and place:
            progress.stage, progress.asked = stage, parts
            return asked([SERVICES[stage].ask(call, place, part) for part in parts], progress.state())
    return _finish(call, command, progress)


def _wanted(command: str, progress: Progress, stage: str) -> list[str]:
    """Name the missing parts that a stage can give; v7 is only asked for what v1 does not have as an interface."""
    missing = [part for part in PARTS[command] if part not in progress.got]
    extras = [part for part in EXTRAS.get(command, ()) if part not in progress.got]
    if stage == "om":
        return [part for part in missing if part in weather_open_meteo.PARTS]
    if not progress.is_open:
        return []
    if stage == "v7":
        missing, extras = (
            [part for part in parts if progress.kind("v1", part) == Kind.GONE] for parts in (missing, extras)
        )
    return missing + extras if missing else []


def _finish(call: Call, command: str, progress: Progress) -> Json:
    """Write the answer.

    Raises:
        Refusal: No service gave the main part.
    """
    main, *sides = PARTS[command]
    where = progress.place.label(call.lang) if progress.place else call.location
    if main not in progress.got:
        reasons = [progress.reason(call, stages=("geo", "v1", "v7")), progress.reason(call, part=main, stages=("om",))]
        raise _nothing(call, where, reasons)
    notes = _notes(call, progress, main, sides)
    lines = SHOW[command](call, where, progress.got)
    lines += [call.say(f"注：{note}。", f"Note: {note}.") for note in notes]
    lines.append(show_sources(call, progress.sources, progress.got))
    facts: Json = {"place": progress.place.facts() if progress.place else {}, **_facts(command, progress)}
    sources = {part: SOURCE_NAMES.get(text_of(stage), "") for part, stage in progress.sources.items()}
    return result("\n".join(lines), {**facts, "sources": sources, "notes": notes})


def _facts(command: str, progress: Progress) -> Json:
    """Return the parts as they are shown: lists for days, hours and alerts, null for what is missing."""
    facts: Json = {}
    for part in PARTS[command]:
        value = object_of(progress.got.get(part)) if part in progress.got else None
        inner = {"daily": "days", "hourly": "hours", "alerts": "alerts"}.get(part)
        facts[inner or part] = value if value is None or inner is None else value.get(inner)
    return facts


def _notes(call: Call, progress: Progress, main: str, sides: list[str]) -> list[str]:
    """Say in one clause each what did not work."""
    notes: list[str] = []
    is_keyless = progress.sources.get(main) == "om"
    if not call.has_qweather and call.has_key:
        notes.append(_missing_host(call))
    if is_keyless and (reason := progress.reason(call, stages=("geo", "v1", "v7"))):
        notes.append(call.say(f"{reason}，改用 {OPEN_METEO}", f"{reason}; {OPEN_METEO} was asked instead"))
    for part in sides:
        if part in progress.got:
            continue
        name = call.say(*NAMES[part])
        if part == "alerts" and is_keyless:
            notes.append(call.say(f"{OPEN_METEO} 不提供{name}", f"{OPEN_METEO} gives no {name}"))
        else:
            reason = progress.reason(call, part=part)
            notes.append(call.say(f"{name}暂缺（{reason}）", f"no {name} ({reason})"))
    return notes


def _missing_host(call: Call) -> str:
    """Say why the key alone is not enough."""
    if os.environ.get(HOST, "").strip():
        return call.say(
            f"{HOST} 不是和风天气的 API Host（形如 abc123.re.qweatherapi.com），因此没有用{QWEATHER}",
            f"{HOST} is no API Host of QWeather (such as abc123.re.qweatherapi.com), so it was not asked",
        )
    return call.say(
        f"已有 {KEY}，还要设置 {HOST}（和风天气控制台“设置”里的 API Host）才能用{QWEATHER}",
        f"{KEY} is set, but {HOST} (the API Host in the settings of the QWeather console) is needed too",
    )


def _nothing(call: Call, where: str, reasons: list[str]) -> Refusal:
    """Say that no service answered, and why."""
    kept = list(filter(None, reasons))
    if not call.has_qweather and call.has_key:
        kept.append(_missing_host(call))
    return Refusal(
        f"没有查到“{where}”的天气。{'；'.join(kept)}。请稍后再试。",
        f"There is no weather for {where}. {'; '.join(kept)}. Try again later.",
        reasons=kept,
    )
