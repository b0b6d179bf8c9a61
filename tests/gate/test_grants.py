"""Grants: what a yes for longer covers, what is looked at once more, and who makes one."""

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from ias.domain.approvals import Safety, Scope, StepKind, Verdict
from ias.domain.tools import CallContext, Permission, Risk, ToolFacts
from ias.errors import Code, PermissionDeniedError
from ias.gate import Gate
from ias.permissions import PermissionChecker
from ias.policy import Level
from ias.store.progress import Parked
from ias.store.transactions.approvals import decide_approval, revoke_rule
from tests.gate.asks import CONTEXT, FACTS, GET, POST, gate_of, rule, settings
from tests.store.world import World

ROOT = Path(__file__).parents[2]


async def approved(world: World, gate: Gate, scope: Scope) -> CallContext:
    """Let a person allow POST for longer than once; gives the context of that conversation."""
    job, _ = await world.begin_run()
    run = world.one("SELECT id, conversation_id FROM run")
    world.look("UPDATE run SET tool = 'orders', tool_hash = :hash", {"hash": FACTS.sha256})
    context = replace(CONTEXT, conversation_id=run["conversation_id"], call_id=run["id"])
    judgement = await gate.judge((POST,), FACTS, context)
    parked = await world.ask(job, judgement.requests[0], verdict=judgement.verdict)
    assert isinstance(parked, Parked)
    await world.run(decide_approval(world.terms, ref=f"A{parked.num}", approve=True, scope=scope, by="ann", via="cli"))
    return context


@pytest.mark.parametrize("scope", [Scope.CONVERSATION, Scope.ALWAYS])
async def test_a_yes_for_longer_allows_the_same_request_and_no_variant(world: World, scope: Scope) -> None:
    gate = gate_of(world)
    context = await approved(world, gate, scope)
    again = await gate.judge((replace(POST, body='{"item": 8}'),), FACTS, context)
    elsewhere = await gate.judge((POST,), FACTS, replace(context, conversation_id="c_other"))
    stranger = await gate.judge((POST,), FACTS, replace(context, user_id="bob"))
    changed = await gate.judge((POST,), replace(FACTS, sha256="b" * 64), context)
    variant = await gate.judge((replace(POST, url="https://api.example.com/v1/orders/7"),), FACTS, context)

    assert (again.verdict, again.rule) == (Verdict.ALLOW, "R1")
    assert elsewhere.verdict is (Verdict.ALLOW if scope is Scope.ALWAYS else Verdict.ASK)
    assert [found.verdict for found in (stranger, changed, variant)] == [Verdict.ASK] * 3

    await world.run(revoke_rule("R1", "ann"))
    assert (await gate.judge((POST,), FACTS, context)).verdict is Verdict.ASK


async def test_a_rule_in_a_batch_is_looked_at_again_when_the_step_starts(world: World) -> None:
    gate = gate_of(world)
    context = await approved(world, gate, Scope.ALWAYS)
    rule_id = world.one("SELECT id FROM rule")["id"]
    batch = await gate.judge((GET, POST), FACTS, context)
    assert (batch.verdict, batch.rule_id) == (Verdict.ALLOW, rule_id)


async def test_a_grant_carries_the_stored_bytes_and_the_tools_own_bounds(world: World) -> None:
    gate = gate_of(world)
    request = (await gate.judge((POST,), FACTS, CONTEXT)).requests[0]
    grant = gate.grant(request.kind, request.text, FACTS, granted_by="a_1", safety=request.safety)
    assert (grant.text, grant.digest, grant.granted_by) == (request.text, request.digest, "a_1")
    assert (grant.hosts, grant.secrets, grant.kind, grant.safety) == (
        FACTS.hosts,
        FACTS.secrets,
        StepKind.HTTP,
        Safety.ONCE,
    )


async def test_no_grant_is_given_for_what_is_forbidden_by_now(world: World) -> None:
    request = (await gate_of(world).judge((POST,), FACTS, CONTEXT)).requests[0]
    forbidding: list[tuple[Gate, ToolFacts, str, Code]] = [
        (gate_of(world, rules=(rule(Verdict.FORBID, "no"),)), FACTS, "a_1", Code.PERMISSION_DENIED),
        (gate_of(world, rules=(rule(Verdict.FORBID, "no"),)), FACTS, "u_1", Code.PERMISSION_DENIED),
        (gate_of(world, levels=dict.fromkeys(Risk, Level.FORBID)), FACTS, "a_1", Code.PERMISSION_DENIED),
        (gate_of(world, allowed=(Permission.READ,)), FACTS, "a_1", Code.PERMISSION_DENIED),
        (gate_of(world, secret_hosts={"SHOP_KEY": ()}), FACTS, "a_1", Code.SECRET_NOT_ALLOWED),
        (gate_of(world), replace(FACTS, secrets=()), "a_1", Code.SECRET_NOT_ALLOWED),
        (gate_of(world), replace(FACTS, hosts=("other.example",)), "a_1", Code.HOST_NOT_ALLOWED),
    ]
    for gate, facts, granted_by, code in forbidding:
        with pytest.raises(PermissionDeniedError) as caught:
            gate.grant(request.kind, request.text, facts, granted_by=granted_by, safety=request.safety)
        assert caught.value.code is code


async def test_a_standing_rule_grants_what_the_level_alone_would_forbid(world: World) -> None:
    gate = gate_of(world, levels=dict.fromkeys(Risk, Level.FORBID))
    request = (await gate.judge((POST,), FACTS, CONTEXT)).requests[0]
    assert gate.grant(request.kind, request.text, FACTS, granted_by="u_1", safety=Safety.ONCE).text == request.text


def test_settings_have_no_secret_and_no_rule_by_default() -> None:
    usual = settings()
    assert (usual.rules, usual.reroute, usual.idempotency) == ((), {}, {})
    assert PermissionChecker().config.allowed == (Permission.READ, Permission.NETWORK)


def test_only_the_gate_makes_grants_and_judgements() -> None:
    makers: dict[str, set[str]] = {}
    for file in sorted((ROOT / "ias").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            name = node.func if isinstance(node, ast.Call) else None
            called = name.id if isinstance(name, ast.Name) else name.attr if isinstance(name, ast.Attribute) else ""
            if called in ("Grant", "Judgement"):
                makers.setdefault(called, set()).add(file.relative_to(ROOT).as_posix())
    assert makers == {"Grant": {"ias/gate.py"}, "Judgement": {"ias/gate.py"}}
