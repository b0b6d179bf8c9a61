"""Builds each part of the daemon once, from the configuration; there is no logic here."""

import os
import secrets as randomness
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from ias.bus import Bus
from ias.channels.base import Channel
from ias.channels.operator import OperatorChannel
from ias.channels.stream import StreamChannel
from ias.config.load import Config
from ias.consumers.base import Consumer, ConsumerConfig, Handler
from ias.consumers.llm import LlmHandler
from ias.consumers.send import SendHandler
from ias.consumers.timers import TimerConfig, Timers
from ias.consumers.tool import ToolHandler
from ias.cycle.step import CycleConfig, ModelStep
from ias.daemon.prompt import system_prompt
from ias.domain.approvals import Safety
from ias.domain.jobs import Queue
from ias.domain.tools import Risk
from ias.gate import Gate, GateSettings
from ias.intake import Intake
from ias.logs import Logs, open_logs
from ias.metatools import ModelTools
from ias.permissions import PermissionChecker, PermissionConfig
from ias.policy import Level
from ias.providers.base import Provider
from ias.providers.choose import LlmSettings, is_offline, open_client, open_provider
from ias.registry import ToolRegistry
from ias.runtime.http_service import HttpService, HttpSettings
from ias.runtime.process import Processes
from ias.runtime.program import Room
from ias.runtime.runner import Runner
from ias.runtime.secrets import Secrets
from ias.runtime.toolbox import Toolbox
from ias.store.base import Terms
from ias.store.sqlite import SqliteStore

if TYPE_CHECKING:
    import httpx

STREAMED = ("api", "cli", "web")  # channels whose listeners read the conversation's events


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Everything that runs in one process."""

    config: Config
    logs: Logs
    store: SqliteStore
    bus: Bus
    terms: Terms
    toolbox: Toolbox
    processes: Processes
    intake: Intake
    runner: Runner
    consumers: Mapping[Queue, Consumer]
    timers: Timers
    provider: Provider
    http: HttpService
    client: "httpx.AsyncClient | None"

    def poke(self) -> None:
        """Let consumers and listeners look at the store again."""
        for consumer in self.consumers.values():
            consumer.signal.set()
        self.bus.announce()

    def on_commit(self, topics: frozenset[str]) -> None:
        """Pass on what a COMMIT of this process announced."""
        for topic in topics:
            match topic.partition(":"):
                case ("conversation", _, conversation_id):
                    self.bus.announce(conversation_id)
                case ("stopped", _, owner_id):
                    for consumer in self.consumers.values():
                        consumer.interrupt(owner_id)
                case (queue, _, _):
                    self.consumers[Queue(queue)].signal.set()

    async def close(self) -> None:
        """Let go of everything, in the order in which it was built, backwards."""
        await self.processes.close()
        await self.http.close()
        if self.client is not None:
            await self.client.aclose()
        await self.store.close()


@asynccontextmanager
async def opened(config: Config) -> AsyncGenerator[Parts]:
    """Build the parts and let go of them at the end; the state folder's lock must be held.

    Raises:
        ConfigError: What the configuration says cannot be built.
        StateError: The store cannot be used.
    """
    parts = await build(config)
    try:
        yield parts
    finally:
        await parts.close()


async def build(config: Config) -> Parts:
    """Build the parts; whoever calls this closes them."""
    refuse_unbuilt(config)
    settings = config.settings
    secrets = Secrets(config.secret_hosts, config.env)
    logs = open_logs(settings.logs, config.path(settings.logs.dir), secrets.scrub)
    store = await SqliteStore.open(config.database)
    bus, terms = Bus(), terms_of(config)
    checker = PermissionChecker(
        PermissionConfig(
            allowed=settings.permissions.allowed,
            denied=settings.permissions.denied,
            allow_unspecified=settings.permissions.allow_unspecified,
        )
    )
    processes = Processes()
    room = Room(
        processes=processes,
        calls=config.path("data/calls"),
        variables=config.env,
        secrets=secrets,
        withheld=config.credential_names(),
        on_stderr=partial(_log_stderr, logs),
    )
    toolbox = Toolbox(
        ToolRegistry().with_permission_checker(checker),
        dirs=tuple(config.path(folder) for folder in settings.tools.dirs),
        project=config.home,
        snapshots=config.path("data/snapshots"),
        room=room,
    )
    gate = Gate(gate_settings(config), checker, store)
    client = None if is_offline(llm_settings(config), config.env) else open_client()
    http = HttpService(http_settings(config), secrets)
    runner = Runner(store, gate, toolbox, http, terms, logs)
    provider = open_provider(llm_settings(config), env=config.env, client=client, tap=partial(_tap, logs))
    step = ModelStep(provider, cycle_config(config, provider))
    handlers: dict[Queue, Handler] = {
        Queue.LLM: LlmHandler(store, step, ModelTools(toolbox.registry, expose=settings.llm.expose), bus, logs),
        Queue.TOOL: ToolHandler(runner, logs),
        Queue.SEND: SendHandler(store, _channels(logs), terms, logs),
    }
    worker = f"{os.getpid()}-{randomness.token_hex(4)}"
    counts = {Queue.LLM: settings.queue.llm, Queue.TOOL: settings.queue.tool, Queue.SEND: settings.queue.send}
    consumers = {
        queue: Consumer(
            store,
            handler,
            ConsumerConfig(queue=queue, concurrency=counts[queue], worker=worker, terms=terms, new_token=_new_token),
            logs.error,
        )
        for queue, handler in handlers.items()
    }

    def poke() -> None:
        parts.poke()  # the timers are a part themselves

    parts = Parts(
        config=config,
        logs=logs,
        store=store,
        bus=bus,
        terms=terms,
        toolbox=toolbox,
        processes=processes,
        intake=Intake(store, terms, logs),
        runner=runner,
        consumers=consumers,
        timers=Timers(store, TimerConfig(terms=terms, worker=worker, poke=poke), logs.error),
        provider=provider,
        http=http,
        client=client,
    )
    store.on_commit = parts.on_commit
    return parts


def refuse_unbuilt(config: Config) -> None:
    """Refuse what config.yaml may say by its schema and this version cannot do: silence would be a false promise.

    Raises:
        ConfigError: It asks for confinement, an MCP server or a channel.
    """
    settings = config.settings
    if settings.sandbox.level in ("ns", "plain"):
        raise config.error("sandbox.level", f"{settings.sandbox.level!r} is not in this version; write auto or off")
    if settings.mcp.servers:
        raise config.error("mcp.servers", "is not in this version; leave it empty")
    if settings.channels:
        raise config.error("channels", "holds a channel, and this version has none but the API; leave it empty")


def terms_of(config: Config) -> Terms:
    """Give what transactions are told of the configuration."""
    settings = config.settings
    return Terms(
        approval_timeout_ms=round(settings.approvals.timeout * 1000),
        max_attempts=settings.queue.max_attempts,
        conversation_depth=settings.queue.conversation_depth,
        depth=settings.queue.depth,
        channel_safety=dict.fromkeys((*STREAMED, OperatorChannel.name), Safety.REPEAT),
    )


def gate_settings(config: Config) -> GateSettings:
    """Give the operator's word on requests."""
    settings = config.settings
    approvals = settings.approvals
    return GateSettings(
        levels={
            Risk.LOW: Level(approvals.low),
            Risk.MEDIUM: Level(approvals.medium),
            Risk.HIGH: Level(approvals.high),
        },
        rules=config.rules,
        secret_hosts=config.secret_hosts,
        reroute=settings.http.reroute,
        idempotency=settings.http.idempotency,
    )


