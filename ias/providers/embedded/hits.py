"""The catalogue's answer, read with tolerance: tools with their parameters and examples."""

import json
from dataclasses import dataclass
from typing import cast

from ias.domain.messages import JsonObject, JsonValue, ToolDef


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter of a tool; `type` as in JSON Schema, `string` where none is given."""

    name: str
    type: str = "string"
    description: str = ""
    is_required: bool = False
    choices: tuple[str, ...] = ()
    pattern: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A sentence and the arguments that it stands for."""

    ask: str
    params: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A tool that the catalogue describes in full."""

    name: str
    description: str
    parameters: tuple[Parameter, ...]
    examples: tuple[Example, ...]

    def parameter(self, name: str) -> Parameter | None:
        """Find a parameter."""
        return next((parameter for parameter in self.parameters if parameter.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """What `query_capabilities` answered: full hits, best first, and names with one line each."""

    hits: tuple[Hit, ...] = ()
    lines: tuple[tuple[str, str], ...] = ()


def read_catalogue(text: str) -> Catalogue:
    """Read the answer; what cannot be read is left out."""
    try:
        parsed: object = json.loads(text)
    except (ValueError, RecursionError):
        return Catalogue()
    if not isinstance(parsed, dict):
        return Catalogue()
    reply = cast("JsonObject", parsed)
    hits = tuple(_hit(entry) for entry in _objects(reply.get("details")) if _text(entry.get("name")))
    lines = _lines(reply.get("index")) or _lines(reply.get("tools"))
    return Catalogue(hits=hits, lines=lines)


def read_all(texts: list[str]) -> Catalogue:
    """Read several answers as one, each tool once."""
    answers = [read_catalogue(text) for text in texts]
    hits = {hit.name: hit for answer in reversed(answers) for hit in reversed(answer.hits)}
    lines = {name: line for answer in reversed(answers) for name, line in reversed(answer.lines)}
    return Catalogue(hits=tuple(reversed(hits.values())), lines=tuple(reversed(lines.items())))


def hits_of(tools: tuple[ToolDef, ...]) -> Catalogue:
    """Make the same of tools that are offered directly, without a catalogue."""
    hits = tuple(
        Hit(name=tool.name, description=tool.description or "", parameters=_parameters(tool.parameters), examples=())
        for tool in tools
    )
    return Catalogue(hits=hits, lines=tuple((hit.name, hit.description) for hit in hits))


def _hit(entry: JsonObject) -> Hit:
    examples = tuple(
        Example(ask=_text(example.get("ask")), params=params)
        for example in _objects(entry.get("examples"))
        if isinstance(params := example.get("params", {}), dict)
    )
    description = _text(entry.get("desc")) or _text(entry.get("description"))
    return Hit(
        name=_text(entry.get("name")),
        description=description,
        parameters=_parameters(entry.get("parameters")),
        examples=examples,
    )


def _parameters(schema: JsonValue) -> tuple[Parameter, ...]:
    described = schema if isinstance(schema, dict) else {}
    properties = described.get("properties")
    required = described.get("required")
    names = required if isinstance(required, list) else []
    if not isinstance(properties, dict):
        return ()
    return tuple(_parameter(name, value, is_required=name in names) for name, value in properties.items())


def _parameter(name: str, schema: JsonValue, *, is_required: bool) -> Parameter:
    described = schema if isinstance(schema, dict) else {}
    choices = described.get("enum")
    return Parameter(
        name=name,
        type=_text(described.get("type")) or "string",
        description=_text(described.get("description")),
        is_required=is_required,
        choices=tuple(str(choice) for choice in choices) if isinstance(choices, list) else (),
        pattern=_text(described.get("pattern")) or None,
    )


def _lines(entries: JsonValue) -> tuple[tuple[str, str], ...]:
    if isinstance(entries, dict):
        return tuple((name, _text(line)) for name, line in entries.items())
    if not isinstance(entries, list):
        return ()
    lines: list[tuple[str, str]] = []
    for entry in entries:
        if isinstance(entry, dict):
            lines.append((_text(entry.get("name")), _text(entry.get("desc")) or _text(entry.get("line"))))
        elif isinstance(entry, str):
            name, _, line = entry.partition(":")
            lines.append((name.strip(), line.strip()))
    return tuple(line for line in lines if line[0])


def _objects(entries: JsonValue) -> list[JsonObject]:
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""
