"""Durations and sizes as people write them: `15m`, `30d`, `2MiB`."""

import re
from collections.abc import Mapping

SECONDS: Mapping[str, float] = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
BYTES: Mapping[str, int] = {
    "B": 1,
    "KB": 1000,
    "MB": 1000**2,
    "GB": 1000**3,
    "KIB": 1024,
    "MIB": 1024**2,
    "GIB": 1024**3,
}
DURATION_PATTERN = r"^[0-9]{1,9}(\.[0-9]{1,3})? ?(ms|s|m|h|d|w)$"
SIZE_PATTERN = r"^[0-9]{1,9}(\.[0-9]{1,3})? ?([KMG]i?)?B$"
DURATION = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?) ?(ms|s|m|h|d|w)")
SIZE = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?) ?((?:[KMG]I?)?B)")


def seconds(value: object) -> float:
    """Give a duration in seconds.

    Args:
        value: A number of seconds, or text like `500ms`, `20s`, `15m`, `2h`, `30d`, `1w`.

    Raises:
        ValueError: For anything else.
    """
    if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
        return float(value)
    found = DURATION.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError(f"must be seconds or a duration like 20s, 15m, 2h or 30d, not {value!r}")
    return float(found[1]) * SECONDS[found[2]]


def size_bytes(value: object) -> int:
    """Give a size in bytes.

    Args:
        value: A number of bytes, or text like `500KB`, `2MiB`, `1GiB`.

    Raises:
        ValueError: For anything else.
    """
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    found = SIZE.fullmatch(value.upper()) if isinstance(value, str) else None
    if found is None:
        raise ValueError(f"must be bytes or a size like 500KB, 2MiB or 1GiB, not {value!r}")
    return round(float(found[1]) * BYTES[found[2]])
