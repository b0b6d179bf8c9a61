"""Deliveries: lanes, retries, doubt."""

import json

import pytest

from ias.domain.jobs import Delivered, Job, Queue, Retry, Sent
from ias.store import words
from ias.store.base import LOST
from ias.store.transactions.approvals import decide_approval
from ias.store.transactions.deliveries import DeliveryEnded, SendNow, finish_delivery, start_delivery
from ias.store.transactions.queue import recover_at_start
from tests.store.world import World

SENT = Delivered(outcome=Sent.SENT)
UNKNOWN = Delivered(outcome=Sent.UNKNOWN, error="timeout")


async def reply(world: World, *, channel: str = "chat", text: str = "sunny") -> None:
    await world.submit(channel=channel)
    await world.answer(await world.claim(Queue.LLM), text)


async def begin(world: World) -> tuple[Job, SendNow | DeliveryEnded]:
    job = await world.claim(Queue.SEND)
    started = await world.run(start_delivery(world.terms, job))
    assert isinstance(started, SendNow | DeliveryEnded)
    return job, started


def bodies(world: World) -> list[tuple[str, str]]:
    rows = world.look("SELECT body, state FROM delivery ORDER BY seq, repeat")
    return [(json.loads(row["body"]), row["state"]) for row in rows]


async def test_a_delivery_is_sent_once_and_its_lane_goes_on(world: World) -> None:
    await reply(world, text="one")
    await reply(world, text="two")
    job, started = await begin(world)
    again = await world.run(start_delivery(world.terms, job))
    assert isinstance(started, SendNow)
    assert again == started, "my own `sending` means: not sent yet"
    row = started.delivery
    assert (row["body"], row["channel"], row["address"]) == ('"one"', "chat", "ann")
    assert await world.try_claim(Queue.SEND) is None, "the second waits for the first"

    finish = finish_delivery(world.terms, job, SENT)
    assert [await world.run(finish), await world.run(finish)] == ["sent", LOST]
    assert await world.run(start_delivery(world.terms, job)) == LOST
    _, second = await begin(world)
    assert isinstance(second, SendNow)
    assert second.delivery["body"] == '"two"'


async def test_a_retry_keeps_its_place_in_the_lane(world: World) -> None:
    await reply(world, text="one")
    await reply(world, text="two")
    job, _ = await begin(world)
    assert await world.run(finish_delivery(world.terms, job, Retry(delay=5, error="429"))) == "prepared"
    assert await world.try_claim(Queue.SEND) is None
    world.clock.move(5_000)
    _, again = await begin(world)
    assert isinstance(again, SendNow)
    assert again.delivery["body"] == '"one"'


async def test_a_rejected_delivery_is_a_dead_letter_and_the_next_one_goes_on(world: World) -> None:
    await reply(world, text="one")
    await reply(world, text="two")
    job, _ = await begin(world)
    await world.run(finish_delivery(world.terms, job, Delivered(outcome=Sent.REJECTED, error="blocked \0")))
    assert bodies(world) == [("one", "failed"), ("two", "prepared")]
    assert world.one("SELECT last_error FROM job WHERE state = 'dead'") == {"last_error": "blocked \ufffd"}


async def test_a_reply_with_an_unknown_outcome_is_repeated_once_and_marked(world: World) -> None:
    await reply(world)
    job, _ = await begin(world)
    assert await world.run(finish_delivery(world.terms, job, UNKNOWN)) == "unknown"
    assert bodies(world) == [("sunny", "unknown"), ("sunny" + words.MAY_REPEAT.en, "prepared")]
    job, _ = await begin(world)
    await world.run(finish_delivery(world.terms, job, UNKNOWN))
    assert bodies(world)[1][1] == "unknown"
    assert world.state("job") == ["dead"]


async def test_a_delivery_that_was_cut_off_is_not_sent_blindly(world: World) -> None:
    await reply(world)
    await begin(world)
    assert (await world.run(recover_at_start())).deliveries_once == 1
    _, ended = await begin(world)
    assert ended == DeliveryEnded(why="cut off while sending")
    assert bodies(world) == [("sunny", "unknown"), ("sunny" + words.MAY_REPEAT.en, "prepared")]


async def test_a_channel_that_removes_duplicates_is_sent_to_again_with_the_same_key(world: World) -> None:
    await reply(world, channel="web")
    _, first = await begin(world)
    await world.run(recover_at_start())
    _, again = await begin(world)
    assert isinstance(first, SendNow)
    assert isinstance(again, SendNow)
    keys = [(row.delivery["conversation_id"], row.delivery["seq"]) for row in (first, again)]
    assert keys[0] == keys[1]


async def test_a_delivery_that_waited_too_long_is_not_sent(world: World) -> None:
    await reply(world)
    world.clock.move(world.terms.delivery_age_ms)
    _, ended = await begin(world)
    assert ended == DeliveryEnded(why="too old")
    assert world.state("delivery") == ["failed"]


@pytest.mark.parametrize("channel", ["chat", "web"])
async def test_a_question_that_was_decided_is_not_asked(world: World, channel: str) -> None:
    _, ref = await world.park()
    await world.run(decide_approval(world.terms, ref=ref, approve=True, by="ann", via=channel))
    _, ended = await begin(world)
    assert ended == DeliveryEnded(why="no longer needed")
    assert world.look("SELECT id FROM job WHERE queue = 'send'") == []


async def test_somebody_who_cannot_be_reached_does_not_hold_another_lane(world: World) -> None:
    await reply(world, channel="chat")
    await reply(world, channel="web")
    lanes = {(await world.claim(Queue.SEND)).lane for _ in range(2)}
    assert len(lanes) == 2
