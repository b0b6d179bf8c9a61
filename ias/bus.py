"""Live events to the listeners of a conversation; stored events are only announced, the running text alone is kept."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from ias.domain.events import AssistantTextDelta, ReasoningDelta

LiveEvent = AssistantTextDelta | ReasoningDelta
BACKLOG = 1024  # live events that one slow listener may fall behind before it is told to catch up


@dataclass(slots=True)
class RunningText:
    """The text and reasoning of one model step, as far as they have come; `begin_step` makes it."""

    conversation_id: str
    turn_id: str
    step: int
    attempt: int
    text: str = ""
    reasoning: str = ""

    def as_events(self) -> tuple[LiveEvent, ...]:
        """Give all of it as one delta each, from offset 0."""
        turn_id, step, attempt = self.turn_id, self.step, self.attempt
        events: list[LiveEvent] = []
        if self.reasoning:
            events.append(ReasoningDelta(turn_id=turn_id, step=step, attempt=attempt, text=self.reasoning))
        if self.text:
            events.append(AssistantTextDelta(turn_id=turn_id, step=step, attempt=attempt, text=self.text))
        return tuple(events)


class Subscription:
    """One listener of one conversation: a bounded queue of live events, and of marks that stored ones are there.

    Use it as a context manager and iterate it: an item is a live event, or None for "read the stored events now". Both
    come in the order in which they were handed over, so a step's text is heard before the mark of its being stored.
    """

    def __init__(self, bus: "Bus", conversation_id: str) -> None:
        self._bus = bus
        self._conversation_id = conversation_id
        self._items: deque[LiveEvent | None] = deque((None,))
        self._is_over = False
        self._ready = asyncio.Event()
        self._ready.set()

    def __enter__(self) -> Self:
        """Begin to listen."""
        self._bus.add(self._conversation_id, self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop listening."""
        self._bus.remove(self._conversation_id, self)

    def put(self, event: LiveEvent | None) -> None:
        """Hand over a live event, or None for "stored events are there"; who lags is given the text so far instead."""
        if len(self._items) >= BACKLOG:
            self._items.clear()
            self._items.append(None)
            self._items.extend(self._bus.running_text(self._conversation_id))
        elif event is not None or not self._items or self._items[-1] is not None:
            self._items.append(event)
        self._ready.set()

    def end(self) -> None:
        """Let the listener go once it has what was handed over."""
        self._is_over = True
        self._ready.set()

    async def __aiter__(self) -> AsyncIterator[LiveEvent | None]:
        """Give what comes until the bus is closed."""
        while self._items or not self._is_over:
            await self._ready.wait()
            self._ready.clear()
            while self._items:
                yield self._items.popleft()


class Bus:
    """The listeners of this process, by conversation."""

    def __init__(self) -> None:
        self._listeners: dict[str, list[Subscription]] = {}
        self._running: dict[str, RunningText] = {}
        self._is_closed = False

    def subscribe(self, conversation_id: str) -> Subscription:
        """Make a listener; it hears from the moment its `with` block begins."""
        return Subscription(self, conversation_id)

    def add(self, conversation_id: str, listener: Subscription) -> None:
        """Let a listener hear; the text so far comes first."""
        self._listeners.setdefault(conversation_id, []).append(listener)
        for event in self.running_text(conversation_id):
            listener.put(event)
        if self._is_closed:
            listener.end()

    def close(self) -> None:
        """Let all listeners go, those that come from now on too: the process is about to end."""
        self._is_closed = True
        for listeners in self._listeners.values():
            for listener in listeners:
                listener.end()

    def remove(self, conversation_id: str, listener: Subscription) -> None:
        """Forget a listener."""
        rest = [other for other in self._listeners.get(conversation_id, []) if other is not listener]
        if rest:
            self._listeners[conversation_id] = rest
        else:
            self._listeners.pop(conversation_id, None)

    def announce(self, conversation_id: str | None = None) -> None:
        """Tell listeners that stored events are there; None tells all of them."""
        chosen = self._listeners.values() if conversation_id is None else [self._listeners.get(conversation_id, [])]
        for listeners in chosen:
            for listener in listeners:
                listener.put(None)

    def begin_step(self, conversation_id: str, *, turn_id: str, step: int, attempt: int) -> RunningText:
        """Begin the running text of a model step; whatever ran before in that conversation is heard no more."""
        run = RunningText(conversation_id=conversation_id, turn_id=turn_id, step=step, attempt=attempt)
        self._running[conversation_id] = run
        return run

    def add_text(self, run: RunningText, text: str) -> None:
        """Add to a running text and tell the listeners, unless another step has taken its place."""
        event = AssistantTextDelta(
            turn_id=run.turn_id, step=run.step, attempt=run.attempt, text=text, offset=len(run.text)
        )
        run.text += text
        self._publish(run, event)

    def add_reasoning(self, run: RunningText, text: str) -> None:
        """Add to a running text's reasoning and tell the listeners, unless another step has taken its place."""
        event = ReasoningDelta(
            turn_id=run.turn_id, step=run.step, attempt=run.attempt, text=text, offset=len(run.reasoning)
        )
        run.reasoning += text
        self._publish(run, event)

    def end_step(self, run: RunningText) -> None:
        """Forget a running text: the step is stored, or will be tried again."""
        if self._running.get(run.conversation_id) is run:
            del self._running[run.conversation_id]

    def running_text(self, conversation_id: str) -> tuple[LiveEvent, ...]:
        """Give the running text as events, for listeners that came late."""
        run = self._running.get(conversation_id)
        return () if run is None else run.as_events()

    def _publish(self, run: RunningText, event: LiveEvent) -> None:
        if self._running.get(run.conversation_id) is not run:
            return
        for listener in self._listeners.get(run.conversation_id, ()):
            listener.put(event)
