"""`ias approve`, as a person types it, against a program that does nothing with the same library."""

import resource
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from bench.daemon import BOUND, Daemon, add_tool, command, environment, make_home
from bench.measure import Effort, Row

LIMIT = 1.6
TOOL = "bench_post"
POST = """\
#!/bin/sh
read -r line
printf '%s\\n' '{"type":"http","method":"POST","url":"https://example.com/","json":{"text":"hello"}}'
"""
EMPTY = '''\
"""Nothing."""

import typer

app = typer.Typer()


@app.command()
def main() -> None:
    """Do nothing."""


app()
'''


@dataclass(slots=True)
class Runs:
    """Times of one program, in ms: start to end, and on a processor."""

    whole: list[float] = field(default_factory=list[float])
    cpu: list[float] = field(default_factory=list[float])

    def add(self, times: tuple[float, float]) -> None:
        """Take note of a run."""
        self.whole.append(times[0])
        self.cpu.append(times[1])


def measure(folder: Path, effort: Effort) -> list[Row]:
    """Approve requests that wait, one a round, between two runs of the empty program; the daemon is down."""
    home = make_home(folder / "home")
    add_tool(home, TOOL, POST, type="http", hosts=["example.com"])
    empty = folder / "empty.py"
    empty.write_text(EMPTY, encoding="utf-8")
    with Daemon(home) as daemon:
        for _ in range(effort.rounds + 1):
            answer = daemon.call("POST", f"/api/tools/{TOOL}/call", {})
            if answer["state"] != "parked":
                raise RuntimeError(f"the call does not wait for approval: {answer}")
    before, after, times = Runs(), Runs(), Runs()
    _approve(home, effort.rounds + 1)  # the first run may have to compile modules
    for number in effort.times():
        before.add(_run([sys.executable, str(empty)]))
        times.add(_approve(home, number + 1))
        after.add(_run([sys.executable, str(empty)]))
    return [
        Row(
            name="ias approve ID --yes / an empty typer program",
            unit="ms",
            samples=tuple(times.whole),
            base=tuple(before.whole),
            again=tuple(after.whole),
            limit=LIMIT,
        ),
        Row(
            name="  its CPU time",
            unit="ms",
            samples=tuple(times.cpu),
            base=tuple(before.cpu),
            again=tuple(after.cpu),
            limit=LIMIT,
        ),
    ]


def _approve(home: Path, number: int) -> tuple[float, float]:
    return _run(command("--home", str(home), "approve", f"A{number}", "--yes"))


def _run(argv: list[str]) -> tuple[float, float]:
    """Run a program to its end; gives ms, and ms of CPU time."""
    cpu, began = _cpu_of_children(), time.perf_counter()
    ended = subprocess.run(
        argv, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=BOUND, check=False
    )
    seconds = time.perf_counter() - began
    if ended.returncode != 0:
        raise RuntimeError(f"{argv} ended with {ended.returncode}: {ended.stderr.decode(errors='replace')}")
    return seconds * 1000, (_cpu_of_children() - cpu) * 1000


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
