"""A loopback HTTP server that answers in the place of outside services, by host and path, and writes down what came."""

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A request as it arrived."""

    method: str
    host: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What is answered."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=lambda: {})


Answer = Reply | Callable[[Seen], Reply]


def recorded(*parts: str) -> Reply:
    """Give a recorded body of tests/tools/recorded."""
    return Reply(body=Path(__file__).parent.joinpath("tools", "recorded", *parts).read_bytes())


class Server(ThreadingHTTPServer):
    """A server whose clients may go away."""

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that was killed is part of many tests."""


class Loopback:
    """The server; routes are (host, path) → answer, anything else is 404. Use it as a context manager."""

    def __init__(self, routes: Mapping[tuple[str, str], Answer]) -> None:
        self._routes = dict(routes)
        self._lock = threading.Lock()
        self._seen: list[Seen] = []
        self.connections = 0
        self._server = Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def origin(self) -> str:
        """Give `http://127.0.0.1:PORT`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def seen(self) -> list[Seen]:
        """Give the requests so far, in order."""
        with self._lock:
            return list(self._seen)

    def reroute(self) -> dict[str, str]:
        """Give the `http.reroute` of a config that sends the routes' hosts here."""
        return {f"https://{host}": self.origin for host, _ in self._routes}

    def answer(self, seen: Seen) -> Reply:
        """Write a request down and find its answer."""
        with self._lock:
            self._seen.append(seen)
        found = self._routes.get((seen.host, seen.path))
        if found is None:
            return Reply(status=404, body=json.dumps({"error": f"no route for {seen.host}{seen.path}"}).encode())
        return found if isinstance(found, Reply) else found(seen)

    def __enter__(self) -> Self:
        """Start to serve."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


def _handler(owner: Loopback) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            owner.connections += 1
            super().setup()

        def _serve(self) -> None:
            parts = urlsplit(self.path)
            reply = owner.answer(
                Seen(
                    method=self.command,
                    host=self.headers.get("Host", "").split(":")[0],
                    path=parts.path,
                    query=dict(parse_qsl(parts.query)),
                    headers={name.lower(): value for name, value in self.headers.items()},
                    body=self.rfile.read(int(self.headers.get("Content-Length") or 0)),
                )
            )
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.content_type)
            self.send_header("Content-Length", str(len(reply.body)))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.body)

        do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = _serve  # noqa: N815 - the library's names

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002, ARG002 - the library's signature
            return

    return Handler
