"""Content blocks of Anthropic's Messages API, put together from the events of a stream."""

from dataclasses import dataclass, field

from ias.domain.messages import JsonObject, JsonValue, replace_surrogates
from ias.errors import ServerFaultError
from ias.providers.arguments import Arguments, read_arguments
from ias.providers.readings import is_plain, plain_object, string

HOMES = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "thinking"}
"""Kinds of blocks that these deltas belong to."""
TOOL_USE = "tool_use"


@dataclass(slots=True, kw_only=True)
class Block:
    """One block: what it began with, and what came after.

    Args:
        start: The block of its start event.
        pieces: Pieces of its text, its thinking or the JSON of its input.
        signature: Pieces of its signature.
        citations: What was appended to its citations.
        is_unknown: Whether it grew in a way that nobody here knows, so that it cannot be given back whole.
    """

    start: JsonObject
    pieces: list[str] = field(default_factory=lambda: [])
    signature: list[str] = field(default_factory=lambda: [])
    citations: list[JsonValue] = field(default_factory=lambda: [])
    is_unknown: bool = False

    @property
    def kind(self) -> str:
        """Its `type`."""
        return string(self.start.get("type"))

    def arguments(self) -> Arguments:
        """Give the input of a call. Deltas count for more than a whole input at the start (trpc-agent-go#1649)."""
        written = "".join(self.pieces)
        if written.strip():
            return read_arguments(written)
        whole = self.start.get("input")
        if isinstance(whole, dict | str):
            return read_arguments(whole)
        return read_arguments("" if whole is None else "[]")

    def whole(self, *, needs_signature: bool) -> JsonObject | None:
        """Give the block as it goes back; None for one that the API would refuse.

        Args:
            needs_signature: Whether thinking is refused without one; it has none where the answer was cut.

        Raises:
            ServerFaultError: The block holds what cannot be written as JSON again.
        """
        match self.kind:
            case "text":
                built = self._text()
            case "thinking":
                built = self._thinking(needs_signature=needs_signature)
            case kind if kind.endswith(TOOL_USE):
                built = self._use()
            case _:
                built = None if self.is_unknown else self.start
        if built is not None and not is_plain(built):
            raise ServerFaultError("the provider sent a block that cannot be given back to it")
        return built

    def _use(self) -> JsonObject:
        built: JsonObject = {**self.start, "input": plain_object(self.arguments().text)}
        return built

    def _text(self) -> JsonObject | None:
        text = replace_surrogates(string(self.start.get("text")) + "".join(self.pieces))
        built: JsonObject = {**self.start, "text": text}
        if self.citations:
            earlier = self.start.get("citations")
            built["citations"] = (earlier if isinstance(earlier, list) else []) + self.citations
        return built if text.strip() else None

    def _thinking(self, *, needs_signature: bool) -> JsonObject | None:
        thought = replace_surrogates(string(self.start.get("thinking")) + "".join(self.pieces))
        signature = string(self.start.get("signature")) + "".join(self.signature)
        built: JsonObject = {**self.start, "thinking": thought, "signature": signature}
        return built if signature or not needs_signature else None


class Blocks:
    """The blocks of one response in the order in which they began.

    `index` is followed as long as it makes sense; a delta that does not fit its block goes to the newest one that it
    fits, or opens one: there are servers that send no start events.
    """

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._by_index: dict[int, Block] = {}

    def listed(self) -> tuple[Block, ...]:
        """Give all blocks."""
        return tuple(self._blocks)

    def open(self, index: JsonValue, start: JsonObject) -> Block:
        """Begin a block; a used index is taken over."""
        block = Block(start=start)
        self._blocks.append(block)
        if isinstance(index, int):
            self._by_index[index] = block
        return block

    def extend(self, index: JsonValue, delta: JsonObject) -> None:
        """Add a delta to its block."""
        kind = string(delta.get("type"))
        block = self._find(index, kind)
        match kind:
            case "text_delta":
                block.pieces.append(string(delta.get("text")))
            case "thinking_delta":
                block.pieces.append(string(delta.get("thinking")))
            case "signature_delta":
                block.signature.append(string(delta.get("signature")))
            case "input_json_delta":
                _add_input(block, delta.get("partial_json"))
            case "citations_delta":
                block.citations.append(delta.get("citation"))
            case _:
                block.is_unknown = True

    def _find(self, index: JsonValue, kind: str) -> Block:
        candidate = self._by_index.get(index) if isinstance(index, int) else None
        if candidate is not None and _fits(candidate, kind):
            return candidate
        for block in reversed(self._blocks):
            if _fits(block, kind):
                return block
        return self.open(index, {"type": HOMES.get(kind, TOOL_USE if kind == "input_json_delta" else "")})


def _fits(block: Block, kind: str) -> bool:
    if kind == "input_json_delta":
        return block.kind.endswith(TOOL_USE)
    if kind == "citations_delta":
        return block.kind == "text"
    home = HOMES.get(kind)
    return home is None or block.kind == home


def _add_input(block: Block, piece: JsonValue) -> None:
    if isinstance(piece, dict):
        block.start = {**block.start, "input": piece}
    else:
        block.pieces.append(string(piece))
