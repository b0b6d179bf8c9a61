"""Read values out of parsed JSON whose fields may be missing, empty or of another type."""

import math
from typing import Any, cast

# `Any` below is parsed JSON of an outside service: each reader narrows it.


def object_of(value: Any) -> dict[str, Any]:
    """Return `value` if it is a JSON object, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def objects_of(value: Any) -> list[dict[str, Any]]:
    """Return the JSON objects of a list; anything else in it is left out."""
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return [object_of(item) for item in items if isinstance(item, dict)]


def texts_of(value: Any) -> list[str]:
    """Return the texts of a list; anything else in it is left out."""
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return [item for item in items if isinstance(item, str)]


def text_of(value: Any) -> str:
    """Return a text without outer blanks; `[]`, null, true and objects are the empty text.

    AMap sends `[]` where a text field is empty.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return str(value).strip()


def number_of(value: Any) -> float | None:
    """Return a finite number from a number or a numeric text, None for anything else."""
    try:
        number = float(text_of(value))
    except ValueError:
        return None
    return number if math.isfinite(number) else None
