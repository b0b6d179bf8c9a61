"""What a strict model refuses, said in words of the file: key, line, value, and what to write instead."""

import difflib
import json
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import cast

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from ias.config.strict_yaml import Document, Keys
from ias.domain.messages import JsonValue

SHOWN = 60  # characters of a value in a message
CLOSE = 0.6  # how alike two keys must be to suggest one for the other
HIDDEN = frozenset({"api_key", "token", "password"})  # keys whose values are not shown

EXPECTED: Mapping[str, str] = {
    "bool_type": "true or false",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "text",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}
KINDS: Mapping[type, str] = {dict: "a mapping", list: "a list", type(None): "empty"}
REWORDED: Mapping[str, str] = {
    "input should be": "it must be",
    "string should": "it must",
    "tuple should": "it must",
    "have at least 1 character": "not be empty",
    "have at least 1 item after validation, not 0": "not be empty",
    " or equal to": " or",
    "it must be greater than or ": "it must be at least ",
    "it must be less than or ": "it must be at most ",
}
WORDS_FOR_BOOL = frozenset({"yes", "no", "on", "off", "y", "n", "true", "false"})


class Nothing(Enum):
    """What stands at a key that is not there; None is a value."""

    NOTHING = "nothing"


NOTHING = Nothing.NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that is wrong: `key` as in `llm.max_turns`, `line` from 1, `fix` may be empty."""

    key: str
    line: int
    message: str
    fix: str = ""

    def __str__(self) -> str:
        """Give it in one sentence."""
        return f"{self.message}; {self.fix}" if self.fix else self.message


def faults_of(error: ValidationError, document: Document, model: type[BaseModel]) -> tuple[Fault, ...]:
    """Give all faults of a file, in the order of its lines."""
    found = error.errors(include_url=False)
    places = [details["loc"] for details in found]
    faults = [
        _fault(details, document, model)
        for details in found
        if details["type"] != "too_short" or not any(place[:-1] == details["loc"] for place in places)
    ]
    return tuple(sorted(faults, key=lambda fault: fault.line))


def dotted(keys: Keys) -> str:
    """Give `approvals.rules[2].host` for a path of keys."""
    text = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys)
    return text.removeprefix(".")


def suggest(name: str, known: list[str]) -> str:
    """Give the advice on an unknown name: the nearest known one, else all of them."""
    near = difflib.get_close_matches(name.lower(), known, n=1, cutoff=CLOSE)
    return f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(known))}"


def _fault(details: ErrorDetails, document: Document, model: type[BaseModel]) -> Fault:
    keys = _keys_in(document.value, details["loc"])
    key = dotted(keys)
    line = document.line(keys)
    kind = details["type"]
    if kind == "extra_forbidden":
        known = list(_known_keys(model, keys[:-1]))
        return Fault(key=key, line=line, message=f"unknown key {key!r}", fix=suggest(str(keys[-1]), known))
    if kind == "missing":
        return Fault(key=key, line=line, message=f"{key} is missing", fix=f"add `{keys[-1]}:`")
    named = key or "the file"
    shown = _shown(details["input"], document, keys)
    if kind in EXPECTED:
        message = f"{named} must be {EXPECTED[kind]}, not {shown}"
        fix = _type_fix(kind, details["input"], document, keys) or _default_fix(model, keys)
        return Fault(key=key, line=line, message=message, fix=fix)
    if kind == "value_error":
        return Fault(key=key, line=line, message=f"{named}: {details['ctx']['error']!s}" if "ctx" in details else named)
    if details["loc"][-1:] == ("[key]",):
        return Fault(key=key, line=line, message=f"{named}: the name cannot be {keys[-1]!r}", fix=_words(details))
    return Fault(key=key, line=line, message=f"{named} cannot be {shown}", fix=_words(details))


def _keys_in(value: JsonValue, place: tuple[int | str, ...]) -> Keys:
    """Give the part of an error's place that are keys of the file: models add words of their own (`[key]`, unions)."""
    keys: list[int | str] = []
    for number, step in enumerate(place):
        if step == "[key]":
            continue
        below = _below(value, step)
        is_last = number == len(place) - 1
        if below is NOTHING and not (is_last and isinstance(value, dict)):
            continue
        keys.append(step)
        value = None if isinstance(below, Nothing) else below
    return tuple(keys)


def _below(value: JsonValue, step: int | str) -> "JsonValue | Nothing":
    if isinstance(value, dict) and isinstance(step, str):
        return value.get(step, NOTHING)
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        return value[step]
    return NOTHING


def _shown(value: object, document: Document, keys: Keys) -> str:
    if any(str(key) in HIDDEN for key in keys):
        return "what is written there"
    text = document.spelling(keys) or KINDS.get(type(value)) or repr(value)
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


def _type_fix(kind: str, value: object, document: Document, keys: Keys) -> str:
    if kind == "bool_type" and isinstance(value, str) and value.lower() in WORDS_FOR_BOOL:
        return "write true or false, without quotes"
    if kind == "string_type" and (spelling := document.spelling(keys)):
        return f'put it in quotes: "{spelling}"'
    if kind in ("int_type", "float_type") and isinstance(value, str) and value.strip("-").replace(".", "").isdigit():
        return "write it without quotes and leading zeros"
    if kind in ("tuple_type", "list_type") and isinstance(value, str | int):
        return "write [...] around it"
    return ""


def _default_fix(model: type[BaseModel], keys: Keys) -> str:
    """Name a value that is right: the default."""
    found: type[BaseModel] | None = model
    for number, key in enumerate(keys):
        field = None if found is None else found.model_fields.get(str(key))
        if field is None:
            return ""
        if number == len(keys) - 1 and isinstance(field.default, bool | int | float | str):
            return f"write one like `{key}: {json.dumps(field.default)}`, which is the default"
        found = _model_in(field.annotation)
    return ""


def _words(details: ErrorDetails) -> str:
    words = details["msg"][0].lower() + details["msg"][1:]
    for theirs, ours in REWORDED.items():
        words = words.replace(theirs, ours)
    return words


def _known_keys(model: type[BaseModel], keys: Keys) -> Iterator[str]:
    found: type[BaseModel] | None = model
    for key in keys:
        if found is None:
            return
        field = found.model_fields.get(str(key))
        if field is not None:
            found = _model_in(field.annotation)
    if found is not None:
        yield from found.model_fields


def _model_in(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for part in cast("tuple[object, ...]", typing.get_args(annotation)):
        if (found := _model_in(part)) is not None:
            return found
    return None
