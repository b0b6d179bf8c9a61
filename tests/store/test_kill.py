"""A process that writes is killed at any moment; a ledger outside says what it had acknowledged."""

import asyncio
import os
import signal
import sqlite3
import sys
from pathlib import Path

import pytest

from ias.store.sqlite import SqliteStore
from tests.store.invariants import INVARIANTS, JOURNAL

WRITER = """
import asyncio, os, sys
from pathlib import Path
from ias.domain.jobs import Delivered, Queue, Sent
from ias.store.base import Terms
from ias.store.lock import StateLock
from ias.store.sqlite import SqliteStore
from ias.store.transactions.deliveries import finish_delivery, start_delivery
from ias.store.transactions.queue import Idle, claim, recover_at_start
from ias.store.transactions.turns import finish_llm_step, submit_message
from tests.store.world import llm_step

TERMS = Terms(conversation_depth=100_000, depth=100_000)

async def say(store, name):
    for number in range(10_000):
        source = f"{os.getpid()}-{name}-{number}"
        stored = await store.run(submit_message(
            TERMS, channel="chat", address=str(number % 7), user_id="ann", text="hi", source_id=source))
        print("ack", source, stored.turn_id, flush=True)

async def work(store, queue, name):
    for number in range(100_000):
        job = await store.run(claim(queue, "w", f"{os.getpid()}-{name}-{number}", 60_000))
        if isinstance(job, Idle):
            await asyncio.sleep(0)
        elif queue is Queue.LLM:
            await store.run(finish_llm_step(TERMS, job, llm_step("sunny")))
        else:
            begun = await store.run(start_delivery(TERMS, job))
            if hasattr(begun, "delivery"):
                print("sent", begun.delivery["id"], "-", flush=True)
                await store.run(finish_delivery(TERMS, job, Delivered(outcome=Sent.SENT)))

async def main(path):
    StateLock(path.parent).acquire()
    store = await SqliteStore.open(path)
    await store.run(recover_at_start())
    async with asyncio.TaskGroup() as group:
        for name in "ab":
            group.create_task(say(store, name))
            group.create_task(work(store, Queue.LLM, name))
            group.create_task(work(store, Queue.SEND, name))

asyncio.run(main(Path(sys.argv[1])))
"""
ROUNDS, LINES = 4, 150


async def write_until_killed(path: Path, lines: int) -> list[list[str]]:
    """Let a process work until it acknowledged so much, kill it, and give all that it had said."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", WRITER, str(path), stdout=asyncio.subprocess.PIPE, env={**os.environ, "PYTHONPATH": "."}
    )
    assert process.stdout is not None
    said = [await process.stdout.readline() for _ in range(lines)]
    process.send_signal(signal.SIGKILL)
    rest = await process.stdout.read()
    assert await process.wait() == -signal.SIGKILL
    whole = b"".join(said) + rest[: rest.rfind(b"\n") + 1]
    return [line.split() for line in whole.decode().splitlines()]


@pytest.mark.timeout(120)
async def test_nothing_acknowledged_is_lost_and_nothing_is_sent_twice(tmp_path: Path) -> None:
    path = tmp_path / "data" / "ias.db"
    ledger: list[list[str]] = []
    for number in range(ROUNDS):
        async with asyncio.timeout(25):
            ledger += await write_until_killed(path, LINES + 37 * number)
    database = sqlite3.connect(path)
    stored = dict(database.execute("SELECT source_id, id FROM turn").fetchall())
    acknowledged = {words[1]: words[2] for words in ledger if words[0] == "ack"}
    assert acknowledged.items() <= stored.items()
    sent = [words[1] for words in ledger if words[0] == "sent"]
    assert len(sent) == len(set(sent))
    doubtful = database.execute("SELECT id FROM delivery WHERE state IN ('sent', 'sending', 'unknown')").fetchall()
    assert set(sent) <= {row[0] for row in doubtful}
    assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    broken = {name: rows for name, sql in (INVARIANTS | JOURNAL).items() if (rows := database.execute(sql).fetchall())}
    database.close()
    assert broken == {}
    store = await SqliteStore.open(path)
    await store.close()
