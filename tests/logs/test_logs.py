"""The three logs: what a line looks like, what never gets into one, and what happens when a file is full."""

import io
import json
import logging
import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from structlog.contextvars import bound_contextvars

from ias.errors import ConfigError
from ias.logs import Logs, open_logs

TIME = r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


@dataclass(frozen=True, kw_only=True)
class Settings:
    level: str = "info"
    format: str = "text"
    rotate: int = 0
    keep: int = 3
    raw: bool = True


@contextmanager
def opened(folder: Path, settings: Settings | None = None, *, secret: str = "") -> Generator[tuple[Logs, io.StringIO]]:
    terminal = io.StringIO()

    def scrub(text: str) -> str:
        return text.replace(secret, "***") if secret else text

    logs = open_logs(settings or Settings(), folder, scrub, terminal=terminal)
    try:
        yield logs, terminal
    finally:
        logs.close()


def lines(file: Path) -> list[str]:
    return file.read_text("utf-8").splitlines()


def without_time(line: str) -> str:
    return re.sub(f"^{TIME} ", "", line)


def test_a_line_has_time_tag_conversation_turn_run_and_text(tmp_path: Path) -> None:
    ids = {"conversation_id": "c_abcdefghijklmnop", "turn_id": "t_abcdefghijklmnop", "run_id": "r_abcdefghijklmnop"}
    with opened(tmp_path) as (logs, _):
        with bound_contextvars(**ids):
            logs.msg.info("message", tag="用户", text="北京天气？", user="bob", note="two words", empty="")
        logs.msg.info("tool_call", tag="LLM")

    assert re.fullmatch(TIME, lines(tmp_path / "msg.log")[0].split(" ")[0])
    assert [without_time(line) for line in lines(tmp_path / "msg.log")] == [
        '[用户] c_abcdefgh t_abcdefgh r_abcdefgh 北京天气？ user=bob note="two words" empty=""',
        "[LLM] - - - tool_call",
    ]


def test_an_event_is_one_line_whatever_it_holds(tmp_path: Path) -> None:
    text = "a\nb\r\tc\x1b[31m\x00\x85\u2028\u202e\ud800 d\\n 100%"
    with opened(tmp_path) as (logs, _):
        logs.msg.info("message", tag="LLM\n", text=text, fact="x\ny")

    assert [without_time(line) for line in (tmp_path / "msg.log").read_text("utf-8").split("\n")] == [
        '[LLM\\n] - - - a\\nb\\r\\tc\\x1b[31m\\x00\\x85\\u2028\\u202e\\ud800 d\\n 100% fact="x\\ny"',
        "",
    ]


def test_json_lines_hold_whole_ids_and_every_fact(tmp_path: Path) -> None:
    with opened(tmp_path, Settings(format="json")) as (logs, _), bound_contextvars(run_id="r_abcdefghijklmnop"):
        logs.error.error("spawn_failed", tag="spawn", text="no\nsuch", code=2, path=Path("a"))

    [line] = lines(tmp_path / "error.log")
    body = json.loads(line)
    assert re.fullmatch(TIME, body.pop("time"))
    assert body == {
        "log": "error",
        "tag": "spawn",
        "level": "error",
        "run_id": "r_abcdefghijklmnop",
        "event": "spawn_failed",
        "text": "no\nsuch",
        "code": 2,
        "path": "a",
    }


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_secret_is_in_no_line_also_where_escapes_would_hide_it(tmp_path: Path, form: str) -> None:
    secret = 'k"1\n\u00e9'
    with opened(tmp_path, Settings(format=form), secret=secret) as (logs, terminal):
        logs.raw.info("request", tag="llm-request", text=f"a {secret} b", fact=secret)
        logs.ops.info("started", text=f"key {secret}")
        try:
            raise ValueError(secret)  # noqa: TRY301 - the traceback is the subject
        except ValueError:
            logs.error.exception("failed", tag="http")

    written = "".join(file.read_text("utf-8") for file in tmp_path.iterdir()) + terminal.getvalue()
    assert written.count("***") >= 4
    assert "k" + '"1' not in written
    assert 'k\\"1' not in written


def test_a_full_file_is_set_aside_and_only_so_many_are_kept(tmp_path: Path) -> None:
    with opened(tmp_path, Settings(rotate=100, keep=2)) as (logs, _):
        for number in range(5):
            logs.msg.info("message", tag="LLM", text=f"{number}" * 40)

    found = {file.name: [without_time(line) for line in lines(file)] for file in tmp_path.iterdir()}
    assert found == {
        "msg.log": ["[LLM] - - - " + "4" * 40],
        "msg.log.1": ["[LLM] - - - " + "3" * 40],
        "msg.log.2": ["[LLM] - - - " + "2" * 40],
    }


