"""Messages through the store, stored, claimed and finished, with many transactions a COMMIT and with one."""

import asyncio
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path

from bench.measure import Effort, Row
from ias.domain.jobs import LlmStep, Queue
from ias.domain.messages import AssistantMessage, Usage
from ias.store import writer
from ias.store.base import Lost, Terms
from ias.store.sqlite import SqliteStore
from ias.store.transactions.queue import Idle, claim
from ias.store.transactions.turns import finish_llm_step, submit_message

IN_FLIGHT = (1, 8, 32)
WINDOW = 0.2  # seconds of one sample
BOUND = 20.0  # seconds that a window may take
LEASE_MS = 60_000
GROUP = writer.GROUP
REPLY = LlmStep(message=AssistantMessage(text="It is done."), calls=(), usage=Usage(), model="none")


@dataclass(slots=True)
class Load:
    """One store under load, and what was seen: messages a second, ms and CPU ms of a message, its COMMITs."""

    store: SqliteStore
    group: int
    sent: int = 0
    rates: list[float] = field(default_factory=list[float])
    times: list[float] = field(default_factory=list[float])
    cpu: list[float] = field(default_factory=list[float])
    commits: list[float] = field(default_factory=list[float])

    def forget(self) -> None:
        """Begin a new series."""
        self.rates, self.times, self.cpu, self.commits = [], [], [], []

    async def window(self, in_flight: int) -> None:
        """Keep some messages in flight for a while."""
        writer.__dict__["GROUP"] = self.group  # the writer looks at its limit each time it takes transactions
        first, commits = len(self.times), self.store.commits
        cpu, began = time.process_time(), time.perf_counter()
        async with asyncio.timeout(BOUND), asyncio.TaskGroup() as tasks:
            for _ in range(in_flight):
                tasks.create_task(self._messages(began + WINDOW))
        seconds, count = time.perf_counter() - began, len(self.times) - first
        self.rates.append(count / seconds)
        self.cpu.append((time.process_time() - cpu) * 1000 / count)
        self.commits.append((self.store.commits - commits) / count)

    async def _messages(self, until: float) -> None:
        terms = Terms(depth=10**9)
        while time.perf_counter() < until:
            self.sent += 1
            user = token = f"u{self.sent}"
            began = time.perf_counter()
            await self.store.run(submit_message(terms, channel="api", address=user, user_id=user, text="Hello there."))
            job = await self.store.run(claim(Queue.LLM, "bench", token, LEASE_MS))
            if isinstance(job, Idle):
                raise TypeError("a message was stored, but there is no job to claim")
            ended = await self.store.run(finish_llm_step(terms, job, REPLY))
            if isinstance(ended, Lost):
                raise TypeError("a claimed job was lost")
            self.times.append((time.perf_counter() - began) * 1000)


def measure(folder: Path, effort: Effort) -> list[Row]:
    """Measure windows of load in turns, on two stores that grow alike."""
    try:
        return asyncio.run(_measure(folder, effort))
    finally:
        writer.__dict__["GROUP"] = GROUP


async def _measure(folder: Path, effort: Effort) -> list[Row]:
    one = Load(await SqliteStore.open(folder / "one.db"), 1)
    many = Load(await SqliteStore.open(folder / "many.db"), GROUP)
    rows: list[Row] = []
    share = Effort(rounds=effort.rounds, seconds=effort.seconds / len(IN_FLIGHT))
    for in_flight in IN_FLIGHT:
        one.forget()
        many.forget()
        for _ in share.times():
            await one.window(in_flight)
            await many.window(in_flight)
        rows += _rows(in_flight, one, many)
    await one.store.close()
    await many.store.close()
    return rows


def _rows(in_flight: int, one: Load, many: Load) -> list[Row]:
    title = f"queue, {in_flight} in flight"
    commits = [statistics.median(load.commits) for load in (many, one)]
    per_message = f"{commits[0]:.2f} COMMITs a message, {commits[1]:.2f} without"
    return [
        Row(
            name=f"{title}: throughput / without group commit",
            unit="msg/s",
            samples=tuple(many.rates),
            base=tuple(one.rates),
            note=per_message,
        ),
        Row(name="  time of a message", unit="ms", samples=tuple(many.times), base=tuple(one.times)),
        Row(name="  CPU time of a message", unit="ms", samples=tuple(many.cpu), base=tuple(one.cpu)),
    ]
