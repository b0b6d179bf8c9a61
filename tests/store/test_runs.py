"""Runs: resumed, stepped, finished, cut off."""

import json
from typing import Any

import pytest

from ias.domain.approvals import Verdict
from ias.domain.jobs import Queue
from ias.domain.tools import Result
from ias.errors import Code
from ias.store import words
from ias.store.base import LOST
from ias.store.progress import Consume, Ended, GateCall, More, Send, Spawn
from ias.store.transactions.approvals import decide_approval
from ias.store.transactions.queue import claim, recover_at_start
from ias.store.transactions.runs import consume_approval, finish_effect, finish_run, resume_run
from tests.store.world import World, db, get, post, start


async def cut_off(world: World) -> None:
    """Let the process die and start again."""
    await world.run(recover_at_start())


async def test_a_run_that_asked_nothing_yet_is_gated_and_that_again_after_a_crash(world: World) -> None:
    _, first = await world.begin_run()
    await cut_off(world)
    _, again = await world.resume()
    assert isinstance(first, GateCall)
    assert again == first
    assert (first.run.args, first.run.origin, first.run.user_id) == ('{"location":"\\u5317\\u4eac"}', "chat", "ann")


async def test_an_allowed_request_is_sent_and_its_answer_spawns_the_tool(world: World) -> None:
    job, _ = await world.begin_run()
    asking = world.asking(job, post())
    send, again = await world.run(asking), await world.run(asking)
    assert isinstance(send, Send)
    assert [step.request for step in send.steps] == [post().text]
    assert again == send, "my own `sending` means: not sent yet"
    spawn = await world.finish_all(job, send)
    assert isinstance(spawn, Spawn)
    assert (spawn.run.no, spawn.run.used_ms, json.loads(spawn.run.tool_state or "")) == (1, 7, {"state": "é"})
    assert [(step.state, step.response, step.granted_by) for step in spawn.steps] == [
        ("done", '{"status":200}', "low: writes")
    ]


async def test_what_was_stored_counts_not_what_the_tool_prints_again(world: World) -> None:
    job, _ = await world.begin_run()
    await world.ask(job, post("/a"))
    send = await world.ask(job, post("/b"))
    assert isinstance(send, Send)
    assert [step.request for step in send.steps] == [post("/a").text]


async def test_a_cut_off_request_that_may_not_be_repeated_ends_the_call_and_is_told(world: World) -> None:
    job, _ = await world.begin_run()
    await world.ask(job, post())
    await cut_off(world)
    late = finish_effect(world.terms, job, run_id=job.owner_id, no=1, item=0, outcome="done", response='{"status":201}')
    _, ended = await world.resume()
    assert ended == Ended(code=Code.OUTCOME_UNKNOWN)
    assert (world.state("step"), world.state("turn")) == (["unknown"], ["llm"])
    result = json.loads(world.one("SELECT result FROM run")["result"])["content"]
    assert result.startswith(f"{words.CUT_OFF}. {words.UNKNOWN_ITEMS}: POST api.example.com/v1/orders (2023-11-")
    assert await world.run(late) == LOST
    assert world.one("SELECT late, response FROM step") == {"late": '{"status":201}', "response": None}


async def test_a_cut_off_request_that_may_be_repeated_is_sent_again(world: World) -> None:
    job, _ = await world.begin_run()
    first = await world.ask(job, get())
    await cut_off(world)
    _, again = await world.resume()
    assert isinstance(again, Send)
    assert isinstance(first, Send)
    assert again.steps == first.steps
    assert world.one("SELECT send_token FROM step")["send_token"] != job.lease_token


async def test_a_failure_after_the_first_byte_is_told_once_and_ends_the_call(world: World) -> None:
    job, _ = await world.begin_run()
    await world.ask(job, post("/a"), post("/b"))
    at: dict[str, Any] = {"run_id": job.owner_id, "no": 1}
    unknown = finish_effect(world.terms, job, **at, item=0, outcome="unknown", response="{}")
    assert [await world.run(unknown), await world.run(unknown)] == [More(), More()]
    last = finish_effect(world.terms, job, **at, item=1, outcome="done", response="{}")
    assert await world.run(last) == Ended(code=Code.OUTCOME_UNKNOWN)
    assert await world.run(last) == LOST
    assert world.one("SELECT count(*) AS n FROM delivery WHERE kind = 'notice'") == {"n": 1}


async def test_answering_counts_the_attempts_anew(world: World) -> None:
    job, _ = await world.begin_run()
    send = await world.ask(job, get())
    await world.finish_all(job, send)
    assert world.one("SELECT attempts FROM job WHERE queue = 'tool'") == {"attempts": 0}


async def test_a_database_request_happens_inside_the_store_exactly_once(world: World) -> None:
    job, _ = await world.begin_run()
    asking = world.asking(job, db("save_memory", body="我对花生过敏"))
    spawn, again = await world.run(asking), await world.run(asking)
    assert isinstance(spawn, Spawn)
    assert again == spawn
    row = json.loads(spawn.steps[0].response or "")["rows"][0]
    assert row["body"] == "我对花生过敏"


