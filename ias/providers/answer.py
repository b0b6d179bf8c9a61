"""One model answer put together from the chunks of a chat-completions stream."""

from ias.domain.messages import (
    AssistantMessage,
    ChatResponse,
    FinishReason,
    JsonObject,
    JsonValue,
    ReasoningChunk,
    StreamItem,
    TextChunk,
    Usage,
    replace_surrogates,
)
from ias.errors import EmptyResponseError, ServerFaultError
from ias.providers.leaks import LeakGate
from ias.providers.tool_deltas import CallBuilder
from ias.providers.tool_names import WireNames

REASONS = {
    "stop": FinishReason.STOP,
    "eos": FinishReason.STOP,
    "end_turn": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "tool_calls": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "content_filter": FinishReason.CONTENT_FILTER,
}
"""What vendors say; DeepSeek's `insufficient_system_resource` and `aborted` come with HTTP 200 and are failures."""

HIGH_SURROGATES = ("\ud800", "\udbff")


class Answer:
    """Collect one answer.

    The chunks are read by hand and not by a model of their shape: vendors leave fields out, send null or an object
    where a string belongs, and some cut a character's surrogate pair in two, which a strict reader refuses.

    Args:
        model: The model asked for; an answer may name another.
        names: To give tool calls their real names.
        max_tokens: The limit that was sent, if any.
    """

    def __init__(self, *, model: str, names: WireNames, offered: tuple[str, ...], max_tokens: int | None) -> None:
        self._model = model
        self._names = names
        self._max_tokens = max_tokens
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._has_reasoning = False
        self._calls = CallBuilder()
        self._gate = LeakGate(offered)
        self._text_pairs = _Pairs()
        self._reasoning_pairs = _Pairs()
        self._reason = ""
        self._usage = Usage()

    @property
    def has_reason(self) -> bool:
        """Whether the model said why it stopped."""
        return bool(self._reason)

    def feed(self, chunk: JsonObject) -> list[StreamItem]:
        """Take a chunk, or a whole answer as servers that do not stream give it, and give what can be shown."""
        self._model = _string(chunk.get("model")) or self._model
        usage = chunk.get("usage")
        if isinstance(usage, dict):
            self._usage = _usage(usage)
        choices = chunk.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(first, dict):
            return []
        self._reason = _string(first.get("finish_reason")) or self._reason
        delta = first.get("delta")
        if not isinstance(delta, dict):
            delta = first.get("message")
        return self._take(delta) if isinstance(delta, dict) else []

    def rest(self) -> list[StreamItem]:
        """Give what was held back until the answer's end."""
        items: list[StreamItem] = []
        self._add_reasoning(self._reasoning_pairs.rest(), items)
        self._add_text(self._gate.feed(self._text_pairs.rest()) + self._gate.finish(), items)
        return items

    def finish(self) -> ChatResponse:
        """Judge the whole answer; call it after `rest`.

        Raises:
            ServerFaultError: The provider gave up, or stopped for a reason that nobody knows.
            EmptyResponseError: There is neither text nor a call, or a call was written as text.
        """
        reason = self._finish_reason()
        is_cut = reason in (FinishReason.LENGTH, FinishReason.CONTENT_FILTER)
        calls = () if is_cut else self._calls.finish(self._names)
        text = replace_surrogates("".join(self._text))
        reasoning = replace_surrogates("".join(self._reasoning)) if self._has_reasoning else None
        if self._gate.has_leaked and not calls:
            raise EmptyResponseError("the model wrote a tool call as text instead of calling the tool")
        if not is_cut and not calls and (reason is FinishReason.TOOL_CALLS or not (text.strip() or reasoning)):
            raise EmptyResponseError("the model's answer holds neither text nor a tool call")
        message = AssistantMessage(text=text, reasoning=reasoning, calls=calls)
        return ChatResponse(message=message, stop_reason=reason, usage=self._usage, model=self._model)

    def _finish_reason(self) -> FinishReason:
        """Tell why the model stopped: whether there are calls counts for more than what it says (litellm#35663)."""
        given = REASONS.get(self._reason)
        if self._reason and given is None:
            raise ServerFaultError(f"the model stopped with {self._reason!r}")
        if given is FinishReason.LENGTH or given is FinishReason.CONTENT_FILTER:
            return given
        if self._calls.is_empty:
            return given or FinishReason.STOP
        if self._max_tokens is not None and self._usage.output >= self._max_tokens:
            # Arguments cut by the limit come with `tool_calls` as well (vm0#30943).
            return FinishReason.LENGTH
        return FinishReason.TOOL_CALLS

    def _take(self, delta: JsonObject) -> list[StreamItem]:
        items: list[StreamItem] = []
        # vLLM and Ollama call it `reasoning` (vllm PR#50624); gateways send both with the same text.
        for key in ("reasoning_content", "reasoning"):
            thought = delta.get(key)
            if isinstance(thought, str):
                self._has_reasoning = True
                self._add_reasoning(self._reasoning_pairs.feed(thought), items)
                break
        self._add_text(self._gate.feed(self._text_pairs.feed(_content(delta.get("content")))), items)
        self._calls.feed(delta.get("tool_calls"))
        return items

    def _add_reasoning(self, text: str, items: list[StreamItem]) -> None:
        if text:
            self._reasoning.append(text)
            items.append(ReasoningChunk(text=replace_surrogates(text)))

    def _add_text(self, text: str, items: list[StreamItem]) -> None:
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


def _string(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""


def _content(value: JsonValue) -> str:
    """Read text that is a string, null, or a list of parts."""
    if isinstance(value, list):
        return "".join(_string(part.get("text")) for part in value if isinstance(part, dict))
    return _string(value)


def _usage(usage: JsonObject) -> Usage:
    """Read the counts; the cached part stands at either of two places (api-docs.deepseek.com/guides/kv_cache)."""
    cached = _count(usage.get("prompt_tokens_details"), "cached_tokens") or _count(usage, "prompt_cache_hit_tokens")
    return Usage(
        input=_count(usage, "prompt_tokens"),
        output=_count(usage, "completion_tokens"),
        cached=cached,
        reasoning=_count(usage.get("completion_tokens_details"), "reasoning_tokens"),
    )


def _count(holder: JsonValue, key: str) -> int:
    value = holder.get(key) if isinstance(holder, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
