"""The loop of a consumer: what it takes and when, and what becomes of a job whose handler or store fails."""

import asyncio
import json
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pytest

from ias.domain.jobs import Dead, Job, LlmStep, Outcome, Queue, Retry, RunEnded, Settled, TurnReason
from ias.domain.messages import AssistantMessage, ToolCall
from ias.domain.tools import Result
from ias.job_queue import Signal, back_off
from ias.logs import Logs
from ias.store.transactions.turns import cancel_turn
from tests.consumers.crew import BOUND, Scripted, consumer_of, reply, running, until
from tests.consumers.logbook import logs_in, read_log
from tests.consumers.stores import FailingStore
from tests.store.world import World, llm_step


@pytest.fixture
def logs(tmp_path: Path) -> Generator[Logs]:
    with logs_in(tmp_path / "logs") as found:
        yield found


async def test_jobs_are_taken_in_the_order_in_which_they_came(world: World, logs: Logs) -> None:
    turns: list[str] = []
    for number in range(5):
        turns.append((await world.submit(channel=f"c{number}")).turn_id)
        world.clock.move(1)
    handler = Scripted(reply)
    async with running(consumer_of(world, handler, logs)):
        await handler.wait_for(5)

    assert [job.owner_id for job in handler.seen] == turns
    assert world.state("turn") == ["ended"] * 5


async def test_no_more_jobs_are_worked_on_at_once_than_allowed(world: World, logs: Logs) -> None:
    gate, at_work, most = asyncio.Event(), 0, 0

    async def work(_: Job) -> Outcome:
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        await gate.wait()
        at_work -= 1
        return llm_step()

    for number in range(7):
        await world.submit(channel=f"c{number}")
    handler = Scripted(work)
    async with running(consumer_of(world, handler, logs, concurrency=3)):
        await handler.wait_for(3)
        assert [row["n"] for row in world.look("SELECT count(*) AS n FROM job WHERE state = 'leased'")] == [3]
        gate.set()
        await handler.wait_for(7)

    assert most == 3


async def test_a_message_wakes_a_consumer_that_waits(world: World, logs: Logs) -> None:
    handler = Scripted(reply)
    async with running(consumer_of(world, handler, logs)):
        for number in range(20):
            await world.submit(channel=f"c{number}")
            await handler.wait_for(number + 1)


async def test_a_signal_between_a_look_and_a_wait_is_not_missed() -> None:
    signal = Signal()
    seen = signal.count
    signal.set()
    async with asyncio.timeout(BOUND):
        await signal.wait_beyond(seen, seconds=60)
        await signal.wait_beyond(seen, seconds=60)
    assert signal.count == 1


async def test_a_wait_for_a_signal_ends_by_itself() -> None:
    signal = Signal()
    async with asyncio.timeout(BOUND):
        await signal.wait_beyond(signal.count, seconds=0.01)
    assert signal.count == 0


def test_waits_between_attempts_double_up_to_ten_minutes() -> None:
    for attempt, wait in ((0, 1), (1, 1), (2, 2), (5, 16), (10, 512), (11, 600), (60, 600)):
        assert wait * 0.8 <= back_off(attempt) <= wait * 1.2


async def test_a_retry_keeps_its_turn_before_the_next_of_its_conversation(world: World, logs: Logs) -> None:
    first = await world.submit("one")
    second = await world.submit("two")

    async def work(job: Job) -> Outcome:
        return Retry(delay=0, error="not now") if job.attempts < 3 else llm_step()

    handler = Scripted(work)
    async with running(consumer_of(world, handler, logs, concurrency=2)):
        await handler.wait_for(6)

    assert [(job.owner_id, job.attempts) for job in handler.seen] == [
        (owner, attempt) for owner in (first.turn_id, second.turn_id) for attempt in (1, 2, 3)
    ]


