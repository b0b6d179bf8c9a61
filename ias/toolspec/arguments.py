"""Arguments of a call against the tool's parameters: lossless repairs, and errors that help a model with the rest."""

import difflib
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence

from ias.domain.messages import JsonObject, JsonValue
from ias.errors import InvalidArgumentsError
from ias.toolspec.patterns import matches

SHOWN = 60  # characters of a value in a message
CHOICES_SHOWN = 20
INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})")
NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,18})?([eE][+-]?[0-9]{1,3})?")
WORDS = {"true": True, "false": False}
NAMES: Mapping[str, str] = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
# Parts of JSON Schema that are left to the tool: what they mean together is not ours to guess.
LEFT_OUT = frozenset({"$ref", "allOf", "anyOf", "oneOf", "not", "if"})


class UnfitError(ValueError):
    """A value that cannot be what the schema wants; the text begins after the argument's name."""


def validate_args(parameters: JsonObject, args: JsonObject) -> JsonObject:
    """Give the arguments as the tool's parameters want them.

    Repaired is what loses nothing: `"3"` for 3, `3.0` for a whole number, `"true"` for true, a whole number where text
    is wanted, a list or object given as JSON text, null for an optional argument (left out). Defaults are filled in.

    Args:
        parameters: A JSON Schema of type object.
        args: What the model wrote; not changed.

    Raises:
        InvalidArgumentsError: Naming every problem, with near names and what is wanted.
    """
    problems: list[str] = []
    fitting = _object(parameters, args, "", problems)
    if problems:
        raise InvalidArgumentsError("the arguments do not fit: " + "; ".join(problems))
    return fitting


def value_fault(schema: JsonObject, value: JsonValue) -> str | None:
    """Say why a value, as it is, does not fit a schema; None if it does."""
    problems: list[str] = []
    fitting = _value(schema, value, "it", problems)
    if not problems and not _is_same(fitting, value):
        problems.append(f"it must be {_wanted(schema)}, not {_shown(value)}")
    return "; ".join(problems) or None


def _object(schema: JsonObject, value: JsonObject, where: str, problems: list[str]) -> JsonObject:
    properties = schema.get("properties")
    parts = properties.items() if isinstance(properties, dict) else ()
    known = {name: part if isinstance(part, dict) else {} for name, part in parts}
    required = schema.get("required")
    needed = required if isinstance(required, list) else []
    fitting: JsonObject = {}
    for name, item in value.items():
        place = f"{where}.{name}" if where else name
        if name in known:
            if item is None and "null" not in _types(known[name]) and known[name]:
                continue
            fitting[name] = _value(known[name], item, place, problems)
        elif _is_open(schema, known):
            fitting[name] = item
        else:
            problems.append(_unknown(place, name, list(known)))
    for name, part in known.items():
        place = f"{where}.{name}" if where else name
        if name in fitting:
            continue
        if "default" in part:
            fitting[name] = part["default"]
        elif name in needed:
            problems.append(f"{place} is missing{_described(part)}")
    return fitting


def _is_open(schema: JsonObject, known: Mapping[str, JsonObject]) -> bool:
    """Say whether other names may be given; JSON Schema's silence is read as no: it is nearly always a wrong name."""
    if "additionalProperties" in schema:
        return schema["additionalProperties"] is not False
    return not known or "patternProperties" in schema or bool(LEFT_OUT & schema.keys())


def _unknown(place: str, name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f"{place} is no argument, did you mean {near[0]}?"
    return f"{place} is no argument; there are {', '.join(known) or 'none'}"


def _described(schema: JsonObject) -> str:
    words = schema.get("description")
    about = words.strip().splitlines()[0] if isinstance(words, str) and words.strip() else ""
    return f" ({_wanted(schema)}: {about})" if about else f" ({_wanted(schema)})"


def _value(schema: JsonObject, value: JsonValue, where: str, problems: list[str]) -> JsonValue:
    if LEFT_OUT & schema.keys():
        return value
    try:
        fitting = _typed(schema, value)
        _check_bounds(schema, fitting)
    except UnfitError as error:
        problems.append(f"{where} {error}")
        return value
    if isinstance(fitting, list):
        items = schema.get("items")
        if isinstance(items, dict):
            return [_value(items, item, f"{where}[{number}]", problems) for number, item in enumerate(fitting)]
    if isinstance(fitting, dict) and "properties" in schema:
        return _object(schema, fitting, where, problems)
    return fitting


def _types(schema: JsonObject) -> tuple[str, ...]:
    named = schema.get("type")
    return (named,) if isinstance(named, str) else tuple(map(str, named)) if isinstance(named, list) else ()


def _typed(schema: JsonObject, value: JsonValue) -> JsonValue:
    types = _types(schema)
    if not types or any(name not in TESTS for name in types):
        return value
    for name in types:
        if TESTS[name](value):
            return int(value) if name == "integer" and isinstance(value, float) else value
    for name in types:
        fitting = REPAIRS[name](value)
        if fitting is not None:
            return fitting
    raise UnfitError(f"must be {_wanted(schema)}, not {_shown(value)}")


def _is_number(value: JsonValue) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, int) or math.isfinite(value)