def test_a_log_that_was_there_is_continued_and_counts_for_rotation(tmp_path: Path) -> None:
    (tmp_path / "msg.log").write_text("old\n")
    with opened(tmp_path, Settings(rotate=1000)) as (logs, _):
        logs.msg.info("message", tag="LLM", text="new")

    assert [without_time(line) for line in lines(tmp_path / "msg.log")] == ["old", "[LLM] - - - new"]


@pytest.mark.parametrize("how", ["deleted", "moved", "deleted with its folder"])
def test_a_log_that_goes_away_under_the_daemon_is_made_again(tmp_path: Path, how: str) -> None:
    folder = tmp_path / "logs"
    with opened(folder) as (logs, _):
        logs.msg.info("message", tag="LLM", text="before")
        file = folder / "msg.log"
        match how:
            case "moved":
                file.rename(folder / "msg.log.old")
            case _:
                file.unlink()
        if how == "deleted with its folder":
            folder.rmdir()
        logs.msg.info("message", tag="LLM", text="after")
    assert [without_time(line) for line in lines(file)] == ["[LLM] - - - after"]


def test_only_the_owner_may_read_the_files(tmp_path: Path) -> None:
    with opened(tmp_path / "logs", Settings(rotate=10)) as (logs, _):
        for log in (logs.msg, logs.msg, logs.raw, logs.error):
            log.error("event", text="x")

    modes = {file.name: oct(file.stat().st_mode & 0o777) for file in (tmp_path / "logs").iterdir()}
    assert modes == dict.fromkeys(["msg.log", "msg.log.1", "raw.log", "error.log"], "0o600")
    assert oct((tmp_path / "logs").stat().st_mode & 0o777) == "0o700"


def test_raw_false_writes_no_raw_log(tmp_path: Path) -> None:
    with opened(tmp_path, Settings(raw=False)) as (logs, _):
        logs.raw.error("request", text="x")
        logs.msg.info("message", text="y")

    assert [file.name for file in tmp_path.iterdir()] == ["msg.log"]


def test_what_is_below_the_level_is_left_out(tmp_path: Path) -> None:
    with opened(tmp_path, Settings(level="warning")) as (logs, terminal):
        logs.msg.info("message", text="no")
        logs.msg.warning("message", text="yes")
        logs.ops.info("started", text="no")

    assert [without_time(line) for line in lines(tmp_path / "msg.log")] == ["[msg] - - - yes"]
    assert terminal.getvalue() == ""


def test_a_full_disk_is_told_once_and_told_again_when_it_is_over(tmp_path: Path) -> None:
    msg = tmp_path / "msg.log"
    msg.symlink_to("/dev/full")
    with opened(tmp_path) as (logs, terminal):
        for number in range(3):
            logs.msg.info("message", text=f"lost {number}")
        told = terminal.getvalue()
        msg.unlink()
        logs.msg.info("message", text="kept")
        logs.msg.info("message", text="kept too")

    assert [line.split(" ", 1)[1] for line in told.splitlines()] == [
        f"warning: cannot write {msg}: No space left on device; lines are lost until that is mended"
    ]
    assert [line.split(" ", 1)[1] for line in terminal.getvalue().splitlines()[1:]] == [
        f"warning: {msg} is written again"
    ]
    assert [without_time(line) for line in lines(msg)] == ["[msg] - - - kept", "[msg] - - - kept too"]


def test_a_terminal_that_is_gone_disturbs_nobody(tmp_path: Path) -> None:
    with opened(tmp_path) as (logs, terminal):
        terminal.close()
        logs.ops.info("started", text="x")
        logs.msg.info("message", text="y")

    assert len(lines(tmp_path / "msg.log")) == 1


def test_warnings_of_libraries_go_to_error_and_to_the_terminal_until_closed(tmp_path: Path) -> None:
    before = [list(logging.getLogger(name).handlers) for name in ("", "asyncio", "uvicorn")]
    with opened(tmp_path) as (_, terminal):
        logging.getLogger("uvicorn.error").warning("slow %s", "client")
        logging.getLogger("asyncio").info("not this")

    assert [without_time(line) for line in lines(tmp_path / "error.log")] == ["[uvicorn] - - - slow client"]
    assert terminal.getvalue().split(" ", 1)[1] == "warning: uvicorn: slow client\n"
    assert [list(logging.getLogger(name).handlers) for name in ("", "asyncio", "uvicorn")] == before


def test_a_folder_that_cannot_be_made_is_a_wrong_configuration(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(ConfigError, match=r"logs\.dir"), opened(tmp_path / "file" / "logs"):
        pass
