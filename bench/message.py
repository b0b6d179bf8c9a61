"""What a message costs in the daemon besides its model and its tool, from the request to the reply."""

import http.client
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, cast

from bench.daemon import BOUND, ROOT, Daemon, add_tool, environment, make_home
from bench.measure import Effort, Row, cpu_seconds
from bench.model import MODEL, TOOL, WORDS

LIMIT = 10.0  # ms
WARM_UP = 10  # messages before the first that counts
CALLS = 2  # model calls of a message: one that calls the tool, one that answers
NOTHING = """\
#!/bin/sh
read -r line
printf '%s\\n' '{"type":"result","content":"done"}'
"""


@dataclass(slots=True)
class Times:
    """Of each message, in ms: all of it, its model, its tool by hand, and the daemon's CPU time."""

    whole: list[float] = field(default_factory=list[float])
    model: list[float] = field(default_factory=list[float])
    tool: list[float] = field(default_factory=list[float])
    cpu: list[float] = field(default_factory=list[float])

    def rest(self) -> tuple[float, ...]:
        """Give what is left of each message: its own model calls are taken off, and the tool's usual time.

        The tool by hand is another process than the one that the message waited for: only its median is alike.
        """
        tool = statistics.median(self.tool)
        return tuple(whole - model - tool for whole, model in zip(self.whole, self.model, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What the model server did so far: requests, seconds, connections."""

    count: int
    seconds: float
    connections: int


def measure(folder: Path, effort: Effort) -> list[Row]:
    """Send messages to a daemon whose model answers at once, each followed by its tool run by hand."""
    with _model() as port:
        llm = {"provider": "openai_compatible", "model": MODEL, "base_url": f"http://127.0.0.1:{port}/v1"}
        home = make_home(folder / "home", {"llm": llm})
        program = add_tool(home, TOOL, NOTHING, type="local")
        with Daemon(home) as daemon:
            model = http.client.HTTPConnection("127.0.0.1", port, timeout=BOUND)
            for number in range(WARM_UP):
                _ask(daemon, f"w{number}")
            times = Times()
            before = _spent(model)
            for number in effort.times():
                _sample(daemon, model, program, f"u{number}", times)
            after = _spent(model)
            model.close()
            rss, _ = daemon.memory()
    return [
        Row(
            name="daemon's work per message besides model and tool",
            unit="ms",
            samples=times.rest(),
            limit=LIMIT,
            note="2 model calls, 1 tool call",
        ),
        Row(name="  the whole message, request to reply", unit="ms", samples=tuple(times.whole)),
        Row(
            name="  of that its 2 model calls",
            unit="ms",
            samples=tuple(times.model),
            note=f"{after.count - before.count} calls over {after.connections - before.connections} new connections",
        ),
        Row(name="  of that its tool's process, run by hand", unit="ms", samples=tuple(times.tool)),
        Row(
            name="  the daemon's CPU time",
            unit="ms",
            samples=tuple(times.cpu),
            note=f"RSS {rss:.0f} MB after {WARM_UP + len(times.whole)} messages",
        ),
    ]


def _sample(daemon: Daemon, model: http.client.HTTPConnection, program: Path, user: str, times: Times) -> None:
    before = _spent(model)
    cpu = cpu_seconds(daemon.pid)
    whole = _ask(daemon, user)
    after = _spent(model)
    times.cpu.append((cpu_seconds(daemon.pid) - cpu) * 1000)
    if after.count - before.count != CALLS:
        raise RuntimeError(f"the message took {after.count - before.count} model calls, not {CALLS}")
    times.whole.append(whole)
    times.model.append((after.seconds - before.seconds) * 1000)
    times.tool.append(_run_tool(program))


def _ask(daemon: Daemon, user: str) -> float:
    """Post a message as a new user, follow its conversation to the reply's end; gives ms."""
    began = time.perf_counter()
    posted = daemon.call("POST", "/api/messages", {"user_id": user, "text": "Do nothing, please."})
    text = ""
    for name, event in daemon.events(posted["conversation"], posted["cursor"]):
        if name == "AssistantTextDelta":
            text = text[: event["offset"]] + event["text"]
        if name == "TurnComplete" and event["reason"] != "tool_calls":
            break
    seconds = time.perf_counter() - began
    if text != "".join(WORDS):
        raise RuntimeError(f"the reply was {text!r}")
    return seconds * 1000


def _run_tool(program: Path) -> float:
    began = time.perf_counter()
    subprocess.run(
        [str(program)], input=b"{}\n", capture_output=True, check=True, timeout=BOUND, env={"PATH": os.defpath}
    )
    return (time.perf_counter() - began) * 1000


def _spent(model: http.client.HTTPConnection) -> Spent:
    model.request("GET", "/spent")
    return Spent(**json.loads(model.getresponse().read()))


@contextmanager
def _model() -> Generator[int]:
    """Start the model server; gives its port."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.model"],
        env=environment(),
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    stdin, stdout = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
    try:
        yield int(stdout.readline())
    finally:
        stdin.close()
        try:
            process.wait(BOUND)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(BOUND)
        stdout.close()
