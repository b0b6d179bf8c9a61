"""`/tool NAME key=value …`: a call without a model's judgement."""

import json
import re
from dataclasses import dataclass

from ias.domain.messages import JsonObject, JsonValue
from ias.providers.embedded.tokens import unquote

COMMAND = re.compile(r"^\s*/tool(?:\s+|$)", re.IGNORECASE)
NAME = re.compile(r"[^\s=]+")
PAIR = re.compile(
    r"""([^\s=]+)=(\[[^\]]*\]|\{[^}]*\}|"(?:[^"\\]|\\.)*"|'[^']*'|“[^”]*”|「[^」]*」|[^\s"'“「]\S*|(?=\s|$))"""
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Direct:
    """A call as it was written; `fault` says what could not be read."""

    tool: str = ""
    args: JsonObject
    fault: str | None = None


def read_direct(text: str) -> Direct | None:
    """Read the command; None where the text is another message."""
    command = COMMAND.match(text)
    if command is None:
        return None
    rest = text[command.end() :].strip()
    name = NAME.match(rest)
    if name is None:
        return Direct(args={}, fault=rest or "no name")
    args: JsonObject = {}
    position = name.end()
    while rest[position:].strip():
        position += len(rest[position:]) - len(rest[position:].lstrip())
        pair = PAIR.match(rest, position)
        if pair is None:
            return Direct(tool=name[0], args=args, fault=rest[position:].split()[0])
        args[pair[1]] = _value(pair[2])
        position = pair.end()
    return Direct(tool=name[0], args=args)


def _value(written: str) -> JsonValue:
    """Read lists, objects and quoted text; anything else stays text, which the tool's types decide about."""
    if written[:1] in ("[", "{", '"'):
        try:
            value: JsonValue = json.loads(written)
        except (ValueError, RecursionError):
            return unquote(written)
        return value
    return unquote(written)
