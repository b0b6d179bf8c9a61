"""One model answer put together from the lines of Ollama's own chat API."""

import uuid

from ias.domain.messages import ChatResponse, FinishReason, JsonObject, JsonValue, StreamItem, ToolCall, Usage
from ias.errors import ServerFaultError
from ias.providers.arguments import read_arguments
from ias.providers.readings import count, mapping, string, word
from ias.providers.tool_names import WireNames
from ias.providers.transcript import Transcript, is_cut, settle_reason

REASONS = {
    "stop": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "tool_calls": FinishReason.TOOL_CALLS,
    # docs/api: the answer to a request that only loads or unloads the model; to a question it is an empty one.
    "load": FinishReason.STOP,
    "unload": FinishReason.STOP,
}
WORDS_LIMIT = 60
"""Characters of an unknown reason that an error repeats."""


class OllamaAnswer:
    """Collect one answer.

    Args:
        model: The model asked for; an answer may name another.
        names: To give tool calls their real names.
        offered: Names of the tools on the wire.
        max_tokens: The limit that was sent, if any.
    """

    def __init__(self, *, model: str, names: WireNames, offered: tuple[str, ...], max_tokens: int | None) -> None:
        self._model = model
        self._names = names
        self._max_tokens = max_tokens
        self._calls: list[ToolCall] = []
        self._transcript = Transcript(offered)
        self._reason = ""
        self._usage = Usage()

    def feed(self, line: JsonObject) -> list[StreamItem]:
        """Take a line, or a whole answer, and give what can be shown.

        Raises:
            ServerFaultError: A call has no name.
        """
        items: list[StreamItem] = []
        self._model = word(line.get("model")) or self._model
        self._reason = string(line.get("done_reason")) or self._reason
        # A prompt that the server still had in its memory may come without a count (docs/api).
        read, written = count(line, "prompt_eval_count"), count(line, "eval_count")
        self._usage = Usage(input=read or self._usage.input, output=written or self._usage.output)
        message = mapping(line.get("message"))
        thought = message.get("thinking")
        if isinstance(thought, str):
            self._transcript.add_reasoning(thought, items)
        self._transcript.add_text(string(message.get("content")), items)
        self._take(message.get("tool_calls"))
        return items

    def rest(self) -> list[StreamItem]:
        """Give what was held back until the answer's end."""
        return self._transcript.rest()

    def finish(self) -> ChatResponse:
        """Judge the whole answer; call it after `rest`.

        Raises:
            ServerFaultError: It stopped for a reason that nobody knows.
            EmptyResponseError: There is neither text nor a call, or a call was written as text.
        """
        given = REASONS.get(self._reason)
        if self._reason and given is None:
            raise ServerFaultError(f"the model stopped with {self._reason[:WORDS_LIMIT]!r}")
        reason = settle_reason(given, has_calls=bool(self._calls), usage=self._usage, max_tokens=self._max_tokens)
        calls = () if is_cut(reason) else tuple(self._calls)
        return self._transcript.response(reason, calls, usage=self._usage, model=self._model)

    def _take(self, calls: JsonValue) -> None:
        """Take calls; each is whole, so an id that comes again, or none, is another call."""
        for call in calls if isinstance(calls, list) else []:
            function = mapping(mapping(call).get("function"))
            name = word(function.get("name"))
            if not name.strip():
                raise ServerFaultError("the model's answer holds a tool call without a name")
            written = function.get("arguments")
            arguments = read_arguments(written if isinstance(written, dict | str) else "" if written is None else "[]")
            identity = word(mapping(call).get("id"))
            if not identity.strip() or identity in [earlier.id for earlier in self._calls]:
                identity = f"call_{uuid.uuid4().hex}"
            self._calls.append(
                ToolCall(id=identity, name=self._names.real(name), arguments=arguments.text, fault=arguments.fault)
            )
