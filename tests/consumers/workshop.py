"""Where calls are really carried out: a program as a tool, the gate, the http service, and a worker, over a store."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from ias.consumers.base import Consumer, ConsumerConfig
from ias.consumers.tool import ToolHandler
from ias.cycle.plan import call_digest, canonical_args
from ias.domain.approvals import Scope
from ias.domain.jobs import Job, Queue
from ias.domain.messages import JsonObject
from ias.domain.tools import Limits, Risk, ToolSpec, ToolType
from ias.errors import ToolNotFoundError
from ias.gate import Gate, GateSettings
from ias.logs import Logs
from ias.permissions import PermissionChecker, PermissionConfig
from ias.policy import Level
from ias.registry import BaseTool
from ias.runtime.http_service import HttpService, HttpSettings
from ias.runtime.process import Processes
from ias.runtime.program import ProgramTool, Room
from ias.runtime.runner import Runner, Toolbox
from ias.runtime.secrets import Secrets
from ias.runtime.snapshot import take
from ias.store.base import Row, Store
from ias.store.results import Decision
from ias.store.transactions.approvals import decide_approval
from ias.store.transactions.calls import submit_call
from ias.store.transactions.queue import claim
from tests.gate.asks import ALLOWED
from tests.loopback import Loopback
from tests.store.world import World

# It says line by line what its arguments tell it to; `echo` stands for what it was given.
PLAYER = """\
import json
import sys

given = json.loads(sys.stdin.readline())
line = given["params"]["script"][given["step"]]
if line == "echo":
    line = {"type": "result", "content": "done", "data": {key: given[key] for key in given if key != "params"}}
print(json.dumps(line))
"""
HOST = "shop.example.com"
GET: JsonObject = {"type": "http", "method": "GET", "url": f"https://{HOST}/orders", "state": {"page": 1}}
POST: JsonObject = {
    "type": "http",
    "method": "POST",
    "url": f"https://{HOST}/orders",
    "headers": {"X-Key": "${SHOP_KEY}"},
    "body": "item=7",
}
PUT_KEY: JsonObject = {"type": "db", "operation": "kv_put", "params": {"key": "seen", "value": "yes"}}
GET_KEY: JsonObject = {"type": "db", "operation": "kv_get", "params": {"key": "seen"}}
LEVELS = {Risk.LOW: Level.WRITES, Risk.MEDIUM: Level.HOSTS, Risk.HIGH: Level.ALL}
Script = list[Any]


class Shelf:
    """The tools that a runner finds, in the version that they have now."""

    def __init__(self) -> None:
        self.tools: dict[str, BaseTool] = {}

    def find(self, name: str, sha256: str) -> BaseTool:
        tool = self.tools.get(name)
        if tool is None or tool.facts.sha256 != sha256:
            raise ToolNotFoundError(f"the tool {name!r} was removed or changed")
        return tool


class Steps:
    """A clock that goes on by so many seconds each time it is read."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._now = 0.0

    def __call__(self) -> float:
        self._now += self._seconds
        return self._now


