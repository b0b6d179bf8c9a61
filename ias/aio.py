"""The few asyncio primitives that the rest builds on: shielded endings, and work beside a block that yields."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

T = TypeVar("T")


async def finish(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` to its end even when the caller is cancelled meanwhile, then let the cancellation go on.

    Use it for clean-up that must not stop half-way (killing a process group, giving a lease back).

    Args:
        work: A coroutine that is itself bounded in time.

    Raises:
        asyncio.CancelledError: After `work` has ended, if the caller was cancelled.
    """
    task = asyncio.get_running_loop().create_task(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.done():
                break
            cancelled = True
    if cancelled:
        task.exception() if not task.cancelled() else None
        raise asyncio.CancelledError
    return task.result()


@asynccontextmanager
async def beside(work: Coroutine[Any, Any, T]) -> AsyncGenerator[asyncio.Task[T], None]:
    """Run `work` beside a block that may `yield`: a TaskGroup must not be held over the `yield` of a generator.

    The end of the block waits for the work and raises what it raised; leaving the block early cancels it.

    Args:
        work: A coroutine.
    """
    task = asyncio.get_running_loop().create_task(work)
    try:
        yield task
        await task
    finally:
        if not task.done():
            task.cancel()
            await finish(_end_of(task))


async def _end_of(task: asyncio.Task[Any]) -> None:
    await asyncio.wait((task,))
    if not task.cancelled():
        task.exception()  # looked at, so that asyncio does not report it: the block was left for another reason
