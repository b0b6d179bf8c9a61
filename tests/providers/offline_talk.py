"""Talks with the stand-in for a model over the project's own tools; what a tool gives is made up."""

import json
from collections.abc import Mapping

from ias.catalogue import Catalogue
from ias.domain.messages import (
    AssistantMessage,
    ChatResponse,
    FinishReason,
    JsonObject,
    Message,
    MessageRequest,
    TextChunk,
    ToolDef,
    ToolMessage,
    Usage,
    UserMessage,
)
from ias.providers.offline import OfflineProvider
from tests.providers.tool_catalogue import catalogue_answer, entries

META = (ToolDef(name="query_capabilities"), ToolDef(name="call_capability"))
CATALOGUE = Catalogue(entries())
MOST_CALLS = 8
Called = tuple[str, JsonObject]


async def next_of(messages: list[Message], tools: tuple[ToolDef, ...] = META) -> AssistantMessage:
    """Give the provider's next message, checking that its stream has the form of any provider's."""
    items = [
        item async for item in OfflineProvider().stream(MessageRequest(model="", messages=tuple(messages), tools=tools))
    ]
    response = items[-1]
    assert isinstance(response, ChatResponse)
    assert (response.usage, response.model) == (Usage(), "offline")
    assert items[:-1] == ([TextChunk(text=response.message.text)] if response.message.text else [])
    assert response.stop_reason is (FinishReason.TOOL_CALLS if response.message.calls else FinishReason.STOP)
    return response.message


async def calls_of(
    messages: list[Message], said: str, results: Mapping[str, str] | None = None, *, is_error: bool = False
) -> tuple[list[Called], str]:
    """Take one turn; give the calls of tools that were made, and the text at its end.

    Args:
        messages: The conversation so far; the turn is added to it.
        said: What the person says.
        results: What the tools give, by name; "42" where nothing is said.
        is_error: Whether they fail.
    """
    called: list[Called] = []
    messages.append(UserMessage(text=said))
    for _ in range(MOST_CALLS):
        message = await next_of(messages)
        messages.append(message)
        if not message.calls:
            return called, message.text
        (call,) = message.calls
        args = json.loads(call.arguments)
        if call.name == "query_capabilities":
            text = catalogue_answer(args["query"], CATALOGUE)
            messages.append(ToolMessage(call_id=call.id, name=call.name, text=text))
            continue
        assert (call.name, sorted(args)) == ("call_capability", ["name", "prompt"])
        called.append((args["name"], json.loads(args["prompt"])))
        text = (results or {}).get(args["name"], "42")
        messages.append(ToolMessage(call_id=call.id, name=call.name, text=text, is_error=is_error))
    raise AssertionError(f"the turn does not end: {called}")


async def drive(messages: list[Message], said: str, result: str = "42", *, is_error: bool = False) -> Called | str:
    """Take one turn; give the tool and arguments that were called last, or the text of a turn without a call."""
    called, text = await calls_of(messages, said, dict.fromkeys(NAMES, result), is_error=is_error)
    return called[-1] if called else text


NAMES = tuple(entry.name for entry in entries())
