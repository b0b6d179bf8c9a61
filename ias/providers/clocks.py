"""The two clocks of a streamed answer: how long it may be silent, and how long it may take in all."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

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
        self._reader: asyncio.Task[object] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._has_run_out = False

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
        try:
            async with asyncio.timeout_at(self._limit):
                yield
        except TimeoutError:
            raise self._ran_out() from None

    async def read(self, pieces: AsyncIterator[bytes]) -> bytes | None:
        """Wait for the next bytes; None at the end.

        Raises:
            TransportError: One of the clocks ran out.
        """
        reader = cast("asyncio.Task[object]", asyncio.current_task())
        cancelling = reader.cancelling()
        self._reader = reader
        if self._timer is None:
            self._timer = self._loop.call_at(self._limit, self._look)
        try:
            return await anext(pieces, None)
        except asyncio.CancelledError:
            if self._has_run_out and reader.cancelling() <= cancelling + 1:  # nobody else cancelled it as well
                raise self._ran_out() from None
            raise
        finally:
            self._reader = None
            if self._has_run_out:
                self._has_run_out = False
                reader.uncancel()

    def stop(self) -> None:
        """Let the timer go; another read starts it again."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @property
    def _limit(self) -> float:
        return min(self._deadline, self._idle_until)

    def _look(self) -> None:
        """End the read that has waited too long.

        One timer stands for all reads of an answer and is set anew only when it rings: a timeout around each read
        would cost as much as all else that is done with a piece. That is right since the limit only moves forward.
        """
        self._timer = None
        if self._reader is None:
            return
        if self._loop.time() < self._limit:
            self._timer = self._loop.call_at(self._limit, self._look)
        else:
            self._has_run_out = True
            self._reader.cancel()

    def _ran_out(self) -> TransportError:
        if self._deadline <= self._idle_until:
            return TransportError(f"the model's answer was not complete after {self._total:g} s (llm.timeout)")
        return TransportError(f"nothing came from the model for {self._idle:g} s (llm.idle_timeout)")
