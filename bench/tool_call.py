"""A cold call of a program with one step, through the runtime and by hand."""

import asyncio
import os
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, cast

from bench.measure import Effort, Row
from ias.domain.tools import CallContext, Result, StepInput
from ias.runtime.environment import environment
from ias.runtime.interpreter import command_of
from ias.runtime.process import Processes
from ias.runtime.program import ProgramTool, Room
from ias.runtime.protocol import envelope
from ias.runtime.secrets import Secrets
from ias.runtime.snapshot import take
from ias.toolspec.loading import load_spec

LIMIT = 1.15
REAPED = 5.0  # seconds within which a program that gave its line is gone
LOOK_AGAIN = 0.0005
PROGRAM = '''\
"""Say a text back."""

import json
import sys

envelope = json.loads(sys.stdin.readline())
print(json.dumps({"type": "result", "content": envelope["params"]["text"]}))
'''
SPEC = """\
name: bench_echo
desc: says a text back
type: local
path: echo.py
params:
  - {name: text, required: true, desc: the text}
"""


@dataclass(slots=True)
class Bare:
    """Times of the program started by hand, in ms: until its line is there, and until it ended."""

    line: list[float] = field(default_factory=list[float])
    end: list[float] = field(default_factory=list[float])


def measure(folder: Path, effort: Effort) -> list[Row]:
    """Measure in turns: by hand, through the runtime, by hand again."""
    return asyncio.run(_measure(folder, effort))


async def _measure(folder: Path, effort: Effort) -> list[Row]:
    tool = folder / "echo"
    (tool / "specs").mkdir(parents=True)
    (tool / "echo.py").write_text(PROGRAM, encoding="utf-8")
    spec_file = tool / "specs" / "echo.tool.yaml"
    spec_file.write_text(SPEC, encoding="utf-8")
    processes = Processes()
    room = Room(processes=processes, calls=folder / "calls", variables=os.environ, secrets=Secrets({}, {}))
    snapshot = take(tool, folder / "snapshots")
    program = ProgramTool(load_spec(spec_file, project=folder), spec_file.read_bytes(), snapshot, room)
    by_hand = _ByHand(snapshot.root / "echo.py", folder)
    before, after, times = Bare(), Bare(), list[float]()
    for number in effort.times():
        by_hand.run(before)
        times.append(await _call(program, number))
        await _reaped(processes)
        by_hand.run(after)
    await processes.close()
    return [
        Row(
            name="cold call of a tool / the same program run by hand, start to end",
            unit="ms",
            samples=tuple(times),
            base=tuple(before.end),
            again=tuple(after.end),
            limit=LIMIT,
        ),
        Row(
            name="  / the same, start to its line",
            unit="ms",
            samples=tuple(times),
            base=tuple(before.line),
            again=tuple(after.line),
            note="the runtime also waits that no second line follows",
        ),
    ]


async def _call(program: ProgramTool, number: int) -> float:
    context = CallContext(user_id="u", conversation_id="c", call_id=f"c_{number}")
    began = time.perf_counter()
    answer = await program.begin({"text": "hello"}, context).step(StepInput(seconds=10.0))
    seconds = time.perf_counter() - began
    if not isinstance(answer, Result) or answer.content != "hello":
        raise RuntimeError(f"the tool answered {answer!r}")
    return seconds * 1000


async def _reaped(processes: Processes) -> None:
    """Wait until the program is gone: what ends it must not run beside the next sample."""
    async with asyncio.timeout(REAPED):
        while processes.count:  # noqa: ASYNC110 - a measure looks from outside, there is no event to wait for
            await asyncio.sleep(LOOK_AGAIN)


class _ByHand:
    """The same file under the same interpreter, flags and variables, with nothing in between."""

    def __init__(self, program: Path, folder: Path) -> None:
        self._env = environment((), variables=os.environ, secrets=frozenset()) | {"TMPDIR": str(folder)}
        self._argv = command_of(program, search_path=self._env["PATH"])
        self._cwd = folder
        line = envelope({"text": "hello"}, StepInput(seconds=10.0), user_id="u", call_id="c", secrets=())
        self._line = line + b"\n"

    def run(self, times: Bare) -> None:
        """Run it once."""
        began = time.perf_counter()
        process = subprocess.Popen(
            self._argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self._env,
            cwd=self._cwd,
            bufsize=0,
        )
        with process:
            stdin, stdout = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
            stdin.write(self._line)
            stdin.close()
            stdout.readline()
            line = time.perf_counter()
            process.wait(REAPED)
            end = time.perf_counter()
        times.line.append((line - began) * 1000)
        times.end.append((end - began) * 1000)
