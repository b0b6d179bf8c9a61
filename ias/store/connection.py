"""Connections to an SQLite file: how they are set up, how a transaction is driven over one, what its errors mean."""

import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from ias.errors import DiskFullError, ReadOnlyStateError, SchemaError, StateError, StoreBusyError
from ias.store.base import Row, Transaction, Wake
from ias.store.statements import load_statements

T = TypeVar("T")

BACKEND = "sqlite"
OLDEST = (3, 35, 0)  # the first SQLite with RETURNING
BUSY_MS = 5_000  # how long a writer waits for another program's lock
CHECKPOINT_PAGES = 4_000  # about 16 MB of log before a checkpoint is made although work goes on
DAMAGED = "stop every ias, keep the file, and restore a backup with `ias restore FILE`"

Clock = Callable[[], int]


def epoch_ms() -> int:
    """Give the time as epoch milliseconds."""
    return time.time_ns() // 1_000_000


def connect(path: Path, *, is_reader: bool = False, busy_ms: int = BUSY_MS) -> sqlite3.Connection:
    """Open an existing database with the settings that every connection must have.

    Raises:
        StateError: It cannot be opened or written.
    """
    if sqlite3.sqlite_version_info < OLDEST:
        raise StateError(f"SQLite {sqlite3.sqlite_version} is too old; ias needs 3.35 or newer")
    try:
        # The writer thread is not the thread that opens; only one at a time ever uses a connection.
        connection = sqlite3.connect(
            uri_of(path),
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=512,
        )
    except sqlite3.Error as error:
        raise translate(error) from error
    try:
        set_up(connection, is_reader=is_reader, busy_ms=busy_ms)
    except sqlite3.Error as error:
        connection.close()
        raise translate(error) from error
    return connection


def uri_of(path: Path) -> str:
    """Give the address of a database file that must be there: opening makes none."""
    return f"{path.absolute().as_uri()}?mode=rw"


def set_up(connection: sqlite3.Connection, *, is_reader: bool, busy_ms: int = BUSY_MS) -> None:
    """Apply the settings: the busy timeout first, else switching to WAL itself can fail (sqlite.org/wal.html)."""
    connection.row_factory = row_of
    for pragma in pragmas(is_reader=is_reader, busy_ms=busy_ms):
        connection.execute(pragma).fetchall()


def pragmas(*, is_reader: bool, busy_ms: int = BUSY_MS) -> tuple[str, ...]:
    """Give the settings of a connection, in order."""
    if is_reader:
        return (f"PRAGMA busy_timeout={busy_ms}", "PRAGMA query_only=ON")
    return (
        f"PRAGMA busy_timeout={busy_ms}",
        "PRAGMA journal_mode=WAL",
        "PRAGMA synchronous=FULL",
        "PRAGMA foreign_keys=ON",
        f"PRAGMA wal_autocheckpoint={CHECKPOINT_PAGES}",
    )


def make_file(path: Path) -> None:
    """Make an empty database file that only its owner may read, and its folder, where they are missing.

    Raises:
        StateError: They cannot be made, or the path names a device, a folder or the like.
    """
    refuse_special(path)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        path.chmod(0o600)
    except OSError as error:
        raise ReadOnlyStateError(
            f"{str(path)!r} cannot be written: {error.strerror}; check the folder's owner"
        ) from error


def refuse_special(path: Path) -> None:
    """Let nothing but an ordinary file be taken for a database: root could otherwise change a device's mode.

    Raises:
        StateError: The path names something else.
    """
    if path.exists() and not path.is_file():
        raise StateError(f"{str(path)!r} is no ordinary file; name another one in store.url")


def row_of(cursor: sqlite3.Cursor, values: tuple[Any, ...]) -> dict[str, Any]:
    """Make a row a mapping of column names."""
    return {column[0]: value for column, value in zip(cursor.description, values, strict=True)}


def drive(connection: sqlite3.Connection, transaction: Transaction[T], clock: Clock) -> tuple[T, set[str]]:
    """Run a transaction's statements in the open transaction of a connection.

    Returns:
        Its value, and the topics to wake after COMMIT.
    """
    statements = load_statements(BACKEND)
    steps = transaction.steps()
    topics: set[str] = set()
    try:
        asked = next(steps)
        while True:
            rows: list[Row] = []
            if isinstance(asked, Wake):
                topics.add(asked.topic)
            elif asked.name == "now":
                rows = [{"now": clock()}]
            else:
                rows = connection.execute(statements[asked.name], asked.params).fetchall()
            asked = steps.send(rows)
    except StopIteration as end:
        return end.value, topics
    finally:
        steps.close()


class Lenient(dict[str, Any]):
    """Parameters of a read: one that was left out is NULL."""

    def __missing__(self, name: str) -> None:
        """Give NULL."""
        return


def translate(error: sqlite3.Error) -> StateError | sqlite3.Error:
    """Give the error that says what the operator can do; a broken constraint or statement stays as it is: a defect."""
    code = getattr(error, "sqlite_errorcode", 0)
    match code & 0xFF:
        case sqlite3.SQLITE_FULL:
            return DiskFullError("no space is left for the database; free some, nothing was stored")
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreBusyError("another program holds the database; close it, nothing was stored")
        case sqlite3.SQLITE_READONLY:
            return ReadOnlyStateError("the database cannot be written; check the owner of the file and its folder")
        case sqlite3.SQLITE_CANTOPEN:
            return StateError("the database cannot be opened; check that the state folder is there")
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return SchemaError(f"the database is damaged or not one of ias ({error}); {DAMAGED}")
        case sqlite3.SQLITE_IOERR if code in NO_ROOM:
            return DiskFullError(f"the database cannot grow ({error}); check free space, quota and limits")
        case sqlite3.SQLITE_IOERR:
            return StateError(f"the disk failed ({error}); check the file system and its log")
        case _:
            return error


# A write beyond a quota or a file size limit is an input/output error for SQLite (os_unix.c, unixWrite).
NO_ROOM = (sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_IOERR_FSYNC)
