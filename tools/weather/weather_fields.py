"""Read values out of parsed JSON whose fields may be missing, empty, late or of another type."""

import math
import re
from typing import Any, cast

# A JSON object of an outside service; the readers below narrow its values.
Json = dict[str, Any]

BLANKS = re.compile(r"\s+")
# To °C, m/s, m, mm and hPa. Open-Meteo and QWeather name the unit beside the value.
FACTORS = {"km/h": 1 / 3.6, "mph": 0.44704, "mp/h": 0.44704, "kn": 0.514444, "km": 1000.0, "mi": 1609.344, "inch": 25.4}


def object_of(value: object) -> Json:
    """Return `value` if it is a JSON object, else an empty one."""
    return cast("Json", value) if isinstance(value, dict) else {}


def list_of(value: object) -> list[Any]:
    """Return `value` if it is a list, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def objects_of(value: object) -> list[Json]:
    """Return the JSON objects of a list that are not empty; anything else in it is left out."""
    return [found for item in list_of(value) if (found := object_of(item))]


def text_of(value: object, *, limit: int = 4000) -> str:
    """Return a text or number as text without outer blanks, cut after `limit` characters; "" for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    text = str(value).strip()
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def line_of(value: object, *, limit: int = 200) -> str:
    """Return a text as `text_of`, on one line."""
    return text_of(BLANKS.sub(" ", text_of(value)), limit=limit)


def number_of(value: object) -> float | None:
    """Return a finite number from a number or a numeric text, None for anything else."""
    try:
        number = float(text_of(value))
    except ValueError:
        return None
    return number if math.isfinite(number) and abs(number) < 1e9 else None


def metric(field: object, unit: object = "") -> float | None:
    """Return a measurement in °C, m/s, m, mm or hPa, rounded to 2 decimals.

    Args:
        field: A number, or an object with `value` and `unit`.
        unit: The unit of a plain number; an unknown or empty one stands for the metric one.
    """
    measured = object_of(field)
    if measured:
        field, unit = measured.get("value"), measured.get("unit")
    number = number_of(field)
    if number is None:
        return None
    named = text_of(unit)
    if named.endswith("F"):
        return round((number - 32) / 1.8, 2)
    return round(number * FACTORS.get(named, 1.0), 2)


def percent_of(share: object) -> int | None:
    """Return a share of 0 to 1 as a whole percentage, None for anything else."""
    number = number_of(share)
    return round(number * 100) if number is not None and 0 <= number <= 1 else None


def whole_of(value: object) -> int | None:
    """Round a number or numeric text; None where there is none."""
    number = number_of(value)
    return None if number is None else round(number)


def degrees_of(value: object) -> int | None:
    """Return a direction of 0 to 360 degrees; QWeather writes -999 for wind without one."""
    number = number_of(value)
    return round(number) if number is not None and 0 <= number <= 360 else None


def filled(record: Json) -> Json:
    """Leave out what is unknown: None and empty texts."""
    return {name: value for name, value in record.items() if value not in (None, "")}
