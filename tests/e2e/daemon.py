"""A real daemon process in a home of its own, and the few ways in which tests speak to it."""

import http.client
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import yaml

ROOT = Path(__file__).parents[2]
READY = "ready in"
BOUND = 20.0  # seconds that anything here may take


class SocketConnection(http.client.HTTPConnection):
    """HTTP over the daemon's Unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=BOUND)
        self._path = str(path)

    def connect(self) -> None:
        """Connect."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(BOUND)
        self.sock.connect(self._path)


def make_home(folder: Path, config: Mapping[str, Any] | None = None, *, tools: tuple[Path, ...] = ()) -> Path:
    """Make a home with a free port, the given configuration and tool folders (linked by copying)."""
    home = folder / "home"
    (home / "tools").mkdir(parents=True)
    merged = {"api": {"port": 0}} | dict(config or {})
    (home / "config.yaml").write_text(yaml.safe_dump(merged, allow_unicode=True), encoding="utf-8")
    for tool in tools:
        copy_tool(tool, home)
    return home


def copy_tool(tool: Path, home: Path) -> None:
    """Drop a tool folder in."""
    target = home / "tools" / tool.name
    for file in sorted(tool.rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            copy = target / file.relative_to(tool)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(file.read_bytes())
            copy.chmod(file.stat().st_mode & 0o777)


class Daemon:
    """`ias serve` as a process; as a context manager it is stopped at the end."""

    def __init__(self, home: Path, env: Mapping[str, str] | None = None) -> None:
        self.home = home
        self._env = _environment() | dict(env or {})
        self.lines: list[str] = []
        self.process = self._start()

    def _start(self) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [sys.executable, "-m", "ias", "--home", str(self.home), "serve"],
            env=self._env,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            bufsize=0,
        )

    def wait_ready(self) -> Self:
        """Wait for the line that says it is ready."""
        self.wait_line(READY)
        return self

    def wait_line(self, part: str) -> str:
        """Wait for a line of the terminal that holds a text, and give it."""
        for line in self._read():
            if part in line:
                return line
        raise AssertionError(f"no line with {part!r}; exit {self.process.poll()}; {self.lines}")

    def wait_port(self) -> int:
        """Give the port of its API, from the line that says it is ready."""
        line = next(line for line in self.lines if READY in line)
        return int(line.rsplit(":", 1)[1])

    def _read(self) -> Iterator[str]:
        stream = self.process.stderr
        assert stream is not None
        rest = b""
        while select.select([stream], [], [], BOUND)[0]:
            chunk = os.read(stream.fileno(), 65536)
            if not chunk:
                return
            *whole, rest = (rest + chunk).split(b"\n")
            new = [line.decode() for line in whole]
            self.lines.extend(new)
            yield from new

    def restart(self) -> Self:
        """Start again in the same home."""
        self._close()
        self.process = self._start()
        return self.wait_ready()

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        self.process.wait(BOUND)
        self._close()

    def stop(self) -> int:
        """Ask it to stop and give its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(BOUND)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        self._close()
        return code

    def _close(self) -> None:
        if self.process.stderr is not None and not self.process.stderr.closed:
            self.lines.extend(self.process.stderr.read().decode().splitlines())
            self.process.stderr.close()

    def __enter__(self) -> Self:
        """Give the ready daemon."""
        return self.wait_ready()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop it, however the test went."""
        self.stop()

    def connect(self) -> SocketConnection:
        """Open a connection to its socket."""
        return SocketConnection(self.home / "data" / "ias.sock")

    def call(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Make one request; gives status and parsed body."""
        connection = self.connect()
        try:
            text = None if body is None else json.dumps(body)
            connection.request(method, path, body=text, headers={"Content-Type": "application/json"})
            response = connection.getresponse()
            raw = response.read()
            return response.status, json.loads(raw) if raw else None
        finally:
            connection.close()

    def post(self, text: str, *, user: str = "u1", **more: str) -> dict[str, Any]:
        """Post a message; gives where its answer will come."""
        status, body = self.call("POST", "/api/messages", {"user_id": user, "text": text, **more})
        assert status == 202, (status, body)
        return body

    def events(self, conversation: str, *, after: int = 0) -> "Iterator[tuple[str, dict[str, Any]]]":
        """Follow a conversation: (name, fields) of each event, until the caller stops, at most BOUND seconds."""
        connection = self.connect()
        try:
            connection.request("GET", f"/api/conversations/{conversation}/events?after={after}")
            response = connection.getresponse()
            assert response.status == 200, response.read()
            name, end = "", time.monotonic() + BOUND
            for raw in response:
                assert time.monotonic() < end, f"nothing new of {conversation} in {BOUND} s"
                line = raw.decode().rstrip("\n")
                if line.startswith("event: "):
                    name = line.removeprefix("event: ")
                elif line.startswith("data: "):
                    yield name, json.loads(line.removeprefix("data: "))
        finally:
            connection.close()

    def wait_event(self, conversation: str, name: str, **fields: object) -> dict[str, Any]:
        """Wait for an event with these fields and give it."""
        for found, event in self.events(conversation):
            if found == name and all(event.get(key) == value for key, value in fields.items()):
                return event
        raise AssertionError(f"no {name} with {fields} came")

    def ask(self, text: str, *, user: str = "u1") -> str:
        """Post a message, wait until its turn is over, and give the answer's text."""
        posted = self.post(text, user=user)
        answer = ""
        for name, event in self.events(posted["conversation"], after=posted["cursor"]):
            if event.get("turn_id") != posted["turn"]:
                continue
            if name == "AssistantTextDelta":
                answer = answer[: event["offset"]] + event["text"] if event["offset"] else event["text"]
            if name == "TurnComplete" and event["reason"] != "tool_calls":
                return answer
        raise AssertionError("the stream ended before the turn")


def run_ias(
    home: Path, *args: str, env: Mapping[str, str] | None = None, stdin: str = ""
) -> "subprocess.CompletedProcess[str]":
    """Run one command to its end."""
    return subprocess.run(
        [sys.executable, "-m", "ias", "--home", str(home), *args],
        env=_environment() | dict(env or {}),
        cwd=ROOT,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=BOUND * 2,
        check=False,
    )


def _environment() -> dict[str, str]:
    """Give this process's environment without what would change a daemon's behaviour."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "TMPDIR", "VIRTUAL_ENV")}
    return kept | {"LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
