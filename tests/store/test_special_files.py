"""A path that names no ordinary file is never taken for a database, and its mode is left alone."""

import os
import stat
from pathlib import Path

import pytest

from ias.errors import StateError
from ias.store.connection import make_file
from ias.store.restore import restore


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_database_is_not_made_of_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    pipe.chmod(0o666)
    with pytest.raises(StateError, match="no ordinary file"):
        make_file(pipe)
    assert mode(pipe) == 0o666


def test_a_backup_is_not_restored_over_a_pipe(tmp_path: Path) -> None:
    backup, pipe = tmp_path / "backup", tmp_path / "pipe"
    backup.write_bytes(b"anything")
    os.mkfifo(pipe)
    pipe.chmod(0o666)
    with pytest.raises(StateError, match="no ordinary file"):
        restore(backup, pipe)
    assert (mode(pipe), sorted(path.name for path in tmp_path.iterdir())) == (0o666, ["backup", "pipe"])
