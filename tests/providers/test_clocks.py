"""The timer that stands for all reads of an answer."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from ias.errors import TransportError
from ias.providers.clocks import Clocks

IDLE = 0.1
STEP = 0.06  # seconds: shorter than IDLE, two of them longer
BOUND = 5.0


async def after(seconds: float) -> None:
    """Come back after a time, by an event that the loop sets."""
    rung = asyncio.Event()
    asyncio.get_running_loop().call_later(seconds, rung.set)
    async with asyncio.timeout(BOUND):
        await rung.wait()


async def silence() -> AsyncGenerator[bytes, None]:
    """Give nothing, for ever."""
    await asyncio.Event().wait()
    yield b""


async def test_news_moves_the_end_of_later_reads() -> None:
    async def pieces() -> AsyncGenerator[bytes, None]:
        for _ in range(4):
            await after(STEP)
            yield b"x"

    clocks, stream, heard = Clocks(total=BOUND, idle=IDLE), pieces(), b""
    while (piece := await clocks.read(stream)) is not None:
        clocks.data()
        heard += piece
    clocks.stop()
    assert heard == b"xxxx"


async def test_a_read_that_ran_out_leaves_its_task_free_to_go_on() -> None:
    clocks = Clocks(total=BOUND, idle=STEP)
    for _ in range(2):
        with pytest.raises(TransportError, match=r"llm\.idle_timeout"):
            await clocks.read(silence())
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_a_piece_that_comes_as_the_clock_runs_out_leaves_its_task_free_to_go_on() -> None:
    async def pieces() -> AsyncGenerator[bytes, None]:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            yield b"late"

    assert await Clocks(total=BOUND, idle=STEP).read(pieces()) == b"late"
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_a_cancellation_stays_one_though_the_clock_runs_out_as_well() -> None:
    reader: asyncio.Task[bytes | None] | None = None

    async def pieces() -> AsyncGenerator[bytes, None]:
        try:
            await asyncio.Event().wait()
        finally:
            assert reader is not None
            reader.cancel()  # somebody else, in the same moment
        yield b""

    async with asyncio.TaskGroup() as group:
        reader = group.create_task(Clocks(total=BOUND, idle=STEP).read(pieces()))
    assert reader.cancelled()


async def test_time_between_reads_ends_no_other_work() -> None:
    async def one() -> AsyncGenerator[bytes, None]:
        yield b"x"

    clocks, stream = Clocks(total=BOUND, idle=STEP), one()
    assert await clocks.read(stream) == b"x"
    await after(2 * STEP)
    assert await clocks.read(stream) is None
