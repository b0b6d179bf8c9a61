"""Every wire under one roof: the same answer in each format, and the same histories read back from each."""

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import httpx

from ias.domain.messages import (
    AssistantMessage,
    JsonObject,
    JsonValue,
    Message,
    MessageRequest,
    StreamItem,
    ToolCall,
    ToolDef,
    ToolMessage,
    UserMessage,
)
from ias.providers.anthropic_tools import AnthropicTools
from ias.providers.profiles import ANTHROPIC, DEEPSEEK, DEEPSEEK_ANTHROPIC, OLLAMA, Profile
from ias.providers.tool_names import WireNames, names_of, taken
from tests.providers import anthropic_events as claude
from tests.providers.loopback import ADAPTERS, KEY, delta, events, frames, lines

CALLS = (
    ToolCall(id="a", name="f", arguments='{"x": 1}'),
    ToolCall(id="b", name="g", arguments='{"y": {"z": [null]}}'),
)
ANSWER = AssistantMessage(text="I look.", reasoning="hm", calls=CALLS)
"""What the chunks of every wire say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WireKit:
    """One wire.

    Args:
        profile: A vendor that speaks it.
        media: The content type of a stream.
        chunks: `ANSWER` as this wire says it.
        body: Makes a stream of chunks, without an end mark that is no chunk.
        end: The end mark that is no chunk.
        keep_alive: What a server sends so that the connection lives.
        history: Reads a request's messages back.
        tools: Reads a request's tools back.
    """

    profile: Profile
    media: str
    chunks: tuple[JsonObject, ...]
    body: Callable[..., bytes]
    end: bytes
    keep_alive: bytes
    history: Callable[[JsonObject, WireNames], tuple[Message, ...]]
    tools: Callable[[MessageRequest, JsonObject], tuple[ToolDef, ...]]

    def stream(self, *chunks: JsonObject) -> bytes:
        return self.body(*chunks) + self.end


def chat_frames(*chunks: JsonObject) -> bytes:
    return frames(*chunks, done=False)


def claude_events(*chunks: JsonValue) -> bytes:
    """Give events of any JSON, each under the name that a right one would have."""
    framed: list[bytes] = []
    for chunk in chunks:
        kind = chunk.get("type") if isinstance(chunk, dict) else None
        name = kind if isinstance(kind, str) and kind.isidentifier() else "message"
        framed.append(f"event: {name}\ndata: {json.dumps(chunk)}\n\n".encode())
    return b"".join(framed)


def chat_history(body: JsonObject, names: WireNames) -> tuple[Message, ...]:
    read: list[Message] = []
    called: dict[str, str] = {}
    for sent in listed(body["messages"]):
        if sent["role"] == "user":
            read.append(UserMessage(text=sent["content"]))
        elif sent["role"] == "tool":
            # Ollama's own wire also names the tool; on both the call is found by its id.
            identity = sent["tool_call_id"]
            read.append(ToolMessage(call_id=identity, name=called[identity], text=sent["content"]))
        else:
            calls = tuple(chat_call(call, names) for call in sent.get("tool_calls", []))
            called.update({call.id: call.name for call in calls})
            reasoning = sent.get("reasoning_content", sent.get("thinking"))
            read.append(AssistantMessage(text=sent["content"], reasoning=reasoning, calls=calls))
    return tuple(read)


def chat_call(call: JsonObject, names: WireNames) -> ToolCall:
    function = call["function"]
    assert isinstance(function, dict)
    given = function["arguments"]
    text = given if isinstance(given, str) else json.dumps(given)
    return ToolCall(id=str(call["id"]), name=names.real(str(function["name"])), arguments=text)


def claude_history(body: JsonObject, names: WireNames) -> tuple[Message, ...]:
    read: list[Message] = []
    called: dict[str, str] = {}
    for turn in listed(body["messages"]):
        blocks = listed(turn["content"])
        if turn["role"] == "user":
            for block in blocks:
                if block["type"] == "text":
                    read.append(UserMessage(text=block["text"]))
                    continue
                identity = block["tool_use_id"]
                read.append(ToolMessage(call_id=identity, name=called[identity], text=block["content"]))
            continue
        calls = tuple(
            ToolCall(id=block["id"], name=names.real(block["name"]), arguments=json.dumps(block["input"]))
            for block in blocks
            if block["type"] == "tool_use"
        )
        called.update({call.id: call.name for call in calls})
        text = "".join(block["text"] for block in blocks if block["type"] == "text")
        thoughts = [block["thinking"] for block in blocks if block["type"] == "thinking"]
        read.append(AssistantMessage(text=text, reasoning="".join(thoughts) if thoughts else None, calls=calls))
    return tuple(read)


def listed(value: Any) -> list[dict[str, Any]]:  # what the adapters write, as it came back from JSON
    assert isinstance(value, list)
    return value


def chat_tools(request: MessageRequest, body: JsonObject) -> tuple[ToolDef, ...]:
    return taken(body["tools"], names_of(request))


def claude_tools(request: MessageRequest, body: JsonObject) -> tuple[ToolDef, ...]:
    tools = AnthropicTools(request.tools, names_of(request))
    assert body["tools"] == tools.offered
    return tools.taken()


CHAT = WireKit(
    profile=DEEPSEEK,
    media="text/event-stream",
    chunks=(
        delta(reasoning_content="hm"),
        delta(content="I look."),
        delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"x": 1}'}}]),
        delta(tool_calls=[{"index": 1, "id": "b", "function": {"name": "g", "arguments": ""}}]),
        delta(tool_calls=[{"index": 1, "function": {"arguments": '{"y": {"z": [null]}}'}}]),
        delta("tool_calls"),
    ),
    body=chat_frames,
    end=b"data: [DONE]\n\n",
    keep_alive=b": keep-alive\n\n",
    history=chat_history,
    tools=chat_tools,
)
CLAUDE = WireKit(
    profile=DEEPSEEK_ANTHROPIC,
    media="text/event-stream",
    chunks=(
        claude.BEGIN,
        claude.start(0, "thinking", thinking=""),
        claude.grow(0, "thinking_delta", thinking="hm"),
        claude.grow(0, "signature_delta", signature="SIG"),
        *claude.text(1, "I look."),
        *claude.call(2, "a", "f", '{"x": ', "1}"),
        *claude.call(3, "b", "g", '{"y": {"z": [null]}}'),
        claude.end("tool_use", {"output_tokens": 9}),
        claude.STOP,
    ),
    body=claude_events,
    end=b"",
    keep_alive=events(claude.PING),
    history=claude_history,
    tools=claude_tools,
)
SIGNED = WireKit(
    profile=ANTHROPIC,
    media=CLAUDE.media,
    chunks=CLAUDE.chunks,
    body=claude_events,
    end=b"",
    keep_alive=CLAUDE.keep_alive,
    history=claude_history,
    tools=claude_tools,
)
LLAMA = WireKit(
    profile=OLLAMA,
    media="application/x-ndjson",
    chunks=(
        {"message": {"role": "assistant", "content": "", "thinking": "hm"}, "done": False},
        {"message": {"role": "assistant", "content": "I look."}, "done": False},
        {
            "message": {
                "content": "",
                "tool_calls": [
                    {"id": "a", "function": {"name": "f", "arguments": {"x": 1}}},
                    {"id": "b", "function": {"name": "g", "arguments": {"y": {"z": [None]}}}},
                ],
            },
            "done": False,
        },
        {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop", "eval_count": 3},
    ),
    body=lines,
    end=b"",
    keep_alive=b"\n",
    history=chat_history,
    tools=chat_tools,
)
WIRES = {"chat": CHAT, "deepseek_anthropic": CLAUDE, "anthropic": SIGNED, "ollama": LLAMA}


async def ask(
    wire: WireKit,
    request: MessageRequest,
    body: bytes,
    *,
    status: int = 200,
    taps: list[tuple[str, str]] | None = None,
    url: str = "http://127.0.0.1",
) -> tuple[list[StreamItem], JsonObject]:
    """Answer one request with `body`, without a network; give the items and what was sent."""
    sent: list[JsonObject] = []
    kept: list[tuple[str, str]] = [] if taps is None else taps

    def answer(asked: httpx.Request) -> httpx.Response:
        sent.append(json.loads(asked.content))
        return httpx.Response(status, headers={"content-type": wire.media}, content=pieces(body))

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
        provider = ADAPTERS[wire.profile.wire](
            wire.profile,
            model="m",
            base_url=url,
            api_key=KEY,
            client=client,
            tap=lambda kind, text: kept.append((kind, text)),
        )
        items = [item async for item in provider.stream(request)]
    return items, sent[-1]


async def pieces(body: bytes) -> AsyncIterator[bytes]:
    for begin in range(0, len(body), 50):
        yield body[begin : begin + 50]
