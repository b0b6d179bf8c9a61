"""The lock of a state folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ias.errors import ReadOnlyStateError, StateLockedError
from ias.store.lock import StateLock

HOLD = """
import sys
from pathlib import Path
from ias.store.lock import StateLock
StateLock(Path(sys.argv[1])).acquire()
print("held", flush=True)
sys.stdin.read()
"""


def test_another_process_is_refused_and_told_who_holds_it(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(StateLockedError, match=f"the process {holder.pid} works on") as caught:
            StateLock(tmp_path).acquire()
        assert caught.value.pid == holder.pid
        holder.kill()
        holder.wait(10)
    with StateLock(tmp_path):
        assert (tmp_path / "ias.lock").read_text() == f"{os.getpid()}\n"


def test_a_lock_that_was_released_can_be_taken_again(tmp_path: Path) -> None:
    first, second = StateLock(tmp_path / "new"), StateLock(tmp_path / "new")
    first.acquire()
    with pytest.raises(StateLockedError):
        second.acquire()
    first.release()
    first.release()
    second.acquire()
    second.release()


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ReadOnlyStateError, match="cannot be written"):
        StateLock(tmp_path / "file").acquire()
