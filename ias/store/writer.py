"""The writer thread: the only one that writes, many transactions a COMMIT.

It takes what waits (up to 128) into one `BEGIN IMMEDIATE … COMMIT`, a SAVEPOINT each, and answers after COMMIT. One
that fails is rolled back alone. If the COMMIT fails, or its outcome is not known, every transaction of the group runs
again by itself with the ids it had: those that were stored find themselves. Whoever waits for an answer may be
cancelled; the connection never notices.
"""

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from ias.errors import StateError
from ias.store.base import Transaction
from ias.store.connection import Clock, drive, translate

GROUP = 128  # transactions in one COMMIT: more gain nothing, and the first of them waits for the last
MOVED = (
    "the database file {name!r} was moved, deleted or replaced; stop ias, put it back, start again; nothing was stored"
)
IDLE = 0.2  # seconds without a COMMIT before the log is written back into the database


@dataclass(slots=True, kw_only=True, eq=False)
class Task:
    """Something to do in the writer thread; `answer` is called there, once for all tasks of a group that share it.

    `work` is a transaction, or a function that is given the connection while no transaction is open. By then `value` or
    `error` is set.
    """

    work: Transaction[Any] | Callable[[sqlite3.Connection], Any]
    answer: Callable[[list["Task"]], None]
    value: Any = None
    error: BaseException | None = None
    topics: set[str] = field(default_factory=set[str])

    @property
    def is_transaction(self) -> bool:
        """Say whether it may share a COMMIT."""
        return isinstance(self.work, Transaction)


class Writer:
    """Drives transactions over one connection in a thread of its own, until it is told to stop."""

    def __init__(self, connection: sqlite3.Connection, clock: Clock) -> None:
        self._connection = connection
        self._clock = clock
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        self._is_stale = False
        self._committed_at = 0.0
        self._thread = threading.Thread(target=self._work, name="ias-store-writer", daemon=True)
        self.commits = 0
        self._file = Path(connection.execute("PRAGMA database_list").fetchall()[0]["file"])
        self._identity = self._file.stat()

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    def put(self, task: Task) -> None:
        """Hand in a task."""
        self._tasks.put(task)

    def stop(self) -> None:
        """Finish what was handed in before, then end the thread and close the connection; waits for it."""
        self._tasks.put(None)
        self._thread.join()

    def _work(self) -> None:
        is_over = False
        while not is_over:
            tasks, is_over = self._take()
            for together, group in groupby(tasks, lambda task: task.is_transaction):
                self._serve(list(group), together=together)
            if self._is_stale and time.monotonic() - self._committed_at >= IDLE:
                self._checkpoint()  # looks at the version come more often than the log may wait
        self._checkpoint()
        self._connection.close()

    def _take(self) -> tuple[list[Task], bool]:
        """Wait for a task, then take all that are there; the second value says that no more will come."""
        try:
            task = self._tasks.get(timeout=IDLE if self._is_stale else None)
        except Empty:
            self._checkpoint()
            task = self._tasks.get()
        taken: list[Task] = []
        while task is not None:
            taken.append(task)
            if len(taken) == GROUP:
                return taken, False
            try:
                task = self._tasks.get_nowait()
            except Empty:
                return taken, False
        return taken, True

    def _serve(self, group: list[Task], *, together: bool) -> None:
        if together:
            for task in self._commit(group):
                self._commit([task])
        else:
            for task in group:
                self._attempt(task)
        for answer in dict.fromkeys(task.answer for task in group):
            with contextlib.suppress(RuntimeError):  # the loop that asked is closed: nobody waits any more
                answer([task for task in group if task.answer == answer])

    def _commit(self, group: list[Task]) -> list[Task]:
        """Run transactions in one COMMIT.

        Returns:
            Those that must run again, each by itself: the COMMIT failed, or one of them took all with it.
        """
        connection = self._connection
        if self._is_moved():  # SQLite would go on with a file that nobody finds again
            for task in group:
                task.error = StateError(MOVED.format(name=str(self._file)))
            return []
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            for task in group:
                task.error = translate(error)
            return []
        try:
            for task in group:
                if not self._step(task):
                    return [other for other in group if other is not task]
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            for task in group:
                task.error = translate(error)
            return group
        self.commits += 1
        self._is_stale, self._committed_at = True, time.monotonic()
        return []

    def _is_moved(self) -> bool:
        with contextlib.suppress(OSError):
            return not os.path.samestat(self._file.stat(), self._identity)
        return True

    def _step(self, task: Task) -> bool:
        """Run one transaction of a group under a SAVEPOINT; False if its failure took the whole group with it."""
        connection = self._connection
        connection.execute("SAVEPOINT one")
        self._attempt(task)
        if task.error is not None:
            if not connection.in_transaction:  # SQLite itself rolls all back where the disk is full or fails
                return False
            connection.execute("ROLLBACK TO one")
        connection.execute("RELEASE one")
        return True

    def _attempt(self, task: Task) -> None:
        task.value, task.error, task.topics = None, None, set()
        try:
            match task.work:
                case Transaction():
                    transaction: Transaction[Any] = task.work
                    task.value, task.topics = drive(self._connection, transaction, self._clock)
                case work:
                    task.value = work(self._connection)
        except Exception as error:  # noqa: BLE001 - whatever it is, it belongs to the caller, the thread goes on
            task.error = translate(error) if isinstance(error, sqlite3.Error) else error

    def _checkpoint(self) -> None:
        self._is_stale = False
        with contextlib.suppress(sqlite3.Error):  # a reader or a full disk may be in the way: the next one does it
            self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
