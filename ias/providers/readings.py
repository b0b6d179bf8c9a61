"""Fields of a vendor's JSON, read without trust: any shape may come, and a wrong one counts as absent."""

from ias.domain.messages import JsonObject, JsonValue


def string(value: JsonValue) -> str:
    """Give a string, or nothing."""
    return value if isinstance(value, str) else ""


def mapping(value: JsonValue) -> JsonObject:
    """Give an object, or an empty one."""
    return value if isinstance(value, dict) else {}


def count(holder: JsonValue, key: str) -> int:
    """Give a count of tokens under `key`, or 0."""
    value = holder.get(key) if isinstance(holder, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
