"""Approvals: decided once, expired, rules left behind."""

import json

import pytest

from ias.domain.approvals import Scope, Verdict
from ias.domain.jobs import Queue
from ias.errors import Code, NotFoundError
from ias.store import words
from ias.store.base import Address, Terms, Transaction
from ias.store.progress import Consume, Ended, Parked, Send
from ias.store.results import Decision
from ias.store.transactions.approvals import decide_approval, due_approvals, expire_approval, revoke_rule
from ias.store.transactions.calls import cancel_run
from ias.store.transactions.queue import recover_at_start
from ias.store.transactions.runs import consume_approval
from ias.store.transactions.turns import cancel_turn
from tests.store.world import World, db, get, post, start

TIMEOUT = Terms().approval_timeout_ms


def yes(world: World, ref: str, *, by: str = "ann", scope: Scope = Scope.ONCE) -> Transaction[Decision]:
    return decide_approval(world.terms, ref=ref, approve=True, by=by, via="cli", scope=scope)


def no(world: World, ref: str, *, by: str = "ann", reason: str | None = None) -> Transaction[Decision]:
    return decide_approval(world.terms, ref=ref, approve=False, by=by, via="cli", reason=reason)


async def test_the_first_answer_wins_and_others_are_told_who_it_was(world: World) -> None:
    _, ref = await world.park()
    assert (await world.run(yes(world, ref))).won
    same, other, denied = (
        await world.run(yes(world, ref)),
        await world.run(yes(world, ref, by="bob")),
        await world.run(no(world, ref)),
    )
    assert [(answer.state, answer.decided_by, answer.won) for answer in (same, other, denied)] == [
        ("approved", "ann", True),
        ("approved", "ann", False),
        ("approved", "ann", False),
    ]


async def test_a_no_ends_the_run_with_its_reason_and_needs_no_worker(world: World) -> None:
    _, ref = await world.park()
    denied = await world.run(no(world, ref, reason="too expensive \0"))
    assert (denied.state, denied.won, denied.approval["reason"]) == ("denied", True, "too expensive \ufffd")
    assert (world.state("turn"), world.state("step")) == (["llm"], ["void"])
    content = json.loads(world.one("SELECT result FROM run")["result"])["content"]
    assert content == words.denied("too expensive \0")


async def test_an_approval_is_named_by_number_or_id_and_bound_to_its_digest(world: World) -> None:
    _, ref = await world.park()
    row = world.one("SELECT id, digest FROM approval")
    for wrong in ("A2", "R1", "a_none", "x"):
        with pytest.raises(NotFoundError, match="there is no approval"):
            await world.run(yes(world, wrong))
    for digest in ("0000", row["digest"][:3], ""):
        wrong_bytes = decide_approval(world.terms, ref=ref, approve=True, by="ann", via="chat", digest=digest)
        with pytest.raises(NotFoundError, match="A1 is not about"):
            await world.run(wrong_bytes)
    by_id = decide_approval(world.terms, ref=row["id"], approve=True, by="ann", via="chat", digest=row["digest"][:4])
    assert (await world.run(by_id)).won


async def test_a_yes_in_the_last_second_is_usable_for_the_whole_timeout(world: World) -> None:
    _, ref = await world.park()
    world.clock.move(TIMEOUT - 1)
    await world.run(yes(world, ref))
    world.clock.move(TIMEOUT - 1)
    job, consume = await world.resume()
    assert isinstance(consume, Consume)
    assert isinstance(await world.run(consume_approval(world.terms, job, run_id=job.owner_id, no=1)), Send)


async def test_a_yes_that_is_used_too_late_sends_nothing(world: World) -> None:
    _, ref = await world.park()
    await world.run(yes(world, ref))
    world.clock.move(TIMEOUT)
    job, _ = await world.resume()
    ended = await world.run(consume_approval(world.terms, job, run_id=job.owner_id, no=1))
    assert ended == Ended(code=Code.APPROVAL_EXPIRED)
    assert (world.state("approval"), world.state("step")) == (["expired"], ["void"])


async def test_an_answer_after_the_expiry_comes_too_late(world: World) -> None:
    _, ref = await world.park()
    world.clock.move(TIMEOUT)
    late = await world.run(yes(world, ref))
    assert (late.state, late.decided_by, late.won) == ("expired", None, False)
    assert world.one("SELECT code FROM run") == {"code": Code.APPROVAL_EXPIRED}


async def test_questions_nobody_answers_expire_and_the_turn_asks_no_more(world: World) -> None:
    await world.park()
    assert await world.run(due_approvals()) == []
    early = expire_approval(world.terms, world.one("SELECT id FROM approval")["id"])
    assert await world.run(early) == "no"
    world.clock.move(TIMEOUT)
    due = await world.run(due_approvals())
    assert [await world.run(expire_approval(world.terms, row["id"])) for row in due] == ["expired"]
    assert await world.run(early) == "no"

    await world.answer(await world.claim(Queue.LLM), calls=1)
    job, _ = await world.resume()
    assert await world.ask(job, post(), verdict=Verdict.ASK) == Ended(code=Code.APPROVAL_EXPIRED)


async def test_an_answer_lets_the_turn_ask_again(world: World) -> None:
    await world.submit()
    await world.answer(await world.claim(Queue.LLM), calls=2)
    for _ in range(2):
        job, _ = await world.resume()
        await world.ask(job, post(), verdict=Verdict.ASK)
    first, second = world.look("SELECT id FROM approval ORDER BY num")
    world.clock.move(TIMEOUT - 1)
    await world.run(no(world, second["id"]))
    world.clock.move(1)
    await world.run(expire_approval(world.terms, first["id"]))
    assert world.one("SELECT lapsed FROM turn") == {"lapsed": 1}
    await world.answer(await world.claim(Queue.LLM), calls=2)
    assert world.state("turn") == ["tools"]


