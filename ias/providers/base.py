"""What every model provider offers, and how long to wait before a failed call is tried again."""

import random
from collections.abc import AsyncGenerator, Callable
from typing import Protocol

from ias.domain.messages import MessageRequest, StreamItem
from ias.errors import LlmError, RetryableLlmError

FIRST_DELAY = 0.5
"""Seconds before the second try; DeepSeek's official client waits as long."""
DELAY_CAP = 10.0
"""Seconds that doubling stops at; the same client's cap."""
JITTER = 0.1
"""Largest part by which a delay is made longer, so that clients do not come back together."""
WISH_CAP = 600.0
"""Seconds: the longest `Retry-After` that is honoured, which is as long as the queue keeps a job waiting."""

Tap = Callable[[str, str], None]
"""Receives `("llm-request", body)` and `("llm-response", raw text)` of every call; the API key is in neither."""


class Provider(Protocol):
    """A model that answers requests, whatever it speaks on the wire."""

    @property
    def name(self) -> str:
        """The provider's name in the configuration, like `deepseek`."""
        ...

    @property
    def model(self) -> str:
        """The model that answers a request whose `model` is empty."""
        ...

    def stream(self, request: MessageRequest) -> AsyncGenerator[StreamItem, None]:
        """Answer `request`: chunks as they arrive, then one `ChatResponse`, always the last item.

        Close the generator (`contextlib.aclosing`) when it is left early: that ends the connection. Nothing that was
        streamed counts before the `ChatResponse`; a call that failed leaves nothing to keep.

        Raises:
            LlmError: One of its subclasses, and nothing else.
        """
        ...


def retry_delay(error: LlmError, attempt: int, *, draw: Callable[[], float] = random.random) -> float | None:
    """Give the seconds to wait before the next try, or None where another try would not help.

    Args:
        error: What the call ended with.
        attempt: How many tries there were, from 1.
        draw: A random number in [0, 1).
    """
    if not isinstance(error, RetryableLlmError):
        return None
    delay = min(FIRST_DELAY * 2 ** min(max(attempt, 1) - 1, 16), DELAY_CAP)
    if error.retry_after is not None:
        delay = max(delay, min(error.retry_after, WISH_CAP))
    return delay * (1 + JITTER * draw())