async def test_a_retry_waits_as_long_as_it_was_told_while_others_go_on(world: World, logs: Logs) -> None:
    slow = await world.submit("slow", channel="a")

    async def work(job: Job) -> Outcome:
        return Retry(delay=30, error="busy") if job.attempts == 1 and job.owner_id == slow.turn_id else llm_step()

    handler = Scripted(work)
    consumer = consumer_of(world, handler, logs)
    async with running(consumer):
        await handler.wait_for(1)
        quick = await world.submit("quick", channel="b")
        await handler.wait_for(2)
        await until(world, "SELECT count(*) AS n FROM job WHERE state = 'ready' AND queue = 'llm'", 1)
        world.clock.move(30_000)
        consumer.signal.set()
        await handler.wait_for(3)

    assert [job.owner_id for job in handler.seen] == [slow.turn_id, quick.turn_id, slow.turn_id]


async def test_a_handler_that_always_fails_ends_the_turn_with_words_for_the_person(world: World, logs: Logs) -> None:
    stored = await world.submit("现在几点")

    async def work(_: Job) -> Outcome:
        raise KeyError("a bug")

    handler = Scripted(work)
    consumer = consumer_of(world, handler, logs)
    async with running(consumer):
        for attempt in range(1, 6):
            await handler.wait_for(attempt)
            await until(world, "SELECT count(*) AS n FROM job WHERE state = 'leased'", 0)
            world.clock.move(600_000)
            consumer.signal.set()
        await until(world, "SELECT count(*) AS n FROM job WHERE state = 'dead'", 1)

    assert [job.attempts for job in handler.seen] == [1, 2, 3, 4, 5]
    dead = world.one("SELECT state, last_error FROM job WHERE queue = 'llm'")
    assert dead == {"state": "dead", "last_error": "KeyError: 'a bug'"}
    turn = world.one("SELECT state, reason FROM turn WHERE id = :id", id=stored.turn_id)
    assert turn == {"state": "ended", "reason": "dead"}
    said = world.one("SELECT content FROM message WHERE role = 'assistant'")["content"]
    assert json.loads(said)["text"] == "这条消息多次处理失败，已放弃。可以再发一次。"
    world.check()


async def test_a_job_that_killed_the_process_each_time_is_given_up_without_its_handler(
    world: World, logs: Logs
) -> None:
    await world.submit("hi")
    for _ in range(5):
        await world.claim(Queue.LLM)
        world.look("UPDATE job SET state = 'ready', lease_token = NULL")
    handler = Scripted(reply)
    async with running(consumer_of(world, handler, logs)):
        await until(world, "SELECT count(*) AS n FROM job WHERE state = 'dead'", 1)

    assert handler.seen == []
    said = world.one("SELECT content FROM message WHERE role = 'assistant'")["content"]
    assert json.loads(said)["text"] == "This message failed too often and was given up. You may send it again."


async def test_an_answer_that_cannot_be_stored_ends_its_turn_and_not_the_queue(
    world: World, logs: Logs, tmp_path: Path
) -> None:
    """A lone surrogate in a tool's name is no text for the database: the transaction itself raises."""
    await world.submit("hi", channel="a")

    async def work(job: Job) -> Outcome:
        if job.attempts == 1:
            good = llm_step(calls=1)
            call = ToolCall(id="\ud800", name="\ud800", arguments="{}")
            message = AssistantMessage(calls=(call,))
            planned = type(good.calls[0])(call=call, tool="\ud800", tool_hash="", args="{}", digest="d")
            return LlmStep(message=message, calls=(planned,), usage=good.usage, model="m")
        return llm_step("better")

    handler = Scripted(work)
    consumer = consumer_of(world, handler, logs)
    async with running(consumer):
        await handler.wait_for(1)
        await until(world, "SELECT count(*) AS n FROM job WHERE state = 'ready' AND queue = 'llm'", 1)
        world.clock.move(600_000)
        consumer.signal.set()
        await handler.wait_for(2)

    assert world.state("turn") == ["ended"]
    assert "UnicodeEncodeError" in read_log(tmp_path / "logs", "error")
    world.check()


