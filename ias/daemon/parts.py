"""Builds each part of the daemon once, from the configuration; there is no logic here."""

import os
import secrets as randomness
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial

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
from ias.daemon.spending import spending_of
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
from ias.toolspec.variables import PROVIDER_KEYS

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
    consumers: Mapping[Queue, Consumer]
    timers: Timers
    provider: Provider

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


@asynccontextmanager
async def opened(config: Config) -> AsyncGenerator[Parts]:
    """Build the parts and let go of them at the end, also where one cannot be built; the folder's lock must be held.

    Raises:
        ConfigError: What the configuration says cannot be built.
        StateError: The store cannot be used.
    """
    refuse_unbuilt(config)
    async with AsyncExitStack() as stack:
        yield await _build(config, stack)


async def _build(config: Config, stack: AsyncExitStack) -> Parts:
    settings = config.settings
    secrets = Secrets(config.secret_hosts, config.env)
    logs = open_logs(settings.logs, config.path(settings.logs.dir), scrub_of(config))
    provider = await _provider(config, logs, stack)
    store = await SqliteStore.open(config.database)
    stack.push_async_callback(store.close)
    http = HttpService(http_settings(config), secrets)
    stack.push_async_callback(http.close)
    processes = Processes()
    stack.push_async_callback(processes.close)
    checker = PermissionChecker(permission_config(config))
    toolbox = _toolbox(config, checker, _room(config, processes, secrets, logs))
    bus, terms, worker = Bus(), terms_of(config), f"{os.getpid()}-{randomness.token_hex(4)}"
    runner = Runner(store, Gate(gate_settings(config), checker, store), toolbox, http, terms, logs)
    step = ModelStep(provider, cycle_config(config, provider))
    tools = ModelTools(toolbox.registry, expose=settings.llm.expose)
    handlers: dict[Queue, Handler] = {
        Queue.LLM: LlmHandler(store, step, tools, bus, logs, spending=spending_of(config, provider)),
        Queue.TOOL: ToolHandler(runner, logs),
        Queue.SEND: SendHandler(store, _channels(logs), terms, logs),
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
        consumers=_consumers(config, store, handlers, worker, logs),
        timers=Timers(store, TimerConfig(terms=terms, worker=worker, poke=poke), logs.error),
        provider=provider,
    )
    store.on_commit = parts.on_commit
    return parts


async def _provider(config: Config, logs: Logs, stack: AsyncExitStack) -> Provider:
    llm = llm_settings(config)
    client = None
    if not is_offline(llm, config.env):
        client = open_client()
        stack.push_async_callback(client.aclose)
    return open_provider(llm, env=config.env, client=client, tap=partial(_tap, logs))


def _room(config: Config, processes: Processes, secrets: Secrets, logs: Logs) -> Room:
    return Room(
        processes=processes,
        calls=config.path("data/calls"),
        variables=config.env,
        secrets=secrets,
        withheld=config.credential_names(),
        on_stderr=partial(_log_stderr, logs),
    )


def _toolbox(config: Config, checker: PermissionChecker, room: Room) -> Toolbox:
    return Toolbox(
        ToolRegistry().with_permission_checker(checker),
        dirs=tuple(config.path(folder) for folder in config.settings.tools.dirs),
        project=config.home,
        snapshots=config.path("data/snapshots"),
        room=room,
    )


def _consumers(
    config: Config, store: SqliteStore, handlers: Mapping[Queue, Handler], worker: str, logs: Logs
) -> Mapping[Queue, Consumer]:
    queue, terms = config.settings.queue, terms_of(config)
    counts = {Queue.LLM: queue.llm, Queue.TOOL: queue.tool, Queue.SEND: queue.send}

    def settings(name: Queue) -> ConsumerConfig:
        return ConsumerConfig(
            queue=name, concurrency=counts[name], worker=worker, terms=terms, new_token=lambda: randomness.token_hex(10)
        )

    return {name: Consumer(store, handler, settings(name), logs.error) for name, handler in handlers.items()}


def scrub_of(config: Config) -> Callable[[str], str]:
    """Give what takes every secret out of a text: the tools', the model's, and whatever else config.yaml refers to."""
    names = {*config.secret_hosts, *config.credential_names(), *PROVIDER_KEYS}
    return Secrets(dict.fromkeys(names, ()), config.env).scrub


def permission_config(config: Config) -> PermissionConfig:
    """Give what tools may need at all."""
    permissions = config.settings.permissions
    return PermissionConfig(
        allowed=permissions.allowed, denied=permissions.denied, allow_unspecified=permissions.allow_unspecified
    )


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
        context_tokens=llm.context_tokens,
        extra=llm.extra,
    )


def _channels(logs: Logs) -> Mapping[str, Channel]:
    channels: tuple[Channel, ...] = (*(StreamChannel(name) for name in STREAMED), OperatorChannel(logs))
    return {channel.name: channel for channel in channels}


def _tap(logs: Logs, kind: str, text: str) -> None:
    logs.raw.info(kind.replace("-", "_"), tag=kind, text=text)


def _log_stderr(logs: Logs, tool: str, call_id: str, text: str) -> None:
    logs.error.warning("tool_stderr", tag="tool", tool=tool, run_id=call_id, text=text)
