"""A loopback server whose answers are raw bytes, so that it can do what no proper server does."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

Script = Callable[["Received", asyncio.StreamWriter], Awaitable[None]]
Scripted = bytes | Script


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One request as it arrived."""

    line: str
    headers: dict[str, str]
    body: bytes

    @property
    def target(self) -> str:
        """Path and query."""
        return self.line.split(" ")[1]


@dataclass(slots=True)
class Server:
    """Where it listens, and what it heard."""

    port: int
    heard: list[Received] = field(default_factory=lambda: [])
    connections: int = 0


def ok(body: bytes = b"{}", *, status: str = "200 OK", **headers: str) -> bytes:
    """Give the bytes of an answer; `_` in a header's name stands for a hyphen."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def redirect(location: str, status: str = "302 Found") -> bytes:
    """Give the bytes of a redirect."""
    return ok(b"moved", status=status, Location=location)


@asynccontextmanager
async def serving(
    replies: Mapping[str, Scripted], *, ssl_context: ssl.SSLContext | None = None
) -> AsyncGenerator[Server]:
    """Serve answers by path on a free port of 127.0.0.1; a path that is not there gets 404."""
    found = Server(0)

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        found.connections += 1
        try:
            received = await _receive(reader)
            found.heard.append(received)
            reply = replies.get(received.target.partition("?")[0], ok(b"", status="404 Not Found"))
            if isinstance(reply, bytes):
                writer.write(reply)
                await writer.drain()
            else:
                await reply(received, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=ssl_context)
    found.port = server.sockets[0].getsockname()[1]
    try:
        yield found
    finally:
        server.close()


async def _receive(reader: asyncio.StreamReader) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    line, *rest = head.rstrip("\r\n").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (item.partition(":") for item in rest)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(line=line, headers=headers, body=body)
