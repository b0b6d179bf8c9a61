"""What a model says while it says it: text without leaked calls, reasoning, whole characters, and a judged end."""

from ias.domain.messages import (
    AssistantMessage,
    ChatResponse,
    FinishReason,
    JsonObject,
    ReasoningChunk,
    StreamItem,
    TextChunk,
    ToolCall,
    Usage,
    replace_surrogates,
)
from ias.errors import EmptyResponseError
from ias.providers.leaks import LeakGate

HIGH_SURROGATES = ("\ud800", "\udbff")


class Transcript:
    """Collect the words of one answer.

    Args:
        offered: Names of the tools on the wire, to tell a call that is written as text.
    """

    def __init__(self, offered: tuple[str, ...]) -> None:
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._has_reasoning = False
        self._gate = LeakGate(offered)
        self._thought_gate = LeakGate(offered)
        self._text_pairs = _Pairs()
        self._reasoning_pairs = _Pairs()

    @property
    def has_leaked(self) -> bool:
        """Whether the model wrote a call into its text; that and all text after it is swallowed."""
        return self._gate.has_leaked

    @property
    def text(self) -> str:
        """What may be shown so far."""
        return replace_surrogates("".join(self._text))

    def add_text(self, piece: str, items: list[StreamItem]) -> None:
        """Take a piece of text, and append to `items` what can be shown now."""
        self._show(self._gate.feed(self._text_pairs.feed(piece)), items)

    def add_reasoning(self, piece: str, items: list[StreamItem]) -> None:
        """Take a piece of reasoning; an empty one says that there is some."""
        self._has_reasoning = True
        self._think(self._reasoning_pairs.feed(piece), items)

    def rest(self) -> list[StreamItem]:
        """Give what was held back until the answer's end."""
        items: list[StreamItem] = []
        self._think(self._reasoning_pairs.rest(), items)
        self._thought_gate.finish()
        self._show(self._gate.feed(self._text_pairs.rest()) + self._gate.finish(), items)
        return items

    def response(
        self,
        reason: FinishReason,
        calls: tuple[ToolCall, ...],
        *,
        usage: Usage,
        model: str,
        blocks: JsonObject | None = None,
    ) -> ChatResponse:
        """Judge the whole answer; call it after `rest`.

        Raises:
            EmptyResponseError: There is neither text nor a call, or a call was written as text.
        """
        text = self.text
        reasoning = replace_surrogates("".join(self._reasoning)) if self._has_reasoning else None
        if not calls and (self.has_leaked or (self._thought_gate.has_leaked and not text.strip())):
            raise EmptyResponseError("the model wrote a tool call as text instead of calling the tool")
        is_empty = not calls and (reason is FinishReason.TOOL_CALLS or not (text.strip() or reasoning))
        if is_empty and not is_cut(reason):
            raise EmptyResponseError("the model's answer holds neither text nor a tool call")
        message = AssistantMessage(text=text, reasoning=reasoning, calls=calls, blocks=blocks)
        return ChatResponse(message=message, stop_reason=reason, usage=usage, model=model)

    def _think(self, text: str, items: list[StreamItem]) -> None:
        if text:
            self._thought_gate.feed(text)  # it goes back byte for byte, so nothing is taken out of it
            self._reasoning.append(text)
            items.append(ReasoningChunk(text=replace_surrogates(text)))

    def _show(self, text: str, items: list[StreamItem]) -> None:
        if text:
            self._text.append(text)
            items.append(TextChunk(text=replace_surrogates(text)))


class _Pairs:
    """Keep the first half of a surrogate pair until the other half comes in the next chunk."""

    def __init__(self) -> None:
        self._half = ""

    def feed(self, text: str) -> str:
        text = self._half + text
        self._half = text[-1:] if HIGH_SURROGATES[0] <= text[-1:] <= HIGH_SURROGATES[1] else ""
        return text[: len(text) - len(self._half)]

    def rest(self) -> str:
        half, self._half = self._half, ""
        return half


def is_cut(reason: FinishReason) -> bool:
    """Say whether the answer was ended from outside; no call of such an answer may run."""
    return reason in (FinishReason.LENGTH, FinishReason.CONTENT_FILTER)


def settle_reason(given: FinishReason | None, *, has_calls: bool, usage: Usage, max_tokens: int | None) -> FinishReason:
    """Tell why the model stopped: whether there are calls counts for more than what it says (litellm#35663)."""
    if given is FinishReason.LENGTH or given is FinishReason.CONTENT_FILTER:
        return given
    if not has_calls:
        return given or FinishReason.STOP
    if max_tokens is not None and usage.output >= max_tokens:
        # Arguments cut by the limit come with `tool_calls` as well (vm0#30943).
        return FinishReason.LENGTH
    return FinishReason.TOOL_CALLS
