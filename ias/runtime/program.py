"""A dropped-in program as a tool: each step starts it from its snapshot, with one line in and one line out."""

import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from ias.domain.messages import JsonObject, JsonValue
from ias.domain.tools import Asks, CallContext, Example, Permission, Result, StepInput, ToolFacts, ToolSpec
from ias.errors import Code, ExecutionFailedError, ToolError
from ias.registry import BaseTool, Run
from ias.runtime.environment import environment
from ias.runtime.interpreter import command_of
from ias.runtime.process import Launch, Processes
from ias.runtime.protocol import envelope, parse_line
from ias.runtime.secrets import Secrets
from ias.runtime.snapshot import Snapshot, SnapshotError
from ias.toolspec.arguments import validate_args

OnStderr = Callable[[str, str, str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What all programs are started with.

    Attributes:
        processes: Owns what runs; closed by whoever made it.
        calls: The folder of the calls' private folders; `sweep({str(calls)})` at start ends what an earlier run left.
        variables: The daemon's environment, of which a tool gets what its spec names.
        secrets: Their names pass as `${NAME}`.
        withheld: Names of variables with the daemon's own credentials.
        on_stderr: Takes a tool's name, the call's id and what the program wrote to stderr, if that is anything.
    """

    processes: Processes
    calls: Path
    variables: Mapping[str, str]
    secrets: Secrets
    withheld: frozenset[str] = frozenset()
    on_stderr: OnStderr = field(default=lambda _tool, _call, _text: None)


class ProgramTool(BaseTool):
    """A tool that is a program with a spec.

    Args:
        spec: Its contract.
        spec_text: The bytes of the spec file: a change of any of them makes it another tool.
        snapshot: The copy of its folder that it runs from.
        room: What it is started with.

    Raises:
        SnapshotError: If the program is not in the folder.
        ToolError: If the spec names a variable that no tool may get.
    """

    def __init__(self, spec: ToolSpec, spec_text: bytes, snapshot: Snapshot, room: Room) -> None:
        self.spec = spec
        self.snapshot = snapshot
        self._room = room
        self._facts = ToolFacts(
            name=spec.name,
            sha256=snapshot.tool_sha256(spec_text),
            type=spec.type,
            risk=spec.risk,
            group=spec.group,
            hosts=spec.hosts,
            secrets=spec.secrets,
            permissions=spec.permissions,
            timeout=spec.timeout,
            max_steps=spec.limits.max_steps,
        )
        self._variables = environment(
            spec.env, variables=room.variables, secrets=room.secrets.names, withheld=room.withheld
        )
        command = command_of(_program_in(snapshot, spec), search_path=self._variables["PATH"])
        self._argv = (*command, *(() if spec.command is None else (spec.command,)))

    @property
    def name(self) -> str:
        """The spec's name."""
        return self.spec.name

    @property
    def description(self) -> str:
        """The spec's description."""
        return self.spec.desc

    @property
    def parameters(self) -> JsonObject:
        """The JSON Schema made from the spec's parameters."""
        return self.spec.parameters

    @property
    def keywords(self) -> tuple[str, ...]:
        """The spec's keywords."""
        return self.spec.keywords

    @property
    def examples(self) -> tuple[Example, ...]:
        """The spec's examples."""
        return self.spec.examples

    @property
    def facts(self) -> ToolFacts:
        """What gate and runner need to know; the hash covers the whole folder and the spec."""
        return self._facts

    def required_permissions(self) -> tuple[Permission, ...]:
        """Give the spec's permissions."""
        return self.spec.permissions

    def target(self, args: JsonObject) -> tuple[BaseTool, JsonObject]:
        """Give itself, with the arguments checked and repaired.

        Raises:
            InvalidArgumentsError: They do not fit the spec's parameters.
        """
        return self, validate_args(self.parameters, args)

    def begin(self, args: JsonObject, context: CallContext) -> Run:
        """Begin a call: each step is one start of the program."""
        return ProgramRun(self, args, context)

    async def execute(self, args: JsonObject) -> JsonValue:
        """Run the program once, for callers that have no host to offer.

        Raises:
            ToolError: If it failed, or asked for anything: that needs a runner.
        """
        context = CallContext(user_id="", conversation_id="", call_id=f"c_{uuid4().hex}")
        message = await self.begin(args, context).step(StepInput(seconds=self.spec.timeout))
        if isinstance(message, Asks):
            text = f"{self.name} asks the host for something; call it through an LlmCycle or the daemon"
            raise ToolError(text, code=Code.PERMISSION_DENIED)
        if message.is_error:
            raise ExecutionFailedError(message.content, code=message.code)
        return message.content

    async def run_line(self, line: bytes, *, call_id: str, seconds: float) -> bytes:
        """Start the program in a folder of its own, which goes when the program is gone, and give its line.

        Raises:
            ToolError: See `Processes.run_line`.
        """
        folder = _private_folder(self._room.calls)

        def on_end(stderr: bytes) -> None:
            _remove(folder, self._room.processes)
            if stderr:
                self._room.on_stderr(self.name, call_id, stderr.decode("utf-8", "replace"))

        launch = Launch(
            argv=self._argv,
            env={**self._variables, "TMPDIR": str(folder)},
            cwd=folder,
            timeout=seconds,
            output_bytes=self.spec.limits.output_kb * 1024,
        )
        return await self._room.processes.run_line(launch, line, on_end=on_end)

    def secret_names(self) -> tuple[str, ...]:
        """Give the names of the tool's secrets that have a value."""
        return self._room.secrets.names_for(self._facts)


class ProgramRun:
    """One call of a program."""

    def __init__(self, tool: ProgramTool, args: JsonObject, context: CallContext) -> None:
        self._tool = tool
        self._args = args
        self._context = context

    async def step(self, given: StepInput) -> Asks | Result:
        """Start the program with what is known by now, and read its message.

        Raises:
            ToolError: With the protocol's codes.
        """
        line = envelope(
            self._args,
            given,
            user_id=self._context.user_id,
            call_id=self._context.call_id,
            secrets=self._tool.secret_names(),
        )
        answer = await self._tool.run_line(line, call_id=self._context.call_id, seconds=given.seconds)
        return parse_line(answer)


def _program_in(snapshot: Snapshot, spec: ToolSpec) -> Path:
    if ".." in spec.program.parts or not spec.program.is_relative_to(spec.folder):
        raise SnapshotError(f"{spec.program} is not in the tool's folder {spec.folder}; move it there")
    program = snapshot.root / spec.program.relative_to(spec.folder)
    if not program.is_file():
        raise SnapshotError(f"{spec.program} was not copied: it is missing, or hidden by a name that begins with a dot")
    return program


def _private_folder(calls: Path) -> Path:
    try:
        calls.mkdir(mode=0o700, parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix="call-", dir=calls))
    except OSError as error:
        message = f"no private folder can be made for the tool: {error.strerror}"
        raise ToolError(message, code=Code.SPAWN_FAILED) from error


def _remove(folder: Path, processes: Processes) -> None:
    try:
        folder.rmdir()
    except OSError:  # the tool left files in it: that may take long, so not on the loop
        processes.offload(lambda: shutil.rmtree(folder, ignore_errors=True))
