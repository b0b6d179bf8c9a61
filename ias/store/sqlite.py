"""The store on an SQLite file, for a program with an event loop: one writer thread, readers of their own."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Self, TypeVar

import aiosqlite

from ias.errors import SchemaError, StateError
from ias.store.backup import backup
from ias.store.base import Row, Transaction
from ias.store.connection import (
    BACKEND,
    DAMAGED,
    Clock,
    Lenient,
    connect,
    epoch_ms,
    make_file,
    pragmas,
    translate,
    uri_of,
)
from ias.store.migrate import migrate
from ias.store.statements import load_statements
from ias.store.writer import Task, Writer

T = TypeVar("T")

READERS = 2  # connections that read side by side; a read takes well under a millisecond


class SqliteStore:
    """Runs transactions in the writer thread and reads beside it.

    Life cycle: `await SqliteStore.open(path)`, then `run` and `read` from the event loop that opened it, then `close`.
    """

    def __init__(self, path: Path, writer: Writer, readers: list[aiosqlite.Connection]) -> None:
        self._path = path
        self._writer = writer
        self._loop = asyncio.get_running_loop()
        self._all_readers = readers
        self._readers: asyncio.LifoQueue[aiosqlite.Connection] = asyncio.LifoQueue()
        for reader in readers:
            self._readers.put_nowait(reader)
        self._waiting: dict[Task, asyncio.Future[Any]] = {}
        self._version = 0
        self._is_closed = False
        self.on_commit: Callable[[frozenset[str]], None] = lambda _: None

    @classmethod
    async def open(cls, path: Path, *, clock: Clock = epoch_ms, create: bool = True) -> Self:
        """Open a store, bring its schema up to date, and start its threads.

        Args:
            path: The database file.
            clock: Gives epoch milliseconds.
            create: Whether to make the file (mode 0600) and its folder (0700) where they are missing.

        Raises:
            StateError: It is missing, not one of this ias, damaged, or cannot be written.
        """
        connection = await asyncio.to_thread(_open_writer, path, create=create)
        readers: list[aiosqlite.Connection] = []
        try:
            while len(readers) < READERS:
                readers.append(await _open_reader(path))
        except sqlite3.Error as error:
            connection.close()
            for reader in readers:
                await reader.close()
            raise translate(error) from error
        writer = Writer(connection, clock)
        store = cls(path, writer, readers)
        writer.start()
        await store.has_changed()
        return store

    @property
    def commits(self) -> int:
        """Give how many COMMITs were made; many transactions share one."""
        return self._writer.commits

    async def run(self, transaction: Transaction[T]) -> T:
        """Run a transaction and give its value after its COMMIT. A cancelled caller does not stop it.

        Raises:
            StateError: The store cannot be used now; nothing was written.
        """
        return await self._ask(transaction)

    async def read(self, name: str, **params: Any) -> list[Row]:
        """Run a reading statement of `store/sql` by its name; what may be left out is NULL then.

        Raises:
            StateError: The store cannot be used now.
        """
        statement = load_statements(BACKEND)[name]
        try:
            async with self._reader() as reader:
                rows = await reader.execute_fetchall(statement, Lenient(params))
        except sqlite3.Error as error:
            raise translate(error) from error
        return [dict(zip(row.keys(), row, strict=True)) for row in rows]

    async def has_changed(self) -> bool:
        """Say whether another process, or another connection, committed since the last question."""
        version = await self._ask(_data_version)
        is_other, self._version = version != self._version, version
        return is_other

    async def backup(self, target: Path) -> None:
        """Copy the store into a new file while work goes on.

        Raises:
            StateError: The target is there already, or cannot be written.
        """
        await asyncio.to_thread(backup, self._path, target)

    async def close(self) -> None:
        """Finish what was handed in, write the log back, let the database go. A second call does nothing."""
        if self._is_closed:
            return
        self._is_closed = True
        await asyncio.to_thread(self._writer.stop)
        for reader in self._all_readers:
            await reader.close()

    async def _ask(self, work: Transaction[T] | Callable[[sqlite3.Connection], T]) -> T:
        if self._is_closed:
            raise StateError("the store is closed")
        future: asyncio.Future[T] = self._loop.create_future()
        task = Task(work=work, answer=self._answer)
        self._waiting[task] = future
        self._writer.put(task)
        return await future

    def _answer(self, tasks: list[Task]) -> None:
        """Hand answers over to the event loop; called in the writer thread."""
        self._loop.call_soon_threadsafe(self._settle, tasks)

    def _settle(self, tasks: list[Task]) -> None:
        for task in tasks:
            future = self._waiting.pop(task)
            if future.done():
                continue
            if task.error is None:
                future.set_result(task.value)
            else:
                future.set_exception(task.error)
        topics = frozenset(topic for task in tasks if task.error is None for topic in task.topics)
        if topics:
            self.on_commit(topics)

    @asynccontextmanager
    async def _reader(self) -> AsyncGenerator[aiosqlite.Connection]:
        """Lend a reading connection. A read is one statement, fetched whole in one go: nothing stays open in it."""
        reader = await self._readers.get()
        try:
            yield reader
        finally:
            self._readers.put_nowait(reader)


def _open_writer(path: Path, *, create: bool) -> sqlite3.Connection:
    if create:
        make_file(path)
    elif not path.exists():
        raise StateError(f"there is no store at {str(path)!r}; start `ias serve` once, it makes one")
    connection = connect(path)
    try:
        migrate(connection)
        _check_whole(connection)
    except StateError:
        connection.close()
        raise
    return connection


def _check_whole(connection: sqlite3.Connection) -> None:
    """Look for damage before anything is built on it: about a second for each gigabyte."""
    try:
        found = connection.execute("PRAGMA quick_check(1)").fetchone()["quick_check"]
    except sqlite3.DatabaseError as error:
        raise translate(error) from error
    if found != "ok":
        raise SchemaError(f"the database is damaged ({found}); {DAMAGED}")


async def _open_reader(path: Path) -> aiosqlite.Connection:
    reader = await aiosqlite.connect(uri_of(path), uri=True, isolation_level=None)
    reader.row_factory = sqlite3.Row
    for pragma in pragmas(is_reader=True):
        await reader.execute_fetchall(pragma)
    return reader


def _data_version(connection: sqlite3.Connection) -> int:
    return connection.execute("PRAGMA data_version").fetchone()["data_version"]
