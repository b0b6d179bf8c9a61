"""Calls from their first process to their result, with real programs, requests and rows."""

import asyncio
import json
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ias.domain.approvals import Scope, Verdict
from ias.domain.messages import JsonObject, JsonValue
from ias.domain.tools import Limits, Permission, Risk, ToolFacts, ToolType
from ias.errors import Code, ToolError
from ias.store import words
from ias.store.transactions.approvals import expire_approval
from tests.consumers.logbook import logs_in, read_log
from tests.consumers.stores import FailingStore
from tests.consumers.workshop import GET, GET_KEY, HOST, POST, PUT_KEY, Steps, Workshop, workshop_in
from tests.gate.asks import rule
from tests.loopback import Loopback, Reply
from tests.registry.tools import PythonTool, echo
from tests.store.world import World

RESULT: JsonObject = {"type": "result", "content": "22 °C", "data": {"t": 22}}


@pytest.fixture
async def shop(world: World, tmp_path: Path) -> AsyncGenerator[Workshop]:
    with logs_in(tmp_path / "logs") as logs:
        async with workshop_in(world, tmp_path, logs) as found:
            yield found


def answers(body: bytes = b'{"orders": []}', status: int = 200) -> Loopback:
    return Loopback({(HOST, "/orders"): Reply(body=body, status=status)})


async def test_a_call_of_one_step_ends_with_its_result(shop: Workshop) -> None:
    run_id = await shop.call([RESULT])
    await shop.work(run_id)
    assert shop.told(run_id) == ("ok", {"content": "22 °C", "data": {"t": 22}})
    assert shop.steps() == []


async def test_a_request_is_answered_in_the_next_step(shop: Workshop) -> None:
    run_id = await shop.call([GET, "echo"])
    with answers() as service:
        shop.reroute(service)
        await shop.work(run_id)
    code, result = shop.told(run_id)
    response = result["data"].pop("response")
    assert code == "ok"
    assert result["data"] == {
        "approved": True,
        "user_id": "ann",
        "call_id": run_id,
        "step": 1,
        "secrets": ["SHOP_KEY"],
        "state": {"page": 1},
    }
    assert (response["status"], response["body"]) == (200, '{"orders": []}')
    assert shop.steps() == [
        {"no": 1, "item": 0, "kind": "http", "state": "done", "granted_by": "approvals.low: writes"}
    ]


async def test_a_batch_is_answered_in_its_order_at_once(shop: Workshop) -> None:
    get = {name: value for name, value in GET.items() if name != "state"}
    run_id = await shop.call([{"type": "batch", "requests": [GET_KEY, get, PUT_KEY], "state": 7}, "echo"])
    with answers() as service:
        shop.reroute(service)
        await shop.work(run_id)
    code, result = shop.told(run_id)
    assert (code, result["content"]) == ("ok", "done")
    first, second, third = result["data"]["responses"]
    assert (first, second["status"], third) == ({"rows": []}, 200, {"changed": 1})
    assert (result["data"]["state"], result["data"]["step"]) == (7, 1)
    assert [step["kind"] for step in shop.steps()] == ["db", "http", "db"]


async def test_a_database_operation_is_carried_out_within_the_store(shop: Workshop) -> None:
    run_id = await shop.call([PUT_KEY, GET_KEY, "echo"])
    await shop.work(run_id)
    _, result = shop.told(run_id)
    assert [row["value"] for row in result["data"]["db_response"]["rows"]] == ["yes"]
    assert shop.world.one("SELECT user_id, space, key FROM kv") == {"user_id": "ann", "space": "player", "key": "seen"}


async def test_an_approved_request_is_sent_once_with_its_secret_and_nothing_is_sent_before(shop: Workshop) -> None:
    run_id = await shop.call([POST, "echo"])
    with answers(b"thanks for s3cr3t") as service:
        shop.reroute(service)
        run = await shop.work(run_id)
        assert (run["state"], service.seen) == ("parked", [])
        await shop.decide(approve=True)
        await shop.work(run_id)
        seen = [(request.method, request.path, request.body, request.headers["x-key"]) for request in service.seen]
    assert seen == [("POST", "/orders", b"item=7", "s3cr3t")]
    code, result = shop.told(run_id)
    assert code == "ok"
    assert "s3cr3t" not in json.dumps(result)
    approval = shop.world.one("SELECT id, state, request FROM approval")
    assert approval["state"] == "consumed"
    assert "s3cr3t" not in approval["request"]
    assert [step["granted_by"] for step in shop.steps()] == [approval["id"]]


