"""A conversation's events while a person may be typing: a thread reads them, the terminal waits for either."""

import os
import queue
import select
import threading
from enum import Enum

from ias.cli.client import Daemon, ServerEvent
from ias.errors import DaemonNotRunningError, IasError

PAUSE = 0.5  # seconds before the stream is opened again
PATIENCE = 120  # tries in a row without an event before the daemon is taken for gone


class Mark(Enum):
    """What stands between events: the person pressed Ctrl-C; the connection was lost and is made again."""

    INTERRUPT = "interrupt"
    LOST = "lost"


class Feed:
    """Follows a conversation, over restarts of the daemon, from the last stored event that was seen.

    Args:
        daemon: Where from.
        conversation_id: Which.
        after: The number of the last event that is known.
    """

    def __init__(self, daemon: Daemon, conversation_id: str, after: int) -> None:
        self._daemon = daemon
        self._conversation_id = conversation_id
        self._after = after
        self._items: queue.SimpleQueue[ServerEvent | Mark | IasError] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._readable, self._writable = os.pipe()
        self._thread = threading.Thread(target=self._read, daemon=True)  # must not hold the process's end up
        self._thread.start()

    def wait(self, keyboard: int | None) -> ServerEvent | Mark | None:
        """Give the next event, or None if the keyboard has something to read first.

        Args:
            keyboard: A descriptor to wait for too; None waits for events alone.

        Raises:
            IasError: The conversation cannot be followed any more.
        """
        watched = [self._readable] if keyboard is None else [self._readable, keyboard]
        while True:
            try:
                item = self._items.get_nowait()
            except queue.Empty:
                ready, _, _ = select.select(watched, [], [])
                if self._readable not in ready:
                    return None
                os.read(self._readable, 4096)  # an item is put before its byte is written: all of these are there
                continue
            if isinstance(item, IasError):
                raise item
            return item

    def interrupt(self) -> None:
        """Let `wait` give an interrupt; safe in a signal handler."""
        self._put(Mark.INTERRUPT)

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
                self._put(Mark.LOST)
            failures += 1
            self._stop.wait(PAUSE)

    def _put(self, item: ServerEvent | Mark | IasError) -> None:
        self._items.put(item)
        os.write(self._writable, b"\0")
