"""Dropped-in tools in a program that embeds ias: behind the daemon's gate, asking the program's own approver."""

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Generator
from contextlib import aclosing, closing
from pathlib import Path
from typing import Any

import pytest

from ias import (
    ApprovalRequested,
    ApprovalResolved,
    BaseTool,
    CycleConfig,
    Event,
    LlmCycle,
    Permission,
    PermissionChecker,
    PermissionConfig,
    ToolError,
    ToolExecutionCompleted,
    ToolExecutionStarted,
    ToolRegistry,
    load_tools,
)
from ias.cycle.execution import CANCELLED
from ias.cycle.loop import tool_message
from ias.domain.messages import JsonObject, ToolCall, ToolMessage
from ias.errors import Code, StateLockedError
from ias.runtime.http_service import HttpSettings
from tests.cycle.script import Answer, ScriptedModel, call, says
from tests.library.tools import GET, HOST, POST, Weather, kinds, put_player, script
from tests.loopback import Loopback, Reply

ORDERS = (HOST, "/orders")
DONE: JsonObject = {"type": "result", "content": "ordered"}
EMBEDDING = """
import asyncio, os
from ias import LlmCycle, ToolRegistry, load_tools
registry = ToolRegistry()
registry.register_all(load_tools({tools!r}))
cycle = LlmCycle("offline")
async def main():
    answer = await cycle.submit_with_tools({call!r}, registry)
    await cycle.close()
    await cycle.close()
    print(answer.message.text.split()[0], *(name[:10] for name in os.listdir({room!r})))
for _ in range(2):
    asyncio.run(main())
"""


class Approver:
    """Says the same to each request, and keeps what it was asked."""

    def __init__(self, *, says_yes: bool) -> None:
        self.asked: list[ApprovalRequested] = []
        self._says_yes = says_yes

    async def __call__(self, request: ApprovalRequested) -> bool:
        self.asked.append(request)
        return self._says_yes


@pytest.fixture
def shop() -> Generator[Loopback]:
    """Serve the shop that the program asks for."""
    with Loopback({ORDERS: Reply(body=b'{"order": 1}')}) as running:
        yield running


def load(folder: Path, shop: Loopback | None = None, *, kind: str = "http") -> list[BaseTool]:
    return load_tools(
        put_player(folder / "tools", kind=kind),
        secrets={"SHOP_KEY": [HOST]},
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "SHOP_KEY": "s3cr3t"},
        http=HttpSettings(reroute=shop.reroute()) if shop else None,
    )


def registry_of(*tools: BaseTool) -> ToolRegistry:
    registry = ToolRegistry()
    registry.register_all(tools)
    return registry


def plays(*lines: Any, call_id: str = "call_1") -> ToolCall:
    return call("player", script(*lines), call_id=call_id)


def model(*calls: ToolCall) -> ScriptedModel:
    answers: list[Answer] = [says("", *calls), says("bye")]
    return ScriptedModel(*answers)


async def events_of(cycle: LlmCycle, registry: ToolRegistry) -> list[Event]:
    async with asyncio.timeout(20):
        return [event async for event in cycle.submit_stream_with_tools("go", registry)]


def results(cycle: LlmCycle) -> list[str]:
    return [message.text for message in cycle.messages() if isinstance(message, ToolMessage)]


def rows(state: Path, query: str) -> list[Any]:
    with closing(sqlite3.connect(state / "ias.db")) as store:
        return store.execute(query).fetchall()


async def test_a_program_that_asks_to_read_is_answered_without_asking_anybody(tmp_path: Path, shop: Loopback) -> None:
    async with LlmCycle(model(plays(GET, "echo"))) as cycle:
        events = await events_of(cycle, registry_of(*load(tmp_path, shop)))

    (completed,) = [event for event in events if isinstance(event, ToolExecutionCompleted)]
    assert (completed.output, completed.code) == ("done", Code.OK)
    assert [(seen.method, seen.path) for seen in shop.seen] == [("GET", "/orders")]


async def test_a_write_waits_for_the_approver_and_is_sent_as_it_was_shown(tmp_path: Path, shop: Loopback) -> None:
    approver = Approver(says_yes=True)
    async with LlmCycle(model(plays(POST, DONE)), approver=approver) as cycle:
        events = await events_of(cycle, registry_of(*load(tmp_path, shop)))

    assert kinds(events) == [
        "ToolExecutionStarted",
        "TurnComplete",
        "ApprovalRequested",
        "ApprovalResolved",
        "ToolExecutionCompleted",
        "AssistantTextDelta",
        "TurnComplete",
    ]
    started, _, requested, resolved, completed, *_ = events
    assert isinstance(started, ToolExecutionStarted)
    assert isinstance(requested, ApprovalRequested)
    assert isinstance(resolved, ApprovalResolved)
    assert isinstance(completed, ToolExecutionCompleted)
    assert {started.run_id, requested.run_id, completed.run_id} == {started.run_id}
    assert (requested.step, resolved.step, resolved.state) == (1, 1, "approved")
    (shown,) = json.loads(requested.request)
    assert (shown["method"], shown["host"], shown["body"]) == ("POST", HOST, "item=7")
    assert shown["headers"] == [["X-Key", "${SHOP_KEY}"]]
    assert approver.asked[0].digest == requested.digest
    assert [(seen.method, seen.body, seen.headers["x-key"]) for seen in shop.seen] == [("POST", b"item=7", "s3cr3t")]
    assert results(cycle) == ["ordered"]


