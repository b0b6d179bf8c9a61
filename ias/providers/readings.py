"""Fields of a vendor's JSON, read without trust: any shape may come, and a wrong one counts as absent."""

import json
import math
from typing import cast

from ias.domain.messages import JsonObject, JsonValue, replace_surrogates

DEPTH_LIMIT = 48
"""Levels of JSON that are sent back to a provider; Python writes some hundred, and no tool needs ten."""


def string(value: JsonValue) -> str:
    """Give a string, or nothing."""
    return value if isinstance(value, str) else ""


def word(value: JsonValue) -> str:
    """Give a string that is kept by itself (a name, an id), without half characters, which the store refuses."""
    return replace_surrogates(string(value))


def mapping(value: JsonValue) -> JsonObject:
    """Give an object, or an empty one."""
    return value if isinstance(value, dict) else {}


def count(holder: JsonValue, key: str) -> int:
    """Give a count of tokens under `key`, or 0."""
    value = holder.get(key) if isinstance(holder, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def is_plain(value: JsonValue, depth: int = DEPTH_LIMIT) -> bool:
    """Say whether a value can be written as JSON again: finite numbers, bounded depth."""
    if isinstance(value, dict):
        return depth > 0 and all(is_plain(inner, depth - 1) for inner in value.values())
    if isinstance(value, list):
        return depth > 0 and all(is_plain(inner, depth - 1) for inner in value)
    return not isinstance(value, float) or math.isfinite(value)


def plain_object(text: str) -> JsonObject:
    """Give the object that a call's arguments are, for wires that want an object; an empty one where none can be sent.

    A number beyond all bounds (`1e999`) or a depth that cannot be written would spoil every later request.
    """
    try:
        value = cast("JsonValue", json.loads(text))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) and is_plain(value) else {}
