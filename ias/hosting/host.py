"""Calls of dropped-in tools from a program that embeds `ias`: behind the gate, over a store of its own.

The same runner, gate and transactions as the daemon's carry a call out. What differs is who waits: the daemon parks a
run until somebody decides, a host awaits its approver.
"""

import asyncio
import json
import secrets
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self, TypeAlias

from ias.aio import finish
from ias.domain.approvals import digest_of
from ias.domain.events import ApprovalRequested, ApprovalResolved, StreamEvent
from ias.domain.jobs import PlannedCall, RunEnded
from ias.domain.messages import JsonObject, JsonValue, ToolCall
from ias.domain.tools import Result, Risk, ToolSpec
from ias.errors import Code, StateError, ToolError
from ias.gate import Gate, GateSettings
from ias.logs import embedded_logs
from ias.permissions import PermissionChecker, PermissionConfig
from ias.policy import Level
from ias.registry import BaseTool
from ias.runtime.http_service import HttpService, HttpSettings
from ias.runtime.process import Processes
from ias.runtime.program import ProgramTool, Room
from ias.runtime.runner import Runner
from ias.runtime.secrets import Secrets
from ias.runtime.snapshot import Snapshot
from ias.store.base import Ids, Terms, Transaction
from ias.store.lock import StateLock
from ias.store.results import Submitted
from ias.store.sqlite import SqliteStore
from ias.store.transactions.approvals import decide_approval
from ias.store.transactions.calls import cancel_run, submit_call
from ias.store.transactions.queue import claim_owned, recover_at_start
from ias.store.transactions.runs import finish_run

NAME = "library"  # channel, user and worker of the calls
DATABASE = "ias.db"
APPROVAL_TIMEOUT = 900.0  # seconds, as in the daemon
LEASE_MS = 86_400_000  # a day: nobody else takes jobs of this store, so a lease need not be renewed
LEVELS = {Risk.LOW: Level.WRITES, Risk.MEDIUM: Level.HOSTS, Risk.HIGH: Level.ALL}  # the daemon's defaults
ANYTHING = PermissionConfig(allowed=(), denied=(), allow_unspecified=True)  # a registry without a checker
NO_APPROVER = "nobody can be asked: the LlmCycle has no approver"

Approver: TypeAlias = Callable[[ApprovalRequested], Awaitable[bool]]
Hear: TypeAlias = Callable[[StreamEvent], None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Surroundings:
    """What the tools of a folder are carried out with: secrets, variables, bounds of requests."""

    secrets: Secrets = field(default_factory=lambda: Secrets({}, {}))
    secret_hosts: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: {})
    variables: Mapping[str, str] = field(default_factory=lambda: {}, repr=False)
    http: HttpSettings = field(default_factory=HttpSettings)


class LoadedTool(ProgramTool):
    """A dropped-in tool that was loaded with `load_tools`.

    Args:
        spec: Its contract.
        spec_text: The bytes of the spec file.
        snapshot: The copy of its folder that it runs from.
        surroundings: What it is carried out with.
        keep: What must live as long as the tool.
    """

    def __init__(
        self, spec: ToolSpec, spec_text: bytes, snapshot: Snapshot, surroundings: Surroundings, *, keep: object
    ) -> None:
        super().__init__(spec, spec_text, snapshot, _room(surroundings, snapshot.root.parent, Processes()))
        self.surroundings = surroundings
        self._spec_text = spec_text
        self._keep = keep

    def within(self, room: Room) -> ProgramTool:
        """Give the same tool, run in another room."""
        return ProgramTool(self.spec, self._spec_text, self.snapshot, room)

    async def execute(self, args: JsonObject) -> JsonValue:
        """Carry out one call behind the gate, with nobody to ask and with the permissions that its spec declares.

        Raises:
            ToolError: It failed, or needed an approval.
        """
        tool, checked = self.target(args)
        text = json.dumps(checked, sort_keys=True, separators=(",", ":"))
        call = PlannedCall(
            call=ToolCall(id="", name=self.name, arguments=text),
            tool=self.name,
            tool_hash=self.facts.sha256,
            args=text,
            digest=digest_of((text,)),
        )
        checker = PermissionChecker(PermissionConfig(allowed=self.facts.permissions, denied=()))
        async with Host() as host:
            result = await host.call(tool, call, run_id=Ids().new("r"), checker=checker)
        if result.is_error:
            raise ToolError(result.content, code=result.code)
        return result.content if result.data is None else result.data


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """What a host has while it is open."""

    store: SqliteStore
    processes: Processes
    calls: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class OneTool:
    """The toolbox of a runner that carries out one call: what was planned is what runs."""

    tool: BaseTool

    def find(self, name: str, sha256: str) -> BaseTool:
        """Give the tool."""
        del name, sha256
        return self.tool


