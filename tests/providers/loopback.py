"""A loopback model server that does what a test says, byte by byte."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from ias.domain.messages import (
    ChatResponse,
    JsonObject,
    MessageRequest,
    ReasoningChunk,
    StreamItem,
    TextChunk,
    UserMessage,
)
from ias.providers.anthropic import AnthropicMessages
from ias.providers.ollama import OllamaChat
from ias.providers.openai import OpenAIChat
from ias.providers.profiles import DEEPSEEK, Profile, Wire

RECORDED = Path(__file__).parent / "recorded"
KEY = "sk-test-4711"
ADAPTERS: dict[Wire, type[OpenAIChat | AnthropicMessages | OllamaChat]] = {
    Wire.CHAT_COMPLETIONS: OpenAIChat,
    Wire.ANTHROPIC: AnthropicMessages,
    Wire.OLLAMA: OllamaChat,
}
NDJSON_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\nconnection: close\r\n\r\n"
SSE_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"


@dataclass(kw_only=True)
class Exchange:
    """One connection: what was asked, and a way to answer."""

    headers: dict[str, str]
    body: JsonObject
    writer: asyncio.StreamWriter

    async def send(self, *pieces: bytes) -> None:
        for piece in pieces:
            self.writer.write(piece)
            await self.writer.drain()


Script = Callable[[Exchange], Awaitable[None]]


@dataclass(kw_only=True)
class ModelServer:
    """The running server; `exchanges` in the order of arrival."""

    url: str
    exchanges: list[Exchange] = field(default_factory=lambda: [])


@asynccontextmanager
async def model_server(script: Script) -> AsyncGenerator[ModelServer, None]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            headers = {
                name.strip().lower(): value.strip()
                for name, _, value in (line.partition(":") for line in head.split("\r\n")[1:] if line)
            }
            body = await reader.readexactly(int(headers["content-length"]))
            exchange = Exchange(headers=headers, body=json.loads(body), writer=writer)
            running.exchanges.append(exchange)
            await script(exchange)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    running = ModelServer(url=f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    async with server:
        yield running


def streaming(body: bytes, *, head: bytes = SSE_HEAD) -> Script:
    async def script(exchange: Exchange) -> None:
        await exchange.send(head, body)

    return script


def in_turn(*bodies: bytes, head: bytes = SSE_HEAD) -> Script:
    """Answer each request with the next body."""
    waiting = iter(bodies)

    async def script(exchange: Exchange) -> None:
        await exchange.send(head, next(waiting))

    return script


def refusing(status: int, body: bytes, *headers: str) -> Script:
    async def script(exchange: Exchange) -> None:
        lines = [
            f"HTTP/1.1 {status} No",
            "content-type: application/json",
            f"content-length: {len(body)}",
            *headers,
            "",
            "",
        ]
        await exchange.send("\r\n".join(lines).encode(), body)

    return script


def frames(*chunks: JsonObject, done: bool = True) -> bytes:
    """Give an SSE body of `chunks`."""
    text = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    return (text + ("data: [DONE]\n\n" if done else "")).encode()


def events(*given: JsonObject) -> bytes:
    """Give an SSE body of Anthropic's events, each under its name."""
    return "".join(f"event: {event.get('type')}\ndata: {json.dumps(event)}\n\n" for event in given).encode()


def lines(*given: JsonObject) -> bytes:
    """Give an NDJSON body."""
    return "".join(json.dumps(line) + "\n" for line in given).encode()


def delta(finish: str | None = None, **fields: object) -> JsonObject:
    """Give one chunk with the delta `fields`."""
    return {"model": "m", "choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}  # type: ignore[dict-item]  - JSON of any shape


@dataclass(kw_only=True)
class Taken:
    """What a provider's stream gave, and what it tapped."""

    items: list[StreamItem]
    taps: list[tuple[str, str]]

    @property
    def text(self) -> str:
        return "".join(item.text for item in self.items if isinstance(item, TextChunk))

    @property
    def reasoning(self) -> str:
        return "".join(item.text for item in self.items if isinstance(item, ReasoningChunk))

    @property
    def response(self) -> ChatResponse:
        assert isinstance(self.items[-1], ChatResponse)
        return self.items[-1]


def request_of(text: str = "hi", **changes: object) -> MessageRequest:
    return MessageRequest(**{"model": "", "messages": (UserMessage(text=text),), **changes})  # type: ignore[arg-type]  - any field


async def take(
    script: Script,
    request: MessageRequest | None = None,
    *,
    profile: Profile = DEEPSEEK,
    total: float = 20,
    idle: float = 20,
    taps: list[tuple[str, str]] | None = None,
) -> tuple[Taken, ModelServer]:
    """Answer one request against a server that follows `script`."""
    seen: list[tuple[str, str]] = [] if taps is None else taps
    async with model_server(script) as server, httpx.AsyncClient(trust_env=False) as client:
        provider = ADAPTERS[profile.wire](
            profile,
            model="deepseek-flash",
            base_url=server.url,
            api_key=KEY,
            client=client,
            timeout=total,
            idle_timeout=idle,
            tap=lambda kind, text: seen.append((kind, text)),
        )
        items = [item async for item in provider.stream(request or request_of())]
        return Taken(items=items, taps=seen), server
