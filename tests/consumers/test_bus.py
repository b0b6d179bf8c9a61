"""Live events: what a listener hears who comes early, late, slowly, or goes."""

import asyncio
from collections.abc import AsyncIterator

from ias.bus import BACKLOG, Bus, LiveEvent, Subscription
from ias.domain.events import AssistantTextDelta, ReasoningDelta


def delta(text: str, offset: int = 0, *, turn: str = "t1", step: int = 1, attempt: int = 1) -> AssistantTextDelta:
    return AssistantTextDelta(turn_id=turn, step=step, attempt=attempt, text=text, offset=offset)


async def heard(listener: Subscription, count: int) -> list[LiveEvent | None]:
    items: AsyncIterator[LiveEvent | None] = aiter(listener)
    async with asyncio.timeout(5):
        return [await anext(items) for _ in range(count)]


async def test_a_listener_hears_text_with_its_place_in_the_whole() -> None:
    bus = Bus()
    with bus.subscribe("c1") as listener:
        run = bus.begin_step("c1", turn_id="t1", step=1, attempt=1)
        bus.add_text(run, "今天")
        bus.add_reasoning(run, "hm")
        bus.add_text(run, "晴")

        assert await heard(listener, 4) == [
            None,
            delta("今天"),
            ReasoningDelta(turn_id="t1", step=1, attempt=1, text="hm", offset=0),
            delta("晴", 2),
        ]


async def test_a_late_listener_gets_the_text_so_far_first() -> None:
    bus = Bus()
    run = bus.begin_step("c1", turn_id="t1", step=2, attempt=3)
    bus.add_reasoning(run, "why")
    bus.add_text(run, "so ")
    bus.add_text(run, "far")
    with bus.subscribe("c1") as listener:
        bus.add_text(run, "!")

        assert await heard(listener, 4) == [
            None,
            ReasoningDelta(turn_id="t1", step=2, attempt=3, text="why", offset=0),
            delta("so far", step=2, attempt=3),
            delta("!", 6, step=2, attempt=3),
        ]


async def test_a_stored_step_is_announced_after_its_text_and_before_the_next_one() -> None:
    bus = Bus()
    with bus.subscribe("c1") as listener:
        first = bus.begin_step("c1", turn_id="t1", step=1, attempt=1)
        bus.add_text(first, "a")
        bus.end_step(first)
        bus.announce("c1")
        bus.announce("c1")
        second = bus.begin_step("c1", turn_id="t1", step=2, attempt=1)
        bus.add_text(second, "b")

        assert await heard(listener, 4) == [None, delta("a"), None, delta("b", step=2)]


async def test_a_slow_listener_is_told_to_read_the_store_and_given_the_text_so_far() -> None:
    bus = Bus()
    with bus.subscribe("c1") as listener:
        run = bus.begin_step("c1", turn_id="t1", step=1, attempt=1)
        for _ in range(BACKLOG + 2):
            bus.add_text(run, "x")

        items = await heard(listener, 4)
        assert items[0] is None
        events = [item for item in items if isinstance(item, AssistantTextDelta)]
        assert [event.offset for event in events] == [0, BACKLOG, BACKLOG + 1]
        assert len(events[0].text) == BACKLOG


async def test_a_step_that_was_overtaken_is_heard_no_more_and_ends_nothing() -> None:
    bus = Bus()
    with bus.subscribe("c1") as listener:
        stopped = bus.begin_step("c1", turn_id="t1", step=1, attempt=1)
        bus.add_text(stopped, "old")
        current = bus.begin_step("c1", turn_id="t2", step=1, attempt=1)
        bus.add_text(current, "new")
        bus.add_text(stopped, " words")
        bus.add_reasoning(stopped, "thoughts")
        bus.end_step(stopped)
        bus.add_text(current, "!")

        assert await heard(listener, 4) == [None, delta("old"), delta("new", turn="t2"), delta("!", 3, turn="t2")]
    assert bus.running_text("c1") == (delta("new!", turn="t2"),)


async def test_an_announcement_to_all_reaches_every_conversation() -> None:
    bus = Bus()
    with bus.subscribe("c1") as one, bus.subscribe("c2") as other:
        assert await heard(one, 1) == [None]
        assert await heard(other, 1) == [None]
        bus.announce()
        assert await heard(one, 1) == [None]
        assert await heard(other, 1) == [None]


async def test_nothing_is_kept_of_listeners_that_went_and_steps_that_ended() -> None:
    bus = Bus()
    with bus.subscribe("c1"), bus.subscribe("c1"):
        run = bus.begin_step("c1", turn_id="t1", step=1, attempt=1)
        bus.add_text(run, "x")
    bus.end_step(run)

    assert (bus._listeners, bus._running) == ({}, {})


async def test_a_wait_that_was_given_up_loses_nothing() -> None:
    bus = Bus()
    with bus.subscribe("c1") as listener:
        items = aiter(listener)
        assert await anext(items) is None
        waiting = asyncio.timeout(0)
        try:
            async with waiting:
                await anext(items)
        except TimeoutError:
            bus.announce("c1")
        assert waiting.expired()
        assert await heard(listener, 1) == [None]


async def test_a_closed_bus_lets_listeners_go_with_what_they_were_owed() -> None:
    bus = Bus()
    with bus.subscribe("c1") as listener:
        assert await heard(listener, 1) == [None]
        run = bus.begin_step("c1", turn_id="t1", step=1, attempt=1)
        bus.add_text(run, "last")
        bus.close()
        async with asyncio.timeout(5):
            assert [item async for item in listener] == [delta("last")]
    with bus.subscribe("c1") as late:
        async with asyncio.timeout(5):
            assert [item async for item in late] == [None, delta("last")]
