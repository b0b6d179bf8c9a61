"""Tool calls put together from the fragments of a stream, whatever a vendor does with `index` and `id`."""

import json
import uuid
from dataclasses import dataclass, field
from typing import cast

from ias.domain.messages import JsonObject, JsonValue, ToolCall
from ias.errors import ServerFaultError
from ias.providers.arguments import read_arguments
from ias.providers.tool_names import WireNames


@dataclass(slots=True, kw_only=True)
class _Call:
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=lambda: [])
    whole: JsonObject | None = None

    def is_complete(self) -> bool:
        """Say whether the arguments already are one JSON object."""
        if self.whole is not None:
            return True
        try:
            return isinstance(json.loads("".join(self.pieces)), dict)
        except (ValueError, RecursionError):
            return False


class CallBuilder:
    """Collect fragments, keyed by id first.

    `index` is not to be trusted: Ollama and gateways give 0 to every parallel call (vercel/ai#14277, ollama#15457),
    some leave it out (ollama#7881), some count the head of a call differently from its tail (apache/maka#1976). Nor
    is a missing `id` (vercel/ai#18440) or a restated blank one (DashScope; experiential#742). So a known id
    continues its call, a new one opens a call even on a used index, and a fragment without id goes to the newest call
    of its index, else to the last one.
    """

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._by_id: dict[str, _Call] = {}
        self._by_index: dict[int, _Call] = {}

    @property
    def is_empty(self) -> bool:
        """Whether no fragment came yet."""
        return not self._calls

    def feed(self, fragments: JsonValue) -> None:
        """Take one delta's `tool_calls`; several fragments of one call may stand in one list (openai-python#3201)."""
        if not isinstance(fragments, list):
            return
        for fragment in fragments:
            if isinstance(fragment, dict):
                self._take(fragment)

    def finish(self, names: WireNames) -> tuple[ToolCall, ...]:
        """Give the calls in the order in which they began.

        Raises:
            ServerFaultError: A call has no name.
        """
        return tuple(_call(call, names) for call in self._calls)

    def _take(self, fragment: JsonObject) -> None:
        function = fragment.get("function")
        described = function if isinstance(function, dict) else cast("JsonObject", {})
        identity, name = _text(fragment.get("id")), _text(described.get("name"))
        position = fragment.get("index")
        index = position if isinstance(position, int) else None
        call = self._find(identity, name, index)
        call.id = call.id or identity
        call.name = call.name or name
        if identity:
            self._by_id[identity] = call
        written = described.get("arguments")
        if isinstance(written, str):
            call.pieces.append(written)
        elif isinstance(written, dict):
            call.whole = written

    def _find(self, identity: str, name: str, index: int | None) -> _Call:
        known = self._by_id.get(identity) if identity else None
        if known is not None:
            return known
        if index is not None and index in self._by_index:
            candidate = self._by_index[index]
        else:
            is_head = bool(identity or name)
            candidate = None if is_head or not self._calls else self._calls[-1]
        if candidate is None or _is_another(candidate, identity, name):
            candidate = _Call()
            self._calls.append(candidate)
            if index is not None:
                self._by_index[index] = candidate
        return candidate


def _is_another(call: _Call, identity: str, name: str) -> bool:
    """Say whether a head fragment opens another call than the one that holds its place."""
    if identity and call.id:
        return True
    if not name or not call.name:
        return False
    return name != call.name or call.is_complete()


def _call(call: _Call, names: WireNames) -> ToolCall:
    if not call.name.strip():
        raise ServerFaultError("the model's answer holds a tool call without a name")
    arguments = read_arguments("".join(call.pieces) if call.whole is None else call.whole)
    identity = call.id or f"call_{uuid.uuid4().hex}"
    return ToolCall(id=identity, name=names.real(call.name), arguments=arguments.text, fault=arguments.fault)


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) and value.strip() else ""
