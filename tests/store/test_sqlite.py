"""The SQLite driver: one COMMIT for many, cancellation, foreign writers, typed errors, backups."""

import asyncio
import os
import sqlite3
import stat
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from ias.errors import DiskFullError, ReadOnlyStateError, SchemaError, StateError, StoreBusyError, TooDeepError
from ias.store.base import Ids, Steps, Terms, Transaction, run, transaction
from ias.store.connection import connect, drive, epoch_ms, row_of, translate
from ias.store.once import read_once, run_once
from ias.store.sqlite import SqliteStore
from ias.store.transactions.queue import set_cursor
from ias.store.transactions.turns import submit_message
from ias.store.writer import Task, Writer

TERMS = Terms()


def message(address: str, terms: Terms = TERMS) -> Transaction[object]:
    return submit_message(terms, channel="chat", address=address, user_id="ann", text="hi")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "ias.db"


@pytest.fixture
async def store(path: Path) -> AsyncGenerator[SqliteStore]:
    store = await SqliteStore.open(path)
    yield store
    await store.close()


async def count(store: SqliteStore) -> int:
    return (await store.read("pending_counts"))[0]["turns"]


async def test_many_transactions_share_a_commit(store: SqliteStore) -> None:
    before = store.commits
    async with asyncio.TaskGroup() as group:
        for number in range(500):
            group.create_task(store.run(message(str(number))))
    assert await count(store) == 500
    assert store.commits - before < 25


async def test_one_that_fails_is_rolled_back_alone(store: SqliteStore) -> None:
    shallow = Terms(depth=0)
    async with asyncio.TaskGroup() as group:
        good = [group.create_task(store.run(message(str(number)))) for number in range(20)]
        bad = group.create_task(refused(store, message("bad", shallow)))
        odd = group.create_task(refused(store, message("lone \ud800 surrogate")))
    assert [task.result() is not None for task in good] == [True] * 20
    assert isinstance(bad.result(), TooDeepError)
    assert isinstance(odd.result(), UnicodeEncodeError)
    found = await store.read("conversations", limit=50)
    assert sorted(row["address"] for row in found) == sorted(str(number) for number in range(20))


async def refused(store: SqliteStore, wanted: Transaction[object]) -> Exception | None:
    try:
        await store.run(wanted)
    except Exception as error:  # noqa: BLE001 - the test asserts which one it was
        return error
    return None


async def test_topics_are_told_after_the_commit_that_makes_them_true(store: SqliteStore) -> None:
    heard: list[frozenset[str]] = []
    store.on_commit = heard.append
    await store.run(message("ann"))
    await refused(store, message("bob", Terms(depth=0)))
    assert heard == [frozenset({"llm"})]


async def test_cancelled_callers_leave_the_connection_alone(store: SqliteStore) -> None:
    for number in range(300):
        task = asyncio.ensure_future(store.run(message(f"cancelled-{number}")))  # noqa: TID251 - cancelled at once
        for _ in range(number % 4):
            await asyncio.sleep(0)
        task.cancel()
        reading = asyncio.ensure_future(store.read("pending_counts"))  # noqa: TID251 - cancelled at once
        for _ in range(number % 7):
            await asyncio.sleep(0)
        reading.cancel()
    async with asyncio.TaskGroup() as group:
        clean = [group.create_task(store.run(message(f"clean-{number}"))) for number in range(300)]
        reads = [group.create_task(store.read("queue_stats")) for _ in range(300)]
    assert len({task.result() for task in clean}) == 300
    assert all(task.done() for task in reads)


async def test_a_cancelled_caller_does_not_stop_its_transaction(store: SqliteStore) -> None:
    task = asyncio.ensure_future(store.run(message("ann")))  # noqa: TID251 - cancelled at once
    await asyncio.sleep(0)
    task.cancel()
    await store.run(set_cursor("x", "1"))
    assert await count(store) == 1


async def test_commits_of_others_are_noticed_once_and_own_ones_never(store: SqliteStore, path: Path) -> None:
    await store.run(message("own"))
    assert not await store.has_changed()
    run_once(path, message("other"))
    assert [await store.has_changed(), await store.has_changed()] == [True, False]


async def test_readers_see_what_was_committed_just_before(store: SqliteStore) -> None:
    for number in range(1, 30):
        await store.run(message(str(number)))
        assert await count(store) == number


