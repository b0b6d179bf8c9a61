"""Commands whose terminal is not there: closed streams, as in `ias … >&-`."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.homes import environment, ias

WRONG_USE = "ias: No such command 'nope'\n     `ias --help` shows how to call it\n"


@pytest.mark.parametrize(
    ("redirection", "command", "code", "err"),
    [
        (">&-", "config check", 0, ""),
        (">&-", "--help", 0, ""),
        (">&-", "nope", 2, WRONG_USE),
        ("2>&-", "config check", 0, ""),
        ("2>&-", "nope", 2, ""),
        ("<&-", "config check", 0, ""),
        ("<&- >&- 2>&-", "tools list", 0, ""),
    ],
)
def test_a_closed_stream_changes_no_exit_code(
    tmp_path: Path, redirection: str, command: str, code: int, err: str
) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f'exec "$0" -m ias --home "$1" {command} {redirection}', sys.executable, str(tmp_path)],
        capture_output=True,
        env=environment(tmp_path),
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stderr) == (code, err)


def test_a_limit_beyond_all_bounds_is_wrong_use(tmp_path: Path) -> None:
    done = ias(tmp_path, "runs", "list", "--limit", str(2**70))
    assert done.code == 2
    assert "--limit" in done.err
