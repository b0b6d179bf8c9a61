"""What the three consumers share about waiting: back-off between attempts, and a signal that is never missed."""

import asyncio
import random

FIRST_WAIT = 1.0  # seconds before the second attempt
LONGEST_WAIT = 600.0  # seconds; a turn's whole retry time stays bounded by attempts × this
JITTER = 0.2  # share by which waits differ, so that jobs which failed together do not come back together


def back_off(attempts: int) -> float:
    """Give the seconds to wait after that many attempts: doubling from 1 s, at most 600 s, ±20 %."""
    wait = min(LONGEST_WAIT, FIRST_WAIT * 2 ** max(0, attempts - 1))
    return wait * random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311 - spreads load, keeps no secret


class Signal:
    """A counter that tasks can wait on: no wake-up between a look and a wait is lost."""

    def __init__(self) -> None:
        self._count = 0
        self._event = asyncio.Event()

    @property
    def count(self) -> int:
        """Give how often it was set."""
        return self._count

    def set(self) -> None:
        """Wake whoever waits."""
        self._count += 1
        self._event.set()

    async def wait_beyond(self, count: int, *, seconds: float) -> None:
        """Wait until it was set more than `count` times, at most `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                while self._count <= count:
                    self._event.clear()
                    await self._event.wait()
        except TimeoutError:
            return