async def test_the_log_is_written_back_when_no_work_comes_also_while_somebody_looks(
    store: SqliteStore, path: Path
) -> None:
    await store.run(message("ann"))
    before = os.stat(path).st_size  # noqa: PTH116 - a blocking look is fine here
    async with asyncio.timeout(10):
        while os.stat(path).st_size == before:  # noqa: PTH116 - the same
            await store.has_changed()


async def test_files_are_for_their_owner_only(store: SqliteStore, path: Path) -> None:
    await store.run(message("ann"))
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in [path.parent, *path.parent.iterdir()]}
    assert modes == {"data": 0o700, "ias.db": 0o600, "ias.db-wal": 0o600, "ias.db-shm": 0o600}


async def test_settings_are_as_documented(path: Path, store: SqliteStore) -> None:
    assert store.commits == 0
    connection = connect(path)
    names = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
    found = {name: next(iter(connection.execute(f"PRAGMA {name}").fetchone().values())) for name in names}
    connection.close()
    assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 5000}


async def test_a_store_that_is_missing_is_not_made_unless_asked(path: Path) -> None:
    with pytest.raises(StateError, match="there is no store at"):
        await SqliteStore.open(path, create=False)
    assert not path.parent.exists()


async def test_nothing_is_taken_after_closing(path: Path) -> None:
    store = await SqliteStore.open(path)
    pending = asyncio.ensure_future(store.run(message("ann")))  # noqa: TID251 - awaited below
    await asyncio.sleep(0)
    await store.close()
    await store.close()
    assert await pending is not None
    with pytest.raises(StateError, match="closed"):
        await store.run(message("bob"))


async def test_a_backup_is_whole_private_and_its_numbers_go_on_far_ahead(store: SqliteStore, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    async with asyncio.TaskGroup() as group:
        for number in range(100):
            group.create_task(store.run(message(str(number))))
        group.create_task(store.backup(target))
    with pytest.raises(StateError, match="is there already"):
        await store.backup(target)
    copy = sqlite3.connect(target)
    assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert copy.execute("SELECT key, num FROM meta ORDER BY key").fetchall() == [
        ("approval_no", 1000),
        ("epoch", 0),
        ("rule_no", 1000),
    ]
    copy.close()
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert sorted(os.listdir(tmp_path)) == ["copy.db", "data"]  # noqa: PTH208 - a blocking look is fine here
    assert read_once(target, "approvals") == []


# ------------------------------------------------------------------------------------------------ errors


def busy_store(path: Path) -> tuple[Writer, sqlite3.Connection]:
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    return Writer(connect(path, busy_ms=1), epoch_ms), holder


async def test_a_foreign_writer_makes_it_busy_and_nothing_is_stored(store: SqliteStore, path: Path) -> None:
    writer, holder = busy_store(path)
    answered: list[Task] = []
    for number in range(3):
        writer.put(Task(work=message(str(number)), answer=answered.extend))
    writer.start()
    writer.stop()
    holder.execute("ROLLBACK")
    holder.close()
    assert [type(task.error) for task in answered] == [StoreBusyError] * 3
    assert await count(store) == 0


async def test_a_database_opened_for_reading_cannot_be_written(store: SqliteStore, path: Path) -> None:
    await store.run(message("ann"))
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None)
    connection.row_factory = row_of
    with pytest.raises(sqlite3.OperationalError) as caught:
        drive(connection, message("bob"), epoch_ms)
    connection.close()
    assert isinstance(translate(caught.value), ReadOnlyStateError)


async def test_a_folder_that_is_a_file_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(ReadOnlyStateError, match="cannot be written"):
        await SqliteStore.open(tmp_path / "data" / "ias.db")


