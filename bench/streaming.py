"""What a piece of a streamed answer costs: the product, the official openai SDK, and httpx alone, in turns."""

import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from bench.daemon import environment
from bench.measure import FEWEST, Effort, Row
from bench.workers import NOT_INSTALLED, Worker, answers, peers

WARM_UP = 1  # rounds before the first that counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How the pieces come.

    Attributes:
        name: For the table.
        model: What `bench.answers` is asked for.
        count: Pieces of one stream.
        streams: So many side by side.
        limit: The target, as a ratio to the SDK.
    """

    name: str
    model: str
    count: int
    streams: int
    limit: float


PACES = (
    Pace(name="all together", model="together:2000", count=2000, streams=1, limit=0.25),
    # Slow enough that each piece is a read of its own: the SDK keeps a processor busy for a third of the time.
    Pace(name="one a read", model="paced:40:4", count=40, streams=8, limit=0.7),
)


@dataclass(slots=True)
class Costs:
    """CPU time of each client, in µs per piece."""

    own: list[float] = field(default_factory=list[float])
    bare: list[float] = field(default_factory=list[float])
    before: list[float] = field(default_factory=list[float])
    after: list[float] = field(default_factory=list[float])


def measure(folder: Path, effort: Effort) -> list[Row]:
    """Read the same streams with each client, in turns."""
    del folder
    env, python = environment(), peers()
    costs = {pace.name: Costs() for pace in PACES}
    with ExitStack() as stack:
        port = str(stack.enter_context(answers(env)))
        own = stack.enter_context(Worker(sys.executable, "bench.own_client", "stream", port, env=env))
        peer = stack.enter_context(Worker(python, "bench.peer_client", "stream", port, env=env)) if python else None
        for _ in range(WARM_UP):
            for pace in PACES:
                _sample(pace, own, peer, Costs())
        for _ in effort.times():
            for pace in PACES:
                _sample(pace, own, peer, costs[pace.name])
    return [row for pace in PACES for row in _rows(pace, costs[pace.name])]


def _sample(pace: Pace, own: Worker, peer: Worker | None, costs: Costs) -> None:
    if peer is not None:
        costs.before.append(_cost(peer, pace))
    costs.own.append(_cost(own, pace, bare=False))
    costs.bare.append(_cost(own, pace, bare=True))
    if peer is not None and len(costs.before) <= FEWEST:  # enough to show the noise; it is the slowest by far
        costs.after.append(_cost(peer, pace))


def _cost(worker: Worker, pace: Pace, **task: object) -> float:
    cost = worker.do(model=pace.model, count=pace.count, streams=pace.streams, **task)
    return cost["cpu"] * 1e6 / (pace.count * pace.streams)


def _rows(pace: Pace, costs: Costs) -> list[Row]:
    is_compared = bool(costs.before)
    return [
        Row(
            name=f"CPU per streamed piece, {pace.name} / openai SDK",
            unit="µs",
            samples=tuple(costs.own),
            base=tuple(costs.before),
            again=tuple(costs.after),
            limit=pace.limit if is_compared else None,
            note=f"{pace.streams} × {pace.count} pieces" if is_compared else NOT_INSTALLED,
        ),
        Row(
            name="  / httpx alone (lines, JSON, text)",
            unit="µs",
            samples=tuple(costs.own),
            base=tuple(costs.bare),
        ),
    ]
