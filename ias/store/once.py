"""The store for a command that asks or decides one thing: no event loop, nothing heavy to import, never a migration."""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from ias.errors import StateError
from ias.store.base import Row, Transaction
from ias.store.connection import BACKEND, Clock, Lenient, connect, drive, epoch_ms, translate
from ias.store.migrate import check_schema
from ias.store.statements import load_statements

T = TypeVar("T")


def run_once(path: Path, transaction: Transaction[T], *, clock: Clock = epoch_ms) -> T:
    """Run one transaction on a store that a daemon may be using, and give its value after its COMMIT.

    Raises:
        StateError: The store is missing, not up to date, or cannot be written.
    """
    with _opened(path, is_reader=False) as connection:
        for is_last in (False, True):
            connection.execute("BEGIN IMMEDIATE")
            try:
                value, _ = drive(connection, transaction, clock)
            except BaseException:
                _roll_back(connection)
                raise
            try:
                connection.execute("COMMIT")
            except sqlite3.Error:
                _roll_back(connection)
                if is_last:
                    raise
                continue  # whether it was committed is not known: the same transaction finds out
            return value
    raise AssertionError("the loop ends by a return or an error")


def read_once(path: Path, name: str, **params: Any) -> list[Row]:
    """Run one reading statement.

    Raises:
        StateError: The store is missing or not up to date.
    """
    with _opened(path, is_reader=True) as connection:
        return connection.execute(load_statements(BACKEND)[name], Lenient(params)).fetchall()


@contextmanager
def _opened(path: Path, *, is_reader: bool) -> Generator[sqlite3.Connection]:
    if not path.exists():
        raise StateError(f"there is no store at {str(path)!r}; start `ias serve` once, it makes one")
    connection = connect(path, is_reader=is_reader)
    try:
        check_schema(connection)
        yield connection
    except sqlite3.Error as error:
        raise translate(error) from error
    finally:
        connection.close()


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        connection.execute("ROLLBACK")