DAMAGED = [b"no database, but as long as one " * 200, b"SQLite format 3\0" * 400]


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_file_is_refused_with_advice_and_left_alone(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(SchemaError, match=r"keep the file, and restore a backup"):
        asyncio.run(SqliteStore.open(path))
    assert path.read_bytes() == content


FILL = """
import asyncio, resource, sys
from pathlib import Path
from ias.errors import DiskFullError
from ias.store.base import Terms
from ias.store.sqlite import SqliteStore
from ias.store.transactions.turns import submit_message

async def main(path):
    store = await SqliteStore.open(path)
    resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, resource.RLIM_INFINITY))
    stored, full = 0, 0
    for number in range(200):
        text = "x" * 50_000
        try:
            await store.run(submit_message(Terms(), channel="chat", address=str(number), user_id="ann", text=text))
            stored += 1
        except DiskFullError:
            full += 1
            if full == 3:
                break
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    await store.run(submit_message(Terms(), channel="chat", address="after", user_id="ann", text="room again"))
    counted = (await store.read("pending_counts"))[0]["turns"]
    print(stored + 1, counted, full)
    await store.close()

asyncio.run(main(Path(sys.argv[1])))
"""


async def test_a_full_disk_is_told_nothing_is_lost_and_it_recovers_by_itself(path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", FILL, str(path), stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(30):
        output, _ = await process.communicate()
    stored, counted, full = map(int, output.split())
    assert (process.returncode, stored > 1, counted, full) == (0, True, stored, 3)


def test_the_errors_of_sqlite_are_told_apart() -> None:
    def error(code: int) -> sqlite3.Error:
        error = sqlite3.OperationalError("x")
        error.sqlite_errorcode = code
        return error

    table = {
        sqlite3.SQLITE_FULL: DiskFullError,
        sqlite3.SQLITE_IOERR_WRITE: DiskFullError,
        sqlite3.SQLITE_BUSY_SNAPSHOT: StoreBusyError,
        sqlite3.SQLITE_READONLY_DBMOVED: ReadOnlyStateError,
        sqlite3.SQLITE_CORRUPT_INDEX: SchemaError,
        sqlite3.SQLITE_NOTADB: SchemaError,
        sqlite3.SQLITE_CANTOPEN: StateError,
        sqlite3.SQLITE_IOERR_READ: StateError,
        sqlite3.SQLITE_CONSTRAINT_UNIQUE: sqlite3.OperationalError,
    }
    assert {code: type(translate(error(code))) for code in table} == table


# ------------------------------------------------------------------------------------------------ lost COMMITs


class Flaky:
    """A connection whose COMMIT fails as often as told: before it is made, or after (its answer is lost)."""

    def __init__(self, connection: sqlite3.Connection, failures: list[str]) -> None:
        self._connection = connection
        self._failures = failures

    def __getattr__(self, name: str) -> object:
        return getattr(self._connection, name)

    def execute(self, sql: str, params: object = ()) -> sqlite3.Cursor:
        if sql != "COMMIT" or not self._failures:
            return self._connection.execute(sql, params)  # pyright: ignore[reportArgumentType] - passed on as it is
        if self._failures.pop(0) == "after":
            self._connection.execute(sql)
        raise sqlite3.OperationalError("disk I/O error")


@pytest.mark.parametrize("failures", [["before"], ["after"], ["before", "after"], ["after", "before"]])
async def test_a_failed_or_lost_commit_is_made_up_for(store: SqliteStore, path: Path, failures: list[str]) -> None:
    answered: list[Task] = []
    flaky = Flaky(connect(path), list(failures))
    writer = Writer(flaky, epoch_ms)  # pyright: ignore[reportArgumentType] - stands in for a connection
    for number in range(3):
        writer.put(Task(work=message(str(number)), answer=answered.extend))
    writer.start()
    writer.stop()
    assert await count(store) == 3
    errors = [task.error for task in answered if task.error is not None]
    assert len(errors) == len(failures) - 1


async def test_a_lost_answer_does_not_store_a_second_time(store: SqliteStore, path: Path) -> None:
    answered: list[Task] = []
    flaky = Flaky(connect(path), ["after"])
    writer = Writer(flaky, epoch_ms)  # pyright: ignore[reportArgumentType] - stands in for a connection
    writer.put(Task(work=message("ann"), answer=answered.extend))
    writer.start()
    writer.stop()
    assert (answered[0].value.is_duplicate, answered[0].error, await count(store)) == (True, None, 1)


class RollBackError(Exception):
    """Told to take the whole transaction back, as SQLite does by itself on a full disk."""


async def test_a_failure_that_takes_the_group_with_it_hits_its_cause_alone(store: SqliteStore, path: Path) -> None:
    connection = connect(path)

    @transaction
    def roll_all_back(ids: Ids) -> Steps[None]:  # noqa: ARG001 - every transaction is given ids
        yield run("put_meta", key="broken", value="x")
        connection.execute("ROLLBACK")
        raise RollBackError

    answered: list[Task] = []
    writer = Writer(connection, epoch_ms)
    for work in (message("a"), roll_all_back(), message("b")):
        writer.put(Task(work=work, answer=answered.extend))
    writer.start()
    writer.stop()
    assert [type(task.error) for task in answered] == [type(None), RollBackError, type(None)]
    assert await count(store) == 2
    assert await store.read("cursor", channel="broken") == []