async def test_a_no_ends_the_call_and_nothing_is_sent(tmp_path: Path, shop: Loopback) -> None:
    async with LlmCycle(model(plays(POST, DONE)), approver=Approver(says_yes=False)) as cycle:
        events = await events_of(cycle, registry_of(*load(tmp_path, shop)))

    assert [event.code for event in events if isinstance(event, ToolExecutionCompleted)] == [Code.APPROVAL_DENIED]
    assert shop.seen == []


async def test_without_an_approver_the_answer_is_no_and_says_why(tmp_path: Path, shop: Loopback) -> None:
    async with LlmCycle(model(plays(POST, DONE))) as cycle:
        await cycle.submit_with_tools("go", registry_of(*load(tmp_path, shop)))

    assert "approval_denied" in results(cycle)[0]
    assert "the LlmCycle has no approver" in results(cycle)[0]
    assert shop.seen == []


async def test_an_approver_that_does_not_answer_in_time_says_no(tmp_path: Path, shop: Loopback) -> None:
    async def silent(_: ApprovalRequested) -> bool:
        return await asyncio.Event().wait()

    config = CycleConfig(approval_timeout=0.05)
    async with LlmCycle(model(plays(POST, DONE)), config, approver=silent) as cycle:
        events = await events_of(cycle, registry_of(*load(tmp_path, shop)))

    (completed,) = [event for event in events if isinstance(event, ToolExecutionCompleted)]
    assert completed.code in (Code.APPROVAL_EXPIRED, Code.APPROVAL_DENIED)
    assert shop.seen == []


async def test_what_the_approver_raises_comes_out_and_the_trace_stays_whole(tmp_path: Path, shop: Loopback) -> None:
    async def broken(_: ApprovalRequested) -> bool:
        raise ZeroDivisionError

    async with LlmCycle(model(plays(POST, DONE)), approver=broken) as cycle:
        with pytest.raises(ZeroDivisionError):
            await cycle.submit_with_tools("go", registry_of(*load(tmp_path, shop)))

    assert results(cycle) == [tool_message(call(), CANCELLED).text]
    assert shop.seen == []


async def test_a_call_that_waits_for_the_approver_holds_up_no_other(tmp_path: Path, shop: Loopback) -> None:
    is_other_done = asyncio.Event()

    async def approver(_: ApprovalRequested) -> bool:
        return await is_other_done.wait()

    registry = registry_of(Weather(), *load(tmp_path, shop))
    calls = (
        plays(POST, DONE, call_id="a"),
        call("get_weather", '{"city": "北京"}', call_id="b"),
        plays(GET, "echo", call_id="c"),
    )
    completed: list[str] = []
    async with LlmCycle(model(*calls), approver=approver) as cycle, asyncio.timeout(20):
        async for event in cycle.submit_stream_with_tools("go", registry):
            if isinstance(event, ToolExecutionCompleted):
                completed.append(event.call_id)
            if len(completed) == 2:
                is_other_done.set()

    assert (sorted(completed[:2]), completed[2]) == (["b", "c"], "a")
    assert results(cycle) == ["ordered", '{"city":"北京","temp":22}', "done"]


async def test_a_stream_left_while_a_person_is_asked_stops_the_call(tmp_path: Path, shop: Loopback) -> None:
    was_stopped = asyncio.Event()

    async def approver(_: ApprovalRequested) -> bool:
        try:
            return await asyncio.Event().wait()
        finally:
            was_stopped.set()

    registry = registry_of(*load(tmp_path, shop))
    config = CycleConfig(state=tmp_path / "state")
    async with LlmCycle(model(plays(POST, DONE)), config, approver=approver) as cycle:
        async with asyncio.timeout(20), aclosing(cycle.submit_stream_with_tools("go", registry)) as events:
            async for event in events:
                if isinstance(event, ApprovalRequested):
                    break
        assert was_stopped.is_set()
        assert results(cycle) == [tool_message(call(), CANCELLED).text]
    assert rows(tmp_path / "state", "SELECT state, code FROM run") == [("done", "cancelled")]
    assert rows(tmp_path / "state", "SELECT state FROM approval") == [("cancelled",)]


async def test_what_a_program_asks_for_needs_the_registrys_permission_whatever_its_spec_declares(
    tmp_path: Path,
) -> None:
    put: JsonObject = {"type": "db", "operation": "kv_put", "params": {"key": "seen", "value": "yes"}}
    registry = registry_of(*load(tmp_path, kind="db"))  # declares read
    registry.with_permission_checker(PermissionChecker(PermissionConfig(allowed=(Permission.READ,))))
    async with LlmCycle(model(plays(put, DONE)), approver=Approver(says_yes=True)) as cycle:
        await cycle.submit_with_tools("go", registry)

    assert "permission_denied" in results(cycle)[0]


