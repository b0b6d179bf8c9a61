"""A tool's schema made one that every provider takes: a single wrong keyword is a 400 for the whole request."""

import json
import re
from collections.abc import Callable, Mapping

from ias.domain.messages import JsonObject, JsonValue
from ias.providers.readings import mapping, string

DEPTH_LIMIT = 24
"""Levels of a schema; what lies deeper is left open."""
REF_LIMIT = 8
"""References at the top that are followed."""

TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})
OTHER_TYPES = {
    # Names of other languages, and of Gemini's schemas: OpenAI answers "'int' is not valid".
    "int": "integer",
    "long": "integer",
    "float": "number",
    "double": "number",
    "decimal": "number",
    "str": "string",
    "text": "string",
    "bool": "boolean",
    "dict": "object",
    "map": "object",
    "list": "array",
    "tuple": "array",
    "none": "null",
}
SUB_SCHEMAS = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")
SCHEMA_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
SCHEMA_MAPS = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
NOT_AT_THE_TOP = ("anyOf", "oneOf", "allOf", "not", "enum", "const", "if", "then", "else")
"""OpenAI: "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level"."""
UNIONS = ("anyOf", "oneOf", "allOf")
REF = re.compile(r"#(/(properties|\$defs|definitions)/.*)?")
"""References that still lead somewhere once the schema is cleaned."""


def object_schema(parameters: JsonValue) -> JsonObject:
    """Make a schema one of type object, as DeepSeek and OpenAI demand (400 for `{}`, null, `"required": null`).

    Keywords with values that the metaschema refuses are left out, since they would spoil the request for every other
    tool; unions at the top become one object with all their properties. The tool's own check of its arguments still
    knows what was left out here.
    """
    try:
        json.dumps(parameters, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        return {"type": "object", "properties": {}}
    given = _follow(mapping(parameters))
    schema = _fold(_schema(given, given, DEPTH_LIMIT))
    schema.pop("$schema", None)
    properties = schema.get("properties")
    return {**schema, "type": "object", "properties": properties if isinstance(properties, dict) else {}}


def _follow(root: JsonObject) -> JsonObject:
    """Put what a reference at the top leads to in its place."""
    for _ in range(REF_LIMIT):
        found = _resolve(string(root.get("$ref")), root)
        if not isinstance(found, dict) or found is root:
            break
        root = {**{key: value for key, value in root.items() if key != "$ref"}, **found}
    return root


def _resolve(ref: str, root: JsonObject) -> JsonValue:
    """Give what a local reference leads to; None where it leads nowhere."""
    if not REF.fullmatch(ref):
        return None
    place: JsonValue = root
    for step in ref.split("/")[1:]:
        place = mapping(place).get(step.replace("~1", "/").replace("~0", "~"))
    return place


def _fold(schema: JsonObject) -> JsonObject:
    """Put the branches of a union at the top into the schema itself: all their properties, none of their conditions."""
    folded: JsonObject = {key: value for key, value in schema.items() if key not in NOT_AT_THE_TOP}
    properties = dict(mapping(schema.get("properties")))
    for key in UNIONS:
        branches = schema.get(key)
        for branch in branches if isinstance(branches, list) else []:
            whole = _resolve(string(mapping(branch).get("$ref")), schema) or branch
            for name, value in mapping(mapping(whole).get("properties")).items():
                properties.setdefault(name, value)
    return {**folded, "properties": properties} if properties else folded


def _schema(schema: JsonValue, root: JsonObject, depth: int) -> JsonObject:
    if not isinstance(schema, dict) or depth == 0:
        return {}
    kept: JsonObject = {}
    for key, value in schema.items():
        if key in SCHEMA_MAPS:
            found: JsonValue = _map(value, root, depth)
        elif key in SCHEMA_LISTS:
            found = [_schema(inner, root, depth - 1) for inner in value] if isinstance(value, list) else None
        elif key in SUB_SCHEMAS:
            found = _sub_schema(key, value, root, depth)
        elif key == "$ref":
            found = value if isinstance(value, str) and _resolve(value, root) is not None else None
        else:
            found = KEYWORDS.get(key, _any)(value)
        if found is not None and found != []:
            kept[key] = found
    kind = kept.get("type")
    if (kind == "array" or (isinstance(kind, list) and "array" in kind)) and "items" not in kept:
        kept["items"] = {}  # OpenAI: "array schema missing items"
    return kept


def _map(value: JsonValue, root: JsonObject, depth: int) -> JsonValue:
    if not isinstance(value, dict):
        return None
    return {name: _schema(inner, root, depth - 1) for name, inner in value.items()}


def _sub_schema(key: str, value: JsonValue, root: JsonObject, depth: int) -> JsonValue:
    if isinstance(value, bool) and key != "items":
        return value
    return None if value is None else _schema(value, root, depth - 1)


def _any(value: JsonValue) -> JsonValue:
    return value


def _type(value: JsonValue) -> JsonValue:
    """Give a type, or several, by their right names; nothing where there is none."""
    if isinstance(value, list):
        return list[JsonValue](dict.fromkeys(name for one in value if (name := _type_name(one))))
    return _type_name(value) or None


def _type_name(value: JsonValue) -> str:
    name = string(value).lower()
    name = OTHER_TYPES.get(name, name)
    return name if name in TYPES else ""


def _names(value: JsonValue) -> JsonValue:
    names = [name for name in value if isinstance(name, str)] if isinstance(value, list) else []
    return list[JsonValue](dict.fromkeys(names))


def _choices(value: JsonValue) -> JsonValue:
    """Give the values of an `enum`, each once."""
    if not isinstance(value, list):
        return None
    return list({json.dumps(one, sort_keys=True): one for one in value}.values())


def _text(value: JsonValue) -> JsonValue:
    return value if isinstance(value, str) else None


def _pattern(value: JsonValue) -> JsonValue:
    try:
        re.compile(string(value))
    except (re.error, RecursionError, OverflowError):
        return None
    return _text(value)


def _number(value: JsonValue) -> JsonValue:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _positive(value: JsonValue) -> JsonValue:
    number = _number(value)
    return number if isinstance(number, int | float) and number > 0 else None


def _count(value: JsonValue) -> JsonValue:
    number = _number(value)
    return number if isinstance(number, int) and number >= 0 else None


def _flag(value: JsonValue) -> JsonValue:
    return value if isinstance(value, bool) else None


def _list(value: JsonValue) -> JsonValue:
    return value if isinstance(value, list) else None


def _names_by_name(value: JsonValue) -> JsonValue:
    lists = [(name, _names(names)) for name, names in mapping(value).items() if isinstance(names, list)]
    return dict(lists) or None


KEYWORDS: Mapping[str, Callable[[JsonValue], JsonValue]] = {
    "type": _type,
    "required": _names,
    "enum": _choices,
    "examples": _list,
    "pattern": _pattern,
    "multipleOf": _positive,
    "dependentRequired": _names_by_name,
    **dict.fromkeys(("title", "description", "format", "$comment", "contentEncoding", "contentMediaType"), _text),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _number),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _count),
    **dict.fromkeys(("minContains", "maxContains"), _count),
    **dict.fromkeys(("uniqueItems", "deprecated", "readOnly", "writeOnly", "nullable"), _flag),
}
"""What is kept of a keyword's value: None drops it, as does an empty list. Any other keyword passes."""
