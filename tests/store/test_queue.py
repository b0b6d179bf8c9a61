"""Queues: claims, leases, dead letters, recovery."""

import pytest

from ias.domain.jobs import Dead, Delivered, Job, Queue, Sent, TurnReason
from ias.domain.tools import Result
from ias.errors import NotFoundError
from ias.store.base import LOST, MAX_DELAY_MS, Terms
from ias.store.results import Command, CommandKind
from ias.store.transactions.deliveries import finish_delivery, start_delivery
from ias.store.transactions.queue import (
    NEVER_MS,
    Recovered,
    bury,
    claim,
    clamp,
    hand_back,
    heartbeat,
    queue_drop,
    queue_retry,
    recover_at_start,
    retry_job,
    set_cursor,
    sweep,
)
from ias.store.transactions.runs import finish_run
from tests.store.world import START, World, post

DEAD = Dead(reason=TurnReason.PROVIDER_ERROR, error="402", closing="no balance")


async def test_a_claim_counts_the_attempt_and_is_the_same_when_it_runs_again(world: World) -> None:
    await world.submit()
    taking = claim(Queue.LLM, "worker", "token", 60_000)
    first, again = await world.run(taking), await world.run(taking)
    assert isinstance(first, Job)
    assert (again, first.attempts, first.max_attempts) == (first, 1, 5)
    assert await world.try_claim(Queue.LLM) is None


async def test_jobs_are_claimed_in_the_order_in_which_they_became_due(world: World) -> None:
    for channel in ("b", "a", "c"):
        await world.submit(channel=channel)
        world.clock.move(1)
    claimed = [await world.claim(Queue.LLM) for _ in range(3)]
    order = [world.one("SELECT channel FROM conversation WHERE id = :c", c=job.conversation_id) for job in claimed]
    assert [row["channel"] for row in order] == ["b", "a", "c"]


async def test_a_retry_waits_and_keeps_the_count(world: World) -> None:
    await world.submit()
    job = await world.claim(Queue.LLM)
    later = retry_job(job, 30_000, "429 \ud800")
    assert [await world.run(later), await world.run(later)] == ["ready", LOST]
    assert await world.idle(Queue.LLM) == 30_000
    world.clock.move(30_000)
    assert (await world.claim(Queue.LLM)).attempts == 2


async def test_a_retry_waits_ten_minutes_at_most(world: World) -> None:
    await world.submit()
    await world.run(retry_job(await world.claim(Queue.LLM), 86_400_000, "later"))
    assert await world.idle(Queue.LLM) == MAX_DELAY_MS


async def test_an_empty_queue_is_never_due(world: World) -> None:
    assert await world.idle(Queue.SEND) == NEVER_MS


async def test_a_job_given_back_does_not_count_the_attempt(world: World) -> None:
    await world.submit()
    job = await world.claim(Queue.LLM)
    assert [await world.run(hand_back(job)), await world.run(hand_back(job))] == [True, False]
    assert (await world.claim(Queue.LLM)).attempts == 1


async def test_a_dead_llm_job_closes_its_turn_with_words_and_the_next_turn_starts(world: World) -> None:
    sent = await world.submit("one")
    job = await world.claim(Queue.LLM)
    await world.submit("two")
    burial = bury(world.terms, job, DEAD)
    assert [await world.run(burial), await world.run(burial)] == ["dead", LOST]
    assert world.state("turn") == ["ended", "llm"]
    assert world.events(sent.conversation_id) == ["Error", "AssistantTextDelta", "TurnComplete"]
    assert world.one("SELECT body FROM delivery") == {"body": '"no balance"'}


async def test_a_dead_tool_job_answers_its_call(world: World) -> None:
    job, _ = await world.begin_run()
    await world.ask(job, post())
    await world.run(bury(world.terms, job, DEAD))
    assert (world.one("SELECT code FROM run"), world.state("turn")) == ({"code": "outcome_unknown"}, ["llm"])
    assert await world.run(queue_retry(world.terms, job.id)) == "refused"


async def test_a_dead_send_job_ends_its_delivery(world: World) -> None:
    await world.submit()
    await world.answer(await world.claim(Queue.LLM))
    job = await world.claim(Queue.SEND)
    await world.run(bury(world.terms, job, DEAD))
    assert world.state("delivery") == ["failed"]


