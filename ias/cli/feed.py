"""A conversation's events while a person may be typing: a thread reads them, the terminal waits for either."""

import os
import queue
import select
import threading
from collections.abc import Callable

from ias.cli.client import Daemon, ServerEvent
from ias.errors import DaemonNotRunningError, IasError

PAUSE = 0.5  # seconds before the stream is opened again
PATIENCE = 120  # tries in a row without an event before the daemon is taken for gone


class Feed:
    """Follows a conversation, over restarts of the daemon, from the last stored event that was seen.

    Args:
        daemon: Where from.
        conversation_id: Which.
        after: The number of the last event that is known.
        on_lost: Told when the connection is lost, each time.
    """

    def __init__(self, daemon: Daemon, conversation_id: str, after: int, on_lost: Callable[[], None]) -> None:
        self._daemon = daemon
        self._conversation_id = conversation_id
        self._after = after
        self._on_lost = on_lost
        self._items: queue.SimpleQueue[ServerEvent | IasError] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._readable, self._writable = os.pipe()
        self._thread = threading.Thread(target=self._read, daemon=True)  # must not hold the process's end up
        self._thread.start()

    def wait(self, keyboard: int | None) -> ServerEvent | None:
        """Give the next event, or None if the keyboard has something to read first.

        Args:
            keyboard: A descriptor to wait for too; None waits for events alone.

        Raises:
            IasError: The conversation cannot be followed any more.
        """
        watched = [self._readable] if keyboard is None else [self._readable, keyboard]
        ready, _, _ = select.select(watched, [], [])
        if self._readable not in ready:
            return None
        os.read(self._readable, 1)
        item = self._items.get()
        if isinstance(item, IasError):
            raise item
        return item

    def close(self) -> None:
        """Stop following. The thread ends with its connection."""
        self._stop.set()

    def _read(self) -> None:
        failures = 0
        while not self._stop.is_set():
            try:
                for event in self._daemon.events(self._conversation_id, self._after):
                    failures = 0
                    self._after = self._after if event.id is None else event.id
                    self._put(event)
                    if self._stop.is_set():
                        return
            except DaemonNotRunningError as error:
                if failures == PATIENCE:
                    self._put(error)
                    return
            except IasError as error:
                self._put(error)
                return
            if failures == 0 and not self._stop.is_set():
                self._on_lost()
            failures += 1
            self._stop.wait(PAUSE)

    def _put(self, item: ServerEvent | IasError) -> None:
        self._items.put(item)
        os.write(self._writable, b"\0")
