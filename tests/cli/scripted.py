"""A daemon that plays a script over a Unix socket: canned answers, and event streams that wait for the client."""

import json
import socketserver
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

WAIT = 15.0  # seconds that a step of a stream waits for the client

Answer = tuple[int, object]
Happening = tuple[int | None, str, dict[str, object]]
Step = Happening | str | None  # an event, a path to be posted to first, or a cut
PROBLEM = {"type": "about:blank", "title": "Not found", "status": 404, "detail": "there is no such thing"}


@dataclass(kw_only=True)
class Script:
    """What is answered: `answers` by method and path (several in turn), `streams` one for each connection."""

    answers: dict[str, list[Answer]] = field(default_factory=lambda: {})
    streams: list[Sequence[Step]] = field(default_factory=lambda: [])
    seen: list[tuple[str, Any]] = field(default_factory=lambda: [])
    after: list[str] = field(default_factory=lambda: [])
    changed: threading.Condition = field(default_factory=threading.Condition)
    over: threading.Event = field(default_factory=threading.Event)

    def note(self, request: str, body: object) -> Answer:
        with self.changed:
            self.seen.append((request, body))
            self.changed.notify_all()
            waiting = self.answers.get(request, [(404, PROBLEM)])
            return waiting.pop(0) if len(waiting) > 1 else waiting[0]

    def wait_for(self, request: str) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: any(name == request for name, _ in self.seen), WAIT), request

    def posted(self, path: str) -> list[Any]:
        return [body for request, body in self.seen if request == f"POST {path}"]


class Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    script: Script


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def script(self) -> Script:
        assert isinstance(self.server, Server)
        return self.server.script

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        if path.endswith("/events"):
            self.script.after.append(query)
            self._stream(self.script.streams.pop(0))
        else:
            self._answer(self.script.note(f"GET {self.path}", None))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        self._answer(self.script.note(f"POST {self.path}", json.loads(body) if body else None))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        pass

    def _answer(self, answer: Answer) -> None:
        status, body = answer
        content = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _stream(self, steps: Sequence[Step]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        self.wfile.write(b": hello\n\n")
        for step in steps:
            if step is None:
                return
            if isinstance(step, str):
                self.script.wait_for(step)
                continue
            number, name, body = step
            head = "" if number is None else f"id: {number}\n"
            self.wfile.write(f"{head}event: {name}\ndata: {json.dumps(body)}\n\n".encode())
            self.wfile.flush()
        self.script.over.wait(WAIT)  # a stream goes on until its client leaves


@contextmanager
def playing(socket: Path, script: Script) -> Generator[Script]:
    """Serve a script on a socket."""
    socket.parent.mkdir(parents=True, exist_ok=True)
    with Server(str(socket), Handler) as server:
        server.script = script
        thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.05))
        thread.start()
        try:
            yield script
        finally:
            script.over.set()
            server.shutdown()
            thread.join(WAIT)
