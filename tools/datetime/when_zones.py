"""Time zones by IANA name, city, country or offset; and wall-clock times in them, across changes of the clock."""

import difflib
import json
import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from when_call import CJK, Call, Refusal
from when_numerals import number_of
from when_text import clock_text, offset_text

CHINA = "Asia/Shanghai"
CITIES = Path(__file__).with_name("cities.json")
OFFSET = re.compile(r"(?:utc|gmt)?\s*([+-])(\d{1,2})(?::?([0-5]\d))?", re.IGNORECASE)
EAST_WEST = re.compile(r"([东西])([一二三四五六七八九十]+|\d{1,2})区")
MOST_OFFSET = 14 * 60  # minutes; the largest one in use is UTC+14


@dataclass(frozen=True, slots=True, kw_only=True)
class Zone:
    """A time zone, the name to show for it, and its IANA name or offset."""

    rules: tzinfo
    label: str
    key: str

    @property
    def is_chinese(self) -> bool:
        """Tell whether the clock there is China's, so that China's calendar is that of the place."""
        return self.key in {CHINA, "Asia/Chongqing", "Asia/Harbin", "PRC", "Asia/Urumqi"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A wall-clock time placed on the time line, and what the change of the clock did to it."""

    moment: datetime
    zh: str = ""
    en: str = ""


def default_zone(call: Call) -> Zone:
    """Return the zone of the variable TZ if it is an IANA name, else China's."""
    key = os.environ.get("TZ", "").strip().removeprefix(":")
    rules = _iana(key) if key else None
    if rules:
        return Zone(rules=rules, label=key, key=key)
    return Zone(rules=ZoneInfo(CHINA), label=call.say("北京时间", "China"), key=CHINA)


def zone_of(call: Call, name: str) -> Zone | None:
    """Return the zone that a parameter names, None when the parameter is missing.

    Raises:
        Refusal: There is no such zone, or the name fits several.
    """
    text = call.text(name)
    return find_zone(text) if text else None


def find_zone(text: str) -> Zone:
    """Return the zone of an IANA name, a city, a country with one zone, or an offset.

    Raises:
        Refusal: There is none, or the name fits several; it says which names are near.
    """
    offset = _offset(text)
    if offset is not None:
        fixed = timezone(offset)
        shown = offset_text(datetime(2000, 1, 1, tzinfo=fixed))
        return Zone(rules=fixed, label=shown, key=shown)
    if "/" in text:
        rules = _iana(text)
        if rules:
            return Zone(rules=rules, label=text, key=text)
    word = _word(text)
    cities, unclear = _cities()
    if word in unclear:
        raise _unclear(text, unclear[word])
    key = cities.get(word) or _by_part(word, cities) or _by_last_part(word)
    rules = _iana(key) if key else None
    if key is None or rules is None:
        raise _unknown(text, word, cities)
    return Zone(rules=rules, label=key if key.casefold() == text.casefold() else text, key=key)


def place(wall: datetime, zone: Zone) -> Placed:
    """Place a wall-clock time (naive) in a zone.

    A time that the clock skips is read with the offset before the change; a time that comes twice is its first one.
    """
    first = wall.replace(tzinfo=zone.rules, fold=0)
    second = first.replace(fold=1)
    there = first.astimezone(UTC).astimezone(zone.rules)
    if there.replace(tzinfo=None) != wall:
        shown, real = clock_text(first), clock_text(there)
        return Placed(
            moment=there,
            zh=f"注意：{zone.label}当天 {shown} 不存在（夏令时拨快时钟），按 {real} 计算。",
            en=f"Note: {shown} does not exist in {zone.label} that day (the clock is put forward); {real} is meant.",
        )
    if first.utcoffset() != second.utcoffset():
        shown, early, late = clock_text(first), offset_text(first), offset_text(second)
        return Placed(
            moment=first,
            zh=f"注意：{zone.label}当天 {shown} 出现两次（夏令时拨慢时钟），这里取第一次（{early}），第二次是 {late}。",
            en=f"Note: {shown} comes twice in {zone.label} that day (the clock is put back); "
            f"this is the first ({early}), the second is {late}.",
        )
    return Placed(moment=first)


@cache
def _cities() -> tuple[dict[str, str], dict[str, list[str]]]:
    """Return the zone of each known name, and the choices of each unclear one; names are case-folded."""
    read: dict[str, Any] = json.loads(CITIES.read_text("utf-8"))
    zones = {str(name).casefold(): str(key) for key, names in read["zones"].items() for name in names}
    return zones, {str(name): list(choices) for name, choices in read["unclear"].items()}


def _iana(key: str) -> ZoneInfo | None:
    try:
        return ZoneInfo(key)
    except (KeyError, ValueError, OSError):  # not found, not a key at all, a folder
        return None


def _offset(text: str) -> timedelta | None:
    match = OFFSET.fullmatch(text)
    if match:
        minutes = int(match[2]) * 60 + int(match[3] or 0)
        sign = -1 if match[1] == "-" else 1
    else:
        match = EAST_WEST.fullmatch(text)
        if match is None:
            return None
        number = number_of(match[2])
        minutes = MOST_OFFSET + 1 if number is None else number * 60
        sign = 1 if match[1] == "东" else -1
    if minutes > MOST_OFFSET:
        raise Refusal(
            f"时差 {text!r} 超出范围：请写 UTC-14 到 UTC+14。",
            f"The offset {text!r} is out of range: write UTC-14 to UTC+14.",
        )
    return timedelta(minutes=sign * minutes)


def _word(text: str) -> str:
    """Return a name as the table writes it: no 市 or 时间 at its end, lower case, single blanks."""
    word = re.sub(r"\s+", " ", text.replace("_", " ")).strip().casefold()
    for tail in ("当地时间", "标准时间", "时间", "时区", "市", " time"):
        if word.endswith(tail) and len(word) > len(tail):
            word = word.removesuffix(tail)
    return word.strip()


def _by_part(word: str, cities: dict[str, str]) -> str | None:
    """Return the zone of a place written with its country or district: 美国纽约, 北京市朝阳区, Paris, France."""
    if not CJK.search(word):
        return cities.get(word.partition(",")[0].strip()) if "," in word else None
    named = [name for name in cities if CJK.search(name) and name in word]
    last = [name for name in named if word.endswith(name)]
    if last:
        return cities[max(last, key=len)]
    found = {cities[name] for name in named}
    return found.pop() if len(found) == 1 else None


def _by_last_part(word: str) -> str | None:
    """Return the IANA zone whose name, or the last part of it, is `word`."""
    wanted = word.replace(" ", "_")
    for key in sorted(available_timezones()):
        folded = key.casefold()
        if wanted in (folded, folded.rsplit("/", 1)[-1]):
            return key
    return None


def _unclear(text: str, choices: list[str]) -> Refusal:
    return Refusal(
        f"{text!r} 有多个时区，请写其中一个：{'、'.join(choices)}。",
        f"{text!r} fits several time zones: write one of {', '.join(choices)}.",
        near=choices,
    )


def _unknown(text: str, word: str, cities: dict[str, str]) -> Refusal:
    names = {name.rsplit("/", 1)[-1].replace("_", " ").casefold(): name for name in sorted(available_timezones())}
    names |= {name: name if CJK.search(name) else key for name, key in cities.items() if name not in names}
    last = word.rsplit("/", 1)[-1]
    cutoff = 0.5 if CJK.search(last) else 0.7  # one wrong sign of two, a wrong letter or two of a word
    near = list(dict.fromkeys(names[name] for name in difflib.get_close_matches(last, names, n=3, cutoff=cutoff)))
    zh = f"相近的有：{'、'.join(near)}。" if near else ""
    en = f"Near names: {', '.join(near)}. " if near else ""
    return Refusal(
        f"不认识时区 {text[:60]!r}。{zh}请写城市名（东京、纽约）、IANA 名称（Asia/Tokyo）或时差（UTC+8）。",
        f"There is no time zone {text[:60]!r}. {en}Write a city (Tokyo), an IANA name (Asia/Tokyo) or UTC+8.",
        near=near,
    )