async def test_the_numbers_of_approvals_are_never_used_again(world: World) -> None:
    _, ref = await world.park()
    await world.run(no(world, ref))
    await world.answer(await world.claim(Queue.LLM), calls=1)
    job, _ = await world.resume()
    parked = await world.ask(job, post(), verdict=Verdict.ASK)
    assert isinstance(parked, Parked)
    assert (ref, parked.num) == ("A1", 2)


@pytest.mark.parametrize("scope", [Scope.CONVERSATION, Scope.ALWAYS])
async def test_a_wider_yes_leaves_a_rule_as_wide_as_each_different_request(world: World, scope: Scope) -> None:
    _, ref = await world.park(post("/a"), get("/b"), get("/b"), db("delete_memory", id="m_1234"))
    decision = await world.run(yes(world, ref, scope=scope))
    again = await world.run(yes(world, ref, scope=scope))
    assert (decision.rules, again.rules) == ((1, 2, 3), ())
    conversation_id = world.one("SELECT id FROM conversation")["id"]
    found = await world.store.read(
        "rules_for_tool", tool="weather_now", tool_hash="hash", conversation_id=conversation_id, user_id="ann"
    )
    assert [(row["method"], row["host"], row["path"]) for row in found] == [
        ("POST", "api.example.com", "/a"),
        ("GET", "api.example.com", "/b"),
        ("delete_memory", "", ""),
    ]
    elsewhere = await world.store.read(
        "rules_for_tool", tool="weather_now", tool_hash="hash", conversation_id="c_other", user_id="ann"
    )
    assert len(elsewhere) == (3 if scope is Scope.ALWAYS else 0)
    for other in ({"tool_hash": "changed", "user_id": "ann"}, {"tool_hash": "hash", "user_id": "bob"}):
        rows = await world.store.read("rules_for_tool", tool="weather_now", conversation_id=conversation_id, **other)
        assert rows == []


async def test_a_rule_on_a_whole_call_is_about_its_exact_arguments(world: World) -> None:
    job, _ = await world.begin_run()
    await world.ask(job, start(), verdict=Verdict.ASK, no=0)
    await world.run(yes(world, "A1", scope=Scope.ALWAYS))
    assert world.one("SELECT method, path FROM rule") == {"method": "", "path": "args-digest"}


async def test_a_revoked_rule_allows_nothing_even_if_the_gate_still_saw_it(world: World) -> None:
    _, ref = await world.park()
    await world.run(yes(world, ref, scope=Scope.ALWAYS))
    rule = world.one("SELECT id FROM rule")
    revoked, again = await world.run(revoke_rule("R1", "ann")), await world.run(revoke_rule(rule["id"], "bob"))
    assert (revoked["revoked_by"], again["revoked_by"]) == ("ann", "ann")
    with pytest.raises(NotFoundError, match="no standing rule 'A1'"):
        await world.run(revoke_rule("A1", "ann"))

    job, _ = await world.resume()
    send = await world.run(consume_approval(world.terms, job, run_id=job.owner_id, no=1))
    await world.finish_all(job, send)
    assert isinstance(await world.ask(job, post(), no=2, rule_id=rule["id"]), Parked)


async def test_a_standing_rule_grants_a_request(world: World) -> None:
    _, ref = await world.park()
    await world.run(yes(world, ref, scope=Scope.ALWAYS))
    rule = world.one("SELECT id FROM rule")["id"]
    job, _ = await world.resume()
    await world.finish_all(job, await world.run(consume_approval(world.terms, job, run_id=job.owner_id, no=1)))
    send = await world.ask(job, post(), no=2, rule_id=rule)
    assert isinstance(send, Send)
    assert world.one("SELECT granted_by FROM step WHERE no = 2") == {"granted_by": rule}


@pytest.mark.parametrize("state", ["pending", "approved"])
async def test_cancelling_ends_the_question_and_sends_nothing(world: World, state: str) -> None:
    _, ref = await world.park()
    if state == "approved":
        await world.run(yes(world, ref))
    await world.run(cancel_turn(world.terms, world.one("SELECT id FROM turn")["id"]))
    assert (world.state("approval"), world.state("step")) == (["cancelled"], ["void"])
    assert world.look("SELECT id FROM job WHERE queue = 'tool'") == []
    assert (await world.run(yes(world, ref, by="bob"))).won is False


async def test_cancelling_one_run_lets_its_turn_go_on(world: World) -> None:
    await world.park()
    run_id = world.one("SELECT id FROM run")["id"]
    assert await world.run(cancel_run(world.terms, run_id)) == "cancelled"
    assert await world.run(cancel_run(world.terms, run_id)) == "already ended"
    assert world.state("turn") == ["llm"]
    with pytest.raises(NotFoundError, match="r_none"):
        await world.run(cancel_run(world.terms, "r_none"))


async def test_a_question_survives_a_restart(world: World) -> None:
    _, ref = await world.park()
    recovered = await world.run(recover_at_start())
    assert (recovered.approvals_pending, recovered.leases) == (1, 0)
    await world.run(yes(world, ref))
    _, consume = await world.resume()
    assert isinstance(consume, Consume)


async def test_each_approver_is_asked(world: World) -> None:
    world.terms = Terms(approvers=(Address(channel="tg", address="1"), Address(channel="tg", address="2")))
    await world.park()
    asked = world.look("SELECT address FROM delivery WHERE kind = 'approval' ORDER BY seq")
    assert [row["address"] for row in asked] == ["1", "2"]
