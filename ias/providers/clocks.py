"""The two clocks of a streamed answer: how long it may be silent, and how long it may take in all."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

from ias.errors import TransportError


class Clocks:
    """Bound every wait on one answer.

    A provider's keep-alive comments say that the request still waits in its queue. Once the answer has begun they say
    nothing: streams have stalled for 17 minutes behind them (deepseek-harness discussion 6959). So a comment rewinds
    the idle clock only until the first data.

    Args:
        total: Seconds from now to the end of the answer.
        idle: Seconds without news.
    """

    def __init__(self, *, total: float, idle: float) -> None:
        self._total = total
        self._idle = idle
        self._loop = asyncio.get_running_loop()
        self._deadline = self._loop.time() + total
        self._idle_until = self._loop.time() + idle
        self._has_data = False

    def data(self) -> None:
        """Note that a part of the answer came."""
        self._has_data = True
        self._idle_until = self._loop.time() + self._idle

    def comment(self) -> None:
        """Note that a keep-alive came."""
        if not self._has_data:
            self._idle_until = self._loop.time() + self._idle

    def again(self) -> None:
        """Begin another request of the same answer: the idle clock starts anew, the total one goes on."""
        self._has_data = False
        self._idle_until = self._loop.time() + self._idle

    @asynccontextmanager
    async def waiting(self) -> AsyncGenerator[None, None]:
        """Bound what is awaited inside.

        Raises:
            TransportError: One of the clocks ran out.
        """
        is_last = self._deadline <= self._idle_until
        try:
            async with asyncio.timeout_at(min(self._deadline, self._idle_until)):
                yield
        except TimeoutError:
            if is_last:
                raise TransportError(
                    f"the model's answer was not complete after {self._total:g} s (llm.timeout)"
                ) from None
            raise TransportError(f"nothing came from the model for {self._idle:g} s (llm.idle_timeout)") from None

    async def read(self, pieces: AsyncIterator[bytes]) -> bytes | None:
        """Wait for the next bytes; None at the end.

        Raises:
            TransportError: One of the clocks ran out.
        """
        async with self.waiting():
            return await anext(pieces, None)
