"""`ias approve`, as a person types it, against a program that does nothing with the same library."""

import subprocess
import sys
import time
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
    before, after, times = list[float](), list[float](), list[float]()
    _approve(home, effort.rounds + 1)  # the first run may have to compile modules
    for number in effort.times():
        before.append(_run([sys.executable, str(empty)]))
        times.append(_approve(home, number + 1))
        after.append(_run([sys.executable, str(empty)]))
    return [
        Row(
            name="ias approve ID --yes / an empty typer program",
            unit="ms",
            samples=tuple(times),
            base=tuple(before),
            again=tuple(after),
            limit=LIMIT,
        )
    ]


def _approve(home: Path, number: int) -> float:
    return _run(command("--home", str(home), "approve", f"A{number}", "--yes"))


def _run(argv: list[str]) -> float:
    began = time.perf_counter()
    ended = subprocess.run(
        argv, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=BOUND, check=False
    )
    seconds = time.perf_counter() - began
    if ended.returncode != 0:
        raise RuntimeError(f"{argv} ended with {ended.returncode}: {ended.stderr.decode(errors='replace')}")
    return seconds * 1000
