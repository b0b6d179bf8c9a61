"""What a tool is, what it may need, and what it can ask the host for."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import ClassVar, TypeAlias

from ias.domain.approvals import StepKind
from ias.domain.messages import JsonObject, JsonValue
from ias.errors import Code, ToolError

CUSTOM_NAME = re.compile(r"[A-Za-z0-9_.:-]{1,64}")


@dataclass(frozen=True, slots=True, order=True)
class Permission:
    """A thing that a tool may need: one of six levels, or `custom:NAME`.

    Example:
        ```python
        needs = (Permission.READ, Permission.custom("calendar"))
        assert Permission.parse("custom:calendar") in needs
        ```
    """

    name: str

    READ: ClassVar["Permission"]
    WRITE: ClassVar["Permission"]
    DELETE: ClassVar["Permission"]
    NETWORK: ClassVar["Permission"]
    SHELL: ClassVar["Permission"]
    FILESYSTEM: ClassVar["Permission"]

    @classmethod
    def custom(cls, name: str) -> "Permission":
        """Make the permission `custom:NAME`.

        Args:
            name: 1 to 64 letters, digits or `_.:-`.

        Raises:
            ValueError: For another name.
        """
        return cls.parse(f"custom:{name}")

    @classmethod
    def parse(cls, text: str) -> "Permission":
        """Read a permission as specs and config write it.

        Args:
            text: One of `read write delete network shell filesystem`, or `custom:NAME`.

        Raises:
            ValueError: If it is none of the six and not `custom:NAME`.
        """
        if text in LEVELS:
            return cls(text)
        kind, _, name = text.partition(":")
        if kind == "custom" and CUSTOM_NAME.fullmatch(name):
            return cls(text)
        raise ValueError(f"{text!r} is no permission; write one of {', '.join(LEVELS)} or custom:NAME")

    def __str__(self) -> str:
        """Give the permission as specs write it."""
        return self.name


LEVELS = ("read", "write", "delete", "network", "shell", "filesystem")
Permission.READ = Permission("read")
Permission.WRITE = Permission("write")
Permission.DELETE = Permission("delete")
Permission.NETWORK = Permission("network")
Permission.SHELL = Permission("shell")
Permission.FILESYSTEM = Permission("filesystem")


class ToolType(StrEnum):
    """What a tool mainly asks the host for."""

    HTTP = "http"
    DB = "db"
    LOCAL = "local"
    MCP = "mcp"
    PYTHON = "python"


class Risk(StrEnum):
    """Input of the approval policy."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Origin(StrEnum):
    """Where a call comes from; nobody watches the last two, so they are never asked about."""

    CHAT = "chat"
    API = "api"
    CLI = "cli"
    MCP = "mcp"
    SCHEDULE = "schedule"
    WEBHOOK = "webhook"

    @property
    def is_attended(self) -> bool:
        """Say whether a person can be asked."""
        return self not in (Origin.SCHEDULE, Origin.WEBHOOK)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of one call: steps, resident data in MiB, one line of output in KiB; `warm` is auto or off."""

    max_steps: int = 8
    memory_mb: int = 256
    output_kb: int = 1024
    warm: str = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """What a person might ask, and the arguments that answer it."""

    ask: str
    params: Mapping[str, JsonValue] = field(default_factory=lambda: {})


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool's contract, as read from its `*.tool.yaml`.

    `parameters` is the JSON Schema made from `params`; `program` the real path of the program in its folder; `timeout`
    is in seconds.
    """

    name: str
    desc: str
    type: ToolType
    group: str
    program: Path
    folder: Path
    file: Path
    command: str | None = None
    risk: Risk = Risk.LOW
    timeout: float = 30.0
    env: tuple[str, ...] = ()
    parameters: JsonObject = field(default_factory=lambda: {"type": "object", "properties": {}})
    secrets: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    permissions: tuple[Permission, ...] = ()
    keywords: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFacts:
    """What gate and runner need to know of any tool; `sha256` changes whenever what it does could change."""

    name: str
    sha256: str
    type: ToolType
    risk: Risk = Risk.LOW
    group: str = ""
    hosts: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    permissions: tuple[Permission, ...] = ()
    timeout: float = 30.0
    max_steps: int = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class CallContext:
    """Who calls, from where, and under which id."""

    user_id: str
    conversation_id: str
    call_id: str
    origin: Origin = Origin.CHAT


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolInvocation:
    """The record of one call: exactly one of `output` and `error` says how it went (`output` may be None).

    Example:
        ```python
        done = await registry.invoke("get_weather", {"city": "Beijing"})
        print(done.output if done.error is None else done.error.code)
        ```
    """

    tool_name: str
    input: JsonObject
    output: JsonValue = None
    error: ToolError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAsk:
    """A tool's wish for one http request, checked for form only; `body` is text, secrets are still `${NAME}`."""

    method: str
    url: str
    query: tuple[tuple[str, str], ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    body: str | None = None
    desc: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DbAsk:
    """A tool's wish for one named database operation."""

    operation: str
    params: JsonObject = field(default_factory=lambda: {})
    desc: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallAsk:
    """A whole call: of an in-process tool (`kind` call), or of a program before its first start (`start`)."""

    kind: str
    args: JsonObject
    desc: str = ""


Ask: TypeAlias = HttpAsk | DbAsk | CallAsk


@dataclass(frozen=True, slots=True, kw_only=True)
class Asks:
    """What a tool wants before it can go on; `is_batch` makes the next step read `responses`."""

    asks: tuple[Ask, ...]
    state: JsonValue = None
    is_batch: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The host's answer to one ask.

    `body` is for http `{status, headers, body | body_base64, truncated?}` or `{error: {code, message}}`, for db
    `{rows}`, `{changed}` or `{error}`, for call `{value}` or `{error}`.
    """

    kind: StepKind
    body: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class StepInput:
    """What one start of a program (or one turn of an in-process tool) is given.

    `step` counts from 0; `answers` stand in the order of the asks of the step before, `state` is what that step wanted
    to remember; `seconds` is the time left for the whole call.
    """

    step: int = 0
    answers: tuple[Answer, ...] = ()
    state: JsonValue = None
    is_batch: bool = False
    seconds: float = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How a call ended: text for the model, a code, and whatever else the tool wants to show."""

    content: str
    data: JsonValue = None
    code: Code = Code.OK

    @property
    def is_error(self) -> bool:
        """Say whether the call failed."""
        return self.code is not Code.OK
