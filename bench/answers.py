"""A model server whose answers are as the request's model name says: streams of a length and pace, or a row of calls.

`together:N` streams N pieces of text at once, `paced:N:MS` one every so many milliseconds, `calls:N` asks N times for
the tool `add` and then answers. Each piece is an HTTP chunk of its own, as servers of models send them.

Run as `python -m bench.answers`: it prints its port, and ends with its standard input. `GET /count` gives how many
answers it began.
"""

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncGenerator, Iterator, Mapping
from functools import cache
from itertools import cycle, islice
from typing import cast

PIECES = (
    *(" The", " answer", ":", " 42", ",", "\n", "- one", " `two`"),
    *(" / three", "，然后", "四", "。", " And", " so", " on", "."),
)
"""What a model might say, with lines, marks and wide characters."""
WRITE_BYTES = 64 * 1024  # a write of `together`: what a socket takes at once
USAGE = {"prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1020}
HEAD = "HTTP/1.1 200 OK\r\nContent-Type: {}\r\n"


def text_of(count: int) -> str:
    """Give the text of a stream with so many pieces."""
    return "".join(islice(cycle(PIECES), count))


class Answers:
    """The server's state."""

    def __init__(self) -> None:
        self._count = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection until it ends."""
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                await self._answer(reader, writer)
        writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        if head.startswith("GET "):
            writer.write(_whole({"count": self._count}))
            return
        request = cast("dict[str, object]", json.loads(await reader.readexactly(_length(head))))
        self._count += 1
        kind, _, rest = str(request["model"]).partition(":")
        if kind == "calls" and not request.get("stream"):
            writer.write(_whole(_completion(request, int(rest))))
            return
        writer.write(HEAD.format("text/event-stream").encode() + b"Transfer-Encoding: chunked\r\n\r\n")
        async with contextlib.aclosing(_parts(kind, rest, request)) as parts:
            async for part in parts:
                writer.write(part)
                await writer.drain()


async def _parts(kind: str, rest: str, request: Mapping[str, object]) -> AsyncGenerator[bytes, None]:
    """Give what is written, write by write."""
    if kind == "calls":
        yield b"".join(_call_stream(request, int(rest)))
    elif kind == "together":
        body = _together(int(rest))
        for at in range(0, len(body), WRITE_BYTES):
            yield body[at : at + WRITE_BYTES]
    else:
        count, _, pace = rest.partition(":")
        loop = asyncio.get_running_loop()
        due = loop.time()
        for piece in islice(cycle(PIECES), int(count)):
            yield _event({"content": piece})
            due += float(pace) / 1000
            await asyncio.sleep(due - loop.time())
        yield b"".join(_end("stop"))


@cache
def _together(count: int) -> bytes:
    return b"".join([*(_event({"content": piece}) for piece in islice(cycle(PIECES), count)), *_end("stop")])


def _call_stream(request: Mapping[str, object], count: int) -> Iterator[bytes]:
    message, finish = _message(request, count)
    if finish == "tool_calls":
        (call,) = cast("list[dict[str, object]]", message["tool_calls"])
        message = {**message, "tool_calls": [{"index": 0, **call}]}
    yield _event({"role": "assistant", **message})
    yield from _end(finish)


def _completion(request: Mapping[str, object], count: int) -> dict[str, object]:
    message, finish = _message(request, count)
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return {**_frame("chat.completion"), "choices": [choice], "usage": USAGE}


def _message(request: Mapping[str, object], count: int) -> tuple[dict[str, object], str]:
    """Give the next message of a row of calls, and why it ends."""
    messages = cast("list[dict[str, object]]", request["messages"])
    made = sum(message["role"] == "tool" for message in messages)
    if made >= count:
        return {"content": f"The sum is {made}."}, "stop"
    function = {"name": "add", "arguments": json.dumps({"a": made, "b": 1})}
    call = {"id": f"call_{made}", "type": "function", "function": function}
    return {"content": None, "tool_calls": [call]}, "tool_calls"


def _end(finish: str) -> Iterator[bytes]:
    yield _event({}, finish)
    yield _chunk(f"data: {json.dumps({**_frame('chat.completion.chunk'), 'choices': [], 'usage': USAGE})}\n\n".encode())
    yield _chunk(b"data: [DONE]\n\n")
    yield b"0\r\n\r\n"


def _event(delta: Mapping[str, object], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    body = {**_frame("chat.completion.chunk"), "choices": [choice], "usage": None}
    return _chunk(f"data: {json.dumps(body, ensure_ascii=False)}\n\n".encode())


def _frame(kind: str) -> dict[str, object]:
    identity = "3c1b7e0a-7b3f-4f0e-9d57-1f2a6c0b9e11"
    return {"id": identity, "object": kind, "created": 1760000000, "model": "instant", "system_fingerprint": "fp_0"}


def _chunk(body: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(body), body)


def _whole(value: Mapping[str, object]) -> bytes:
    body = json.dumps(value).encode()
    return f"{HEAD.format('application/json')}Content-Length: {len(body)}\r\n\r\n".encode() + body


def _length(head: str) -> int:
    for line in head.split("\r\n"):
        name, _, value = line.partition(":")
        if name.lower() == "content-length":
            return int(value)
    return 0


async def main() -> None:
    """Serve on a free port of the loopback until standard input ends."""
    server = await asyncio.start_server(Answers().serve, "127.0.0.1", 0, backlog=256)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(main())