async def test_a_database_request_that_is_wrong_is_answered_with_an_error(world: World) -> None:
    job, _ = await world.begin_run()
    spawn = await world.ask(job, db("save_memory", body=""), db("drop_table"))
    assert isinstance(spawn, Spawn)
    assert [json.loads(step.response or "")["error"]["code"] for step in spawn.steps] == [
        "invalid_arguments",
        "db_failed",
    ]


async def test_a_batch_of_both_kinds_waits_for_what_goes_out(world: World) -> None:
    job, _ = await world.begin_run()
    send = await world.ask(job, db("save_memory", body="x"), get())
    assert isinstance(send, Send)
    assert [step.item for step in send.steps] == [1]
    spawn = await world.finish_all(job, send)
    assert isinstance(spawn, Spawn)
    assert len(spawn.steps) == 2


async def test_a_forbidden_request_ends_the_call(world: World) -> None:
    job, _ = await world.begin_run()
    assert await world.ask(job, post(), verdict=Verdict.FORBID) == Ended(code=Code.PERMISSION_DENIED)
    assert world.state("step") == []
    assert json.loads(world.one("SELECT result FROM run")["result"])["content"] == words.FORBIDDEN


async def test_nobody_is_asked_where_nobody_watches(world: World) -> None:
    job, _ = await world.begin_run()
    ended = await world.ask(job, post(), verdict=Verdict.ASK, is_attended=False)
    assert ended == Ended(code=Code.APPROVAL_DENIED)


async def test_a_question_parks_the_run_and_frees_the_worker(world: World) -> None:
    job, _ = await world.begin_run()
    asking = world.asking(job, post("/a"), get("/b"), verdict=Verdict.ASK)
    await world.run(asking)
    assert await world.run(asking) == LOST
    assert (world.state("run"), world.state("step")) == (["parked"], ["prepared", "prepared"])
    approval = world.one("SELECT request, digest, num FROM approval")
    assert json.loads(approval["request"]) == [json.loads(post("/a").text), json.loads(get("/b").text)]
    question = json.loads(world.one("SELECT body FROM delivery WHERE kind = 'approval'")["body"])
    assert question.startswith("A1: weather_now wants to\n- POST api.example.com/a\n")
    assert f"/approve A1 {approval['digest'][:4]}" in question


async def test_the_whole_call_may_be_asked_about_before_its_first_process(world: World) -> None:
    job, _ = await world.begin_run()
    spawn = await world.ask(job, start(), no=0)
    assert isinstance(spawn, Spawn)
    await cut_off(world)
    _, again = await world.resume()
    assert again == spawn


async def test_an_approval_is_consumed_with_the_commit_of_sending(world: World) -> None:
    _, ref = await world.park()
    await world.run(decide_approval(world.terms, ref=ref, approve=True, by="ann", via="cli"))
    job, consume = await world.resume()
    assert isinstance(consume, Consume)
    using = consume_approval(world.terms, job, run_id=job.owner_id, no=1)
    send, again = await world.run(using), await world.run(using)
    assert isinstance(send, Send)
    assert again == send
    assert world.state("approval") == ["consumed"]
    assert send.steps[0].granted_by == world.one("SELECT id FROM approval")["id"]


async def test_a_result_ends_the_run_once(world: World) -> None:
    job, _ = await world.begin_run()
    finish = finish_run(world.terms, job, Result(content="it is \0 \ud800 warm", data={"t": 21}))
    assert [await world.run(finish), await world.run(finish)] == ["ok", LOST]
    assert json.loads(world.one("SELECT result FROM run")["result"]) == {
        "content": "it is \0 \ud800 warm",
        "data": {"t": 21},
    }


async def test_ending_a_run_settles_what_is_out(world: World) -> None:
    job, _ = await world.begin_run()
    await world.ask(job, post("/a"), get("/b"))
    ended = await world.run(finish_run(world.terms, job, Result(content="given up", code=Code.TIMEOUT)))
    assert ended == Code.OUTCOME_UNKNOWN
    assert world.state("step") == ["unknown", "void"]


@pytest.mark.parametrize("lease_is_taken", [True, False])
async def test_a_worker_that_lost_its_lease_writes_nothing(world: World, lease_is_taken: bool) -> None:
    job, _ = await world.begin_run()
    await cut_off(world)
    if lease_is_taken:
        await world.run(claim(Queue.TOOL, "other", "their-token", 60_000))
    before = world.look("SELECT * FROM step UNION ALL SELECT * FROM step")
    transactions = [
        resume_run(world.terms, job),
        world.asking(job, post()),
        consume_approval(world.terms, job, run_id=job.owner_id, no=1),
        finish_effect(world.terms, job, run_id=job.owner_id, no=1, item=0, outcome="done", response="{}"),
        finish_run(world.terms, job, Result(content="late")),
    ]
    assert [await world.run(transaction) for transaction in transactions] == [LOST] * 5
    assert (world.look("SELECT * FROM step"), world.state("run")) == (before, ["open"])
