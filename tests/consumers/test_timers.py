"""What happens because time passes: questions expire, leases are renewed, others' writes are noticed."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from ias.consumers.timers import TimerConfig, Timers, Watched
from ias.domain.jobs import Queue
from ias.job_queue import Signal
from ias.logs import Logs
from ias.store.base import Store
from ias.store.once import run_once
from ias.store.transactions.turns import submit_message
from tests.consumers.crew import BOUND, until
from tests.consumers.logbook import logs_in, read_log
from tests.consumers.stores import FailingStore
from tests.store.world import World


@pytest.fixture
def logs(tmp_path: Path) -> Generator[Logs]:
    with logs_in(tmp_path / "logs") as found:
        yield found


class FailingWatched(FailingStore):
    """A failing store that can be watched."""

    async def has_changed(self) -> bool:
        return False


@asynccontextmanager
async def ticking(world: World, logs: Logs, store: Store, poked: Signal) -> AsyncGenerator[None]:
    """Run the timers while the body runs."""
    timers = Timers(cast("Watched", store), TimerConfig(terms=world.terms, worker="worker", poke=poked.set), logs.error)
    async with asyncio.timeout(BOUND), asyncio.TaskGroup() as group:
        task = group.create_task(timers.run())
        yield
        task.cancel()


async def test_a_question_that_nobody_answers_ends_by_itself_also_after_store_trouble(
    world: World, logs: Logs, tmp_path: Path
) -> None:
    await world.park()
    world.clock.move(world.terms.approval_timeout_ms)
    store = FailingWatched(world.store, "due_approvals", 1)
    async with ticking(world, logs, store, Signal()):
        await until(world, "SELECT state FROM approval", "expired")
    assert world.one("SELECT code FROM run") == {"code": "approval_expired"}
    assert "no space is left" in read_log(tmp_path / "logs", "error")
    world.check()


async def test_leases_of_this_process_are_renewed(world: World, logs: Logs) -> None:
    world.terms = replace(world.terms, lease_ms=300)
    await world.submit("hi")
    await world.claim(Queue.LLM)
    before = world.one("SELECT lease_until FROM job WHERE queue = 'llm'")["lease_until"]
    world.clock.move(200)
    async with ticking(world, logs, world.store, Signal()):
        await until(world, "SELECT lease_until FROM job WHERE queue = 'llm'", before + 200)


async def test_what_another_process_wrote_is_noticed(world: World, logs: Logs, tmp_path: Path) -> None:
    poked = Signal()
    async with ticking(world, logs, world.store, poked):
        transaction = submit_message(world.terms, channel="cli", address="bob", user_id="bob", text="hi")
        await asyncio.to_thread(run_once, tmp_path / "data" / "ias.db", transaction)
        await poked.wait_beyond(0, seconds=BOUND)
    assert poked.count >= 1
