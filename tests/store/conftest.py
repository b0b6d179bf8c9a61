"""Every backend that the contract suite runs on: a new one joins with one more fixture here."""

import sqlite3
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from ias.store.base import Row
from ias.store.connection import row_of
from ias.store.sqlite import SqliteStore
from tests.store.invariants import triggers
from tests.store.world import Clock, World


@asynccontextmanager
async def sqlite_world(folder: Path) -> AsyncGenerator[World]:
    """Open an SQLite store with triggers on illegal moves."""
    clock, path = Clock(), folder / "data" / "ias.db"
    store = await SqliteStore.open(path, clock=clock)
    inspector = sqlite3.connect(path, isolation_level=None)
    inspector.row_factory = row_of
    inspector.executescript(triggers())

    def look(sql: str, params: Mapping[str, Any] | None = None) -> list[Row]:
        return inspector.execute(sql, {} if params is None else params).fetchall()

    world = World(store=store, clock=clock, look=look)
    store.on_commit = world.topics.update
    yield world
    inspector.close()
    await store.close()


BACKENDS: dict[str, Callable[[Path], AbstractAsyncContextManager[World]]] = {"sqlite": sqlite_world}


@pytest.fixture(params=list(BACKENDS))
async def world(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[World]:
    """Give a store that is empty, on each backend in turn."""
    async with BACKENDS[request.param](tmp_path) as found:
        yield found
