"""`ias approve` and its kind, as processes, on a store that no daemon uses."""

import json
import os
import pty
import re
import select
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from ias.cli.visible import cells
from ias.store.base import Terms
from ias.store.once import read_once
from tests.cli.homes import BOUND, Ended, db_request, environment, http_request, ias, make_store, park


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return make_store(tmp_path)


def state_of(store: Path, num: int) -> tuple[str, str | None, str | None]:
    row = read_once(store, "approval", ref=f"A{num}")[0]
    return row["state"], row["scope"], row["reason"]


def at_terminal(home: Path, typed: bytes, *args: str) -> tuple[int, bytes]:
    """Run `ias` on a terminal, answer each question with a line, and give its exit code and everything it wrote."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "ias", *args],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        cwd=home,
        env=environment(home, COLUMNS="80"),
    )
    os.close(follower)
    keys = [key + b"\n" for key in typed.split(b"\n")[:-1]]
    written = b""
    while select.select([leader], [], [], BOUND)[0]:
        try:
            piece = os.read(leader, 65536)
        except OSError:  # the last program on the terminal ended
            break
        written += piece
        if keys and written.endswith((b"[y/N] ", b"leave it ")):
            os.write(leader, keys.pop(0))
    code = process.wait(BOUND)
    os.close(leader)
    return code, written


def test_a_yes_on_the_command_line_frees_the_call_while_no_daemon_runs(tmp_path: Path, store: Path) -> None:
    park(store, http_request())

    done = ias(tmp_path, "approve", "A1", "--yes")

    assert done == Ended(
        code=0,
        out="A1 is approved.\n",
        err="The daemon is not running: it goes on with this when it is started.\n",
    )
    assert state_of(store, 1) == ("approved", "once", None)


def test_always_leaves_a_rule_that_can_be_listed_and_revoked(tmp_path: Path, store: Path) -> None:
    park(store, http_request())

    done = ias(tmp_path, "approvals", "approve", "1", "--scope", "always", "--yes")
    listed = json.loads(ias(tmp_path, "approvals", "grants", "--json").out)
    revoked = ias(tmp_path, "approvals", "revoke", "R1")

    assert done.out == (
        "A1 is approved.\nThe same request is not asked about again: R1 (to end that: ias approvals revoke R1)\n"
    )
    assert [(rule["ref"], rule["method"], rule["host"], rule["path"], rule["conversation_id"]) for rule in listed] == [
        ("R1", "POST", "api.example.com", "/v1/notes", None)
    ]
    assert revoked == Ended(code=0, out="R1 is revoked: it is asked again from now on.\n", err="")
    assert json.loads(ias(tmp_path, "approvals", "grants", "--json").out) == []


def test_a_no_keeps_its_reason_and_a_later_yes_is_told_who_won(tmp_path: Path, store: Path) -> None:
    park(store, http_request())

    denied = ias(tmp_path, "deny", "a1", "--reason", "not today")
    late = ias(tmp_path, "approve", "A1", "--yes")

    assert (denied.code, denied.out) == (0, "A1 is denied.\n")
    assert state_of(store, 1) == ("denied", None, "not today")
    assert (late.code, late.out) == (3, "")
    assert re.fullmatch(r"ias: A1 was settled before: denied \(\S+\)\n", late.err)


def test_a_yes_that_comes_again_is_told_so_and_makes_no_rule(tmp_path: Path, store: Path) -> None:
    park(store, http_request())
    ias(tmp_path, "approve", "A1", "--yes")

    again = ias(tmp_path, "approve", "A1", "--yes")
    wider = ias(tmp_path, "approve", "A1", "--yes", "--scope", "conversation")

    assert (again.code, again.out, wider.code, wider.out) == (0, "", 1, "")
    assert re.fullmatch(r"ias: A1 was settled before: approved \(\S+\)\n", again.err)
    assert wider.err == again.err + "No rule was made: A1 was approved before.\n"
    assert json.loads(ias(tmp_path, "approvals", "grants", "--json").out) == []


def test_a_yes_after_the_time_is_over_expires_the_request(tmp_path: Path, store: Path) -> None:
    park(store, http_request(), terms=Terms(approval_timeout_ms=0))

    late = ias(tmp_path, "approve", "A1", "--yes")

    assert (late.code, late.err) == (3, "ias: A1 was settled before: expired (-)\n")
    assert state_of(store, 1)[0] == "expired"


def test_without_a_terminal_nothing_is_approved_unless_yes_is_said(tmp_path: Path, store: Path) -> None:
    park(store, http_request())

    done = ias(tmp_path, "approve", "A1", stdin="y\n")

    assert done == Ended(
        code=2,
        out="",
        err="ias: A1 was not decided: there is no terminal to confirm at\n     read the request, then add --yes\n",
    )
    assert state_of(store, 1)[0] == "pending"


def test_a_digest_that_does_not_fit_decides_nothing(tmp_path: Path, store: Path) -> None:
    row = park(store, http_request())
    wrong = "0000" if not row["digest"].startswith("0000") else "1111"

    refused = ias(tmp_path, "approve", "A1", "--yes", "--digest", wrong)
    right = ias(tmp_path, "approve", "A1", "--yes", "--digest", row["digest"][:4])

    assert (refused.code, right.code) == (4, 0)
    assert refused.err.startswith(f"ias: A1 is not about '{wrong}'")


@pytest.mark.parametrize("command", ["approve", "deny"])
def test_a_request_that_is_not_there_is_exit_4(tmp_path: Path, store: Path, command: str) -> None:
    assert store.exists()
    assert ias(tmp_path, command, "A9") == Ended(
        code=4, out="", err="ias: there is no request 'A9'\n     `ias approvals list` shows what waits\n"
    )


def test_without_a_store_the_command_says_so_and_makes_none(tmp_path: Path) -> None:
    done = ias(tmp_path, "approve", "A1")

    assert done.code == 1
    assert done.err.startswith("ias: there is no store at ")
    assert list(tmp_path.iterdir()) == []


def test_a_changed_request_is_never_shown_as_what_was_asked_for(tmp_path: Path, store: Path) -> None:
    park(store, http_request(body="pay 1"))
    with sqlite3.connect(store) as connection:
        connection.execute("UPDATE approval SET request = replace(request, 'pay 1', 'pay 9')")
    connection.close()

    code, written = at_terminal(tmp_path, b"y\n", "approve", "A1")

    assert code == 1
    assert b"does not fit its digest" in written
    assert state_of(store, 1)[0] == "pending"


def test_the_request_is_shown_whole_before_a_yes_counts(tmp_path: Path, store: Path) -> None:
    row = park(
        store,
        http_request(query=[["q", "a b"]], headers=[["Authorization", "Bearer ${NOTES_KEY}"]], body='{"text": "北京"}'),
    )

    code, written = at_terminal(tmp_path, b"y\n", "approve", "A1")

    text = written.decode().replace("\r\n", "\n")
    assert code == 0
    assert state_of(store, 1)[0] == "approved"
    assert text.split("state  ")[0] == (
        "A1: notes asks for\n"
        "│ POST https://api.example.com/v1/notes\n"
        "│ query  q = a b\n"
        "│ header  Authorization = Bearer ${NOTES_KEY}\n"
        "│ body  (18 bytes)\n"
        '│ {"text": "北京"}\n'
    )
    assert "secrets       NOTES_KEY (filled in when it is sent)\n" in text
    assert f"digest        {row['digest']}" in text
    assert "for           bob (cli)" in text
    assert "risk          not known: there is no such spec now" in text
    assert "wider scopes  POST https://api.example.com/v1/notes by this version of notes" in text


def test_what_was_typed_before_the_question_does_not_answer_it(tmp_path: Path, store: Path) -> None:
    park(store, http_request())
    leader, follower = pty.openpty()
    os.write(leader, b"y\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "ias", "approve", "A1"],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        cwd=tmp_path,
        env=environment(tmp_path),
    )
    os.close(follower)
    written = b""
    while not written.endswith(b"[y/N] "):
        assert select.select([leader], [], [], BOUND)[0], "no question came"
        written += os.read(leader, 65536)
    os.write(leader, b"n\n")
    assert process.wait(BOUND) == 1
    os.close(leader)

    assert state_of(store, 1)[0] == "pending"


def test_anything_but_y_leaves_the_request_waiting(tmp_path: Path, store: Path) -> None:
    park(store, db_request("delete_memory", '{"id":"m_1"}'))

    code, written = at_terminal(tmp_path, b"\n", "approve", "A1")

    assert code == 1
    assert b"it still waits" in written
    assert state_of(store, 1)[0] == "pending"


def test_a_long_body_must_be_shown_whole_before_it_can_be_approved(tmp_path: Path, store: Path) -> None:
    park(store, http_request(body="x" * 2500 + "THE END"))

    code, written = at_terminal(tmp_path, b"y\n", "approve", "A1")
    second, whole = at_terminal(tmp_path, b"f\ny\n", "approve", "A1")

    assert (code, second) == (1, 0)
    assert b"THE END" not in written
    assert b"507 more bytes are not shown; 2507 bytes in all, sha256 " in written.replace("\r\n│ ".encode(), b"")
    assert b"THE END" in whole.replace("\r\n│ ".encode(), b"")


def test_nothing_a_request_holds_reaches_the_terminal_as_anything_but_printable_text(
    tmp_path: Path, store: Path
) -> None:
    hostile = "".join(chr(code) for code in (*range(0x20), *range(0x7F, 0xA1), 0x202E, 0x200B, 0xFE0F, 0xE0041, 0x2800))
    park(store, http_request(path=f"/a{hostile}", query=[[hostile, hostile]], headers=[["X", hostile]], body=hostile))

    _, written = at_terminal(tmp_path, b"n\n", "approve", "A1")

    assert all(byte >= 0x20 or byte in b"\r\n" for byte in written)
    text = written.decode()
    assert all(char.isprintable() or char in "\r\n" for char in text)
    assert not set(text) & set("\u202e\u200b\ufe0f\U000e0041\u2800\x7f")
    assert "⟨U+202E⟩" in text.replace("\r\n│ ", "")
    body = text[text.index("body") :].split("state  ")[0]
    assert all(line.startswith("│ ") for line in body.splitlines()[1:])
    assert all(cells(line) < 80 for line in body.splitlines())  # a terminal would begin a line of its own for the rest


def test_lists_and_shows_are_json_where_asked(tmp_path: Path, store: Path) -> None:
    row = park(store, http_request(), db_request("kv_delete", "{}"))

    [listed] = json.loads(ias(tmp_path, "approvals", "list", "--json").out)
    shown = json.loads(ias(tmp_path, "approvals", "show", row["id"], "--json").out)

    assert listed == shown
    assert (shown["ref"], shown["state"], shown["digest"], shown["user_id"]) == ("A1", "pending", row["digest"], "bob")
    assert [item["kind"] for item in shown["request"]] == ["http", "db"]


def test_watching_prints_what_comes_and_how_it_ended(tmp_path: Path, store: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "ias", "approvals", "--watch"],
        stdout=subprocess.PIPE,
        env=environment(tmp_path),
        cwd=tmp_path,
    )
    assert process.stdout is not None
    try:
        park(store, http_request())
        waiting = process.stdout.readline().decode().split("  ")
        ias(tmp_path, "deny", "A1")
        ended = process.stdout.readline().decode().split("  ")
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=BOUND)

    assert (waiting[:3], ended[:3]) == (["A1", "pending", "notes"], ["A1", "denied", "notes"])
    assert waiting[-1] == "POST https://api.example.com/v1/notes\n"
    assert process.returncode == 130


def test_answers_are_chinese_where_the_terminal_is(tmp_path: Path, store: Path) -> None:
    park(store, http_request())

    assert ias(tmp_path, "approve", "A1", "--yes", LC_ALL="zh_CN.UTF-8").out == "已批准 A1。\n"


def test_the_approve_path_imports_nothing_heavy(tmp_path: Path, store: Path) -> None:
    assert store.exists()
    script = (
        "import sys; from ias.cli.app import run; run(['approve', 'A1']);"
        "print(*sorted(set(sys.modules) & {'asyncio', 'httpx', 'rich', 'structlog', 'yaml', 'aiosqlite', 'fastapi'}))"
    )

    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        timeout=BOUND,
        check=True,
        env=environment(tmp_path),
        cwd=tmp_path,
    )

    assert done.stdout == b"\n"