async def test_a_yes_for_always_lets_the_next_call_pass_unasked(shop: Workshop) -> None:
    first = await shop.call([POST, RESULT])
    with answers() as service:
        shop.reroute(service)
        await shop.work(first)
        await shop.decide(approve=True, scope=Scope.ALWAYS)
        await shop.work(first)
        second = await shop.call([{**POST, "body": "item=8"}, RESULT])
        run = await shop.work(second)
        assert (run["state"], len(service.seen)) == ("done", 2)


async def test_a_denial_ends_the_call_with_its_reason_and_sends_nothing(shop: Workshop) -> None:
    run_id = await shop.call([POST, RESULT])
    with answers() as service:
        shop.reroute(service)
        await shop.work(run_id)
        await shop.decide(approve=False)
        await shop.work(run_id)
        assert service.seen == []
    assert shop.told(run_id) == ("approval_denied", {"content": words.DENIED, "data": None})


async def test_an_expired_question_ends_the_call_also_after_a_yes_that_came_in_time(shop: Workshop) -> None:
    asked = await shop.call([POST, RESULT])
    await shop.work(asked)
    shop.world.clock.move(shop.world.terms.approval_timeout_ms)
    waiting = shop.world.one("SELECT id FROM approval")
    assert await shop.world.run(expire_approval(shop.world.terms, waiting["id"])) == "expired"
    assert shop.told(asked) == ("approval_expired", {"content": words.EXPIRED, "data": None})

    unused = await shop.call([POST, RESULT])
    await shop.work(unused)
    await shop.decide(approve=True)
    shop.world.clock.move(shop.world.terms.approval_timeout_ms)
    with answers() as service:
        shop.reroute(service)
        await shop.work(unused)
        assert service.seen == []
    assert shop.told(unused) == ("approval_expired", {"content": words.NOT_USED, "data": None})


async def test_a_forbidden_host_ends_the_call(shop: Workshop) -> None:
    run_id = await shop.call([{**GET, "url": "https://evil.example/"}, RESULT])
    await shop.work(run_id)
    code, result = shop.told(run_id)
    assert code == "host_not_allowed"
    assert result["content"] == f"player may not send to 'evil.example'; its spec names: {HOST}"


async def test_what_became_forbidden_while_a_person_thought_is_not_sent(shop: Workshop) -> None:
    run_id = await shop.call([POST, RESULT])
    with answers() as service:
        shop.reroute(service)
        await shop.work(run_id)
        await shop.decide(approve=True)
        shop.gate = replace(shop.gate, rules=(rule(Verdict.FORBID, "config.yaml:3", host=HOST),))
        await shop.work(run_id)
        assert service.seen == []
    assert shop.told(run_id) == ("permission_denied", {"content": "forbidden by config.yaml:3", "data": None})
    assert shop.world.state("approval") == ["cancelled"]


async def test_a_call_from_an_origin_that_nobody_watches_is_not_asked_about(shop: Workshop) -> None:
    run_id = await shop.call([POST, RESULT], channel="schedule")
    await shop.work(run_id)
    assert shop.told(run_id) == ("approval_denied", {"content": words.UNATTENDED, "data": None})
    assert shop.world.state("approval") == []


async def test_a_call_has_so_many_steps_and_no_more(shop: Workshop) -> None:
    run_id = await shop.call([GET_KEY] * 9)
    await shop.work(run_id)
    assert shop.told(run_id) == (
        "too_many_steps",
        {"content": "the tool was not done after 4 steps", "data": None},
    )
    assert [step["no"] for step in shop.steps()] == [1, 2, 3, 4]


