"""Calls that belong to no turn."""

import json

import pytest

from ias.domain.approvals import Verdict
from ias.domain.jobs import Queue
from ias.domain.tools import Result
from ias.errors import TooDeepError
from ias.store.base import Terms, Transaction
from ias.store.progress import GateCall
from ias.store.results import Submitted
from ias.store.transactions.approvals import decide_approval
from ias.store.transactions.calls import submit_call
from ias.store.transactions.runs import finish_effect, finish_run
from tests.store.world import World, post


def call(world: World, *, run_id: str | None = None, channel: str = "api") -> Transaction[Submitted]:
    return submit_call(
        world.terms,
        channel=channel,
        address="calls:ann",
        user_id="ann",
        tool="weather_now",
        tool_hash="hash",
        args='{"location":"北京 \ud800"}',
        digest="args-digest",
        wire_id="w1",
        run_id=run_id,
    )


async def test_a_call_without_a_turn_runs_and_keeps_its_result(world: World) -> None:
    stored = await world.run(call(world))
    job, step = await world.resume()
    assert isinstance(step, GateCall)
    assert (step.run.origin, step.run.turn_id, json.loads(step.run.args)) == ("api", None, {"location": "北京 \ud800"})
    await world.run(finish_run(world.terms, job, Result(content="21 °C")))
    assert world.events(stored.conversation_id) == ["ToolExecutionStarted", "ToolExecutionCompleted"]
    assert await world.try_claim(Queue.LLM) is None


async def test_a_call_that_is_submitted_again_is_the_same_call(world: World) -> None:
    submission = call(world, run_id="r_mine")
    first, second = await world.run(submission), await world.run(submission)
    third = await world.run(call(world, run_id="r_mine"))
    assert (first.run_id, second.run_id, third.run_id) == ("r_mine", "r_mine", "r_mine")
    assert [first.is_duplicate, second.is_duplicate, third.is_duplicate] == [False, True, True]
    assert world.state("run") == ["open"]


async def test_too_many_waiting_calls_are_refused(world: World) -> None:
    world.terms = Terms(depth=1)
    await world.run(call(world))
    with pytest.raises(TooDeepError, match="1 calls wait"):
        await world.run(call(world))


async def test_what_concerns_a_call_is_asked_and_told_at_the_operators_place(world: World) -> None:
    await world.run(call(world))
    job, _ = await world.resume()
    await world.ask(job, post(), verdict=Verdict.ASK)
    await world.run(decide_approval(world.terms, ref="A1", approve=False, by="op", via="cli"))
    await world.run(call(world))
    job, _ = await world.resume()
    await world.ask(job, post())
    await world.run(
        finish_effect(world.terms, job, run_id=job.owner_id, no=1, item=0, outcome="unknown", response="{}")
    )
    rows = world.look("SELECT kind, channel, address FROM delivery ORDER BY seq")
    assert [tuple(row.values()) for row in rows] == [
        ("approval", "operator", "operator"),
        ("notice", "operator", "operator"),
    ]
