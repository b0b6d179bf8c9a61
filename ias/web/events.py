"""A conversation's events as a server-sent stream: stored ones with their number, live text without."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator

from ias.bus import Bus, LiveEvent
from ias.domain.events import event_to_json
from ias.store.base import Row, Store

KEEP_ALIVE = 15.0  # seconds of silence before a comment shows that the connection lives
PAGE = 500  # stored events read at once


class EventStream:
    """What one listener has heard, and what comes next.

    Text that was streamed live is not sent a second time when its step is stored: the stored event then only moves the
    number on. Live text of a step that was told from the store already is left out.
    """

    def __init__(
        self, store: Store, bus: Bus, conversation_id: str, after: int, *, keep_alive: float = KEEP_ALIVE
    ) -> None:
        self._store = store
        self._bus = bus
        self._conversation_id = conversation_id
        self._after = after
        self._keep_alive = keep_alive
        self._heard: dict[tuple[str, int], tuple[int, int]] = {}  # (turn, step): attempt, characters of the text
        self._told: tuple[str, int] = ("", 0)  # the newest stored turn and its newest step

    async def lines(self) -> AsyncGenerator[str, None]:
        """Give the stream's text, event by event, until the listener goes or the bus is closed."""
        with self._bus.subscribe(self._conversation_id) as subscription:
            items = aiter(subscription)
            while True:
                try:
                    async with asyncio.timeout(self._keep_alive):
                        item = await anext(items)
                except StopAsyncIteration:
                    return
                except TimeoutError:
                    yield ": keep-alive\n\n"
                    items = aiter(subscription)
                    continue
                if item is None:
                    async for line in self._stored():
                        yield line
                elif not self._is_told(item):
                    yield self._live(item)

    def _is_told(self, event: LiveEvent) -> bool:
        turn_id, step = self._told
        return event.turn_id == turn_id and event.step <= step

    def _live(self, event: LiveEvent) -> str:
        if event.name == "AssistantTextDelta":
            self._heard[event.turn_id, event.step] = event.attempt, event.offset + len(event.text)
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
        event = json.loads(row["body"])
        self._note(event["turn_id"], event["step"])
        if row["name"] == "AssistantTextDelta":
            heard = self._heard.pop((event["turn_id"], event["step"]), None)
            if heard == (event["attempt"], len(event["text"])):
                return f"id: {row['seq']}\n\n"
        return f"id: {row['seq']}\nevent: {row['name']}\ndata: {row['body']}\n\n"

    def _note(self, turn_id: str, step: int) -> None:
        if step and turn_id != self._told[0]:
            self._heard = {key: value for key, value in self._heard.items() if key[0] == turn_id}
            self._told = (turn_id, step)
        elif step:
            self._told = (turn_id, max(step, self._told[1]))