async def test_store_trouble_at_a_claim_and_at_a_commit_is_survived(world: World, logs: Logs) -> None:
    await world.submit("hi")
    claiming = FailingStore(world.store, "claim", 1)
    committing = FailingStore(claiming, "finish_llm_step", 1)
    handler = Scripted(reply)
    async with running(consumer_of(world, handler, logs, store=committing)):
        await handler.wait_for(1)
        await until(world, "SELECT count(*) AS n FROM turn WHERE state = 'ended'", 1)

    assert (claiming.left, committing.left, len(handler.seen)) == (0, 0, 1)


async def test_a_cancelled_consumer_gives_its_jobs_back_without_counting_the_attempt(world: World, logs: Logs) -> None:
    await world.submit("hi")

    async def work(_: Job) -> Outcome:
        await asyncio.Event().wait()
        return Settled()

    handler = Scripted(work)
    consumer = consumer_of(world, handler, logs)
    async with asyncio.timeout(BOUND), asyncio.TaskGroup() as group:
        task = group.create_task(consumer.run(asyncio.Event()))
        await handler.wait_for(1)
        task.cancel()

    assert world.one("SELECT state, attempts, lease_token FROM job WHERE queue = 'llm'") == {
        "state": "ready",
        "attempts": 0,
        "lease_token": None,
    }


async def test_a_consumer_cancelled_while_it_claims_gives_back_what_it_got(world: World, logs: Logs) -> None:
    await world.submit("hi")

    async def work(_: Job) -> Outcome:
        raise AssertionError("nothing is worked on")

    for waits in range(8):
        consumer = consumer_of(world, Scripted(work), logs)
        async with asyncio.timeout(BOUND), asyncio.TaskGroup() as group:
            task = group.create_task(consumer.run(asyncio.Event()))
            for _ in range(waits):
                await asyncio.sleep(0)
            task.cancel()
        assert world.one("SELECT state, attempts FROM job WHERE queue = 'llm'") == {"state": "ready", "attempts": 0}


async def test_a_stopped_consumer_finishes_what_is_in_flight_and_takes_no_more(world: World, logs: Logs) -> None:
    for number in range(3):
        await world.submit(channel=f"c{number}")
    gate = asyncio.Event()

    async def work(_: Job) -> Outcome:
        await gate.wait()
        return llm_step()

    handler = Scripted(work)
    consumer = consumer_of(world, handler, logs)
    async with running(consumer) as stop:
        await handler.wait_for(1)
        stop.set()
        gate.set()

    assert len(handler.seen) == 1
    assert sorted(world.state("turn")) == ["ended", "llm", "llm"]


async def test_a_job_whose_turn_was_stopped_is_left_and_the_next_one_is_taken(world: World, logs: Logs) -> None:
    first = await world.submit("one")
    second = await world.submit("two")
    left: list[str] = []

    async def work(job: Job) -> Outcome:
        if job.owner_id == second.turn_id:
            return llm_step("two it is")
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        left.append(job.owner_id)
        raise asyncio.CancelledError

    handler = Scripted(work)
    consumer = consumer_of(world, handler, logs)
    async with running(consumer):
        await handler.wait_for(1)
        await world.run(cancel_turn(world.terms, first.turn_id))
        consumer.interrupt(first.turn_id)
        await handler.wait_for(2)

    assert left == [first.turn_id]
    reasons = [row["reason"] for row in world.look("SELECT reason FROM turn ORDER BY seq")]
    assert reasons == ["cancelled", "reply"]
    world.check()


async def test_a_run_that_ended_and_one_that_is_dead_are_stored(world: World, logs: Logs) -> None:
    await world.submit("hi")
    await world.answer(await world.claim(Queue.LLM), calls=2)

    async def work(_: Job) -> Outcome:
        if len(handler.seen) == 1:
            return RunEnded(result=Result(content="22 °C"))
        return Dead(reason=TurnReason.DEAD, error="broken for good")

    handler = Scripted(work)
    async with running(consumer_of(world, handler, logs, queue=Queue.TOOL)):
        await handler.wait_for(2)

    codes = [row["code"] for row in world.look("SELECT code FROM run ORDER BY pos")]
    assert sorted(codes) == ["killed", "ok"]
    assert world.state("turn") == ["llm"]
