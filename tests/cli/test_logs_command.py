"""`ias logs`: filters by time and user, and following a file over its rotation."""

import os
import select
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ias.store.once import read_once
from tests.cli.homes import BOUND, Ended, environment, http_request, ias, make_store, park


def stamp(minutes_ago: int) -> str:
    at = datetime.now(UTC) - timedelta(minutes=minutes_ago)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "logs" / "msg.log"
    file.parent.mkdir()
    return file


def test_the_last_lines_are_shown_and_controls_are_not(tmp_path: Path, log: Path) -> None:
    log.write_text("".join(f"{stamp(0)} [LLM] - - - {number}\x1b[2J\n" for number in range(5)))

    done = ias(tmp_path, "logs", "-n", "2")

    assert [line.split("- ")[-1] for line in done.out.splitlines()] == ["3⟨U+001B⟩[2J", "4⟨U+001B⟩[2J"]
    assert ias(tmp_path, "logs", "error") == Ended(
        code=4, out="", err=f"ias: there is no {tmp_path}/logs/error.log yet\n     nothing went wrong so far\n"
    )
    assert "the first request to a real model" in ias(tmp_path, "logs", "raw").err


def test_since_looks_into_files_set_aside_too(tmp_path: Path, log: Path) -> None:
    log.with_name("msg.log.1").write_text(f"{stamp(90)} [LLM] - - - old\n{stamp(30)} [LLM] - - - middle\n")
    log.write_text(f"{stamp(1)} [LLM] - - - new\n" + '{"time": "' + stamp(70) + '", "text": "json, old"}\n')

    done = ias(tmp_path, "logs", "--since", "1h")

    assert [line.split("- ")[-1] for line in done.out.splitlines()] == ["middle", "new"]
    assert ias(tmp_path, "logs", "--since", "soon").code == 2


def test_user_shows_the_conversations_of_that_user(tmp_path: Path, log: Path) -> None:
    store = make_store(tmp_path)
    park(store, http_request())
    [conversation] = read_once(store, "conversations", user_id="bob")
    short = str(conversation["id"])[:10]
    log.write_text(
        f"{stamp(1)} [用户] {short} - - his\n{stamp(1)} [用户] c_other - - not his\n"
        + f'{{"time": "{stamp(1)}", "conversation_id": "{conversation["id"]}", "text": "his json"}}\n'
    )

    done = ias(tmp_path, "logs", "--user", "bob")

    assert [line.split(" ")[-1] for line in done.out.splitlines()] == ["his", 'json"}']
    assert ias(tmp_path, "logs", "--user", "eve").code == 4


def test_following_goes_on_after_the_file_was_set_aside(tmp_path: Path, log: Path) -> None:
    log.write_text("one\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "ias", "logs", "-f"], stdout=subprocess.PIPE, env=environment(tmp_path), cwd=tmp_path
    )
    assert process.stdout is not None
    try:
        seen = [line_of(process)]
        append(log, "two\nhal")
        seen.append(line_of(process))
        append(log, "f\n")
        seen.append(line_of(process))
        append(log, "last of the old\n")
        log.rename(log.with_name("msg.log.1"))
        log.write_text("first of the new\n")
        seen += [line_of(process), line_of(process)]
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=BOUND)

    assert seen == ["one", "two", "half", "last of the old", "first of the new"]
    assert process.returncode == 130


def append(file: Path, text: str) -> None:
    with file.open("a", encoding="utf-8") as opened:
        opened.write(text)


def line_of(process: subprocess.Popen[bytes]) -> str:
    assert process.stdout is not None
    line = b""
    while not line.endswith(b"\n"):
        assert select.select([process.stdout], [], [], BOUND)[0], "nothing came"
        line += os.read(process.stdout.fileno(), 1)
    return line.decode().strip()
