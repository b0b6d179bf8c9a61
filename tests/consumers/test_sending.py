"""Deliveries: sent, tried again, given up, and never repeated unmarked where nobody knows."""

import json
from collections.abc import Generator
from pathlib import Path

import pytest

from ias.channels.base import Parcel
from ias.channels.stream import StreamChannel
from ias.consumers.send import SendHandler
from ias.domain.approvals import Safety
from ias.domain.jobs import Delivered, Job, Outcome, Queue, Retry, Sent, Settled
from ias.logs import Logs
from ias.store.base import Terms
from ias.store.transactions.approvals import decide_approval
from ias.store.transactions.deliveries import SendNow, start_delivery
from tests.consumers.crew import Scripted, consumer_of, running, until
from tests.consumers.logbook import logs_in, read_log
from tests.store.world import World


@pytest.fixture
def logs(tmp_path: Path) -> Generator[Logs]:
    with logs_in(tmp_path / "logs") as found:
        yield found


async def to_be_sent(world: World, *, safety: Safety) -> None:
    """Bring a conversation to where its reply is to be delivered."""
    world.terms = Terms(channel_safety={"chat": safety})
    await world.submit("hi", channel="chat")
    await world.answer(await world.claim(Queue.LLM), "hello")


@pytest.mark.parametrize(
    ("safety", "sendings", "states"), [(Safety.REPEAT, 2, ["sent"]), (Safety.ONCE, 2, ["unknown", "sent"])]
)
async def test_a_delivery_whose_channel_broke_is_sent_again_only_where_that_is_safe_or_marked(
    world: World, logs: Logs, safety: Safety, sendings: int, states: list[str]
) -> None:
    await to_be_sent(world, safety=safety)
    bodies: list[str] = []

    async def work(job: Job) -> Outcome:
        begun = await world.store.run(start_delivery(world.terms, job))
        if not isinstance(begun, SendNow):
            return Settled()
        bodies.append(json.loads(begun.delivery["body"]))
        if len(bodies) == 1:
            raise RuntimeError("after the bytes left")
        return Delivered(outcome=Sent.SENT)

    handler = Scripted(work)
    consumer = consumer_of(world, handler, logs, queue=Queue.SEND)
    async with running(consumer):
        await handler.wait_for(1)
        await until(world, "SELECT count(*) AS n FROM job WHERE state = 'ready'", 1)
        world.clock.move(600_000)
        consumer.signal.set()
        await until(world, "SELECT count(*) AS n FROM delivery WHERE state = 'sent'", 1)

    assert len(bodies) == sendings
    assert world.state("delivery") == states
    assert bodies[1] == ("hello" if safety is Safety.REPEAT else "hello (may be a repeat)")
    world.check()


async def test_a_channel_that_refuses_each_time_fails_its_delivery_and_says_why(world: World, logs: Logs) -> None:
    await to_be_sent(world, safety=Safety.ONCE)

    async def work(job: Job) -> Outcome:
        await world.store.run(start_delivery(world.terms, job))
        return Retry(delay=0, error="the service is away")

    handler = Scripted(work)
    async with running(consumer_of(world, handler, logs, queue=Queue.SEND)):
        await until(world, "SELECT count(*) AS n FROM job WHERE state = 'dead'", 1)

    assert [job.attempts for job in handler.seen] == [1, 2, 3, 4, 5]
    delivery = world.one("SELECT state, last_error FROM delivery")
    assert delivery == {"state": "failed", "last_error": "the service is away"}
    world.check()


class Postman:
    """A channel that says of each parcel what a test wants, and keeps what it was given."""

    name = "chat"
    safety = Safety.ONCE

    def __init__(self, *outcomes: Delivered | Retry) -> None:
        self._outcomes = list(outcomes)
        self.parcels: list[Parcel] = []

    async def send(self, parcel: Parcel) -> Delivered | Retry:
        self.parcels.append(parcel)
        return self._outcomes.pop(0)


async def test_a_parcel_has_the_same_key_in_each_try(world: World, logs: Logs, tmp_path: Path) -> None:
    await to_be_sent(world, safety=Safety.ONCE)
    postman = Postman(Retry(delay=0, error="busy"), Delivered(outcome=Sent.SENT))
    handler = Scripted(SendHandler(world.store, {"chat": postman}, world.terms, logs).handle)
    async with running(consumer_of(world, handler, logs, queue=Queue.SEND)):
        await until(world, "SELECT count(*) AS n FROM delivery WHERE state = 'sent'", 1)

    row = world.one("SELECT conversation_id, seq FROM delivery")
    conversation, key = row["conversation_id"], f"{row['conversation_id']}:{row['seq']}"
    parcel = Parcel(conversation_id=conversation, address="ann", kind="reply", text="hello", key=key)
    assert postman.parcels == [parcel] * 2
    assert "busy" in read_log(tmp_path / "logs", "error")
    world.check()


async def test_a_delivery_to_a_channel_that_is_gone_is_a_dead_letter(world: World, logs: Logs) -> None:
    await to_be_sent(world, safety=Safety.ONCE)
    handler = Scripted(SendHandler(world.store, {}, world.terms, logs).handle)
    async with running(consumer_of(world, handler, logs, queue=Queue.SEND)):
        await until(world, "SELECT count(*) AS n FROM job WHERE state = 'dead'", 1)

    assert world.one("SELECT state, last_error FROM delivery") == {
        "state": "failed",
        "last_error": "there is no channel 'chat' in config.yaml",
    }


async def test_a_question_that_was_answered_meanwhile_is_not_delivered(world: World, logs: Logs) -> None:
    world.terms = Terms(channel_safety={"chat": Safety.ONCE})
    _, ref = await world.park()
    await world.run(decide_approval(world.terms, ref=ref, approve=False, by="ann", via="cli"))
    postman = Postman()
    handler = Scripted(SendHandler(world.store, {"chat": postman}, world.terms, logs).handle)
    async with running(consumer_of(world, handler, logs, queue=Queue.SEND)):
        await until(world, "SELECT count(*) AS n FROM job WHERE queue = 'send'", 0)

    assert (postman.parcels, world.state("delivery")) == ([], ["failed"])


async def test_a_stream_has_delivered_by_having_stored() -> None:
    channel = StreamChannel("api")
    parcel = Parcel(conversation_id="c", address="ann", kind="reply", text="hi", key="c:1")
    assert (channel.name, channel.safety) == ("api", Safety.REPEAT)
    assert await channel.send(parcel) == Delivered(outcome=Sent.SENT)
