"""`ias run` through a daemon that plays a script: the call, its approval, and how its outcome becomes an exit code."""

import json
from collections.abc import Generator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.cli.homes import db_request, http_request, ias, make_store, park
from tests.cli.scripted import Script, playing

CALL = "POST /api/tools/echo/call"
RUN = "GET /api/runs/r_1"
DECISION = "POST /api/approvals/A3/decision"


@pytest.fixture
def home() -> Generator[Path]:
    """A short path with one tool: the address of a Unix socket has room for 107 bytes."""
    with TemporaryDirectory(prefix="ias") as folder:
        assert ias(Path(folder), "tools", "new", "echo").code == 0
        yield Path(folder)


def script(call: object) -> Script:
    return Script(answers={"GET /healthz": [(200, {"status": "ok"})], CALL: [(200, call)]})


def socket_of(home: Path) -> Path:
    return home / "data" / "ias.sock"


def parked() -> dict[str, object]:
    request = db_request("delete_memory", '{"id":"m_1"}')
    approval = {
        "id": "a_1",
        "num": 3,
        "run_id": "r_1",
        "tool": "echo",
        "digest": request.digest,
        "request": [json.loads(request.text)],
        "expires_at": 4_000_000_000_000,
    }
    return {"run": "r_1", "state": "parked", "approval": approval}


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [
        ("ok", 0),
        ("tool_failed", 1),
        ("outcome_unknown", 1),
        ("invalid_arguments", 2),
        ("approval_denied", 3),
        ("approval_expired", 3),
        ("permission_denied", 3),
        ("host_not_allowed", 3),
        ("not_found", 4),
    ],
)
def test_the_code_of_an_outcome_is_an_exit_code(home: Path, code: str, exit_code: int) -> None:
    outcome = {"run": "r_1", "state": "done", "code": code, "content": "words"}
    with playing(socket_of(home), script(outcome)) as played:
        done = ias(home, "run", "echo", "--text", "北京", "--user", "bob")
        as_json = ias(home, "run", "echo", "--text", "北京", "--json")

    assert (done.code, as_json.code, json.loads(as_json.out)) == (exit_code, exit_code, outcome)
    assert (done.out, done.err) == (("words\n", "") if code == "ok" else ("", f"ias: {code}: words\n"))
    assert played.posted("/api/tools/echo/call")[0] == {
        "args": {"text": "北京", "loud": False},
        "user_id": "bob",
        "channel": "cli",
        "wait": True,
    }


def test_approve_once_shows_the_request_and_approves_exactly_it(home: Path) -> None:
    played = script(parked())
    result = json.dumps({"content": "gone"})
    played.answers |= {DECISION: [(200, {})], RUN: [(200, {"state": "done", "code": "ok", "result": result})]}
    with playing(socket_of(home), played):
        done = ias(home, "run", "echo", "--text", "x", "--approve", "once")

    [decision] = played.posted("/api/approvals/A3/decision")
    assert (done.code, done.out) == (0, "gone\n")
    assert '│ {"id": "m_1"}\n' in done.err
    assert (decision["decision"], decision["scope"]) == ("approve", "once")
    assert decision["digest"] == db_request("delete_memory", '{"id":"m_1"}').digest


def test_without_a_terminal_it_says_how_to_approve_and_waits(home: Path) -> None:
    played = script(parked())
    result = json.dumps({"content": "no"})
    still = (200, {"state": "parked"})
    played.answers |= {
        RUN: [still, (200, {"state": "done", "code": "approval_denied", "result": result})],
        "GET /api/approvals?state=pending": [(200, [parked()["approval"]])],
    }
    with playing(socket_of(home), played):
        done = ias(home, "run", "echo", "--text", "x")

    assert done.code == 3
    assert done.err.count("ias approve A3") == 1
    assert played.posted("/api/approvals/A3/decision") == []


def test_a_daemon_that_refuses_is_not_called_around(home: Path) -> None:
    played = script({})
    played.answers[CALL] = [(503, {"status": 503, "detail": "no space left; free some"})]
    with playing(socket_of(home), played):
        done = ias(home, "run", "echo", "--text", "x")

    assert (done.code, done.out, done.err) == (1, "", "ias: no space left\n     free some\n")
    assert not (home / "data" / "ias.db").exists()


def test_reload_prints_what_changed_and_fails_where_something_was_rejected(home: Path) -> None:
    problem = {
        "file": "tools/x/specs/x.tool.yaml",
        "line": 3,
        "field": "type",
        "message": "is wrong",
        "fix": "write http",
    }
    answer = {"added": ["a", "b"], "changed": [], "removed": ["c"], "rejected": [problem]}
    played = script({})
    played.answers["POST /api/tools/reload"] = [(200, answer)]
    with playing(socket_of(home), played):
        done = ias(home, "tools", "reload")

    assert done.code == 1
    assert done.out == (
        "added     a, b\nchanged   -\nremoved   c\nrejected  tools/x/specs/x.tool.yaml:3: type: is wrong; write http\n"
    )


def test_a_decision_in_the_store_pokes_the_daemon(home: Path) -> None:
    park(make_store(home), http_request())
    played = script({})
    played.answers["POST /api/poke"] = [(204, None)]
    with playing(socket_of(home), played):
        done = ias(home, "approve", "A1", "--yes")

    assert (done.code, done.out, done.err) == (0, "A1 is approved.\n", "")
    assert played.posted("/api/poke") == [None]
