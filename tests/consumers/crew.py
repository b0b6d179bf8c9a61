"""Consumers of the tests: handlers that do what a function says, and ways to run them and to wait."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from ias.consumers.base import Consumer, ConsumerConfig
from ias.domain.jobs import Job, Outcome, Queue
from ias.job_queue import Signal
from ias.logs import Logs
from ias.store.base import Store
from tests.store.world import World, llm_step

BOUND = 10.0  # seconds that any wait here may take


class Scripted:
    """A handler that does what a function says, and writes down which jobs it was given."""

    def __init__(self, work: Callable[[Job], Awaitable[Outcome]]) -> None:
        self._work = work
        self.seen: list[Job] = []
        self.changed = Signal()

    async def handle(self, job: Job) -> Outcome:
        self.seen.append(job)
        self.changed.set()
        return await self._work(job)

    async def wait_for(self, count: int) -> None:
        """Wait until so many jobs were begun."""
        async with asyncio.timeout(BOUND):
            while len(self.seen) < count:
                await self.changed.wait_beyond(self.changed.count, seconds=BOUND)


def consumer_of(
    world: World,
    handler: Scripted,
    logs: Logs,
    *,
    queue: Queue = Queue.LLM,
    concurrency: int = 1,
    store: Store | None = None,
) -> Consumer:
    count = iter(range(1_000_000))
    config = ConsumerConfig(
        queue=queue,
        concurrency=concurrency,
        worker="w",
        terms=world.terms,
        new_token=lambda: f"lease-{queue}-{next(count)}",
    )
    consumer = Consumer(store or world.store, handler, config, logs.error)
    world.store.on_commit = lambda topics: consumer.signal.set() if queue in topics else None
    return consumer


@asynccontextmanager
async def running(consumer: Consumer) -> AsyncGenerator[asyncio.Event]:
    """Run a consumer while the body runs, then stop it and wait for what is in flight."""
    stop = asyncio.Event()
    async with asyncio.timeout(BOUND), asyncio.TaskGroup() as group:
        group.create_task(consumer.run(stop))
        yield stop
        stop.set()
        consumer.signal.set()


async def reply(job: Job) -> Outcome:
    return llm_step(f"reply to {job.owner_id}")


async def until(world: World, sql: str, expected: object) -> None:
    """Look until a query of one value gives what is expected."""
    async with asyncio.timeout(BOUND):
        while next(iter(world.look(sql)[0].values())) != expected:
            await world.store.read("queue_stats")  # lets the others go on