async def test_a_dead_letter_of_a_turn_is_tried_again_as_a_new_turn_at_the_end(world: World) -> None:
    await world.submit("北京")
    job = await world.claim(Queue.LLM)
    await world.run(bury(world.terms, job, DEAD))
    await world.submit("meanwhile")
    retry = queue_retry(world.terms, job.id)
    assert await world.run(retry) == "again"
    assert world.state("turn") == ["ended", "llm", "queued"]
    with pytest.raises(NotFoundError, match=job.id):
        await world.run(retry)


async def test_a_dead_letter_of_a_closed_conversation_stays(world: World) -> None:
    await world.submit()
    job = await world.claim(Queue.LLM)
    await world.run(bury(world.terms, job, DEAD))
    await world.submit("/new", command=Command(kind=CommandKind.NEW))
    assert await world.run(queue_retry(world.terms, job.id)) == "closed"
    assert world.one("SELECT state FROM job WHERE queue = 'llm'") == {"state": "dead"}


async def test_a_dead_delivery_is_tried_again_at_its_old_place(world: World) -> None:
    for text in ("one", "two"):
        await world.submit()
        await world.answer(await world.claim(Queue.LLM), text)
    job = await world.claim(Queue.SEND)
    await world.run(start_delivery(world.terms, job))
    await world.run(finish_delivery(world.terms, job, Delivered(outcome=Sent.REJECTED)))
    assert await world.run(queue_retry(world.terms, job.id)) == "again"
    rows = world.look("SELECT seq, repeat, body, state FROM delivery ORDER BY seq, repeat")
    assert [tuple(row.values()) for row in rows] == [
        (1, 0, '"one"', "failed"),
        (1, 1, '"one"', "prepared"),
        (2, 0, '"two"', "prepared"),
    ]


async def test_a_dead_letter_can_be_dropped(world: World) -> None:
    await world.submit()
    await world.answer(await world.claim(Queue.LLM))
    job = await world.claim(Queue.SEND)
    await world.run(bury(world.terms, job, DEAD))
    await world.run(queue_drop(job.id))
    assert world.one("SELECT last_error FROM delivery") == {"last_error": "dropped"}
    with pytest.raises(NotFoundError, match=job.id):
        await world.run(queue_drop(job.id))


async def test_a_live_job_is_no_dead_letter(world: World) -> None:
    await world.submit()
    job = await world.claim(Queue.LLM)
    for transaction in (queue_drop(job.id), queue_retry(world.terms, job.id)):
        with pytest.raises(NotFoundError):
            await world.run(transaction)


async def test_a_start_voids_all_leases_and_says_what_it_found(world: World) -> None:
    job, _ = await world.begin_run()
    await world.ask(job, post())
    await world.submit("queued")
    expected = Recovered(
        epoch=1,
        leases=1,
        steps_repeat=0,
        steps_once=1,
        deliveries_repeat=0,
        deliveries_once=0,
        approvals_pending=0,
        approvals_approved=0,
        approvals_expired=0,
        turns_queued=1,
        dead_letters=0,
    )
    assert await world.run(recover_at_start()) == expected
    assert await world.run(finish_run(world.terms, job, Result(content="late"))) == LOST


async def test_a_lease_that_is_renewed_is_not_swept(world: World) -> None:
    await world.submit()
    await world.claim(Queue.LLM)
    world.clock.move(50_000)
    assert await world.run(heartbeat("worker", 60_000)) == 1
    assert await world.run(heartbeat("other", 60_000)) == 0
    world.clock.move(50_000)
    assert await world.run(sweep()) == 0
    world.clock.move(10_000)
    assert [await world.run(sweep()), await world.run(sweep())] == [1, 0]


async def test_a_clock_that_went_back_holds_nothing_longer_than_its_span(world: World) -> None:
    await world.park()
    await world.submit(channel="other")
    await world.run(retry_job(await world.claim(Queue.LLM), 1_000, "later"))
    await world.submit(channel="third")
    await world.claim(Queue.LLM)
    assert await world.run(clamp(world.terms)) == 0
    world.clock.move(-3_600_000)
    assert await world.run(clamp(world.terms)) == 5
    now, terms = START - 3_600_000, Terms()
    assert world.one("SELECT expires_at FROM approval") == {"expires_at": now + terms.approval_timeout_ms}
    assert world.one("SELECT lease_until FROM job WHERE state = 'leased'") == {"lease_until": now + terms.lease_ms}
    assert await world.idle(Queue.LLM) == MAX_DELAY_MS


async def test_a_channels_cursor_is_kept(world: World) -> None:
    assert await world.store.read("cursor", channel="wechat") == []
    for value in ("1", "2"):
        await world.run(set_cursor("wechat", value))
    assert await world.store.read("cursor", channel="wechat") == [{"value": "2"}]
