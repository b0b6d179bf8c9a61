"""Restoring: over a store whose process was killed, over a damaged one, and what is refused."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from ias.errors import NotFoundError, SchemaError, StateError
from ias.store.backup import backup
from ias.store.connection import connect
from ias.store.migrate import migrate
from ias.store.once import read_once
from ias.store.restore import find_damage, restore
from tests.cli.homes import http_request, make_store, park

BOUND = 20.0
WRITER = """
import sys, time
from pathlib import Path
from tests.cli.homes import http_request, park
from ias.store.connection import connect
path = Path(sys.argv[1])
held = connect(path)  # one connection stays open, so that the log stays beside the database
held.execute("SELECT * FROM meta").fetchall()
for _ in range(3):
    park(path, http_request())
print("written", flush=True)
sys.stdin.read()
"""


def write_and_die(store: Path) -> None:
    """Let a process write three requests and be killed while its log is beside the database."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(store)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": "."},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"written\n"
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=BOUND)
    assert store.with_name("ias.db-wal").stat().st_size > 0


def numbers(store: Path) -> list[int]:
    return sorted(row["num"] for row in read_once(store, "approvals", state="all"))


def test_a_backup_goes_over_a_store_whose_process_was_killed_and_both_are_whole(tmp_path: Path) -> None:
    store, copy = make_store(tmp_path), tmp_path / "copy.db"
    park(store, http_request())
    backup(store, copy)
    write_and_die(store)

    kept = restore(copy, store)

    assert kept is not None
    assert (numbers(store), numbers(kept)) == ([1], [1, 2, 3, 4])
    assert (find_damage(store, is_thorough=True), find_damage(kept, is_thorough=True)) == (None, None)
    assert [store.stat().st_mode & 0o777, kept.stat().st_mode & 0o777] == [0o600, 0o600]
    assert sorted(file.name for file in store.parent.iterdir() if not file.name.endswith(("-wal", "-shm"))) == sorted(
        ["ias.db", kept.name]
    )


def test_a_damaged_store_is_replaced_and_kept_with_its_log(tmp_path: Path) -> None:
    store, copy = make_store(tmp_path), tmp_path / "copy.db"
    park(store, http_request())
    backup(store, copy)
    write_and_die(store)
    store.write_bytes(b"no database" * 1000)

    kept = restore(copy, store)

    assert kept is not None
    assert kept.read_bytes() == b"no database" * 1000
    assert kept.with_name(f"{kept.name}-wal").exists()
    assert not store.with_name("ias.db-wal").exists()
    assert (numbers(store), find_damage(store)) == ([1], None)


def test_numbers_that_people_were_told_are_not_given_again_after_a_second_restore(tmp_path: Path) -> None:
    store, copy = make_store(tmp_path), tmp_path / "copy.db"
    backup(store, copy)

    restore(copy, store)
    first = park(store, http_request())["num"]
    restore(copy, store)

    assert (first, park(store, http_request())["num"]) == (1001, 1002)


def test_a_store_that_is_gone_is_brought_back(tmp_path: Path) -> None:
    store, copy = make_store(tmp_path), tmp_path / "copy.db"
    park(store, http_request())
    backup(store, copy)
    write_and_die(store)
    store.unlink()

    assert restore(copy, store) is None
    assert (numbers(store), find_damage(store)) == ([1], None)


def make_foreign(file: Path) -> None:
    with closing(sqlite3.connect(file)) as other:
        other.execute("CREATE TABLE cats(name)")
        other.commit()


def make_newer(file: Path) -> None:
    file.touch()
    with closing(connect(file)) as newer:
        migrate(newer)
        newer.execute("INSERT INTO migration(no, name, digest, applied_at) VALUES (9000, 'x', 'x', 0)")
        newer.execute("PRAGMA journal_mode=DELETE").fetchall()


def make_torn(file: Path) -> None:
    backup(make_store(file.parent / "other"), file)
    content = bytearray(file.read_bytes())
    content[4096 * 3 : 4096 * 12] = b"\xff" * (4096 * 9)
    file.write_bytes(bytes(content))


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda file: file.write_bytes(b""), "no database of ias"),
        (lambda file: file.write_text("hello " * 1000), "no backup that can be read"),
        (make_foreign, "no database of ias"),
        (make_newer, "a newer ias wrote it"),
        (make_torn, "name another"),
    ],
)
def test_what_is_no_backup_changes_nothing(tmp_path: Path, make: object, part: str) -> None:
    store, wrong = make_store(tmp_path), tmp_path / "wrong.db"
    park(store, http_request())
    assert callable(make)
    make(wrong)

    with pytest.raises(SchemaError, match=part):
        restore(wrong, store)

    assert numbers(store) == [1]
    assert [file.name for file in store.parent.iterdir() if not file.name.endswith(("-wal", "-shm"))] == ["ias.db"]


def test_a_store_is_not_restored_from_itself_or_from_nothing(tmp_path: Path) -> None:
    store = make_store(tmp_path)

    with pytest.raises(StateError, match="the store itself"):
        restore(store, store)
    with pytest.raises(NotFoundError, match="there is no file"):
        restore(tmp_path / "nothing.db", store)


def test_damage_is_found(tmp_path: Path) -> None:
    file = tmp_path / "torn.db"
    make_torn(file)

    assert find_damage(file) is not None
