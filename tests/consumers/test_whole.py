"""All three queues at once over one store, while people approve, deny, stop and the daemon is restarted."""

import asyncio
import json
import random
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from ias.bus import Bus
from ias.channels.stream import StreamChannel
from ias.consumers.base import Consumer, ConsumerConfig, Handler
from ias.consumers.llm import LlmHandler
from ias.consumers.send import SendHandler
from ias.consumers.tool import ToolHandler
from ias.cycle.step import CycleConfig, ModelStep
from ias.domain.approvals import Safety
from ias.domain.jobs import Queue
from ias.domain.messages import JsonObject, JsonValue, MessageRequest, StreamItem, TextChunk, UserMessage
from ias.domain.tools import Risk, ToolFacts, ToolType
from ias.gate import Gate, GateSettings
from ias.intake import Incoming, Intake
from ias.logs import Logs
from ias.permissions import PermissionChecker
from ias.registry import ToolRegistry
from ias.runtime.http_service import HttpService, HttpSettings
from ias.runtime.runner import Runner
from ias.runtime.secrets import Secrets
from ias.store.base import Terms
from ias.store.transactions.approvals import decide_approval
from ias.store.transactions.queue import recover_at_start
from ias.store.transactions.turns import cancel_turn
from tests.consumers.logbook import logs_in, read_log
from tests.consumers.workshop import LEVELS, Shelf
from tests.cycle.script import call, response
from tests.registry.tools import PythonTool
from tests.store.world import World

CONVERSATIONS = 6
MESSAGES = 4  # of each conversation


class Model:
    """Calls two tools for each message, then answers with how many results it saw."""

    name = "model"
    model = "m-1"

    async def stream(self, request: MessageRequest) -> AsyncGenerator[StreamItem, None]:
        last = request.messages[-1]
        if isinstance(last, UserMessage):
            arguments = json.dumps({"for": last.text})
            yield response("", call("risky", arguments, call_id="a"), call("plain", arguments, call_id="b"))
            return
        for word in ("all ", "done"):
            await asyncio.sleep(0)
            yield TextChunk(text=word)
        yield response("all done")


class Counting(PythonTool):
    """A tool that counts how often it was carried out, message by message."""

    def __init__(self, name: str, kind: ToolType) -> None:
        super().__init__(name, self._count)
        self._kind = kind
        self.done = Counter[str]()

    @property
    def facts(self) -> ToolFacts:
        return replace(super().facts, type=self._kind, risk=Risk.MEDIUM)

    async def _count(self, args: JsonObject) -> JsonValue:
        self.done[str(args["for"])] += 1
        await asyncio.sleep(0)
        return "done"


class House:
    """The parts of a daemon that work on the queues; `life` is one process."""

    def __init__(self, world: World, logs: Logs) -> None:
        self.world = world
        self.logs = logs
        self.bus = Bus()
        self.shelf = Shelf()
        self.registry = ToolRegistry()
        for tool in (Counting("risky", ToolType.MCP), Counting("plain", ToolType.PYTHON)):
            self.shelf.tools[tool.name] = tool
            self.registry.register(tool)
        self._tokens = 0

    def for_model(self) -> ToolRegistry:
        return self.registry

    def _consumers(self) -> dict[Queue, Consumer]:
        store, terms, logs = self.world.store, self.world.terms, self.logs
        checker = PermissionChecker()
        runner = Runner(
            store,
            Gate(GateSettings(levels=LEVELS), checker, store),
            self.shelf,
            HttpService(HttpSettings(), Secrets({}, {})),
            terms,
            logs,
        )
        step = ModelStep(Model(), CycleConfig(model="m-1"))
        handlers: dict[Queue, Handler] = {
            Queue.LLM: LlmHandler(store, step, self, self.bus, logs),
            Queue.TOOL: ToolHandler(runner, logs),
            Queue.SEND: SendHandler(store, {"chat": StreamChannel("chat")}, terms, logs),
        }
        return {
            queue: Consumer(
                store,
                handler,
                ConsumerConfig(queue=queue, concurrency=3, worker="w", terms=terms, new_token=self._new_token),
                logs.error,
            )
            for queue, handler in handlers.items()
        }

    def _new_token(self) -> str:
        self._tokens += 1
        return f"lease-{self._tokens}"

    @asynccontextmanager
    async def life(self) -> AsyncGenerator[None]:
        """Work on all queues while the body runs, then be cut off as by a second signal."""
        consumers = self._consumers()

        def on_commit(topics: frozenset[str]) -> None:
            for topic in topics:
                name, _, about = topic.partition(":")
                if name == "conversation":
                    self.bus.announce(about)
                elif name == "stopped":
                    for consumer in consumers.values():
                        consumer.interrupt(about)
                else:
                    consumers[Queue(name)].signal.set()

        await self.world.store.run(recover_at_start())
        self.world.store.on_commit = on_commit
        never = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(consumer.run(never)) for consumer in consumers.values()]
            yield
            for task in tasks:
                task.cancel()

    def is_at_rest(self) -> bool:
        """Say whether nothing is left to do."""
        return self.world.look("SELECT 1 FROM turn WHERE state <> 'ended' UNION SELECT 1 FROM job") == []

    async def meddle(self, choose: random.Random) -> None:
        """Do what a person may do at any time."""
        waiting = [row["num"] for row in self.world.look("SELECT num FROM approval WHERE state = 'pending'")]
        open_turns = [row["id"] for row in self.world.look("SELECT id FROM turn WHERE state <> 'ended'")]
        what = choose.random()
        if waiting and what < 0.8:
            ref, is_yes = f"A{choose.choice(waiting)}", choose.random() < 0.7
            await self.world.store.run(decide_approval(self.world.terms, ref=ref, approve=is_yes, by="ann", via="chat"))
        elif open_turns and what > 0.97:
            await self.world.store.run(cancel_turn(self.world.terms, choose.choice(open_turns)))


@pytest.mark.parametrize("seed", range(6))
async def test_every_message_comes_to_its_end_whatever_happens_meanwhile(
    world: World, tmp_path: Path, seed: int
) -> None:
    choose = random.Random(seed)  # noqa: S311 - repeats a schedule, keeps no secret
    world.terms = Terms(channel_safety={"chat": Safety.REPEAT})
    with logs_in(tmp_path / "logs") as logs:
        house = House(world, logs)
        intake = Intake(world.store, world.terms, logs)
        messages = [
            Incoming(channel="chat", address=f"u{number}", user_id=f"u{number}", text=f"go {number}.{at}")
            for number in range(CONVERSATIONS)
            for at in range(MESSAGES)
        ]
        choose.shuffle(messages)
        async with asyncio.timeout(40):
            while messages or not house.is_at_rest():
                async with house.life():
                    for _ in range(choose.randrange(20, 200)):
                        if messages and choose.random() < 0.3:
                            await intake.submit(messages.pop())
                        await house.meddle(choose)
                        await world.store.read("queue_stats")
                world.check()

    assert len(world.look("SELECT id FROM turn WHERE state = 'ended'")) == CONVERSATIONS * MESSAGES
    for tool in house.shelf.tools.values():
        assert isinstance(tool, Counting)
        assert max(tool.done.values()) == 1
    assert (house.bus._running, house.bus._listeners) == ({}, {})
    assert "handler_failed" not in read_log(tmp_path / "logs", "error")
    assert "Traceback" not in read_log(tmp_path / "logs", "error")