class Workshop:
    """Calls of the player program and of other tools, worked on one transaction after another."""

    def __init__(self, world: World, folder: Path, logs: Logs, processes: Processes) -> None:
        self.world = world
        self.shelf = Shelf()
        self.toolbox: Toolbox = self.shelf
        self.gate = GateSettings(levels=LEVELS, secret_hosts={"SHOP_KEY": (HOST,)})
        self.http = HttpSettings()
        self._folder = folder
        self._logs = logs
        self._tokens = 0
        self._secrets = Secrets({"SHOP_KEY": (HOST,)}, {"SHOP_KEY": "s3cr3t"})
        self.room = Room(
            processes=processes,
            calls=folder / "calls",
            variables={"PATH": os.environ["PATH"]},
            secrets=self._secrets,
        )

    def put_player(self, **fields: Any) -> ProgramTool:
        """Put the program on the shelf, as a tool with these fields in its spec."""
        folder = self._folder / "player"
        folder.mkdir(exist_ok=True)
        program = folder / "player.py"
        program.write_text(PLAYER, encoding="utf-8")
        usual: dict[str, Any] = {
            "name": "player",
            "desc": "says what it is told",
            "type": ToolType.HTTP,
            "group": "player",
            "program": program,
            "folder": folder,
            "file": folder / "specs" / "player.tool.yaml",
            "hosts": (HOST,),
            "secrets": ("SHOP_KEY",),
            "parameters": {"type": "object", "properties": {"script": {"type": "array"}}},
        }
        spec = ToolSpec(**(usual | fields))
        tool = ProgramTool(spec, repr(spec).encode(), take(folder, self._folder / "snapshots"), self.room)
        self.shelf.tools[tool.name] = tool
        return tool

    def reroute(self, service: Loopback) -> None:
        """Let requests to the services of a loopback server go there."""
        self.gate = replace(self.gate, reroute=service.reroute())
        self.http = replace(self.http, reroute=service.reroute())

    async def call(self, script: Script, *, channel: str = "cli", tool: str = "player") -> str:
        """Store a call of a tool with a script for arguments; gives its run."""
        return await self.call_with({"script": script}, channel=channel, tool=tool)

    async def call_with(self, args: JsonObject, *, tool: str, channel: str = "cli") -> str:
        """Store a call of a tool; gives its run."""
        stored = await self.world.run(
            submit_call(
                self.world.terms,
                channel=channel,
                address="calls:ann",
                user_id="ann",
                tool=tool,
                tool_hash=self.shelf.tools[tool].facts.sha256,
                args=canonical_args(args),
                digest=call_digest(tool, args),
                wire_id="",
            )
        )
        return stored.run_id

    def worker(self, store: Store | None = None, clock: Steps | None = None) -> Consumer:
        """Make a worker as a new process would: nothing of an earlier one is known to it."""
        chosen = store or self.world.store
        checker = PermissionChecker(PermissionConfig(allowed=ALLOWED, denied=()))
        runner = Runner(
            chosen,
            Gate(self.gate, checker, chosen),
            self.toolbox,
            HttpService(self.http, self._secrets),
            self.world.terms,
            self._logs,
            **({} if clock is None else {"clock": clock}),
        )
        config = ConsumerConfig(
            queue=Queue.TOOL, concurrency=1, worker="w", terms=self.world.terms, new_token=self._new_token
        )
        return Consumer(chosen, ToolHandler(runner, self._logs), config, self._logs.error)

    def _new_token(self) -> str:
        self._tokens += 1
        return f"lease-{self._tokens}"

    async def work(self, run_id: str, worker: Consumer | None = None, *, store: Store | None = None) -> Row:
        """Let a worker take jobs until none is due; gives the run."""
        worker = worker or self.worker(store)
        chosen = store or self.world.store
        async with asyncio.timeout(20):
            while True:
                job = await chosen.run(claim(Queue.TOOL, "w", worker.new_token(), self.world.terms.lease_ms))
                if not isinstance(job, Job):
                    return self.run(run_id)
                await worker.work(job)
                self.world.check()

    async def finish(self, run_id: str, store: Store | None = None) -> Row:
        """Work, and say yes to each question, until the run is done."""
        run = await self.work(run_id, store=store)
        while run["state"] == "parked":
            await self.decide(approve=True, store=store)
            run = await self.work(run_id, store=store)
        return run

    async def decide(self, *, approve: bool, scope: Scope = Scope.ONCE, store: Store | None = None) -> Decision:
        """Decide what waits."""
        waiting = self.world.one("SELECT num FROM approval WHERE state = 'pending'")
        decide = decide_approval(
            self.world.terms, ref=f"A{waiting['num']}", approve=approve, scope=scope, by="ann", via="cli"
        )
        return await (store or self.world.store).run(decide)

    def run(self, run_id: str) -> Row:
        """Give a run."""
        return self.world.one("SELECT * FROM run WHERE id = :id", id=run_id)

    def told(self, run_id: str) -> tuple[str, Any]:
        """Give the code of a run that is done, and its result."""
        row = self.run(run_id)
        assert row["state"] == "done", row["state"]
        return row["code"], json.loads(row["result"])

    def steps(self) -> list[Mapping[str, Any]]:
        """Give kind, state and grant of each step, in order."""
        return self.world.look("SELECT no, item, kind, state, granted_by FROM step ORDER BY no, item")


@asynccontextmanager
async def workshop_in(world: World, folder: Path, logs: Logs) -> AsyncGenerator[Workshop]:
    """Open a workshop with the player program on its shelf."""
    processes = Processes()
    shop = Workshop(world, folder, logs, processes)
    shop.put_player(limits=Limits(max_steps=4))
    try:
        yield shop
    finally:
        await processes.close()