def http_settings(config: Config) -> HttpSettings:
    """Give the bounds of requests on behalf of tools."""
    http, api = config.settings.http, config.settings.api
    return HttpSettings(
        allow_private=http.allow_private,
        max_response=http.max_response,
        timeout=http.timeout,
        redirects=http.redirects,
        reroute=http.reroute,
        own_ports=frozenset({api.port}),
    )


def llm_settings(config: Config) -> LlmSettings:
    """Give what the provider is chosen by."""
    llm = config.settings.llm
    return LlmSettings(
        provider=llm.provider,
        model=llm.model,
        base_url=llm.base_url,
        api_key=config.reveal("llm.api_key"),
        timeout=llm.timeout,
        idle_timeout=llm.idle_timeout,
    )


def cycle_config(config: Config, provider: Provider) -> CycleConfig:
    """Give what is the same in each model step."""
    llm = config.settings.llm
    return CycleConfig(
        model=llm.model or provider.model,
        system=llm.system_prompt or system_prompt(expose=llm.expose),
        max_turns=llm.max_turns,
        max_tokens=llm.max_tokens,
        thinking=llm.thinking,
        extra=llm.extra,
    )


def _channels(logs: Logs) -> Mapping[str, Channel]:
    channels: tuple[Channel, ...] = (*(StreamChannel(name) for name in STREAMED), OperatorChannel(logs))
    return {channel.name: channel for channel in channels}


def _new_token() -> str:
    return randomness.token_hex(10)


def _tap(logs: Logs, kind: str, text: str) -> None:
    logs.raw.info(kind.replace("-", "_"), tag=kind, text=text)


def _log_stderr(logs: Logs, tool: str, call_id: str, text: str) -> None:
    logs.error.warning("tool_stderr", tag="tool", tool=tool, run_id=call_id, text=text)
