"""The event stream: stored and live events in one order, resumed without loss, nothing said twice."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing

from ias.bus import Bus, RunningText
from ias.domain.jobs import Job, Queue
from ias.store.results import Submitted
from ias.store.transactions.turns import cancel_turn
from ias.web.events import EventStream
from tests.store.world import World


class Listener:
    """A client of the stream: what it has read, and its text put together from offsets as clients do."""

    def __init__(self, world: World, bus: Bus, conversation_id: str, after: int = 0, *, keep_alive: float = 30) -> None:
        self.stream = EventStream(world.store, bus, conversation_id, after, keep_alive=keep_alive)
        self.blocks: list[str] = []
        self.text = ""
        self.last_id = after
        self.pieces: list[str] = []

    async def read_until(self, lines: AsyncGenerator[str, None], name: str, **fields: object) -> None:
        """Read until an event with these fields came."""
        async with asyncio.timeout(5):
            async for block in lines:
                self.blocks.append(block)
                found, event = self._take(block)
                if found == name and all(event.get(key) == value for key, value in fields.items()):
                    return

    def _take(self, block: str) -> tuple[str, dict[str, object]]:
        fields = dict(line.split(": ", 1) for line in block.strip().splitlines())
        self.last_id = int(fields.get("id", self.last_id))
        event = json.loads(fields.get("data", "{}"))
        if fields.get("event") == "AssistantTextDelta":
            self.pieces.append(event["text"])
            self.text = self.text[: event["offset"]] + event["text"]
        return fields.get("event", ""), event


async def begun(world: World, bus: Bus) -> tuple[Submitted, Job, RunningText]:
    """Bring a turn to where its model is answering."""
    world.store.on_commit = lambda topics: announce(bus, topics)
    stored = await world.submit("hi")
    job = await world.claim(Queue.LLM)
    return stored, job, bus.begin_step(stored.conversation_id, turn_id=stored.turn_id, step=1, attempt=1)


def announce(bus: Bus, topics: frozenset[str]) -> None:
    for topic in topics:
        name, _, conversation_id = topic.partition(":")
        if name == "conversation":
            bus.announce(conversation_id)


async def test_text_heard_live_is_not_said_again_when_it_is_stored(world: World) -> None:
    bus = Bus()
    stored, job, run = await begun(world, bus)
    listener = Listener(world, bus, stored.conversation_id)
    async with aclosing(listener.stream.lines()) as lines:
        for piece in ("北京", "今天", "晴"):
            bus.add_text(run, piece)
        await listener.read_until(lines, "AssistantTextDelta")
        bus.add_text(run, "。")
        bus.end_step(run)
        await world.answer(job, "北京今天晴。")
        await listener.read_until(lines, "TurnComplete")

    assert listener.text == "北京今天晴。"
    assert listener.pieces == ["北京今天晴", "。"]
    ended = json.dumps({"turn_id": stored.turn_id, "step": 1, "reason": "reply"}, separators=(",", ":"))
    assert listener.blocks[-2:] == [
        f"id: {stored.cursor + 1}\n\n",
        f"id: {stored.cursor + 2}\nevent: TurnComplete\ndata: {ended}\n\n",
    ]


async def test_a_step_stored_before_its_live_text_was_read_is_told_once(world: World) -> None:
    """A COMMIT is visible before it is announced: the store may be ahead of the queue of live events."""
    bus = Bus()
    stored, job, run = await begun(world, bus)
    listener = Listener(world, bus, stored.conversation_id)
    bus.add_text(run, "so far")
    async with aclosing(listener.stream.lines()) as lines:
        with bus.subscribe(stored.conversation_id):
            world.store.on_commit = lambda _: None
            await world.answer(job, "so far, so good")
            reading = listener.read_until(lines, "TurnComplete", step=1)
            async with asyncio.TaskGroup() as group:
                group.create_task(reading)
                group.create_task(_late(bus, run))
        second = bus.begin_step(stored.conversation_id, turn_id="t_next", step=1, attempt=1)
        bus.add_text(second, "next")
        await listener.read_until(lines, "AssistantTextDelta", turn_id="t_next")

    assert listener.pieces == ["so far, so good", "next"]


async def _late(bus: Bus, run: RunningText) -> None:
    bus.add_text(run, ", so good")
    bus.add_reasoning(run, "late")


async def test_closing_words_as_long_as_what_was_heard_are_told_all_the_same(world: World) -> None:
    bus = Bus()
    stored, _, run = await begun(world, bus)
    listener = Listener(world, bus, stored.conversation_id)
    async with aclosing(listener.stream.lines()) as lines:
        bus.add_text(run, "Sunny so")
        await listener.read_until(lines, "AssistantTextDelta")
        await world.run(cancel_turn(world.terms, stored.turn_id))
        await listener.read_until(lines, "TurnComplete", reason="cancelled")

    assert listener.pieces == ["Sunny so", "Stopped."]
    assert listener.text == "Stopped."


async def test_a_new_attempt_replaces_the_text_of_the_one_before(world: World) -> None:
    bus = Bus()
    stored, job, run = await begun(world, bus)
    listener = Listener(world, bus, stored.conversation_id)
    async with aclosing(listener.stream.lines()) as lines:
        bus.add_text(run, "wrong")
        await listener.read_until(lines, "AssistantTextDelta")
        bus.end_step(run)
        again = bus.begin_step(stored.conversation_id, turn_id=stored.turn_id, step=1, attempt=2)
        bus.add_text(again, "right")
        bus.end_step(again)
        await world.answer(job, "right")
        await listener.read_until(lines, "TurnComplete")

    assert listener.text == "right"


async def test_a_client_resumes_by_number_without_loss_or_repetition(world: World) -> None:
    bus = Bus()
    stored, job, run = await begun(world, bus)
    bus.end_step(run)
    await world.answer(job, "one")
    first = Listener(world, bus, stored.conversation_id)
    async with aclosing(first.stream.lines()) as lines:
        await first.read_until(lines, "TurnComplete")
    again = await world.submit("more")
    await world.answer(await world.claim(Queue.LLM), "two")
    second = Listener(world, bus, stored.conversation_id, first.last_id)
    async with aclosing(second.stream.lines()) as lines:
        await second.read_until(lines, "TurnComplete")

    assert (first.pieces, second.pieces) == (["one"], ["two"])
    assert first.last_id == again.cursor
    assert second.blocks[0].startswith(f"id: {again.cursor + 1}\n")


async def test_silence_is_broken_by_comments_and_what_comes_after_them_is_heard(world: World) -> None:
    bus = Bus()
    stored, _, run = await begun(world, bus)
    listener = Listener(world, bus, stored.conversation_id, keep_alive=0.01)
    async with aclosing(listener.stream.lines()) as lines, asyncio.timeout(5):
        assert await anext(lines) == ": keep-alive\n\n"
        assert await anext(lines) == ": keep-alive\n\n"
        bus.add_text(run, "at last")
        block = await anext(lines)
        while block == ": keep-alive\n\n":
            block = await anext(lines)

    assert json.loads(block.split("data: ")[1])["text"] == "at last"


async def test_more_events_than_one_page_come_in_order(world: World) -> None:
    bus = Bus()
    stored, job, run = await begun(world, bus)
    bus.end_step(run)
    await world.answer(job, "", calls=600)
    listener = Listener(world, bus, stored.conversation_id)
    async with aclosing(listener.stream.lines()) as lines:
        await listener.read_until(lines, "TurnComplete")

    numbers = [int(block.split("\n")[0].removeprefix("id: ")) for block in listener.blocks]
    assert numbers == list(range(stored.cursor + 1, stored.cursor + 602))


async def test_a_client_that_goes_is_forgotten(world: World) -> None:
    bus = Bus()
    stored, _, _ = await begun(world, bus)
    async with asyncio.timeout(5):
        async with aclosing(Listener(world, bus, stored.conversation_id, keep_alive=0.01).stream.lines()) as lines:
            await anext(lines)
            assert len(bus._listeners) == 1

    assert bus._listeners == {}


async def test_a_stream_ends_with_the_daemon_after_all_that_was_stored(world: World) -> None:
    bus = Bus()
    stored, job, run = await begun(world, bus)
    listener = Listener(world, bus, stored.conversation_id)
    async with asyncio.timeout(5), aclosing(listener.stream.lines()) as lines:
        bus.end_step(run)
        await world.answer(job, "bye")
        bus.close()
        names = [block.split("event: ")[1].split("\n")[0] async for block in lines]

    assert names == ["AssistantTextDelta", "TurnComplete"]
