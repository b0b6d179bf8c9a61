"""What a turn of the tool loop costs in a program that embeds it: `LlmCycle` and pydantic-ai, in turns."""

import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from bench.daemon import environment
from bench.measure import FEWEST, Effort, Row
from bench.workers import NOT_INSTALLED, Worker, answers, answers_begun, peers

CALLS = 10
STEPS = CALLS + 1
TIME_LIMIT = 0.5
MEMORY_LIMIT = 1.0
WARM_UP = 3  # conversations before the first that counts
SESSIONS = 2  # pairs of new processes; each gives one sample of memory


@dataclass(slots=True)
class Costs:
    """Of each conversation, in ms per model step; and of each process, in MB."""

    wall: list[float] = field(default_factory=list[float])
    cpu: list[float] = field(default_factory=list[float])
    memory: list[float] = field(default_factory=list[float])


@dataclass(slots=True)
class Measured:
    """The product, the peer before and after it, and the peer with streamed answers."""

    own: Costs = field(default_factory=Costs)
    before: Costs = field(default_factory=Costs)
    after: Costs = field(default_factory=Costs)
    streamed: Costs = field(default_factory=Costs)


def measure(folder: Path, effort: Effort) -> list[Row]:
    """Run the same conversation of ten calls with each, in turns, in a few pairs of processes."""
    del folder
    env, python = environment(), peers()
    part = Effort(rounds=max(FEWEST, effort.rounds // SESSIONS), seconds=effort.seconds / SESSIONS)
    measured = Measured()
    with answers(env) as port:
        for _ in range(SESSIONS):
            with ExitStack() as stack:
                own = stack.enter_context(Worker(sys.executable, "bench.own_client", "loop", str(port), env=env))
                peer = None
                if python:
                    peer = stack.enter_context(Worker(python, "bench.peer_client", "loop", str(port), env=env))
                for _ in range(WARM_UP):
                    _sample(port, own, peer, Measured())
                for _ in part.times():
                    _sample(port, own, peer, measured)
                measured.own.memory.append(own.memory())
                if peer is not None:
                    measured.before.memory.append(peer.memory())
    return _rows(measured)


def _sample(port: int, own: Worker, peer: Worker | None, measured: Measured) -> None:
    if peer is not None:
        _run(port, peer, measured.before, stream=False)
    _run(port, own, measured.own)
    if peer is not None:
        _run(port, peer, measured.after, stream=False)
        _run(port, peer, measured.streamed, stream=True)


def _run(port: int, worker: Worker, costs: Costs, **task: object) -> None:
    before = answers_begun(port)
    cost = worker.do(model=f"calls:{CALLS}", text=f"The sum is {CALLS}.", **task)
    steps = answers_begun(port) - before
    if steps != STEPS:
        raise RuntimeError(f"the conversation took {steps} model steps, not {STEPS}")
    costs.wall.append(cost["wall"] * 1000 / STEPS)
    costs.cpu.append(cost["cpu"] * 1000 / STEPS)


def _rows(measured: Measured) -> list[Row]:
    own, before, after, streamed = measured.own, measured.before, measured.after, measured.streamed
    is_compared = bool(before.wall)
    note = f"{STEPS} model steps each, {CALLS} calls; the product streams, the peer need not"
    rows = [
        Row(
            name=f"loop of {CALLS} calls, time per step / pydantic-ai",
            unit="ms",
            samples=tuple(own.wall),
            base=tuple(before.wall),
            again=tuple(after.wall),
            limit=TIME_LIMIT if is_compared else None,
            note=note if is_compared else NOT_INSTALLED,
        ),
        Row(
            name="  its CPU time / the same",
            unit="ms",
            samples=tuple(own.cpu),
            base=tuple(before.cpu + after.cpu),
        ),
        Row(
            name="  memory of the process (RSS) / the same",
            unit="MB",
            samples=tuple(own.memory),
            base=tuple(before.memory),
            limit=MEMORY_LIMIT if is_compared else None,
            note=f"after {WARM_UP + len(own.wall) // SESSIONS} conversations",
        ),
    ]
    if is_compared:
        name = "  time per step / pydantic-ai with streamed answers"
        rows.insert(1, Row(name=name, unit="ms", samples=tuple(own.wall), base=tuple(streamed.wall)))
    return rows
