"""`ias chat` and `ias send` against a scripted daemon: what is printed where, resuming, approvals, stopping."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ias.store.base import Row
from tests.cli.homes import BOUND, Ended, db_request, environment, http_request, ias
from tests.cli.scripted import Happening, Script, Step, playing

PENDING = "GET /api/approvals?state=pending"
POSTED = {"conversation": "c_1", "message": "t_1.0", "turn": "t_1", "cursor": 7, "duplicate": False}


def text(words: str, *, id: int | None = None, **more: object) -> Step:  # noqa: A002 - as the stream calls it
    return (id, "AssistantTextDelta", {"turn_id": "t_1", "step": 1, "text": words, "attempt": 1, "offset": 0, **more})


def over(id: int, reason: str = "reply", turn: str = "t_1") -> Step:  # noqa: A002 - as the stream calls it
    return (id, "TurnComplete", {"turn_id": turn, "step": 1, "reason": reason})


def asked(num: int = 3) -> Happening:
    request = db_request("delete_memory", '{"id":"m_1"}')
    body: Row = {
        "turn_id": "t_1",
        "step": 0,
        "approval_id": "a_1",
        "num": num,
        "run_id": "r_1",
        "tool_name": "notes",
        "digest": request.digest,
        "request": f"[{request.text}]",
        "expires_at": 4_000_000_000_000,
    }
    return (20, "ApprovalRequested", dict(body))


def script(*streams: list[Step]) -> Script:
    made = Script(streams=list(streams))
    made.answers = {
        "POST /api/messages": [(202, POSTED)],
        "GET /healthz": [(200, {"status": "ok"})],
        PENDING: [(200, [])],
    }
    return made


def socket_of(home: Path) -> Path:
    return home / "data" / "ias.sock"


def test_one_question_prints_the_answer_on_stdout_and_the_rest_beside_it(home: Path) -> None:
    started = {
        "turn_id": "t_1",
        "step": 1,
        "run_id": "r_1",
        "call_id": "x",
        "tool_name": "datetime",
        "input": '{"a":1}',
    }
    done = {**started, "output": "noon", "code": "ok", "is_error": False}
    failed = {**started, "tool_name": "weather_now", "output": "no", "code": "timeout", "is_error": True}
    events: list[Step] = [
        (8, "ToolExecutionStarted", dict(started)),
        (9, "ToolExecutionCompleted", dict(done)),
        (10, "ToolExecutionCompleted", dict(failed)),
        over(11, "tool_calls"),
        text("It is "),
        text("noon.", offset=6),
        text("It is noon.\x1b[31m", id=12),
        over(13),
    ]
    with playing(socket_of(home), script(events)) as played:
        done_ = ias(home, "chat", "what", "time?", "--user", "bob")

    assert done_ == Ended(
        code=1,  # the last call failed
        out="It is noon.⟨U+001B⟩[31m\n",
        err='→ datetime {"a": 1}\n✓ datetime\n✗ weather_now: timeout\n',
    )
    assert played.posted("/api/messages") == [
        {"user_id": "bob", "text": "what time?", "conversation": None, "channel": "cli"}
    ]
    assert played.after == ["after=7"]


def test_a_cut_stream_is_resumed_after_the_last_stored_event_and_nothing_is_printed_twice(home: Path) -> None:
    first: list[Step] = [(8, "Notice", {"turn_id": "", "text": "one"}), text("Hel"), None]
    second: list[Step] = [text("Hello", offset=0), text("Hello", id=9), over(10)]
    with playing(socket_of(home), script(first, second)) as played:
        done = ias(home, "chat", "hi")

    assert done == Ended(code=0, out="Hel\nlo\n", err="one\nThe connection to the daemon is lost; trying again…\n")
    assert played.after == ["after=7", "after=8"]


def test_text_of_another_attempt_replaces_what_was_printed_with_a_mark(home: Path) -> None:
    events: list[Step] = [text("Wro"), text("Right", attempt=2), text("Right", id=9), over(10)]
    with playing(socket_of(home), script(events)):
        done = ias(home, "chat", "hi")

    assert done == Ended(code=0, out="Wro\nRight\n", err="(answering anew)\n")


def test_a_piece_that_was_missed_is_brought_by_the_stored_text(home: Path) -> None:
    events: list[Step] = [text("One"), text(" three", offset=7), text("One two three", id=9), over(10)]
    with playing(socket_of(home), script(events)):
        assert ias(home, "chat", "hi").out == "One two three\n"


def test_text_and_ends_of_other_turns_are_not_ours(home: Path) -> None:
    events: list[Step] = [text("other", turn_id="t_0"), over(8, turn="t_0"), text("ours"), over(9)]
    with playing(socket_of(home), script(events)):
        assert ias(home, "chat", "hi").out == "ours\n"


def test_a_turn_without_a_reply_is_exit_1_and_says_why_once(home: Path) -> None:
    error: Step = (8, "Error", {"turn_id": "t_1", "text": "no route"})
    other: Step = (9, "Error", {"turn_id": "t_1", "text": "and another"})
    why: list[Step] = [error, other, text("the model did not answer: no route", id=10), over(11, "provider_error")]
    with playing(socket_of(home), script(why)):
        done = ias(home, "chat", "hi")

    assert done == Ended(code=1, out="the model did not answer: no route\n", err="and another\n")


@pytest.mark.parametrize(("number", "is_cancelled"), [(signal.SIGTERM, True), (signal.SIGHUP, False)])
def test_a_program_that_is_ended_takes_a_message_back_that_was_not_begun(
    home: Path, number: signal.Signals, is_cancelled: bool
) -> None:
    cancel = "POST /api/turns/t_1/cancel?only_queued=true"
    notice: Step = (8, "Notice", {"turn_id": "t_1", "text": "queued"})
    played = script([notice, cancel])
    played.answers[cancel] = [(200, {"cancelled": is_cancelled})]
    with playing(socket_of(home), played):
        process = subprocess.Popen(
            [sys.executable, "-m", "ias", "chat", "hi"],
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            env=environment(home),
            cwd=home,
        )
        assert process.stderr is not None
        assert process.stderr.readline() == b"queued\n"
        process.send_signal(number)
        _, err = process.communicate(timeout=BOUND)

    assert process.returncode == 128 + number
    assert err == (b"This message was not begun; it is cancelled.\n" if is_cancelled else b"")


LEAVE = b"(Ctrl-C once more, or Ctrl-D, leaves)"
QUIET = 0.2  # seconds without output: the prompt stands and a key is waited for


def test_ctrl_c_at_the_prompt_leaves_at_the_second_time(home: Path) -> None:
    with playing(socket_of(home), script()):
        leader, follower = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "ias", "chat"],
            stdin=follower,
            stdout=follower,
            stderr=follower,
            env=environment(home),
            cwd=home,
            start_new_session=True,
        )
        os.close(follower)
        written, presses = b"", 0
        while process.poll() is None and presses < 20:
            if select.select([leader], [], [], QUIET)[0]:
                try:
                    written += os.read(leader, 65536)
                except OSError:
                    break
            elif b"you> " in written.rpartition(LEAVE)[2]:
                presses += 1
                process.send_signal(signal.SIGINT)
        os.close(leader)

    assert process.wait(BOUND) == 0
    assert written.count(LEAVE) == 1


def test_json_prints_every_event_as_a_line(home: Path) -> None:
    with playing(socket_of(home), script([text("hi"), over(9)])):
        done = ias(home, "chat", "hi", "--json")

    assert [json.loads(line) for line in done.out.splitlines()] == [
        {
            "id": None,
            "event": "AssistantTextDelta",
            "data": {"turn_id": "t_1", "step": 1, "text": "hi", "attempt": 1, "offset": 0},
        },
        {"id": 9, "event": "TurnComplete", "data": {"turn_id": "t_1", "step": 1, "reason": "reply"}},
    ]


def test_reasoning_is_shown_only_where_asked(home: Path) -> None:
    thought: Step = (None, "ReasoningDelta", {"turn_id": "t_1", "step": 1, "text": "hmm", "attempt": 1, "offset": 0})
    with playing(socket_of(home), script([thought, text("hi"), over(9)], [thought, text("hi"), over(9)])):
        assert ias(home, "chat", "hi").err == ""
        assert ias(home, "chat", "hi", "--reasoning").err == "hmm"


def test_without_a_terminal_an_approval_is_told_and_waited_for(home: Path) -> None:
    resolved: Step = (21, "ApprovalResolved", {"turn_id": "t_1", "approval_id": "a_1", "num": 3, "state": "approved"})
    with playing(socket_of(home), script([asked(), resolved, text("gone"), over(22)])) as played:
        done = ias(home, "chat", "forget it")

    assert (done.code, done.out) == (0, "gone\n")
    assert "│ db delete_memory\n" in done.err
    assert "In another terminal: ias approve A3" in done.err
    assert "A3: approved\n" in done.err
    assert not any("decision" in request for request, _ in played.seen)


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        (b"y\n", {"decision": "approve", "scope": "once"}),
        (b"a\n", {"decision": "approve", "scope": "always"}),
        (b"x\nd\nn\n", {"decision": "deny", "scope": "once"}),
    ],
)
def test_at_a_terminal_a_key_decides_about_exactly_what_was_shown(home: Path, typed: bytes, sent: Row) -> None:
    played = script([asked(), "POST /api/approvals/A3/decision", text("gone"), over(22)])
    played.answers["POST /api/approvals/A3/decision"] = [(200, {})]
    with playing(socket_of(home), played):
        code, written = chat_at_terminal(home, typed)

    [decision] = played.posted("/api/approvals/A3/decision")
    digest = db_request("delete_memory", '{"id":"m_1"}').digest
    assert (code, {name: decision[name] for name in ("decision", "scope", "digest")}) == (0, {**sent, "digest": digest})
    assert b"db delete_memory" in written


def test_an_answer_that_comes_second_is_told_who_won(home: Path) -> None:
    played = script([asked(), "POST /api/approvals/A3/decision", text("gone"), over(22)])
    winner = {"status": 409, "detail": "late", "winner": {"state": "denied", "decided_by": "eve"}}
    played.answers["POST /api/approvals/A3/decision"] = [(409, winner)]
    with playing(socket_of(home), played):
        code, written = chat_at_terminal(home, b"y\n")

    assert code == 0
    assert b"A3 was settled before: denied (eve)" in written


def test_a_request_that_is_not_what_its_digest_says_is_not_asked_about(home: Path) -> None:
    number, name, body = asked()
    forged = {**body, "request": f"[{http_request().text}]"}
    with playing(socket_of(home), script([(number, name, forged), over(22)])):
        done = ias(home, "chat", "hi")

    assert done.code == 1
    assert "does not fit its digest" in done.err


def test_ctrl_c_asks_the_daemon_to_stop_and_the_turn_ends_as_cancelled(home: Path) -> None:
    cancel = "POST /api/turns/t_1/cancel"
    played = script([text("So"), cancel, text("So Stopped.", id=9), over(10, "cancelled")])
    played.answers[cancel] = [(200, {"cancelled": True})]
    with playing(socket_of(home), played):
        process = subprocess.Popen(
            [sys.executable, "-m", "ias", "chat", "hi"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            env=environment(home),
            cwd=home,
        )
        assert process.stdout is not None
        begun = process.stdout.read(2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=BOUND)

    assert (process.returncode, begun) == (130, b"So")
    assert out.decode() == "\n Stopped.\n"
    assert err.decode() == "Stopping… (Ctrl-C again leaves)\n"


def test_lines_of_a_pipe_are_turns_of_one_conversation(home: Path) -> None:
    events: list[Step] = [text("one"), over(9), text("two", turn_id="t_2"), over(11, turn="t_2")]
    played = script(events)
    played.answers["POST /api/messages"] = [(202, POSTED), (202, {**POSTED, "turn": "t_2", "cursor": 9})]
    with playing(socket_of(home), played):
        done = ias(home, "chat", stdin="first\n\nsecond\n")

    assert (done.code, done.out) == (0, "one\ntwo\n")
    assert [body["text"] for body in played.posted("/api/messages")] == ["first", "second"]


def test_a_full_queue_says_when_to_try_again(home: Path) -> None:
    played = script()
    played.answers["POST /api/messages"] = [(429, {"status": 429, "detail": "50 messages wait"})]
    with playing(socket_of(home), played):
        done = ias(home, "send", "hi")

    assert done == Ended(code=1, out="", err="ias: 50 messages wait\n     try again in 1 seconds\n")


def test_send_posts_and_does_not_wait(home: Path) -> None:
    with playing(socket_of(home), script()) as played:
        done = ias(home, "send", "--user", "bob", "--source-id", "7", "hello", "there")

    assert done == Ended(code=0, out="Accepted. c_1 t_1\n", err="")
    assert played.posted("/api/messages") == [
        {"user_id": "bob", "text": "hello there", "conversation": None, "channel": "cli", "source_id": "7"}
    ]


@pytest.mark.parametrize("args", [["chat", "hi"], ["chat"], ["send", "hi"], ["tools", "reload"]])
def test_what_needs_the_daemon_is_exit_5_without_one(home: Path, args: list[str]) -> None:
    done = ias(home, *args)

    assert (done.code, done.out) == (5, "")
    assert done.err == f"ias: no daemon answers at {socket_of(home)}\n     start one in another terminal: ias serve\n"


def chat_at_terminal(home: Path, typed: bytes) -> tuple[int, bytes]:
    """Ask one question at a terminal, type after the approval's prompt, and give exit code and output."""
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "ias", "chat", "forget it"]
    process = subprocess.Popen(
        command, stdin=follower, stdout=follower, stderr=follower, env=environment(home), cwd=home
    )
    os.close(follower)
    written = b""
    keys = [key + b"\n" for key in typed.splitlines()]
    while select.select([leader], [], [], BOUND)[0]:
        try:
            piece = os.read(leader, 65536)
        except OSError:  # the last program on the terminal ended
            break
        written += piece
        if keys and written.rstrip().endswith(b">"):
            os.write(leader, keys.pop(0))
    code = process.wait(BOUND)
    os.close(leader)
    return code, written
