"""One model answer put together from the events of Anthropic's Messages API."""

import uuid
from dataclasses import replace

from ias.domain.messages import (
    ChatResponse,
    FinishReason,
    JsonObject,
    JsonValue,
    StreamItem,
    ToolCall,
    Usage,
)
from ias.errors import ContextOverflowError, EmptyResponseError, RejectedError, ServerFaultError
from ias.providers.anthropic_blocks import TOOL_USE, Block, Blocks
from ias.providers.anthropic_tools import AnthropicTools
from ias.providers.profiles import Echo, Profile
from ias.providers.readings import count, mapping, string, word
from ias.providers.tool_names import WireNames
from ias.providers.transcript import Transcript, is_cut, settle_reason

REASONS = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "pause_turn": FinishReason.STOP,
    "tool_use": FinishReason.TOOL_CALLS,
    "max_tokens": FinishReason.LENGTH,
    "refusal": FinishReason.CONTENT_FILTER,
}
"""platform.claude.com/docs/en/build-with-claude/handling-stop-reasons."""
PAUSE = "pause_turn"
OVERFLOW = "model_context_window_exceeded"
COUNTS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens", "thinking_tokens")
CATEGORY_LIMIT = 60
"""Characters of a refusal's category that an error repeats."""


class AnthropicAnswer:
    """Collect one answer, which may come in several responses: the provider pauses where its own tools take long.

    Args:
        profile: The vendor's ways.
        model: The model asked for; an answer may name another.
        names: To give tool calls their real names.
        tools: To give their arguments the real names.
        max_tokens: The limit that was sent.
    """

    def __init__(
        self, profile: Profile, *, model: str, names: WireNames, tools: AnthropicTools, max_tokens: int | None
    ) -> None:
        self._profile = profile
        self._asked = model
        self._model = model
        self._names = names
        self._tools = tools
        self._max_tokens = max_tokens
        self._transcript = Transcript(tools.names)
        self._blocks = Blocks()
        self._counts: dict[str, int] = {}
        self._earlier = Usage()
        self._reason = ""
        self._category = ""
        self.carried: list[JsonValue] = []

    @property
    def has_reason(self) -> bool:
        """Whether the model said why it stopped."""
        return bool(self._reason)

    @property
    def is_paused(self) -> bool:
        """Whether the answer goes on when it is sent back as it is."""
        return self._reason == PAUSE and not any(block.kind == TOOL_USE for block in self._blocks.listed())

    def feed(self, event: JsonObject) -> list[StreamItem]:
        """Take an event, or a whole answer as servers that do not stream give it, and give what can be shown."""
        items: list[StreamItem] = []
        match event.get("type"):
            case "message_start":
                self._begin(mapping(event.get("message")))
            case "message":
                self._begin(event)
                self._end(event, event.get("usage"))
                content = event.get("content")
                for block in content if isinstance(content, list) else []:
                    self._open(None, mapping(block), items)
            case "content_block_start":
                self._open(event.get("index"), mapping(event.get("content_block")), items)
            case "content_block_delta":
                self._extend(event.get("index"), mapping(event.get("delta")), items)
            case "message_delta":
                self._end(mapping(event.get("delta")), event.get("usage"))
            case _:
                pass
        return items

    def resume(self) -> None:
        """Begin the next response of a paused answer; `carried` is what goes back.

        Raises:
            EmptyResponseError: There is nothing to send back.
            ServerFaultError: What should go back cannot.
        """
        content = self._content()
        if not content:
            raise EmptyResponseError("the model paused before it said anything")
        self.carried += content
        self._earlier = self._usage()
        self._counts = {}
        self._blocks = Blocks()
        self._reason = ""

    def rest(self) -> list[StreamItem]:
        """Give what was held back until the answer's end."""
        return self._transcript.rest()

    def finish(self) -> ChatResponse:
        """Judge the whole answer; call it after `rest`.

        Raises:
            ContextOverflowError: The answer grew out of the model's context.
            RejectedError: The model refused, and said nothing.
            ServerFaultError: It stopped for a reason that nobody knows, or made a call that has no name.
            EmptyResponseError: There is neither text nor a call, or a call was written as text.
        """
        reason = self._settle()
        calls = () if is_cut(reason) else self._calls()
        blocks = None if is_cut(reason) or self._transcript.has_leaked else self._kept(calls)
        return self._transcript.response(reason, calls, usage=self._usage(), model=self._model, blocks=blocks)

    def _begin(self, message: JsonObject) -> None:
        self._model = word(message.get("model")) or self._model
        self._count(message.get("usage"))

    def _open(self, index: JsonValue, start: JsonObject, items: list[StreamItem]) -> None:
        kind = self._blocks.open(index, start).kind
        if kind == "text":
            self._transcript.add_text(string(start.get("text")), items)
        elif kind == "thinking":
            self._transcript.add_reasoning(string(start.get("thinking")), items)

    def _extend(self, index: JsonValue, delta: JsonObject, items: list[StreamItem]) -> None:
        self._blocks.extend(index, delta)
        kind = delta.get("type")
        if kind == "text_delta":
            self._transcript.add_text(string(delta.get("text")), items)
        elif kind == "thinking_delta":
            self._transcript.add_reasoning(string(delta.get("thinking")), items)

    def _end(self, delta: JsonObject, usage: JsonValue) -> None:
        self._reason = string(delta.get("stop_reason")) or self._reason
        self._category = word(mapping(delta.get("stop_details")).get("category"))[:CATEGORY_LIMIT]
        self._count(usage)

    def _count(self, usage: JsonValue) -> None:
        """Take counts, which are sums up to now; some servers give zeros at one end or the other."""
        given = {**mapping(usage), **mapping(mapping(usage).get("output_tokens_details"))}
        for key in COUNTS:
            self._counts[key] = max(self._counts.get(key, 0), count(given, key))

    def _part(self) -> Usage:
        """Give the usage of this response; `input_tokens` leaves out what went into the cache or came from it."""
        counts = {key: self._counts.get(key, 0) for key in COUNTS}
        cached = counts["cache_read_input_tokens"]
        return Usage(
            input=counts["input_tokens"] + cached + counts["cache_creation_input_tokens"],
            output=counts["output_tokens"],
            cached=cached,
            reasoning=counts["thinking_tokens"],
        )

    def _usage(self) -> Usage:
        part, earlier = self._part(), self._earlier
        return Usage(
            input=earlier.input + part.input,
            output=earlier.output + part.output,
            cached=earlier.cached + part.cached,
            reasoning=earlier.reasoning + part.reasoning,
        )

    def _settle(self) -> FinishReason:
        if self._reason == OVERFLOW:
            raise ContextOverflowError("the model's answer outgrew its context; start a new conversation")
        given = REASONS.get(self._reason)
        if self._reason and given is None:
            raise ServerFaultError(f"the model stopped with {self._reason[:CATEGORY_LIMIT]!r}")
        if given is FinishReason.CONTENT_FILTER and not self._transcript.text.strip():
            category = f" ({self._category})" if self._category else ""
            raise RejectedError(f"the model refused to answer{category}: ask in other words, or another model")
        has_calls = any(block.kind == TOOL_USE for block in self._blocks.listed())
        return settle_reason(given, has_calls=has_calls, usage=self._part(), max_tokens=self._max_tokens)

    def _calls(self) -> tuple[ToolCall, ...]:
        calls: list[ToolCall] = []
        for block in self._blocks.listed():
            if block.kind == TOOL_USE:
                call = self._call(block)
                is_new = call.id not in [earlier.id for earlier in calls]
                calls.append(call if is_new else replace(call, id=_new_id()))
        return tuple(calls)

    def _call(self, block: Block) -> ToolCall:
        name = word(block.start.get("name"))
        if not name.strip():
            raise ServerFaultError("the model's answer holds a tool call without a name")
        arguments = block.arguments()
        return ToolCall(
            id=word(block.start.get("id")) or _new_id(),
            name=self._names.real(name),
            arguments=self._tools.real_arguments(name, arguments.text),
            fault=arguments.fault,
        )

    def _content(self) -> list[JsonValue]:
        needs_signature = self._profile.echo is Echo.NEVER
        built = [block.whole(needs_signature=needs_signature) for block in self._blocks.listed()]
        return [block for block in built if block is not None]

    def _kept(self, calls: tuple[ToolCall, ...]) -> JsonObject | None:
        """Give the content as it must go back, or None where text and calls say all of it."""
        content = self.carried + self._content()
        kinds = {string(mapping(block).get("type")) for block in content}
        has_all = sum(mapping(block).get("type") == TOOL_USE for block in content) == len(calls)
        if kinds <= {"text", TOOL_USE} or not has_all:
            return None
        return {"provider": self._profile.name, "model": self._asked, "content": content}


def _new_id() -> str:
    return f"toolu_{uuid.uuid4().hex}"
