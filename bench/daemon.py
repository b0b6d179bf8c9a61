"""Homes in temporary folders, `ias serve` as a process of its own, and requests over its Unix socket."""

import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import yaml

from bench.measure import cpu_seconds

ROOT = Path(__file__).parents[1]
BOUND = 20.0  # seconds that anything here may take
LOOK_AGAIN = 0.002  # seconds between two questions whether a daemon is ready: 0.2 % of the target
PASSED = ("PATH", "HOME", "TMPDIR", "VIRTUAL_ENV")


def environment() -> dict[str, str]:
    """Give what processes are started with: nothing that changes a daemon's behaviour, or forbids compiled files."""
    return {name: value for name, value in os.environ.items() if name in PASSED} | {"LANG": "C.UTF-8"}


def command(*words: str) -> list[str]:
    """Give the command line of `ias` as a person would call it."""
    script = Path(sys.executable).with_name("ias")
    return [str(script), *words] if script.exists() else [sys.executable, "-m", "ias", *words]


def make_home(folder: Path, config: Mapping[str, object] | None = None) -> Path:
    """Make a home with the product's tools, and its own config.yaml where no other is given."""
    home = folder
    shutil.copytree(ROOT / "tools", home / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    if config is None:
        shutil.copy(ROOT / "config.yaml", home / "config.yaml")
    else:
        (home / "config.yaml").write_text(yaml.safe_dump(dict(config)), encoding="utf-8")
    return home


def add_tool(home: Path, name: str, program: str, **spec: object) -> Path:
    """Put a tool into a home: a program in shell and a spec; gives the program."""
    folder = home / "tools" / name
    (folder / "specs").mkdir(parents=True)
    file = folder / f"{name}.sh"
    file.write_text(program, encoding="utf-8")
    file.chmod(0o755)
    text = yaml.safe_dump({"name": name, "desc": name, "path": file.name, **spec})
    (folder / "specs" / f"{name}.tool.yaml").write_text(text, encoding="utf-8")
    return file


class SocketConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=BOUND)
        self._path = str(path)

    def connect(self) -> None:
        """Connect."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(BOUND)
        self.sock.connect(self._path)


class Daemon:
    """A daemon that is ready when the block begins and stopped when it ends.

    `ready_after` are the seconds from its start to the first 200 of `/readyz`, `cpu_until_ready` its CPU time by then.

    Raises:
        RuntimeError: It did not get ready.
    """

    def __init__(self, home: Path) -> None:
        self.home = home
        self._log = home / "serve.txt"
        with self._log.open("wb") as log:
            began = time.perf_counter()
            self._process = subprocess.Popen(
                command("--home", str(home), "serve", "--port", "0"),
                env=environment(),
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        try:
            self._wait_ready(began)
        except RuntimeError:
            self.stop()
            raise
        self.ready_after = time.perf_counter() - began
        self.cpu_until_ready = cpu_seconds(self.pid)

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    def _wait_ready(self, began: float) -> None:
        while not self._is_ready():
            if self._process.poll() is not None or time.perf_counter() - began > BOUND:
                said = self._log.read_text(encoding="utf-8", errors="replace")
                raise RuntimeError(f"the daemon did not get ready; it said:\n{said}")
            time.sleep(LOOK_AGAIN)

    def _is_ready(self) -> bool:
        connection = self.connect()
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == http.HTTPStatus.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def connect(self) -> SocketConnection:
        """Make a connection to its socket."""
        return SocketConnection(self.home / "data" / "ias.sock")

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Make one request over a connection of its own; gives the parsed answer.

        Raises:
            RuntimeError: The answer is an error.
        """
        connection = self.connect()
        try:
            connection.request(method, path, body=json.dumps(body), headers={"Content-Type": "application/json"})
            response = connection.getresponse()
            raw = response.read()
        finally:
            connection.close()
        if response.status >= http.HTTPStatus.BAD_REQUEST:
            raise RuntimeError(f"{method} {path} was answered with {response.status}: {raw[:500]!r}")
        return json.loads(raw)

    def events(self, conversation: str, after: int) -> Iterator[tuple[str, dict[str, Any]]]:
        """Follow a conversation: the name and fields of each event."""
        connection = self.connect()
        try:
            connection.request("GET", f"/api/conversations/{conversation}/events?after={after}")
            name = ""
            for raw in connection.getresponse():
                line = raw.decode().rstrip("\n")
                if line.startswith("event: "):
                    name = line.removeprefix("event: ")
                elif line.startswith("data: "):
                    yield name, json.loads(line.removeprefix("data: "))
        finally:
            connection.close()

    def memory(self) -> tuple[float, float]:
        """Give its resident memory and its share of what it shares with others (RSS and PSS), in MB of 10^6 bytes."""
        sizes = {"Rss": 0.0, "Pss": 0.0}
        for line in Path(f"/proc/{self.pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
            name, _, rest = line.partition(":")
            if name in sizes:
                sizes[name] = int(rest.split()[0]) * 1024 / 1e6
        return sizes["Rss"], sizes["Pss"]

    def stop(self) -> None:
        """Ask it to stop; kill it where it does not."""
        self._process.terminate()
        try:
            self._process.wait(BOUND)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(BOUND)

    def __enter__(self) -> Self:
        """Give the ready daemon."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop it."""
        self.stop()
