"""`ias serve`: takes the state folder's lock, builds the parts, runs them in one TaskGroup, drains on a signal."""

import asyncio
import gc
import signal
import socket
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from ias.config.load import Config
from ias.daemon.parts import Parts, opened
from ias.daemon.tools import LoadedTools
from ias.domain.jobs import Queue
from ias.errors import IasError
from ias.providers.choose import OFFLINE
from ias.store.lock import StateLock
from ias.store.transactions.queue import Recovered, recover_at_start
from ias.web.app import create_app
from ias.web.auth import read_token
from ias.web.server import Server, bind_tcp, bind_unix, make_server
from ias.web.services import Health, Services

DRAIN = 25.0  # seconds that work in flight gets after the first signal; systemd kills after 90


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """What the command line may change: which queues are worked on, and where the API is."""

    roles: frozenset[Queue] = frozenset(Queue)
    port: int | None = None
    socket: Path | None = None


def serve(config: Config, options: ServeOptions | None = None) -> int:
    """Run the daemon until a signal ends it.

    Args:
        config: The configuration.
        options: What the command line changes.

    Returns:
        0 after a clean stop, 1 where work in flight had to be cut off.

    Raises:
        ConfigError: The configuration is wrong (exit 78).
        StateError: The state folder or the port is in use, or cannot be used.
    """
    with StateLock(config.database.parent):
        return asyncio.run(_serve(config, options or ServeOptions()))


async def _serve(config: Config, options: ServeOptions) -> int:
    began = time.perf_counter()
    signals = Signals()
    async with opened(config) as parts:
        recovered = await parts.store.run(recover_at_start())
        tools = LoadedTools(parts)
        await tools.reload()
        await asyncio.to_thread(parts.toolbox.clear)
        health = Health()
        server, sockets, place = _server(parts, tools, health, options)
        stop = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            serving = group.create_task(server.serve(sockets))
            consuming = group.create_task(_consume(parts, options.roles, stop))
            forced = group.create_task(signals.forced())
            background = [forced, group.create_task(parts.timers.run()), group.create_task(tools.watch())]
            health.is_ready = True
            gc.collect()
            gc.freeze()  # what is loaded stays: full collections need not look at it again
            _announce(parts, recovered, place, time.perf_counter() - began)
            await signals.first.wait()
            health.is_draining = True
            stop.set()
            is_clean = await _drain(parts, consuming, forced)
            parts.bus.close()  # a stream that stays open would hold the server up
            server.should_exit = True
            await asyncio.wait([serving, consuming], timeout=DRAIN)
            for task in background:
                task.cancel()
        parts.logs.ops.info("stopped", text="stopped" if is_clean else "stopped; work in flight was given back")
        return 0 if is_clean else 1


async def _drain(parts: Parts, consuming: asyncio.Task[None], forced: asyncio.Task[None]) -> bool:
    """Wait for what is in flight, at most DRAIN seconds or until a second signal, then have it given back."""
    for consumer in parts.consumers.values():
        consumer.signal.set()
    parts.logs.ops.info("draining", text="stopping: waiting for work in flight; press Ctrl-C again to stop at once")
    await asyncio.wait([consuming, forced], timeout=DRAIN, return_when=asyncio.FIRST_COMPLETED)
    is_clean = consuming.done()
    consuming.cancel()
    return is_clean


async def _consume(parts: Parts, roles: frozenset[Queue], stop: asyncio.Event) -> None:
    async with asyncio.TaskGroup() as group:
        for role in sorted(roles):
            group.create_task(parts.consumers[role].run(stop))


class Signals:
    """SIGTERM and SIGINT: the first asks to stop, the second forces it."""

    def __init__(self) -> None:
        self.first = asyncio.Event()
        self.second = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._on_signal)

    async def forced(self) -> None:
        """Wait for the second signal."""
        await self.second.wait()

    def _on_signal(self) -> None:
        (self.second if self.first.is_set() else self.first).set()


def _server(
    parts: Parts, tools: LoadedTools, health: Health, options: ServeOptions
) -> tuple[Server, list[socket.socket], str]:
    config = parts.config
    api = config.settings.api
    port = api.port if options.port is None else options.port
    tcp = bind_tcp(api.host, port)
    try:
        unix = bind_unix(options.socket or socket_path(config))
    except IasError:
        tcp.close()
        raise
    services = Services(
        store=parts.store,
        intake=parts.intake,
        bus=parts.bus,
        tools=tools,
        terms=parts.terms,
        health=health,
        token=read_token(config.path(api.token_file)),
        poke=parts.poke,
    )
    app = create_app(services, host=api.host, version=version("ias"))
    return make_server(app), [tcp, unix], f"http://{api.host}:{tcp.getsockname()[1]}"


def socket_path(config: Config) -> Path:
    """Give the Unix socket that the commands of this home speak to."""
    return config.database.parent / "ias.sock"


def _announce(parts: Parts, recovered: Recovered, place: str, seconds: float) -> None:
    say = parts.logs.ops.info
    for line in recovery_lines(recovered):
        say("recovered", text=line)
    for problem in parts.toolbox.rejected:
        parts.logs.ops.warning("tool_rejected", text=str(problem))
    model = parts.provider.name
    if model == OFFLINE:
        say("model", text="no model is configured: answers come from the offline rules (set DEEPSEEK_API_KEY in .env)")
    else:
        say("model", text=f"model: {model} {parts.provider.model}")
    say("sandbox", text="sandbox: off. Tools are not confined yet: run only tools that you trust")
    say("ready", text=f"ready in {seconds:.2f} s: {len(parts.toolbox.registry)} tools, API at {place}")
    command = Path(sys.argv[0])
    shown = (
        f".venv/bin/{command.name}" if command.parent.name == "bin" and command.parent.parent.name == ".venv" else "ias"
    )
    say("next", text=f'in another terminal: {shown} chat "现在几点"')


def recovery_lines(found: Recovered) -> list[str]:
    """Say what a start found, in one line a kind; nothing where there was nothing."""
    kinds = (
        (found.leases, "jobs cut off, taken again"),
        (found.steps_repeat, "requests cut off, safe to send again"),
        (found.steps_once, "requests cut off, not sent again, told as outcome_unknown"),
        (found.deliveries_repeat, "deliveries cut off, sent again (duplicates are removed)"),
        (found.deliveries_once, "deliveries cut off, they may have arrived"),
        (found.approvals_pending, "approvals waiting for you (ias approvals list)"),
        (found.approvals_approved, "approvals given and not used yet"),
        (found.approvals_expired, "approvals expired meanwhile"),
        (found.turns_queued, "messages queued"),
        (found.dead_letters, "dead letters (ias queue dead)"),
    )
    return [f"recovered: {text}: {count}" for count, text in kinds if count]
