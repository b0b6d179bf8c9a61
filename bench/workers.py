"""Processes that are measured: each answers tasks, a JSON line each, with what they cost; and where peers live."""

import asyncio
import http.client
import json
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self, cast

BOUND = 30.0  # seconds that anything here may take
ROOT = Path(__file__).parents[1]
PEERS = ROOT / ".peers" / "bench"
NOT_INSTALLED = "not installed: make peers-bench"

Task = dict[str, object]
Does = Callable[[Task], Awaitable[Mapping[str, object]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a task cost the process that did it, in seconds."""

    wall: float
    cpu: float


def peers() -> str | None:
    """Give the interpreter that has the peers, None where they are not installed."""
    return str(PEERS / "bin" / "python") if (PEERS / ".installed").exists() else None


class Worker:
    """A process that does tasks one by one, from the beginning of the block to its end.

    Args:
        python: Its interpreter.
        module: What it runs, with `words` behind it.
        env: Its variables.
    """

    def __init__(self, python: str, module: str, *words: str, env: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [python, "-m", module, *words], cwd=ROOT, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._name = module
        self._stdin = cast("IO[bytes]", self._process.stdin)
        self._stdout = cast("IO[bytes]", self._process.stdout)

    def __enter__(self) -> Self:
        """Give the worker itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it: it ends with its standard input."""
        with suppress(BrokenPipeError):
            self._stdin.close()
        try:
            self._process.wait(BOUND)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(BOUND)
        self._stdout.close()

    def line(self) -> str:
        """Read its next line.

        Raises:
            RuntimeError: It ended.
        """
        line = self._stdout.readline()
        if not line:
            raise RuntimeError(f"{self._name} ended with {self._process.wait(BOUND)}")
        return line.decode()

    def do(self, **task: object) -> dict[str, Any]:
        """Let it do a task; gives what it measured, whose shape the task decides.

        Raises:
            RuntimeError: It ended.
        """
        with suppress(BrokenPipeError):
            self._stdin.write(json.dumps(task).encode() + b"\n")
            self._stdin.flush()
        return json.loads(self.line())

    def memory(self) -> float:
        """Give its resident memory in MB."""
        for line in Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        raise RuntimeError(f"{self._name} ended")


@contextmanager
def answers(env: Mapping[str, str]) -> Generator[int]:
    """Start the server of `bench.answers`; gives its port."""
    with Worker(sys.executable, "bench.answers", env=env) as server:
        yield int(server.line())


def answers_begun(port: int) -> int:
    """Ask that server how many answers it began."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=BOUND)
    connection.request("GET", "/count")
    count = json.loads(connection.getresponse().read())["count"]
    connection.close()
    return int(count)


async def work(does: Does) -> None:
    """Do the tasks that come on standard input, in a worker, until it ends."""
    while line := await asyncio.to_thread(sys.stdin.readline):
        async with asyncio.timeout(BOUND):
            done = await does(cast("Task", json.loads(line)))
        sys.stdout.write(json.dumps(dict(done)) + "\n")
        sys.stdout.flush()


async def streams(count: int, one: Callable[[], AsyncGenerator[str, None]], text: str) -> Cost:
    """Read so many streams side by side; each must give `text`."""

    async def read() -> None:
        heard = "".join([piece async for piece in one()])
        if heard != text:
            raise RuntimeError(f"a stream gave {len(heard)} characters, not {len(text)}")

    wall, cpu = time.perf_counter(), time.process_time()
    async with asyncio.TaskGroup() as group:
        for _ in range(count):
            group.create_task(read())
    return Cost(wall=time.perf_counter() - wall, cpu=time.process_time() - cpu)
