"""Tools in the form that every provider accepts: names of a narrow alphabet, schemas that are objects."""

import hashlib
import re
from collections.abc import Iterable

from ias.domain.messages import AssistantMessage, JsonObject, JsonValue, MessageRequest, ToolDef
from ias.providers.readings import mapping, string
from ias.providers.schemas import object_schema

NAME_LIMIT = 64
"""Characters; DeepSeek's pages say 128, its answers said 64 (ida-pro-mcp#129), and OpenAI says 64."""

WRONG_LETTER = re.compile(r"[^a-zA-Z0-9_-]")


class WireNames:
    """Names on the wire for names of ours, and back.

    A name that providers would refuse (`files.read`, `mcp:x`) gets a shape they take, with a hash of the real one so
    that two never meet.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._wire: dict[str, str] = {}
        self._real: dict[str, str] = {}
        listed = list(dict.fromkeys(names))
        for name in sorted(listed, key=lambda name: _shape(name) != name):
            self.wire(name)

    def wire(self, name: str) -> str:
        """Give the name to send; the same one for the same name."""
        known = self._wire.get(name)
        if known is not None:
            return known
        shaped = _shape(name)
        if shaped != name or shaped in self._real:
            digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
            shaped = f"{shaped[: NAME_LIMIT - 9]}_{digest}"
        self._wire[name] = shaped
        self._real[shaped] = name
        return shaped

    def real(self, wire: str) -> str:
        """Give our name for one that came; one that the model made up stays as it is."""
        return self._real.get(wire, wire)


def names_of(request: MessageRequest) -> WireNames:
    """Give the names on the wire: of the tools that are offered, and of those that the history speaks of."""
    used = [
        call.name for message in request.messages if isinstance(message, AssistantMessage) for call in message.calls
    ]
    return WireNames([tool.name for tool in request.tools] + used)


def offer(tools: Iterable[ToolDef], names: WireNames) -> list[JsonValue]:
    """Give the body's `tools`: each name once, and no schema that would spoil the request for the rest."""
    offered: dict[str, JsonValue] = {}
    for tool in tools:
        name = names.wire(tool.name)
        function: JsonObject = {
            "name": name,
            "description": tool.description or "",
            "parameters": object_schema(tool.parameters),
        }
        offered.setdefault(name, {"type": "function", "function": function})
    return list(offered.values())


def taken(offered: JsonValue, names: WireNames) -> tuple[ToolDef, ...]:
    """Give the tools that a body's `tools` describe: the way back from `offer`."""
    functions = [mapping(mapping(tool).get("function")) for tool in offered] if isinstance(offered, list) else []
    return tuple(
        ToolDef(
            name=names.real(string(function.get("name"))),
            description=string(function.get("description")) or None,
            parameters=object_schema(function.get("parameters")),
        )
        for function in functions
    )


def _shape(name: str) -> str:
    return WRONG_LETTER.sub("_", name)[:NAME_LIMIT] or "tool"
