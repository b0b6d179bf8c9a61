"""What a tool is to the daemon and to programs that embed it, and the registry that finds, checks and calls tools."""

import asyncio
import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol, Self

from ias.domain.approvals import StepKind
from ias.domain.messages import JsonObject, JsonValue, ToolDef
from ias.domain.tools import (
    Asks,
    CallAsk,
    CallContext,
    Example,
    Permission,
    Result,
    StepInput,
    ToolFacts,
    ToolInvocation,
    ToolType,
)
from ias.errors import Code, ExecutionFailedError, ToolError, ToolNotFoundError
from ias.permissions import PermissionChecker


class Run(Protocol):
    """One call under way, as a step function: what it wants of the host, or how it ended."""

    async def step(self, given: StepInput) -> Asks | Result:
        """Go one step further.

        Raises:
            ToolError: The call failed; its text is for the model.
        """
        ...


class BaseTool(ABC):
    """A tool, whoever runs it: a program, an MCP server, the daemon, or your own Python code.

    A subclass gives name, description and parameters as class attributes, or as properties where a type checker looks
    at it, and does its work in `execute`.

    Example:
        ```python
        class Weather(BaseTool):
            name = "get_weather"
            description = "Current weather of a city"
            parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}

            async def execute(self, args):
                return {"city": args["city"], "temperature": 22}
        ```
    """

    answers_at_once = False
    """Whether a call needs no run: `execute` only looks something up, and nobody is ever asked."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name that the model calls, unique in a registry."""

    @property
    @abstractmethod
    def description(self) -> str:
        """What the model reads to decide whether to call."""

    @property
    @abstractmethod
    def parameters(self) -> JsonObject:
        """The arguments as a JSON Schema of type object."""

    @property
    def keywords(self) -> tuple[str, ...]:
        """Everyday words by which the tool is found, in any language."""
        return ()

    @property
    def examples(self) -> tuple[Example, ...]:
        """What a person might ask, with the arguments that answer it."""
        return ()

    @property
    def facts(self) -> ToolFacts:
        """What gate and runner need to know; by default made from the definition."""
        definition = json.dumps([self.name, self.description, self.parameters], sort_keys=True)
        return ToolFacts(
            name=self.name,
            sha256=hashlib.sha256(definition.encode()).hexdigest(),
            type=ToolType.PYTHON,
            permissions=self.required_permissions(),
        )

    def required_permissions(self) -> tuple[Permission, ...]:
        """Give the permissions that every call needs."""
        return ()

    def begin(self, args: JsonObject, context: CallContext) -> Run:
        """Begin a call; by default one step around `execute`.

        Args:
            args: Checked.
            context: Who calls.
        """
        del context
        return ExecuteRun(args)

    def target(self, args: JsonObject) -> tuple["BaseTool", JsonObject]:
        """Give the tool that a call with these arguments is about, and the arguments for it: by default this one.

        Args:
            args: As the model wrote them.

        Raises:
            ToolError: The arguments name no tool, or do not fit it.
        """
        return self, args

    @abstractmethod
    async def execute(self, args: JsonObject) -> JsonValue:
        """Do the work.

        Args:
            args: Checked against `parameters` only where a caller did so.

        Raises:
            ToolError: The call failed; the text goes to the model.
        """


class ExecuteRun:
    """The default run: asks for the whole call once, and ends with what `execute` gave."""

    def __init__(self, args: JsonObject) -> None:
        self._args = args

    async def step(self, given: StepInput) -> Asks | Result:
        """Ask for the call, then read its answer `{value}` or `{error: {code, message}}`."""
        if not given.answers:
            return Asks(asks=(CallAsk(kind=StepKind.CALL, args=self._args),))
        body = given.answers[0].body
        error = body.get("error")
        if error is None:
            return result_of(body.get("value"))
        known = error if isinstance(error, dict) else {"message": error}
        return Result(content=str(known.get("message", "the call failed")), code=_code(known.get("code")))


def _code(value: JsonValue) -> Code:
    return next((code for code in Code if code == value), Code.TOOL_FAILED)


