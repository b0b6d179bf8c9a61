"""One model answer put together from the chunks of a chat-completions stream."""

from typing import cast

from ias.domain.messages import ChatResponse, FinishReason, JsonObject, JsonValue, StreamItem, Usage, replace_surrogates
from ias.errors import ServerFaultError
from ias.providers.readings import count, string
from ias.providers.tool_deltas import CallBuilder
from ias.providers.tool_names import WireNames
from ias.providers.transcript import Transcript, is_cut, settle_reason

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
        self._calls = CallBuilder()
        self._transcript = Transcript(offered)
        self._reason = ""
        self._usage = Usage()

    @property
    def has_reason(self) -> bool:
        """Whether the model said why it stopped."""
        return bool(self._reason)

    def feed(self, chunk: JsonObject) -> list[StreamItem]:
        """Take a chunk, or a whole answer as servers that do not stream give it, and give what can be shown."""
        envelope = chunk.get("data")
        if isinstance(envelope, dict) and "choices" not in chunk:
            chunk = envelope  # `{"data": {…}, "success": true}` (cline#13348)
        self._model = replace_surrogates(string(chunk.get("model"))) or self._model
        usage = chunk.get("usage")
        if isinstance(usage, dict):
            self._usage = _usage(usage)
        choices = chunk.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(first, dict):
            return []
        self._reason = string(first.get("finish_reason")) or self._reason
        delta = first.get("delta")
        if not isinstance(delta, dict):
            delta = first.get("message")
        return self._take(delta) if isinstance(delta, dict) else []

    def rest(self) -> list[StreamItem]:
        """Give what was held back until the answer's end."""
        return self._transcript.rest()

    def finish(self) -> ChatResponse:
        """Judge the whole answer; call it after `rest`.

        Raises:
            ServerFaultError: The provider gave up, or stopped for a reason that nobody knows.
            EmptyResponseError: There is neither text nor a call, or a call was written as text.
        """
        given = REASONS.get(self._reason)
        if self._reason and given is None:
            raise ServerFaultError(f"the model stopped with {self._reason!r}")
        has_calls = not self._calls.is_empty
        reason = settle_reason(given, has_calls=has_calls, usage=self._usage, max_tokens=self._max_tokens)
        calls = () if is_cut(reason) else self._calls.finish(self._names)
        return self._transcript.response(reason, calls, usage=self._usage, model=self._model)

    def _take(self, delta: JsonObject) -> list[StreamItem]:
        items: list[StreamItem] = []
        thought = _reasoning(delta)
        if thought is not None:
            self._transcript.add_reasoning(thought, items)
        self._transcript.add_text(_content(delta.get("content")), items)
        calls = delta.get("tool_calls")
        old = delta.get("function_call")  # the form before `tool_calls`
        if not calls and isinstance(old, dict):
            calls = cast("JsonObject", {"function": old})
        self._calls.feed(calls)
        return items


def _reasoning(delta: JsonObject) -> str | None:
    """Read reasoning under any of its names; gateways send two of them with the same text, or one of them empty.

    vLLM and Ollama say `reasoning` (vllm PR#50624), OpenRouter also gives a list of `reasoning_details`.
    """
    written = [value for key in ("reasoning_content", "reasoning") if isinstance(value := delta.get(key), str)]
    details = _content(delta.get("reasoning_details"))
    return next((text for text in (*written, details) if text), written[0] if written else None)


def _content(value: JsonValue) -> str:
    """Read text that is a string, null, or a list of parts."""
    if isinstance(value, list):
        return "".join(string(part.get("text")) for part in value if isinstance(part, dict))
    return string(value)


def _usage(usage: JsonObject) -> Usage:
    """Read the counts; the cached part stands at either of two places (api-docs.deepseek.com/guides/kv_cache)."""
    cached = count(usage.get("prompt_tokens_details"), "cached_tokens") or count(usage, "prompt_cache_hit_tokens")
    return Usage(
        input=count(usage, "prompt_tokens"),
        output=count(usage, "completion_tokens"),
        cached=cached,
        reasoning=count(usage.get("completion_tokens_details"), "reasoning_tokens"),
    )