def _is_whole(value: JsonValue) -> bool:
    return isinstance(value, int | float) and _is_number(value) and value == math.floor(value)


TESTS: Mapping[str, Callable[[JsonValue], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": _is_whole,
    "number": _is_number,
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}


def _as_text(value: JsonValue) -> str | None:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**18 else None


def _as_integer(value: JsonValue) -> int | None:
    return int(value) if isinstance(value, str) and INTEGER.fullmatch(value.strip()) else None


def _as_number(value: JsonValue) -> int | float | None:
    if (whole := _as_integer(value)) is not None:
        return whole
    if not isinstance(value, str) or not NUMBER.fullmatch(value.strip()):
        return None
    number = float(value)
    return number if math.isfinite(number) else None


def _as_boolean(value: JsonValue) -> bool | None:
    return WORDS.get(value.strip().lower()) if isinstance(value, str) else None


def _as_list(value: JsonValue) -> JsonValue:
    parsed = _parsed(value)
    return parsed if isinstance(parsed, list) else None


def _as_object(value: JsonValue) -> JsonValue:
    parsed = _parsed(value)
    return parsed if isinstance(parsed, dict) else None


def _parsed(value: JsonValue) -> JsonValue:
    if not isinstance(value, str) or not value.lstrip().startswith(("[", "{")):
        return None
    try:
        return json.loads(value, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None


def _refuse_constant(name: str) -> JsonValue:
    raise ValueError(f"{name} is no JSON")


REPAIRS: Mapping[str, Callable[[JsonValue], JsonValue]] = {
    "string": _as_text,
    "integer": _as_integer,
    "number": _as_number,
    "boolean": _as_boolean,
    "array": _as_list,
    "object": _as_object,
    "null": lambda _: None,
}


def _check_bounds(schema: JsonObject, value: JsonValue) -> None:
    choices = schema.get("enum")
    if isinstance(choices, list) and not any(_is_same(choice, value) for choice in choices):
        raise UnfitError(f"must be {_wanted(schema)}, not {_shown(value)}")
    if isinstance(value, str):
        _check_text(schema, value)
    elif isinstance(value, list):
        _check_between(len(value), schema.get("minItems"), schema.get("maxItems"), "have", "items")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        _check_between(value, schema.get("minimum"), schema.get("maximum"), "be", "")


def _is_same(one: JsonValue, other: JsonValue) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _check_text(schema: JsonObject, value: str) -> None:
    _check_between(len(value), schema.get("minLength"), schema.get("maxLength"), "have", "characters")
    pattern = schema.get("pattern")
    if not isinstance(pattern, str):
        return
    try:
        is_match = matches(pattern, value)
    except ValueError:  # another dialect, as MCP servers may send: theirs to check
        return
    if not is_match:
        raise UnfitError(f"must match {pattern!r}, not be {_shown(value)}")


def _check_between(number: float, least: JsonValue, most: JsonValue, verb: str, unit: str) -> None:
    unit = f" {unit}" if unit else ""
    if isinstance(least, int | float) and number < least:
        raise UnfitError(f"must {verb} at least {least}{unit}, not {number}")
    if isinstance(most, int | float) and number > most:
        raise UnfitError(f"must {verb} at most {most}{unit}, not {number}")


def _wanted(schema: JsonObject) -> str:
    choices = schema.get("enum")
    if isinstance(choices, list):
        return "one of " + ", ".join(_shown(choice) for choice in _first(choices))
    return " or ".join(NAMES.get(name, name) for name in _types(schema)) or "a value"


def _first(choices: Sequence[JsonValue]) -> list[JsonValue]:
    return [*choices[:CHOICES_SHOWN], *(["…"] if len(choices) > CHOICES_SHOWN else [])]


def _shown(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False) if not isinstance(value, dict | list) else NAMES[_kind(value)]
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


def _kind(value: JsonValue) -> str:
    return "object" if isinstance(value, dict) else "array"