def result_of(value: JsonValue) -> Result:
    """Give an in-process tool's value as a result: text as it is, anything else as JSON."""
    if isinstance(value, str):
        return Result(content=value)
    return Result(content=json.dumps(value, ensure_ascii=False, separators=(",", ":")), data=value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What a reload did, as sorted names."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


class ToolRegistry:
    """Tools by name. Without a permission checker every registered tool may be called.

    Example:
        ```python
        registry = ToolRegistry().with_permission_checker(PermissionChecker())
        registry.register(Weather())
        done = await registry.invoke("get_weather", {"city": "Beijing"})
        print(done.output)
        ```
    """

    def __init__(self) -> None:
        self._tools: Mapping[str, BaseTool] = {}
        self._checker: PermissionChecker | None = None

    def with_permission_checker(self, checker: PermissionChecker) -> Self:
        """Check permissions from now on, and give the registry itself.

        Args:
            checker: Several registries may share one.
        """
        self._checker = checker
        return self

    @property
    def checker(self) -> PermissionChecker | None:
        """The permission checker, if there is one."""
        return self._checker

    def register(self, tool: BaseTool) -> None:
        """Add a tool.

        Args:
            tool: Found by its `name` from now on.

        Raises:
            ToolError: If the name is taken; the registry is unchanged then.
        """
        self.register_all((tool,))

    def register_all(self, tools: Iterable[BaseTool]) -> None:
        """Add several tools, all or none.

        Args:
            tools: Like those that `load_tools` gives.

        Raises:
            ToolError: If a name is taken.
        """
        self._tools = _by_name(tools, self._tools)

    def unregister(self, name: str) -> BaseTool | None:
        """Remove a tool and give it, or None if there is none of that name.

        Args:
            name: The tool's name.
        """
        tool = self._tools.get(name)
        self._tools = {other: kept for other, kept in self._tools.items() if other != name}
        return tool

    def replace_all(self, tools: Iterable[BaseTool]) -> Changes:
        """Put these tools in the place of all others at once; who iterates meanwhile sees the old ones.

        Args:
            tools: All tools from now on.

        Raises:
            ToolError: If two have one name; the registry is unchanged then.
        """
        old, new = self._tools, _by_name(tools, {})
        self._tools = new
        return Changes(
            added=tuple(sorted(new.keys() - old.keys())),
            changed=tuple(sorted(name for name in new.keys() & old.keys() if _look(new[name]) != _look(old[name]))),
            removed=tuple(sorted(old.keys() - new.keys())),
        )

    def get(self, name: str) -> BaseTool | None:
        """Find a tool; None if there is none of that name.

        Args:
            name: The tool's name.
        """
        return self._tools.get(name)

    def list_tools(self) -> tuple[str, ...]:
        """Give the names of all tools, sorted."""
        return tuple(sorted(self._tools))

    def definitions(self) -> tuple[ToolDef, ...]:
        """Give all tools as a model sees them, sorted by name: a stable order keeps a provider's cache warm."""
        return tuple(ToolDef(name=tool.name, description=tool.description, parameters=tool.parameters) for tool in self)

    def __iter__(self) -> Iterator[BaseTool]:
        """Go through the tools, sorted by name."""
        tools = self._tools
        return iter([tools[name] for name in sorted(tools)])

    def __len__(self) -> int:
        """Count the tools."""
        return len(self._tools)

    def check(self, tool: BaseTool) -> None:
        """Let a tool pass the permissions.

        Args:
            tool: Registered or not.

        Raises:
            PermissionDeniedError: If it needs what is not allowed.
        """
        if self._checker is not None:
            self._checker.check(tool.name, tool.required_permissions())

    async def invoke(self, name: str, args: JsonObject) -> ToolInvocation:
        """Call a tool: find it, check its permissions, execute it.

        Args:
            name: The tool's name.
            args: Its arguments.

        Returns:
            The record of the call; the tool's own failure is its `error`.

        Raises:
            ToolNotFoundError: No tool has that name.
            PermissionDeniedError: It needs what is not allowed; it was not called.
        """
        tool = self.get(name)
        if tool is None:
            raise ToolNotFoundError(f"there is no tool {name!r}")
        self.check(tool)
        try:
            output = await tool.execute(args)
        except ToolError as error:
            return ToolInvocation(tool_name=name, input=args, error=error)
        except Exception as error:  # noqa: BLE001 - a stranger's tool may raise anything; it must not end the others
            failure = ExecutionFailedError(f"the tool {name!r} failed: {type(error).__name__}: {error}")
            failure.__cause__ = error
            return ToolInvocation(tool_name=name, input=args, error=failure)
        return ToolInvocation(tool_name=name, input=args, output=output)

    async def invoke_all(self, calls: Iterable[tuple[str, JsonObject]]) -> tuple[ToolInvocation, ...]:
        """Call several tools side by side.

        Args:
            calls: Names and arguments.

        Returns:
            The records in the order of the calls; an unknown name or a refusal is the `error` of its record.
        """
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._invoke_or_refuse(name, args)) for name, args in calls]
        return tuple(task.result() for task in tasks)

    async def _invoke_or_refuse(self, name: str, args: JsonObject) -> ToolInvocation:
        try:
            return await self.invoke(name, args)
        except ToolError as error:
            return ToolInvocation(tool_name=name, input=args, error=error)


def _by_name(tools: Iterable[BaseTool], taken: Mapping[str, BaseTool]) -> dict[str, BaseTool]:
    named = dict(taken)
    for tool in tools:
        if tool.name in named:
            raise ToolError(f"a tool named {tool.name!r} is registered already; unregister it first")
        named[tool.name] = tool
    return named


def _look(tool: BaseTool) -> tuple[ToolFacts, str, JsonObject]:
    return tool.facts, tool.description, tool.parameters
