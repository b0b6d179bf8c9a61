"""What the tests of the command line share."""

from collections.abc import Generator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest


@pytest.fixture
def home() -> Generator[Path]:
    """A short path: the address of a Unix socket has room for 107 bytes."""
    with TemporaryDirectory(prefix="ias") as folder:
        yield Path(folder)
