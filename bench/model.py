"""A model server that answers at once: chat completions as a stream, first one tool call, then a text.

Run as `python -m bench.model`: it prints its port, and ends with its standard input. `GET /spent` gives how many
requests it answered, how many seconds they took here, from the request's head to the last byte of the answer, and over
how many connections they came.
"""

import asyncio
import contextlib
import json
import sys
import time
from collections.abc import Iterator, Mapping

MODEL = "instant"
TOOL = "bench_nothing"
WORDS = ("It is ", "done", ".")
CLOSED = 5.0  # seconds until closed connections are noticed
USAGE = {"prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1020}


class Model:
    """The server's state."""

    def __init__(self) -> None:
        self._count = 0
        self._connections = 0
        self._open: set[asyncio.StreamWriter] = set()
        self._is_quiet = asyncio.Event()
        self._is_quiet.set()
        self._seconds = 0.0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection until it ends."""
        self._connections += 1
        self._open.add(writer)
        self._is_quiet.clear()
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                await self._answer(reader, writer)
        writer.close()
        self._open.discard(writer)
        if not self._open:
            self._is_quiet.set()

    async def close(self) -> None:
        """End the connections that are open, so that none is cut off in the middle of a read."""
        for writer in self._open:
            writer.close()
        async with asyncio.timeout(CLOSED):
            await self._is_quiet.wait()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        began = time.perf_counter()
        if head.startswith("GET "):
            spent = {"count": self._count, "seconds": self._seconds, "connections": self._connections}
            writer.write(_response("application/json", json.dumps(spent)))
            await writer.drain()
            return
        body = json.loads(await reader.readexactly(_length(head)))
        writer.write(_response("text/event-stream", "".join(_stream(body))))
        await writer.drain()
        self._count += 1
        self._seconds += time.perf_counter() - began


def _length(head: str) -> int:
    for line in head.split("\r\n"):
        name, _, value = line.partition(":")
        if name.lower() == "content-length":
            return int(value)
    return 0


def _response(content_type: str, text: str) -> bytes:
    body = text.encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def _stream(request: Mapping[str, object]) -> Iterator[str]:
    messages = request["messages"]
    if isinstance(messages, list) and messages[-1]["role"] == "tool":
        for word in WORDS:
            yield _chunk({"content": word})
        yield _chunk({}, finish="stop")
    else:
        arguments = json.dumps({"name": TOOL, "prompt": "{}"})
        function = {"name": "call_capability", "arguments": arguments}
        yield _chunk({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]})
        yield _chunk({}, finish="tool_calls")
    yield f"data: {json.dumps({'id': 'x', 'model': MODEL, 'choices': [], 'usage': USAGE})}\n\n"
    yield "data: [DONE]\n\n"


def _chunk(delta: Mapping[str, object], finish: str | None = None) -> str:
    choice = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": finish}
    chunk = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": MODEL, "choices": [choice]}
    return f"data: {json.dumps(chunk)}\n\n"


async def main() -> None:
    """Serve on a free port of the loopback until standard input ends."""
    model = Model()
    server = await asyncio.start_server(model.serve, "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)
    server.close()
    await model.close()


if __name__ == "__main__":
    asyncio.run(main())
