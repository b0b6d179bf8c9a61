"""A spec's `params` as the JSON Schema that models read, and what may be wrong between their fields."""

from collections.abc import Iterator
from typing import TypeAlias

from ias.config.strict_yaml import Keys
from ias.domain.messages import JsonObject, JsonValue
from ias.errors import InvalidArgumentsError
from ias.toolspec.arguments import validate_args, value_fault
from ias.toolspec.model import Param, SpecFile
from ias.toolspec.patterns import SYNTAX, find_pattern_fault

Found: TypeAlias = tuple[Keys, str, str]  # where in the file, what is wrong, what to write instead

NUMBERS = ("integer", "number")
ONLY_FOR = (
    ("minimum", NUMBERS, "a number"),
    ("maximum", NUMBERS, "a number"),
    ("pattern", ("string",), "text"),
    ("items", ("array",), "a list"),
)


def parameters_of(params: tuple[Param, ...]) -> JsonObject:
    """Give the JSON Schema; `required` is left out where it would be empty, as some providers refuse an empty one."""
    properties: JsonObject = {param.name: _schema(param) for param in params}
    schema: JsonObject = {"type": "object", "properties": properties, "additionalProperties": False}
    required: list[JsonValue] = [param.name for param in params if param.required]
    if required:
        schema["required"] = required
    return schema


def param_faults(spec: SpecFile) -> Iterator[Found]:
    """Find what the fields of the parameters say against each other, and examples that do not fit."""
    seen: set[str] = set()
    for number, param in enumerate(spec.params):
        keys = ("params", number)
        if param.name in seen:
            yield (*keys, "name"), f"the parameter {param.name!r} is there twice", "remove one of them"
        seen.add(param.name)
        for field, message, fix in _faults(param):
            yield (*keys, *field), f"the parameter {param.name!r} {message}", fix
    schema = parameters_of(spec.params)
    for number, example in enumerate(spec.examples):
        try:
            validate_args(schema, dict(example.params))
        except InvalidArgumentsError as error:
            yield ("examples", number, "params"), f"{error}", "make the example fit the params"


def _faults(param: Param) -> Iterator[Found]:
    given = param.model_fields_set
    for field, kinds, wanted in ONLY_FOR:
        if field in given and param.type not in kinds:
            yield (field,), f"has {field}, which is for {wanted}", f"remove it, or change type {param.type!r}"
    if param.minimum is not None and param.maximum is not None and param.minimum > param.maximum:
        yield ("minimum",), f"has a minimum {param.minimum:g} above its maximum {param.maximum:g}", "exchange them"
    if param.pattern is not None and (reason := find_pattern_fault(param.pattern)):
        yield ("pattern",), f"has a pattern that is no regular expression: {reason}", SYNTAX
        return
    if "default" in given and param.required:
        yield ("default",), "is required and has a default", "remove one of them"
    schema = _schema(param)
    choices = {key: value for key, value in schema.items() if key not in ("enum", "default")}
    for number, choice in enumerate(param.enum or ()):
        if fault := value_fault(choices, choice):
            yield ("enum", number), f"has the choice {choice!r}: {fault}", _quote_fix(param, choice)
    if "default" in given and param.default is not None and (fault := value_fault(schema, param.default)):
        yield ("default",), f"has the default {param.default!r}: {fault}", _quote_fix(param, param.default)


def _quote_fix(param: Param, value: JsonValue) -> str:
    if param.type == "string" and isinstance(value, int | float):
        return "put it in quotes"
    if param.type == "boolean" and isinstance(value, str):
        return "write true or false"
    return ""


def _schema(param: Param) -> JsonObject:
    schema: JsonObject = {"type": param.type}
    if param.desc:
        schema["description"] = param.desc
    if param.enum is not None:
        schema["enum"] = list(param.enum)
    if param.type == "array":
        items = param.items
        held: JsonObject = {"type": "string"} if items is None else {"type": items.type}
        if items is not None and items.enum is not None:
            held["enum"] = list(items.enum)
        schema["items"] = held
    for field in ("minimum", "maximum"):
        bound = param.minimum if field == "minimum" else param.maximum
        if bound is not None:
            schema[field] = int(bound) if bound == int(bound) else bound
    if param.pattern is not None:
        schema["pattern"] = param.pattern
    if param.default is not None:
        schema["default"] = param.default
    return schema
