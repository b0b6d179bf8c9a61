"""What the routes answer: messages, approvals, calls, runs, and each error as a problem document."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Generator
from pathlib import Path
from typing import Any

import httpx
import pytest

from ias.domain.approvals import Verdict
from ias.domain.jobs import Job, Queue
from ias.domain.messages import JsonObject, JsonValue
from ias.domain.tools import Permission, Result
from ias.logs import Logs
from ias.permissions import PermissionChecker, PermissionConfig
from ias.store.transactions.approvals import decide_approval
from ias.store.transactions.runs import finish_run
from tests.consumers.logbook import logs_in
from tests.consumers.stores import FailingStore
from tests.registry.tools import PythonTool, echo
from tests.store.world import World, post
from tests.web.api import Api, make_api


@pytest.fixture
def logs(tmp_path: Path) -> Generator[Logs]:
    with logs_in(tmp_path / "logs") as found:
        yield found


@pytest.fixture
def api(world: World, logs: Logs) -> Api:
    return make_api(world, logs)


def problem_of(response: httpx.Response) -> dict[str, Any]:
    """Give a problem document, having looked at what all of them share."""
    body = response.json()
    assert response.headers["content-type"] == "application/problem+json"
    assert (body["type"], body["status"]) == ("about:blank", response.status_code)
    assert body["title"]
    return body


async def test_a_message_is_accepted_once_it_is_stored(api: Api) -> None:
    async with api.client() as client:
        response = await client.post("/api/messages", json={"user_id": "ann", "text": "hi", "source_id": "m1"})
        again = await client.post("/api/messages", json={"user_id": "ann", "text": "hi", "source_id": "m1"})

    first = response.json()
    turn = api.world.one("SELECT id, conversation_id FROM turn")
    assert response.status_code == 202
    assert first == {
        "conversation": turn["conversation_id"],
        "message": f"{turn['id']}.0",
        "turn": turn["id"],
        "cursor": 0,
        "duplicate": False,
    }
    assert again.json() == first | {"duplicate": True}


async def test_a_message_to_a_conversation_goes_to_its_address(api: Api) -> None:
    stored = await api.world.submit("hi", channel="chat")
    async with api.client() as client:
        body = {"user_id": "ann", "text": "more", "conversation": stored.conversation_id}
        posted = (await client.post("/api/messages", json=body)).json()
        missing = await client.post("/api/messages", json=body | {"conversation": "c_none"})
        messages = (await client.get(f"/api/conversations/{stored.conversation_id}/messages")).json()
        listed = (await client.get("/api/conversations")).json()

    assert posted["conversation"] == stored.conversation_id
    assert problem_of(missing)["detail"] == "there is no conversation 'c_none'"
    assert [message["content"]["text"] for message in messages] == ["hi", "more"]
    assert [row["id"] for row in listed] == [stored.conversation_id]


@pytest.mark.parametrize(
    ("body", "part"),
    [
        ({"user_id": "ann", "text": " \n"}, "empty"),
        ({"user_id": "ann", "text": "x" * 100_001}, "100001"),
        ({"user_id": "", "text": "x"}, "user_id"),
        ({"user_id": "a" * 201, "text": "x"}, "user_id"),
        ({"user_id": "ann"}, "text"),
        ({"user_id": "ann", "text": "x", "colour": "red"}, "colour"),
        ({"user_id": "ann", "text": "x", "channel": "wechat"}, "channel"),
        ({"user_id": "ann", "text": "x", "source_id": "s" * 201}, "source_id"),
        (["no object"], "body"),
    ],
)
async def test_an_unfit_message_is_refused_with_what_is_wrong(api: Api, body: JsonValue, part: str) -> None:
    async with api.client() as client:
        response = await client.post("/api/messages", json=body)
    assert response.status_code == 422
    assert part in problem_of(response)["detail"]
    assert api.world.look("SELECT id FROM turn") == []


async def test_a_body_that_is_no_json_and_a_wrong_method_are_problems(api: Api) -> None:
    async with api.client() as client:
        broken = await client.post("/api/messages", content=b"{", headers={"Content-Type": "application/json"})
        method = await client.delete("/api/messages")
        nowhere = await client.get("/api/nowhere")
        number = await client.get("/api/runs?limit=many")
    assert problem_of(broken)["status"] == 422
    assert problem_of(method)["status"] == 405
    assert problem_of(nowhere)["status"] == 404
    assert problem_of(number)["status"] == 422


async def test_too_many_messages_are_refused_with_a_time_to_come_back(api: Api) -> None:
    async with api.client() as client:
        for number in range(api.world.terms.conversation_depth + 1):
            accepted = await client.post("/api/messages", json={"user_id": "ann", "text": f"{number}"})
            assert accepted.status_code == 202
        refused = await client.post("/api/messages", json={"user_id": "ann", "text": "one more"})
        command = await client.post("/api/messages", json={"user_id": "ann", "text": "/cancel"})

    assert problem_of(refused)["status"] == 429
    assert refused.headers["retry-after"] == "5"
    assert command.status_code == 202


async def test_a_full_disk_and_a_defect_are_problems_and_a_defect_names_no_value(world: World, logs: Logs) -> None:
    real = world.store
    world.store = FailingStore(real, "submit_message", 1)
    api = make_api(world, logs)

    async def fails(_: JsonObject) -> JsonValue:
        return None

    class Broken(PythonTool):
        def target(self, args: JsonObject) -> Any:
            del args
            raise ZeroDivisionError("hunter2")

    api.tools.registry.register(Broken("broken", fails))
    async with api.client() as client:
        full = await client.post("/api/messages", json={"user_id": "ann", "text": "hi"})
        defect = await client.post("/api/tools/broken/call", json={})

    assert problem_of(full)["status"] == 507
    assert problem_of(defect)["detail"] == "POST /api/tools/broken/call failed: ZeroDivisionError; see logs/error.log"


async def test_the_first_decision_wins_and_the_second_is_told_who_won(api: Api) -> None:
    await api.world.park(post())
    async with api.client() as client:
        shown = (await client.get("/api/approvals/A1")).json()
        url = "/api/approvals/A1/decision"
        won = await client.post(url, json={"decision": "approve", "by": "ann", "digest": shown["digest"]})
        again = await client.post(url, json={"decision": "approve", "by": "ann"})
        lost = await client.post(url, json={"decision": "deny", "by": "bob"})

    assert (won.status_code, won.json()["state"]) == (200, "approved")
    assert again.status_code == 200
    assert problem_of(lost) == {
        "type": "about:blank",
        "title": "Decided before",
        "status": 409,
        "detail": "A1 is approved already",
        "winner": {"state": "approved", "decided_by": "ann"},
    }


async def test_a_stale_digest_decides_nothing(api: Api) -> None:
    await api.world.park(post())
    async with api.client() as client:
        stale = await client.post("/api/approvals/A1/decision", json={"decision": "approve", "digest": "0" * 64})
        short = await client.post("/api/approvals/A1/decision", json={"decision": "approve", "digest": ""})
        unknown = await client.post("/api/approvals/A2/decision", json={"decision": "approve"})
        waiting = (await client.get("/api/approvals")).json()
    assert [problem_of(response)["status"] for response in (stale, short, unknown)] == [404, 404, 404]
    assert [row["ref"] for row in waiting] == ["A1"]
    assert waiting[0]["request"] == [json.loads(post().text)]


async def test_an_expired_approval_cannot_be_given(api: Api) -> None:
    await api.world.park(post())
    api.world.clock.move(api.world.terms.approval_timeout_ms)
    async with api.client() as client:
        late = await client.post("/api/approvals/A1/decision", json={"decision": "approve"})
    assert problem_of(late)["winner"] == {"state": "expired", "decided_by": None}
    assert api.world.one("SELECT code FROM run")["code"] == "approval_expired"


async def test_stopping_a_conversation_ends_its_turn(api: Api) -> None:
    stored = await api.world.submit("hi")
    url = f"/api/conversations/{stored.conversation_id}/cancel"
    async with api.client() as client:
        assert (await client.post(url)).json() == {"cancelled": True, "turn": stored.turn_id}
        assert (await client.post(url)).json() == {"cancelled": False, "detail": "nothing is going on"}
        assert problem_of(await client.post("/api/conversations/c_none/cancel"))["status"] == 404
    assert api.world.state("turn") == ["ended"]


async def test_one_turn_is_stopped_also_while_it_waits_and_one_that_began_only_where_that_is_wanted(api: Api) -> None:
    first, second = await api.world.submit("hi"), await api.world.submit("and?")
    async with api.client() as client:
        began = await client.post(f"/api/turns/{first.turn_id}/cancel?only_queued=true")
        queued = await client.post(f"/api/turns/{second.turn_id}/cancel?only_queued=true")
        again = await client.post(f"/api/turns/{second.turn_id}/cancel")
        missing = await client.post("/api/turns/t_none/cancel")

    assert began.json() == {"cancelled": False, "detail": "it is not waiting any more"}
    assert queued.json() == {"cancelled": True, "turn": second.turn_id}
    assert again.json() == {"cancelled": False, "detail": "it is over already"}
    assert problem_of(missing)["status"] == 404
    assert api.world.state("turn") == ["llm", "ended"]


@pytest.mark.parametrize(
    ("content", "headers", "detail"),
    [
        (b'{"text": "hi"}', {"Content-Type": "application/json"}, "user_id is missing: add it to the body"),
        (
            b'{"user_id": "u", "text": "hi"}',
            {"Content-Type": "application/x-www-form-urlencoded"},
            "the body must be a JSON object, sent with the header Content-Type: application/json",
        ),
        (b"", {}, "the body must be a JSON object, sent with the header Content-Type: application/json"),
        (
            b'{"user_id": "u", "text": "hi", "a": 1}',
            {"Content-Type": "application/json"},
            "a is no field of this request: leave it out",
        ),
    ],
)
async def test_a_body_is_refused_in_words_that_say_what_to_send(
    api: Api, content: bytes, headers: dict[str, str], detail: str
) -> None:
    async with api.client() as client:
        refused = await client.post("/api/messages", content=content, headers=headers)

    assert problem_of(refused)["detail"] == f"{detail} (all fields: GET /openapi.json)"


async def call(api: Api, body: JsonObject, outcome: Callable[[Job], Awaitable[object]]) -> dict[str, Any]:
    """Call the echo tool while a worker brings its run to an end, or to where it waits."""
    async with api.client() as client, asyncio.timeout(10), asyncio.TaskGroup() as group:
        answer = group.create_task(client.post("/api/tools/echo/call", json=body))
        job = await api.world.try_claim(Queue.TOOL)
        while job is None:
            job = await api.world.try_claim(Queue.TOOL)
        await outcome(job)
    return answer.result().json()


async def test_a_call_answers_when_it_is_done(api: Api) -> None:
    async def finish(job: Job) -> None:
        await api.world.run(finish_run(api.world.terms, job, Result(content="22 °C", data={"t": 22})))

    answer = await call(api, {"args": {"city": "北京"}, "user_id": "ann"}, finish)
    run = api.world.one("SELECT id, args FROM run")
    assert answer == {"run": run["id"], "state": "done", "code": "ok", "content": "22 °C", "data": {"t": 22}}
    assert json.loads(run["args"]) == {"city": "北京"}


async def test_a_call_answers_when_a_person_must_decide(api: Api) -> None:
    async def ask(job: Job) -> None:
        await api.world.ask(job, post(), verdict=Verdict.ASK)

    answer = await call(api, {"args": {"city": "x"}}, ask)
    assert (answer["state"], answer["approval"]["ref"], answer["approval"]["state"]) == ("parked", "A1", "pending")
    await api.world.run(decide_approval(api.world.terms, ref="A1", approve=False, by="ann", via="api"))
    async with api.client() as client:
        shown = (await client.get(f"/api/runs/{answer['run']}")).json()
        listed = (await client.get("/api/runs")).json()
    assert (shown["code"], [step["state"] for step in shown["steps"]]) == ("approval_denied", ["void"])
    assert [row["id"] for row in listed] == [answer["run"]]


async def test_a_call_need_not_be_waited_for(api: Api) -> None:
    async with api.client() as client:
        answer = (await client.post("/api/tools/echo/call", json={"wait": False})).json()
    run = api.world.one("SELECT id, conversation_id FROM run")
    assert answer == {"run": run["id"], "state": "open", "conversation": run["conversation_id"]}


async def test_a_call_that_cannot_be_made_is_a_problem(api: Api) -> None:
    checker = PermissionChecker(PermissionConfig(allowed=(Permission.READ,), denied=()))
    api.tools.registry.with_permission_checker(checker)
    api.tools.registry.register(PythonTool("shell", echo, permissions=(Permission.SHELL,)))
    kind = {"Content-Type": "application/json"}
    async with api.client() as client:
        unknown = await client.post("/api/tools/nothing/call", json={})
        denied = await client.post("/api/tools/shell/call", json={})
        not_a_number = await client.post("/api/tools/echo/call", content=b'{"args": {"days": NaN}}', headers=kind)
        infinite = await client.post("/api/tools/echo/call", content=b'{"args": {"days": 1e999}}', headers=kind)
    assert problem_of(unknown)["status"] == 404
    assert "shell" in problem_of(denied)["detail"]
    assert [problem_of(response)["status"] for response in (not_a_number, infinite)] == [422, 422]
    assert api.world.look("SELECT id FROM run") == []


async def test_a_run_is_found_by_its_beginning_unless_several_fit(api: Api) -> None:
    async with api.client() as client:
        ids = [(await client.post("/api/tools/echo/call", json={"wait": False})).json()["run"] for _ in range(2)]
        one = (await client.get(f"/api/runs/{ids[0][:-1]}")).json()
        several = await client.get("/api/runs/r_")
        none = await client.get("/api/runs/x_nothing")
        pattern = await client.get("/api/runs/%25")
    assert one["id"] == ids[0]
    assert all(run_id in problem_of(several)["detail"] for run_id in ids)
    assert several.status_code == 409
    assert [problem_of(response)["status"] for response in (none, pattern)] == [404, 404]


async def test_tools_are_listed_shown_and_reloaded(api: Api) -> None:
    async with api.client() as client:
        assert (await client.get("/api/tools/echo")).json() == {"name": "echo", "desc": "does something"}
        assert problem_of(await client.get("/api/tools/nothing"))["status"] == 404
        assert (await client.post("/api/tools/reload")).json()["rejected"] == []
        queue = (await client.get("/api/queue")).json()
    assert api.tools.reloads == 1
    assert queue == {"queues": [], "dead": []}


async def test_the_probes_tell_a_draining_daemon_from_one_that_is_ready(api: Api) -> None:
    async with api.client(token=None) as client:
        assert [(await client.get(path)).status_code for path in ("/healthz", "/readyz")] == [200, 200]
        api.health.is_draining = True
        alive, ready = await client.get("/healthz"), await client.get("/readyz")
    assert (alive.status_code, alive.json()) == (200, {"status": "draining"})
    assert (ready.status_code, ready.json()) == (503, {"ready": False})


async def test_a_stream_resumes_by_its_last_event_id(api: Api) -> None:
    async with api.client() as client:
        assert problem_of(await client.get("/api/conversations/c_none/events"))["status"] == 404
        stored = await api.world.submit("hi")
        url = f"/api/conversations/{stored.conversation_id}/events"
        assert problem_of(await client.get(url, headers={"Last-Event-ID": "x"}))["status"] == 422
        assert problem_of(await client.get(f"{url}?after=-1"))["status"] == 422