async def test_the_time_of_a_call_runs_over_all_of_its_steps_and_workers(shop: Workshop) -> None:
    shop.put_player(timeout=10.0, limits=Limits(max_steps=8))
    script = [PUT_KEY, POST, GET_KEY, GET_KEY, RESULT]
    run_id = await shop.call(script)
    with answers() as service:
        shop.reroute(service)
        parked = await shop.work(run_id, shop.worker(clock=Steps(3.0)))
        assert (parked["state"], parked["used_ms"]) == ("parked", 6000)
        await shop.decide(approve=True)
        await shop.work(run_id, shop.worker(clock=Steps(3.0)))
    assert shop.told(run_id) == ("timeout", {"content": "the call took longer than 10 s", "data": None})


async def test_a_request_whose_answer_never_came_is_told_and_not_repeated(shop: Workshop) -> None:
    run_id = await shop.call([POST, RESULT])
    shop.http = replace(shop.http, timeout=0.3)
    done = asyncio.Event()
    connections = 0

    async def swallow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await reader.readuntil(b"item=7")
        await done.wait()
        writer.close()

    server = await asyncio.start_server(swallow, "127.0.0.1", 0)
    reroute = {f"https://{HOST}": f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"}
    shop.http, shop.gate = replace(shop.http, reroute=reroute), replace(shop.gate, reroute=reroute)
    await shop.finish(run_id)
    done.set()
    server.close()
    await server.wait_closed()

    code, result = shop.told(run_id)
    assert (code, connections) == ("outcome_unknown", 1)
    assert result["content"].startswith(f"{words.NO_ANSWER}. {words.UNKNOWN_ITEMS}: POST {HOST}/orders")
    assert [step["state"] for step in shop.steps()] == ["unknown"]


async def test_a_request_that_could_not_be_sent_is_told_to_the_tool(shop: Workshop) -> None:
    run_id = await shop.call([GET, "echo"])
    with answers() as service:
        reroute = service.reroute()
    shop.http, shop.gate = replace(shop.http, reroute=reroute), replace(shop.gate, reroute=reroute)
    await shop.work(run_id)
    code, result = shop.told(run_id)
    assert (code, result["data"]["response"]["error"]["code"]) == ("ok", "http_failed")


async def test_a_tool_that_was_removed_or_changed_while_its_run_waited_ends_it(shop: Workshop) -> None:
    removed = await shop.call([POST, RESULT])
    await shop.work(removed)
    await shop.decide(approve=True)
    player = shop.shelf.tools.pop("player")
    await shop.work(removed)
    assert shop.told(removed)[0] == "not_found"

    shop.shelf.tools["player"] = player
    changed = await shop.call([POST, RESULT])
    await shop.work(changed)
    await shop.decide(approve=True)
    shop.put_player(desc="another tool")
    await shop.work(changed)
    assert shop.told(changed)[0] == "not_found"
    assert [step["state"] for step in shop.steps()] == ["void", "void"]


async def test_a_local_tool_above_low_is_asked_about_before_its_program_starts(shop: Workshop) -> None:
    shop.put_player(type=ToolType.LOCAL, risk=Risk.MEDIUM)
    run_id = await shop.call([RESULT])
    run = await shop.work(run_id)
    assert (run["state"], run["no"]) == ("parked", 0)
    approval = shop.world.one("SELECT id, request FROM approval")
    request = json.loads(approval["request"])[0]
    assert (request["kind"], json.loads(request["args"])) == ("start", {"script": [RESULT]})

    await shop.decide(approve=True, scope=Scope.CONVERSATION)
    await shop.work(run_id)
    assert shop.told(run_id)[0] == "ok"
    assert shop.steps() == [{"no": 0, "item": 0, "kind": "start", "state": "done", "granted_by": approval["id"]}]

    again, other = await shop.call([RESULT]), await shop.call([{**RESULT, "content": "other"}])
    await shop.work(other)
    assert (shop.run(again)["state"], shop.run(other)["state"]) == ("done", "parked")


async def test_a_tool_that_a_rule_forbids_is_never_started(shop: Workshop) -> None:
    shop.gate = replace(shop.gate, rules=(rule(Verdict.FORBID, "config.yaml:7", tool="player"),))
    run_id = await shop.call([RESULT])
    await shop.work(run_id)
    assert shop.told(run_id) == ("permission_denied", {"content": "forbidden by config.yaml:7", "data": None})


async def test_a_program_that_fails_is_an_error_of_its_call(shop: Workshop, tmp_path: Path) -> None:
    run_id = await shop.call([])
    await shop.work(run_id)
    assert shop.told(run_id)[0] == "no_output"
    assert "code=no_output" in read_log(tmp_path / "logs", "error")


class Once(PythonTool):
    """A tool of one function with the facts that a test wants."""

    def __init__(self, work: Any, **facts: Any) -> None:
        super().__init__("mine", work)
        self._changes = facts

    @property
    def facts(self) -> ToolFacts:
        return replace(super().facts, **self._changes)


async def test_an_in_process_tool_is_one_journaled_call(shop: Workshop) -> None:
    shop.shelf.tools["mine"] = PythonTool("mine", echo)
    run_id = await shop.call_with({"city": "北京"}, tool="mine")
    await shop.work(run_id)
    assert shop.told(run_id) == ("ok", {"content": '{"city":"北京"}', "data": {"city": "北京"}})
    assert [(step["kind"], step["state"]) for step in shop.steps()] == [("call", "done")]


async def fails(_: JsonObject) -> JsonValue:
    raise ToolError("no such city", code=Code.NOT_FOUND)


async def has_a_bug(_: JsonObject) -> JsonValue:
    raise KeyError("city")


async def gives_no_json(_: JsonObject) -> Any:
    return {"when": object()}


async def gives_nan(_: JsonObject) -> JsonValue:
    return float("nan")


@pytest.mark.parametrize(
    ("work", "code", "part"),
    [
        (fails, "not_found", "no such city"),
        (has_a_bug, "tool_failed", "KeyError"),
        (gives_no_json, "tool_failed", "no JSON"),
        (gives_nan, "tool_failed", "no JSON"),
    ],
)
async def test_an_in_process_tool_that_fails_is_an_error_of_its_call(
    shop: Workshop, work: Any, code: str, part: str
) -> None:
    shop.shelf.tools["mine"] = PythonTool("mine", work)
    run_id = await shop.call_with({}, tool="mine")
    await shop.work(run_id)
    found, result = shop.told(run_id)
    assert found == code
    assert part in result["content"]


async def test_an_in_process_tool_that_takes_too_long_is_cut_off_with_an_unknown_outcome(shop: Workshop) -> None:
    async def sleeps(_: JsonObject) -> JsonValue:
        await asyncio.Event().wait()
        return None

    shop.shelf.tools["mine"] = Once(sleeps, timeout=0.05)
    run_id = await shop.call_with({}, tool="mine")
    await shop.work(run_id)
    assert shop.told(run_id)[0] == "outcome_unknown"


async def test_an_mcp_tool_is_asked_about_once(shop: Workshop) -> None:
    shop.shelf.tools["mine"] = Once(echo, type=ToolType.MCP, risk=Risk.MEDIUM)
    run_id = await shop.call_with({"a": 1}, tool="mine")
    assert (await shop.work(run_id))["state"] == "parked"
    await shop.decide(approve=True)
    await shop.work(run_id)
    assert shop.told(run_id)[0] == "ok"
    assert shop.world.state("approval") == ["consumed"]


async def test_a_declared_permission_that_is_not_granted_ends_the_call(shop: Workshop) -> None:
    shop.shelf.tools["mine"] = PythonTool("mine", echo, permissions=(Permission.SHELL,))
    run_id = await shop.call_with({}, tool="mine")
    await shop.work(run_id)
    assert shop.told(run_id)[0] == "permission_denied"


async def test_an_answer_that_cannot_be_stored_at_once_is_stored_later_and_not_asked_for_again(shop: Workshop) -> None:
    run_id = await shop.call([POST, RESULT])
    with answers() as service:
        shop.reroute(service)
        await shop.work(run_id)
        await shop.decide(approve=True)
        full = FailingStore(shop.world.store, "finish_effect", 1)
        await shop.work(run_id, store=full)
        assert (full.left, len(service.seen)) == (0, 1)
    assert shop.told(run_id)[0] == "ok"
