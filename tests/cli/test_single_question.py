"""`ias chat TEXT` and `--new`: which conversation a question goes to, and how its exit code is found."""

from pathlib import Path

import pytest

from tests.cli.homes import ias
from tests.cli.scripted import Step, playing
from tests.cli.test_chat import PENDING, over, script, socket_of, text


@pytest.mark.parametrize(("code", "exit_code"), [("ok", 0), ("timeout", 1), ("approval_denied", 3), ("not_found", 1)])
def test_a_single_question_fails_as_its_last_call_did(home: Path, code: str, exit_code: int) -> None:
    body = {"turn_id": "t_1", "tool_name": "x", "code": code, "is_error": code != "ok"}
    events: list[Step] = [(8, "ToolExecutionCompleted", dict(body)), text("so it is"), over(9)]
    with playing(socket_of(home), script(events, events, events)):
        assert ias(home, "chat", "hi").code == exit_code
        assert ias(home, "chat", "hi", "--json").code == exit_code
        assert ias(home, "chat", stdin="hi\n").code == 0


def test_a_single_question_does_not_wait_behind_a_request_that_waits(home: Path) -> None:
    played = script([text("hi"), over(9)])
    played.answers[PENDING] = [(200, [{"num": 2, "channel": "cli", "address": "bob"}])]
    with playing(socket_of(home), played):
        done = ias(home, "chat", "hi", "--user", "bob")

    [posted] = played.posted("/api/messages")
    assert (done.code, posted["address"][:4], len(posted["address"])) == (0, "bob#", 12)
    assert done.err == "A2 still waits for approval (ias approve A2); this question gets a conversation of its own.\n"


def test_a_request_of_somebody_else_keeps_nobody_apart(home: Path) -> None:
    played = script([text("hi"), over(9)])
    played.answers[PENDING] = [(200, [{"num": 2, "channel": "cli", "address": "eve"}])]
    with playing(socket_of(home), played):
        assert ias(home, "chat", "hi", "--user", "bob").err == ""

    assert "address" not in played.posted("/api/messages")[0]


def test_new_begins_a_conversation_first(home: Path) -> None:
    with playing(socket_of(home), script([text("hi"), over(9)])) as played:
        done = ias(home, "chat", "--new", "hi")
        both = ias(home, "chat", "--new", "--conversation", "c_1", "hi")

    assert (done.code, both.code) == (0, 2)
    assert [body["text"] for body in played.posted("/api/messages")] == ["/new", "hi"]


def test_a_conversation_that_is_not_there_is_told_with_what_to_do(home: Path) -> None:
    played = script()
    played.answers["POST /api/messages"] = [(404, {"status": 404, "detail": "there is no conversation 'x'"})]
    with playing(socket_of(home), played):
        done = ias(home, "chat", "--conversation", "x", "hi")

    assert (done.code, done.err.splitlines()[0]) == (4, "ias: there is no conversation 'x'")
    assert "--new begins one" in done.err
