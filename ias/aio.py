"""The few asyncio primitives that the rest builds on: shielded endings and bounded background reaping."""

import asyncio
from collections.abc import Coroutine
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
