"""What the tests of model steps run over: a real store in a file."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.store.conftest import sqlite_world
from tests.store.world import World


@pytest.fixture
async def world(tmp_path: Path) -> AsyncGenerator[World]:
    """Give a store that is empty."""
    async with sqlite_world(tmp_path) as found:
        yield found