async def test_the_registrys_permissions_hold_for_what_a_program_asks_for(tmp_path: Path, shop: Loopback) -> None:
    config = PermissionConfig(allowed=(Permission.READ,), denied=(Permission.NETWORK,))
    registry = registry_of(*load(tmp_path, shop)).with_permission_checker(PermissionChecker(config))
    async with LlmCycle(model(plays(GET, "echo")), approver=Approver(says_yes=True)) as cycle:
        await cycle.submit_with_tools("go", registry)

    assert "permission_denied" in results(cycle)[0]
    assert shop.seen == []


async def test_a_host_that_the_spec_does_not_name_is_refused_unasked(tmp_path: Path, shop: Loopback) -> None:
    approver = Approver(says_yes=True)
    elsewhere = {"type": "http", "method": "GET", "url": "https://elsewhere.example.com/"}
    async with LlmCycle(model(plays(elsewhere, DONE)), approver=approver) as cycle:
        await cycle.submit_with_tools("go", registry_of(*load(tmp_path, shop)))

    assert "host_not_allowed" in results(cycle)[0]
    assert approver.asked == []


async def test_what_tools_remember_is_kept_where_the_cycle_has_a_state_folder(tmp_path: Path) -> None:
    put = {"type": "db", "operation": "kv_put", "params": {"key": "seen", "value": "yes"}}
    get = {"type": "db", "operation": "kv_get", "params": {"key": "seen"}}
    show = {"type": "result", "content": "shown"}
    registry = registry_of(*load(tmp_path, kind="db"))
    config = CycleConfig(state=tmp_path / "state")
    async with LlmCycle(model(plays(put, show)), config) as cycle:
        await cycle.submit_with_tools("go", registry)
    async with LlmCycle(model(plays(get, show)), config) as cycle:
        await cycle.submit_with_tools("go", registry)

    runs = rows(tmp_path / "state", "SELECT state, code FROM run")
    steps = rows(tmp_path / "state", "SELECT state, response FROM step ORDER BY rowid")
    assert runs == [("done", "ok"), ("done", "ok")]
    assert [state for state, _ in steps] == ["done", "done"]
    assert json.loads(steps[1][1])["rows"][0]["value"] == "yes"


async def test_a_state_folder_in_use_is_told_to_the_program(tmp_path: Path, shop: Loopback) -> None:
    config = CycleConfig(state=tmp_path / "state")
    registry = registry_of(*load(tmp_path, shop))
    async with LlmCycle(model(plays(GET, "echo"), plays(GET, "echo")), config) as cycle:
        await cycle.submit_with_tools("go", registry)
        async with LlmCycle(model(plays(GET, "echo")), config) as other:
            with pytest.raises(StateLockedError, match=r"works on .* already"):
                await other.submit_with_tools("go", registry)

    assert results(other) == [tool_message(call(), CANCELLED).text]


async def test_the_registry_calls_a_program_with_nobody_to_ask(tmp_path: Path, shop: Loopback) -> None:
    registry = registry_of(*load(tmp_path, shop))
    async with asyncio.timeout(20):
        read, write = await registry.invoke_all(
            [("player", json.loads(script(GET, "echo"))), ("player", json.loads(script(POST, DONE)))]
        )

    assert isinstance(read.output, dict)
    assert (read.output["status"], read.output["body"]) == (200, '{"order": 1}')
    assert write.error is not None
    assert write.error.code is Code.APPROVAL_DENIED
    assert [seen.method for seen in shop.seen] == ["GET"]


def test_a_program_that_ends_leaves_no_folder_behind_and_a_closed_cycle_can_be_used_again(tmp_path: Path) -> None:
    put_player(tmp_path / "tools", kind="local")
    room = tmp_path / "temporary"
    room.mkdir()
    call = "/tool player script='" + json.dumps([DONE]) + "'"
    program = EMBEDDING.format(tools=str(tmp_path / "tools"), call=call, room=str(room))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={"PATH": os.environ["PATH"], "TMPDIR": str(room)},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["ordered", "ias-tools-", "ordered", "ias-tools-"]
    assert [path.name for path in room.iterdir()] == []


def test_a_spec_that_cannot_be_used_is_an_error_or_told(tmp_path: Path) -> None:
    top = put_player(put_player(tmp_path / "tools"), "broken")
    (top / "broken" / "player.py").unlink()
    told: list[str] = []

    tools = load_tools(top, on_rejected=told.append)

    assert [tool.name for tool in tools] == ["player"]
    assert len(told) == 1
    assert told[0].startswith(f"{top}/broken/specs/broken.tool.yaml:4: path: ")
    with pytest.raises(ToolError, match=r"some tools cannot be used; .*\n.*broken\.tool\.yaml:4"):
        load_tools(top)


def test_a_wrong_folder_is_told_with_the_right_one(tmp_path: Path) -> None:
    top = put_player(tmp_path / "tools")

    with pytest.raises(ToolError, match="give the folder above it"):
        load_tools(top / "player")
    with pytest.raises(ToolError, match="there is no folder"):
        load_tools(tmp_path / "nowhere")
