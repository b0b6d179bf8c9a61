"""The API over a real store, served in memory or on real sockets."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from fastapi import FastAPI

from ias.bus import Bus
from ias.domain.messages import JsonObject
from ias.intake import Intake
from ias.logs import Logs
from ias.registry import ToolRegistry
from ias.web.app import create_app
from ias.web.server import bind_tcp, bind_unix, make_server
from ias.web.services import Health, Services
from tests.registry.tools import CITY, PythonTool, echo
from tests.store.world import World

TOKEN = "a-token-of-the-tests"
BASE = "http://127.0.0.1:8787"


@dataclass(slots=True)
class Listed:
    """The tools of a registry, as the routes want them."""

    registry: ToolRegistry
    reloads: int = 0

    async def reload(self) -> JsonObject:
        self.reloads += 1
        return {"added": [], "changed": [], "removed": [], "rejected": []}

    def listing(self) -> list[JsonObject]:
        return [{"name": tool.name, "desc": tool.description} for tool in self.registry]


@dataclass(slots=True, kw_only=True)
class Api:
    """The app and the parts that a test looks at."""

    app: FastAPI
    world: World
    bus: Bus
    health: Health
    tools: Listed
    pokes: list[str] = field(default_factory=list[str])

    def client(self, *, token: str | None = TOKEN) -> httpx.AsyncClient:
        """Make a client that reaches the app in memory, as if over TCP."""
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        transport = httpx.ASGITransport(app=self.app, raise_app_exceptions=False)
        return httpx.AsyncClient(transport=transport, base_url=BASE, headers=headers)


def make_api(world: World, logs: Logs) -> Api:
    """Make the app over a world; what is committed reaches the listeners."""
    bus, health, pokes = Bus(), Health(is_ready=True), list[str]()
    tools = Listed(ToolRegistry())
    tools.registry.register(PythonTool("echo", echo, parameters=CITY))

    def on_commit(topics: frozenset[str]) -> None:
        for topic in topics:
            name, _, conversation_id = topic.partition(":")
            if name == "conversation":
                bus.announce(conversation_id)

    world.store.on_commit = on_commit
    services = Services(
        store=world.store,
        intake=Intake(world.store, world.terms, logs),
        bus=bus,
        tools=tools,
        terms=world.terms,
        health=health,
        token=TOKEN,
        poke=lambda: pokes.append("poke"),
    )
    app = create_app(services, host="127.0.0.1", version="0")
    return Api(app=app, world=world, bus=bus, health=health, tools=tools, pokes=pokes)


@asynccontextmanager
async def served(api: Api, folder: Path) -> AsyncGenerator[tuple[int, Path]]:
    """Serve the app on a loopback port and a Unix socket."""
    tcp, path = bind_tcp("127.0.0.1", 0), folder / "ias.sock"
    unix = bind_unix(path)
    server = make_server(api.app)
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        group.create_task(server.serve([tcp, unix]))
        yield tcp.getsockname()[1], path
        server.should_exit = True
        server.force_exit = True
