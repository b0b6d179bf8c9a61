"""The store without an event loop, as commands use it."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from ias.errors import NotFoundError, SchemaError, StateError
from ias.store.base import Terms
from ias.store.connection import connect, make_file
from ias.store.migrate import migrate
from ias.store.once import read_once, run_once
from ias.store.transactions.approvals import decide_approval
from ias.store.transactions.turns import submit_message

HEAVY = ("asyncio", "aiosqlite", "pydantic", "httpx", "structlog", "threading", "concurrent.futures")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "data" / "ias.db"
    make_file(path)
    connection = connect(path)
    migrate(connection)
    connection.close()
    return path


def test_a_transaction_and_a_read_work_without_a_daemon(path: Path) -> None:
    message = submit_message(Terms(), channel="chat", address="ann", user_id="ann", text="hi")
    stored = run_once(path, message, clock=lambda: 7)
    assert run_once(path, message).turn_id == stored.turn_id
    assert [row["created_at"] for row in read_once(path, "conversations")] == [7]


def test_a_transaction_that_refuses_leaves_nothing(path: Path) -> None:
    with pytest.raises(NotFoundError):
        run_once(path, decide_approval(Terms(), ref="A1", approve=True, by="ann", via="cli"))
    connection = sqlite3.connect(path, timeout=0)
    connection.execute("BEGIN EXCLUSIVE")
    connection.close()


def test_a_missing_store_is_told_and_not_made(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="start `ias serve` once"):
        read_once(tmp_path / "ias.db", "approvals")
    assert list(tmp_path.iterdir()) == []


def test_an_old_store_is_not_migrated(tmp_path: Path) -> None:
    make_file(tmp_path / "ias.db")
    with pytest.raises(SchemaError, match="older ias"):
        read_once(tmp_path / "ias.db", "approvals")


def test_a_decision_imports_nothing_heavy() -> None:
    program = f"""
import sys
import ias.store.once, ias.store.transactions.approvals, ias.store.lock
print([name for name in {HEAVY} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, timeout=30)
    assert done.stdout == b"[]\n"