class Host:
    """Carries out calls of tools that ask for things; opened at the first call, closed by whoever made it.

    Args:
        approver: Awaited where a request needs a person; a yes holds for that request alone. Without it the answer
            is no.
        state: A folder where calls, and what tools remember, are kept; a temporary one by default.
        approval_timeout: Seconds that the approver has.
    """

    def __init__(
        self,
        approver: Approver | None = None,
        *,
        state: Path | None = None,
        approval_timeout: float = APPROVAL_TIMEOUT,
    ) -> None:
        self._approver = approver
        self._state = state
        self._timeout = approval_timeout
        self._terms = Terms(approval_timeout_ms=round(approval_timeout * 1000), lease_ms=LEASE_MS)
        self._opening = asyncio.Lock()
        self._stack = AsyncExitStack()
        self._opened: Opened | None = None
        self._services: dict[Surroundings, HttpService] = {}
        self._bare = Surroundings()

    async def __aenter__(self) -> Self:
        """Give the host itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        await self.close()

    async def close(self) -> None:
        """End what still runs, and let the store go; a later call opens it anew."""
        self._opened = None
        self._services.clear()
        await self._stack.aclose()

    async def call(
        self,
        tool: BaseTool,
        call: PlannedCall,
        *,
        run_id: str,
        checker: PermissionChecker | None = None,
        hear: Hear = lambda _: None,
    ) -> Result:
        """Carry out a call; a failure is a result too.

        Args:
            tool: The tool.
            call: The call, resolved, with checked arguments.
            run_id: The id of its run, new.
            checker: The permissions; without it all are allowed.
            hear: Told of approvals that are requested and resolved.

        Raises:
            StateError: The store cannot be used, or another process works on the state folder.
            Exception: What the approver raised; the call was stopped then.
        """
        opened = await self._open()
        try:
            runner = self._runner(opened, tool, checker or PermissionChecker(ANYTHING))
        except ToolError as error:  # its interpreter is gone
            return Result(content=str(error), code=error.code)
        await opened.store.run(self._submit(call, run_id))
        try:
            return await self._advance(opened.store, runner, run_id, hear)
        except BaseException:
            await finish(opened.store.run(cancel_run(self._terms, run_id)))
            raise

    async def _open(self) -> Opened:
        async with self._opening:
            if self._opened is None:
                async with AsyncExitStack() as stack:
                    self._opened = await self._build(stack)
                    self._stack = stack.pop_all()
            return self._opened

    async def _build(self, stack: AsyncExitStack) -> Opened:
        if self._state is None:
            temporary = tempfile.TemporaryDirectory(prefix="ias-", ignore_cleanup_errors=True)
            stack.push_async_callback(asyncio.to_thread, temporary.cleanup)
            folder = Path(temporary.name)
        else:
            folder = self._state
            stack.enter_context(StateLock(folder))
        store = await SqliteStore.open(folder / DATABASE)
        stack.push_async_callback(store.close)
        await store.run(recover_at_start())
        processes = Processes()
        stack.push_async_callback(processes.close)
        return Opened(store=store, processes=processes, calls=folder / "calls")

    def _runner(self, opened: Opened, tool: BaseTool, checker: PermissionChecker) -> Runner:
        surroundings = tool.surroundings if isinstance(tool, LoadedTool) else self._bare
        if isinstance(tool, LoadedTool):
            tool = tool.within(_room(surroundings, opened.calls, opened.processes))
        settings = GateSettings(
            levels=LEVELS, secret_hosts=surroundings.secret_hosts, reroute=surroundings.http.reroute
        )
        return Runner(
            opened.store,
            Gate(settings, checker, opened.store),
            OneTool(tool=tool),
            self._http(surroundings),
            self._terms,
            embedded_logs(surroundings.secrets.scrub),
        )

    def _http(self, surroundings: Surroundings) -> HttpService:
        service = self._services.get(surroundings)
        if service is None:
            service = self._services[surroundings] = HttpService(surroundings.http, surroundings.secrets)
            self._stack.push_async_callback(service.close)
        return service

    def _submit(self, call: PlannedCall, run_id: str) -> Transaction[Submitted]:
        return submit_call(
            self._terms,
            channel=NAME,
            address=NAME,
            user_id=NAME,
            tool=call.tool,
            tool_hash=call.tool_hash,
            args=call.args,
            digest=call.digest,
            wire_id=call.call.id,
            run_id=run_id,
        )

    async def _advance(self, store: SqliteStore, runner: Runner, run_id: str, hear: Hear) -> Result:
        while True:
            run = (await store.read("run", id=run_id))[0]
            match run["state"]:
                case "done":
                    known = json.loads(run["result"])
                    return Result(content=known["content"], data=known["data"], code=Code(run["code"]))
                case "parked":
                    await self._ask(store, run_id, hear)
                case _:
                    await self._work(store, runner, run_id)

    async def _work(self, store: SqliteStore, runner: Runner, run_id: str) -> None:
        job = await store.run(claim_owned(run_id, NAME, secrets.token_hex(10), LEASE_MS))
        if job is None:
            raise StateError(f"the run {run_id!r} has no job: its store was changed by somebody else")
        outcome = await runner.advance(job)
        if isinstance(outcome, RunEnded):
            await store.run(finish_run(self._terms, job, outcome.result))

    async def _ask(self, store: SqliteStore, run_id: str, hear: Hear) -> None:
        row = (await store.read("approval_of_run", run_id=run_id))[0]
        request = ApprovalRequested(
            approval_id=row["id"],
            num=row["num"],
            run_id=run_id,
            tool_name=row["tool"],
            digest=row["digest"],
            request=row["request"],
            expires_at=row["expires_at"],
        )
        hear(request)
        is_yes, reason = await self._answer(request)
        decision = await store.run(
            decide_approval(
                self._terms,
                ref=request.approval_id,
                approve=is_yes,
                by=NAME,
                via=NAME,
                reason=reason,
                digest=request.digest,
            )
        )
        hear(
            ApprovalResolved(
                approval_id=request.approval_id,
                num=request.num,
                state=decision.state,
                decided_by=decision.decided_by,
            )
        )

    async def _answer(self, request: ApprovalRequested) -> tuple[bool, str | None]:
        if self._approver is None:
            return False, NO_APPROVER
        try:
            async with asyncio.timeout(self._timeout):
                return await self._approver(request), None
        except TimeoutError:
            return False, f"no answer within {self._timeout:g} s"


def _room(surroundings: Surroundings, calls: Path, processes: Processes) -> Room:
    return Room(processes=processes, calls=calls, variables=surroundings.variables, secrets=surroundings.secrets)
