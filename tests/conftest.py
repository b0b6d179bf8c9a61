"""What every test may use: the event loop that asynchronous tests run on."""

import pytest


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run `async def` tests on asyncio, the only loop that `ias` runs on."""
    return "asyncio"
