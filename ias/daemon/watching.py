"""Follows changes of files, through folders that cannot be watched for a while."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

PAUSE = 60.0  # seconds before watching is tried again: what forbids it (rights, inotify's limits) changes seldom


async def follow(
    changes: Callable[[], AsyncIterator[object]],
    load: Callable[[], Awaitable[None]],
    complain: Callable[[str], None],
    *,
    pause: float = PAUSE,
) -> None:
    """Load at each change until the changes end.

    Args:
        changes: Begins to watch; gives something at each burst of changes. It fails where a folder may not be read or
            the system has no watches left, and is begun again then, after a load: something may have been missed.
        load: Loads all.
        complain: Told why nothing is watched, once for each reason.
        pause: Seconds until it is tried again.
    """
    told = ""
    while True:
        try:
            async for _ in changes():
                await load()
        except (OSError, RuntimeError) as error:  # the watching library has a RuntimeError of its own
            if str(error) != told:
                told = str(error)
                complain(told)
        else:
            return
        await asyncio.sleep(pause)
        await load()
