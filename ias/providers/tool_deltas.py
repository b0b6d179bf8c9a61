"""Tool calls put together from the fragments of a stream, whatever a vendor does with `index` and `id`."""

import json
import uuid
from dataclasses import dataclass, field

from ias.domain.messages import JsonObject, JsonValue, ToolCall, replace_surrogates
from ias.errors import ServerFaultError
from ias.providers.arguments import NOTHING, Arguments, read_arguments
from ias.providers.readings import mapping
from ias.providers.tool_names import WireNames

MIXED = "the pieces of several calls came mixed up, so none of these was carried out; make one call at a time"
CUT = "the answer was cut inside a call, so none of its calls was carried out; make them again, with shorter arguments"


@dataclass(slots=True, kw_only=True, eq=False)
class _Call:
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=lambda: [])
    whole: JsonObject | None = None
    is_guess: bool = False
    is_doubtful: bool = False
    complete_at: tuple[int, bool] = (0, False)

    @property
    def has_arguments(self) -> bool:
        return self.whole is not None or bool(self.pieces)

    def is_complete(self) -> bool:
        """Say whether the arguments already are one JSON object; what was found holds until another piece comes."""
        if self.whole is not None:
            return True
        if self.complete_at[0] != len(self.pieces):
            self.complete_at = (len(self.pieces), self._is_object())
        return self.complete_at[1]

    def _is_object(self) -> bool:
        if not self.pieces[-1].rstrip().endswith("}"):
            return False
        try:
            return isinstance(json.loads("".join(self.pieces)), dict)
        except (ValueError, RecursionError):
            return False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fragment:
    identity: str
    name: str
    index: int | None
    arguments: str | JsonObject

    @property
    def is_anonymous(self) -> bool:
        """Whether it says of itself neither whose it is nor what it calls, and carries arguments."""
        return not (self.identity or self.name) and bool(self.arguments)


class CallBuilder:
    """Collect fragments, keyed by id first.

    `index` is not to be trusted: Ollama and gateways give 0 to every parallel call (vercel/ai#14277, ollama#15457),
    some leave it out (ollama#7881), some count the head of a call differently from its tail (apache/maka#1976). Nor
    is a missing `id` (vercel/ai#18440) or a restated blank one (DashScope; experiential#742). So a known id
    continues its call, a new one opens a call even on a used index, and a fragment without id goes to the newest call
    of its index, else to the last one. Where such a fragment could as well belong to another call that is still open,
    both are given as faults: arguments are never made of the pieces of two calls.
    """

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._by_id: dict[str, _Call] = {}
        self._by_index: dict[int, _Call] = {}
        self._shared: set[int] = set()
        self._is_shifted = False
        self._exposed: dict[int, _Call] = {}
        self._last: _Call | None = None

    @property
    def is_empty(self) -> bool:
        """Whether no fragment came yet."""
        return not self._calls

    def feed(self, fragments: JsonValue) -> None:
        """Take one delta's `tool_calls`; several fragments of one call may stand in one list (openai-python#3201)."""
        if isinstance(fragments, dict):
            fragments = [fragments]
        if not isinstance(fragments, list):
            return
        for fragment in fragments:
            if isinstance(fragment, dict):
                self._take(_read(fragment))

    def finish(self, names: WireNames) -> tuple[ToolCall, ...]:
        """Give the calls in the order in which they began.

        Raises:
            ServerFaultError: A call has no name.
        """
        calls = [call for call in self._calls if call.has_arguments or not call.is_guess]
        read = [(call, read_arguments("".join(call.pieces) if call.whole is None else call.whole)) for call in calls]
        if any(arguments.goes_on for _, arguments in read):
            # One took what belongs to another: to one that is left without, or that took from a third in its turn.
            for call in calls:
                call.is_doubtful = call.is_doubtful or id(call) in self._exposed
        is_cut = any(arguments.is_cut for call, arguments in read if call is self._last)
        return tuple(_call(call, arguments, names, is_cut=is_cut) for call, arguments in read)

    def _take(self, fragment: _Fragment) -> None:
        call = self._find(fragment)
        if fragment.is_anonymous:
            self._doubt(call, fragment.index)
        call.id = call.id or fragment.identity
        call.name = call.name or fragment.name
        if fragment.identity:
            self._by_id[fragment.identity] = call
        if isinstance(fragment.arguments, dict):
            call.whole = fragment.arguments
        elif fragment.arguments:
            call.pieces.append(fragment.arguments)
        self._last = call

    def _find(self, fragment: _Fragment) -> _Call:
        known = self._by_id.get(fragment.identity) if fragment.identity else None
        if known is not None:
            return known
        index = fragment.index
        if index is not None and index in self._by_index:
            candidate = self._by_index[index]
        else:
            candidate = self._calls[-1] if self._calls and not fragment.identity else None
        if candidate is None or _is_another(candidate, fragment):
            candidate = self._open(fragment, candidate)
        return candidate

    def _open(self, fragment: _Fragment, holder: _Call | None) -> _Call:
        is_restated = holder is not None and not fragment.identity and fragment.name == holder.name
        call = _Call(is_guess=is_restated)
        self._calls.append(call)
        if fragment.index is not None:
            if fragment.index in self._by_index:
                self._shared.add(fragment.index)
            self._by_index[fragment.index] = call
        return call

    def _doubt(self, call: _Call, index: int | None) -> None:
        """Note which calls a fragment may belong to; they are doubtful where its index does not tell them apart.

        An index that nobody opened shows that heads and tails are counted differently, so no index tells anything.
        """
        self._is_shifted = self._is_shifted or (index is not None and index not in self._by_index)
        open_calls = [other for other in self._calls if other is not call and not other.is_complete()]
        if open_calls:
            self._exposed |= {id(one): one for one in (call, *open_calls)}
        if self._is_shifted or index is None or index in self._shared:
            for exposed in self._exposed.values():
                exposed.is_doubtful = True
            self._exposed.clear()


def _read(fragment: JsonObject) -> _Fragment:
    function = mapping(fragment.get("function"))
    written = function.get("arguments")
    return _Fragment(
        identity=_text(fragment.get("id")),
        name=_text(function.get("name")),
        index=_index(fragment.get("index")),
        arguments=written if isinstance(written, str | dict) else "",
    )


def _index(value: JsonValue) -> int | None:
    if isinstance(value, str) and value.isdecimal() and len(value) < 10:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _is_another(call: _Call, fragment: _Fragment) -> bool:
    """Say whether a head fragment opens another call than the one that holds its place."""
    if fragment.identity and call.id:
        return True
    if not fragment.name or not call.name:
        return False
    if fragment.name != call.name:
        return True
    if call.id or not call.has_arguments:
        return False
    if call.is_complete() or not fragment.arguments:
        return True
    # The name again, in the middle of the arguments: a restated one, or the head of a call to the same tool.
    call.is_doubtful = call.is_doubtful or isinstance(fragment.arguments, dict) or fragment.arguments.startswith("{")
    return False


def _call(call: _Call, arguments: Arguments, names: WireNames, *, is_cut: bool) -> ToolCall:
    name = replace_surrogates(call.name).strip()
    if not name:
        raise ServerFaultError("the model's answer holds a tool call without a name")
    identity = replace_surrogates(call.id) or f"call_{uuid.uuid4().hex}"
    text, fault = arguments.text, arguments.fault
    if call.is_doubtful:
        text, fault = NOTHING, MIXED
    elif is_cut and fault is None:
        fault = CUT
    return ToolCall(id=identity, name=names.real(name), arguments=text, fault=fault)


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) and value.strip() else ""
