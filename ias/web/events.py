"""A conversation's events as a server-sent stream: stored ones with their number, live text without."""

import asyncio
import json
from collections.abc import AsyncIterator

from ias.bus import Bus, LiveEvent
from ias.domain.events import event_to_json
from ias.store.base import Row, Store

KEEP_ALIVE = 15.0  # seconds of silence before a comment shows that the connection lives
PAGE = 500  # stored events read at once


class EventStream:
    """What one listener has heard, and what comes next.

    Text that was streamed live is not sent a second time when its step is stored: the stored event then only moves the
    number on.
    """

    def __init__(self, store: Store, bus: Bus, conversation_id: str, after: int) -> None:
        self._store = store
        self._bus = bus
        self._conversation_id = conversation_id
        self._after = after
        self._heard: dict[tuple[str, int], int] = {}

    async def lines(self) -> AsyncIterator[str]:
        """Give the stream's text, event by event, until the listener goes."""
        with self._bus.subscribe(self._conversation_id) as subscription:
            items = aiter(subscription)
            while True:
                try:
                    async with asyncio.timeout(KEEP_ALIVE):
                        item = await anext(items)
                except TimeoutError:
                    yield ": keep-alive\n\n"
                    items = aiter(subscription)
                    continue
                if item is not None:
                    yield self._live(item)
                    continue
                async for line in self._stored():
                    yield line

    def _live(self, event: LiveEvent) -> str:
        if event.name == "AssistantTextDelta":
            self._heard[event.turn_id, event.step] = event.offset + len(event.text)
        return f"event: {event.name}\ndata: {event_to_json(event)}\n\n"

    async def _stored(self) -> AsyncIterator[str]:
        while True:
            rows = await self._store.read(
                "events", conversation_id=self._conversation_id, after=self._after, limit=PAGE
            )
            for row in rows:
                self._after = row["seq"]
                yield self._render(row)
            if len(rows) < PAGE:
                return

    def _render(self, row: Row) -> str:
        body = row["body"]
        if row["name"] == "AssistantTextDelta":
            event = json.loads(body)
            if self._heard.get((event["turn_id"], event["step"])) == len(event["text"]):
                return f"id: {row['seq']}\n\n"
        return f"id: {row['seq']}\nevent: {row['name']}\ndata: {body}\n\n"
