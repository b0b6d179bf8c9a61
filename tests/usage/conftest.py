"""What the tests of usage run over: a real store in a file."""

from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest

from ias.logs import Logs
from tests.consumers.logbook import logs_in
from tests.store.conftest import sqlite_world
from tests.store.world import World


@pytest.fixture
async def world(tmp_path: Path) -> AsyncGenerator[World]:
    """Give a store that is empty."""
    async with sqlite_world(tmp_path) as found:
        yield found


@pytest.fixture
def logs(tmp_path: Path) -> Generator[Logs]:
    """Give logs in a folder of their own."""
    with logs_in(tmp_path / "logs") as found:
        yield found
