"""The body of a request to Anthropic's Messages API, built from messages in no provider's words."""

import hashlib
import re
from collections.abc import Iterator

from ias.domain.messages import (
    AssistantMessage,
    JsonObject,
    JsonValue,
    Message,
    MessageRequest,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from ias.providers.anthropic_blocks import TOOL_USE
from ias.providers.anthropic_tools import AnthropicTools
from ias.providers.history import repair
from ias.providers.profiles import Echo, Profile
from ias.providers.readings import mapping, plain_object, string
from ias.providers.tool_names import WireNames

ID = re.compile(r"[a-zA-Z0-9_-]+")
"""What a call's id may look like; ids of other providers can be a 400 (pi#9048)."""
BUDGET_MIN = 1024
"""Tokens: the least that `budget_tokens` may be; it must also be below `max_tokens`."""
GO_ON = "(continue)"
"""Stands where a message of the user is missing: the first message must be one, and with newer models the last."""
THOUGHTS = ("thinking", "redacted_thinking")


class AnthropicBody:
    """Builds the bodies of one request, which are several where the provider pauses.

    `tool_result` blocks stand at the beginning of one user message right behind their calls, as the API demands, since
    `repair` puts them there and neighbours of one role become one message.

    Args:
        request: What is asked.
        profile: The vendor's ways.
        model: The model that is asked.
        names: Tool names on the wire.
        tools: The request's tools.
    """

    def __init__(
        self, request: MessageRequest, profile: Profile, *, model: str, names: WireNames, tools: AnthropicTools
    ) -> None:
        self._request = request
        self._profile = profile
        self._model = model
        self._names = names
        self._tools = tools

    def build(self, carried: list[JsonValue]) -> JsonObject:
        """Build a body; `request.extra` is laid over it as it is, but for `stream`, since only streams are read.

        Args:
            carried: What the model has answered before it paused; it goes back as it came.
        """
        request, profile = self._request, self._profile
        turns = self._turns()
        body: JsonObject = {
            "model": self._model,
            "max_tokens": request.max_tokens or profile.default_max_tokens,
            "messages": _messages(turns, carried),
            "stream": True,
        }
        if request.system and request.system.strip():
            body["system"] = request.system
        body.update(profile.body)
        body.update(profile.thinking(self._model, is_on=request.thinking))
        if self._tools.offered:
            body["tools"] = self._tools.offered
        body.update(request.extra)
        body["stream"] = True
        _fit_thinking(body, lacks_thoughts=profile.echo is Echo.NEVER and _lacks_thoughts(turns))
        return body

    def _turns(self) -> list[tuple[str, list[JsonValue]]]:
        turns: list[tuple[str, list[JsonValue]]] = []
        for message in repair(self._request.messages, joins_answers=False):
            role = "assistant" if isinstance(message, AssistantMessage) else "user"
            blocks = self._blocks(message)
            if turns and turns[-1][0] == role:
                turns[-1][1].extend(blocks)
            elif blocks:
                turns.append((role, blocks))
        return turns

    def _blocks(self, message: Message) -> list[JsonValue]:
        match message:
            case UserMessage():
                return [_text(message.text)]
            case ToolMessage():
                return [self._result(message)]
            case AssistantMessage():
                return self._own_blocks(message) or self._new_blocks(message)

    def _result(self, message: ToolMessage) -> JsonObject:
        block: JsonObject = {"type": "tool_result", "tool_use_id": _id(message.call_id), "content": message.text}
        if message.is_error:
            block["is_error"] = True
            if not self._profile.reads_is_error and not message.text.lower().startswith("error"):
                block["content"] = f"error: {message.text}"
        return block

    def _own_blocks(self, message: AssistantMessage) -> list[JsonValue]:
        """Give the blocks that this provider and model made, unmodified but for ids that `repair` had to change.

        To any other their signatures are wrong, and a wrong one is a 400 for ever (pi#9048).
        """
        made = message.blocks or {}
        content = made.get("content")
        is_own = (made.get("provider"), made.get("model")) == (self._profile.name, self._model)
        if not is_own or not isinstance(content, list):
            return []
        uses = [block for block in content if mapping(block).get("type") == TOOL_USE]
        if len(uses) != len(message.calls):
            return []
        calls = iter(message.calls)
        return [self._same(mapping(block), calls) for block in content]

    def _same(self, block: JsonObject, calls: Iterator[ToolCall]) -> JsonObject:
        if block.get("type") != TOOL_USE:
            return block
        call = next(calls)
        return {**block, "id": _id(call.id), "name": self._names.wire(call.name)}

    def _new_blocks(self, message: AssistantMessage) -> list[JsonValue]:
        echo = self._profile.echo if self._request.thinking else Echo.NEVER
        blocks: list[JsonValue] = []
        if echo is Echo.ALWAYS or (echo is Echo.PRESENT and message.reasoning):
            blocks.append({"type": "thinking", "thinking": message.reasoning or "", "signature": ""})
        if message.text.strip():
            blocks.append(_text(message.text))
        for call in message.calls:
            use: JsonObject = {"type": TOOL_USE, "id": _id(call.id), "name": self._names.wire(call.name)}
            blocks.append({**use, "input": plain_object(call.arguments)})
        return blocks


def _messages(turns: list[tuple[str, list[JsonValue]]], carried: list[JsonValue]) -> list[JsonValue]:
    whole = list(turns)
    if not whole or whole[0][0] != "user":
        whole.insert(0, ("user", [_text(GO_ON)]))
    if whole[-1][0] != "user":
        whole.append(("user", [_text(GO_ON)]))
    if carried:
        whole.append(("assistant", carried))
    return [{"role": role, "content": blocks} for role, blocks in whole]


def _lacks_thoughts(turns: list[tuple[str, list[JsonValue]]]) -> bool:
    """Say whether the model is amid its tool calls and the answer that made them does not begin with its thoughts.

    So it is where another provider made the calls. Manual thinking is a 400 then.
    """
    if len(turns) < 2 or mapping(turns[-1][1][0]).get("type") != "tool_result":
        return False
    return mapping(turns[-2][1][0]).get("type") not in THOUGHTS


def _fit_thinking(body: JsonObject, *, lacks_thoughts: bool) -> None:
    """Keep the budget below the limit, or do without thinking where it cannot be had."""
    thinking, limit = mapping(body.get("thinking")), body.get("max_tokens")
    budget = thinking.get("budget_tokens")
    if not isinstance(budget, int) or not isinstance(limit, int):
        return
    if lacks_thoughts or limit <= BUDGET_MIN:
        body["thinking"] = {"type": "disabled"}
    elif budget >= limit:
        body["thinking"] = {**thinking, "budget_tokens": max(BUDGET_MIN, limit // 2)}


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def _id(identity: str) -> str:
    if ID.fullmatch(identity):
        return identity
    return "call_" + hashlib.sha256(string(identity).encode("utf-8", "surrogatepass")).hexdigest()[:24]
