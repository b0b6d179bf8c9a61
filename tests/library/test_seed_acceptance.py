"""The acceptance list of the tool system's design, point by point; the numbers are its own.

Points 14 to 17 are about the client of MCP servers and come with it. Points 1 to 3, 18 and 19 are held by tools that
run over the whole repository: here stands that these are set up to hold them.
"""

import ast
import asyncio
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from ias import (
    BaseTool,
    CycleConfig,
    LlmCycle,
    Permission,
    PermissionChecker,
    PermissionConfig,
    ToolDef,
    ToolError,
    ToolInvocation,
    ToolRegistry,
)
from ias.domain.messages import AssistantMessage, JsonObject, JsonValue, ToolMessage, UserMessage
from ias.errors import ExecutionFailedError, InvalidArgumentsError, MaxTurnsError, PermissionDeniedError
from tests.cycle.script import ScriptedModel, call, says
from tests.library.tools import Weather, kinds
from tests.registry.tools import PythonTool, echo, meeting

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
BEIJING = '{"city": "北京"}'
SCHEMA: JsonObject = {"type": "object"}
WEATHER = '{"city":"北京","temp":22}'


def registry_of(*tools: BaseTool) -> ToolRegistry:
    registry = ToolRegistry()
    registry.register_all(tools)
    return registry


def recipe(target: str) -> str:
    found = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert found is not None
    return found[1]


def public_things(node: ast.Module | ast.ClassDef) -> Iterator[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    """Give the public classes and functions of a module, and the methods of those classes."""
    for child in node.body:
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and not child.name.startswith("_"):
            yield child
            if isinstance(child, ast.ClassDef):
                yield from public_things(child)


def test_01_the_type_checker_is_strict_over_the_whole_package() -> None:
    assert PROJECT["pyright"]["typeCheckingMode"] == "strict"
    assert {"ias", "tests", "tools"} <= set(PROJECT["pyright"]["include"])
    assert "pyright" in recipe("types")
    assert (ROOT / "ias" / "py.typed").exists()


def test_02_the_linter_lets_nothing_pass_and_bans_what_panics() -> None:
    assert {"E", "F", "B", "D", "BLE", "TRY", "ASYNC", "S", "C90"} <= set(PROJECT["ruff"]["lint"]["extend-select"])
    assert "ruff check" in recipe("lint")


def test_03_the_modules_are_where_the_design_puts_them() -> None:
    modules = ("registry.py", "permissions.py", "errors.py", "cycle/loop.py", "hosting/loading.py")
    layers = PROJECT["importlinter"]["contracts"][0]

    assert [name for name in modules if not (ROOT / "ias" / name).is_file()] == []
    assert (layers["type"], layers["exhaustive"]) == ("layers", True)
    assert "lint-imports" in recipe("lint")


async def test_04_a_tool_of_ones_own_has_name_description_parameters_and_execute() -> None:
    class Short(BaseTool):  # as untyped programs write it
        name = "short"  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride] - no property
        description = "d"  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride] - no property
        parameters = SCHEMA  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride] - no property

        async def execute(self, args: JsonObject) -> JsonValue:
            return len(args)

    tool = Weather()

    assert (Short().name, await Short().execute({}), Short().required_permissions()) == ("short", 0, ())
    assert (tool.name, tool.description) == ("get_weather", "Current weather of a city")
    assert tool.parameters["required"] == ["city"]
    assert await tool.execute({"city": "北京"}) == {"city": "北京", "temp": 22}


def test_05_a_registry_registers_finds_lists_and_unregisters() -> None:
    weather, other = Weather(), PythonTool("echo", echo)
    registry = registry_of(other, weather, PythonTool("third", echo))

    assert (registry.get("get_weather"), registry.get("nothing")) == (weather, None)
    assert registry.list_tools() == ("echo", "get_weather", "third")
    with pytest.raises(ToolError, match="is registered already"):
        registry.register(Weather())
    assert (registry.unregister("echo"), registry.unregister("echo")) == (other, None)
    assert registry.list_tools() == ("get_weather", "third")


def test_06_definitions_are_what_a_model_is_told() -> None:
    tool = Weather()

    assert registry_of(tool).definitions() == (
        ToolDef(name="get_weather", description="Current weather of a city", parameters=tool.parameters),
    )


async def test_07_invoke_checks_the_permissions_before_it_executes() -> None:
    executed: list[object] = []

    async def deletes(args: object) -> None:
        executed.append(args)

    registry = registry_of(PythonTool("rm", deletes, permissions=(Permission.DELETE,)), Weather())
    registry.with_permission_checker(PermissionChecker())

    with pytest.raises(PermissionDeniedError, match="'rm' needs the permission delete, which is not allowed"):
        await registry.invoke("rm", {})
    assert executed == []
    assert (await registry.invoke("get_weather", {"city": "北京"})).output == {"city": "北京", "temp": 22}


async def test_08_invoke_all_runs_the_calls_side_by_side_and_keeps_their_order() -> None:
    registry = registry_of(PythonTool("meet", meeting(3)))  # a call ends when all three are under way

    done = await registry.invoke_all([("meet", {"n": 3}), ("meet", {"n": 1}), ("meet", {"n": 2})])

    assert done == tuple(ToolInvocation(tool_name="meet", input={"n": n}, output=n) for n in (3, 1, 2))


@pytest.mark.parametrize(
    ("config", "needs", "is_allowed"),
    [
        (PermissionConfig(), [Permission.READ], True),
        (PermissionConfig(), [Permission.SHELL], False),  # denied by default
        (PermissionConfig(), [Permission.WRITE], False),  # not in the default list of allowed ones
        (PermissionConfig(), [], True),
        (PermissionConfig(allow_unspecified=False), [], False),
        (PermissionConfig(allowed=(Permission.SHELL,), denied=(Permission.SHELL,)), [Permission.SHELL], False),
        (PermissionConfig(allowed=(Permission.READ,)), [Permission.READ, Permission.NETWORK], False),
        (PermissionConfig(allowed=(), denied=()), [Permission.SHELL], True),
        (PermissionConfig(allowed=(), denied=(), allow_unspecified=False), [Permission.READ], False),
        (PermissionConfig(allowed=(Permission.custom("a"),)), [Permission.custom("a")], True),
        (PermissionConfig(allowed=(Permission.custom("a"),)), [Permission.custom("b")], False),
        (PermissionConfig(denied=(Permission.custom("a"),), allowed=()), [Permission.custom("a")], False),
    ],
)
def test_09_the_checker_judges_by_the_configuration(
    config: PermissionConfig, needs: Sequence[Permission], *, is_allowed: bool
) -> None:
    checker = PermissionChecker(config)

    if is_allowed:
        checker.check("tool", needs)
    else:
        with pytest.raises(PermissionDeniedError, match=r"the tool 'tool' .* is not allowed: permissions\."):
            checker.check("tool", needs)


async def test_10_tool_calls_are_executed_and_answered_until_the_model_is_done() -> None:
    model = ScriptedModel(
        says("", call("get_weather", BEIJING)), says("", call("get_weather", '{"city": "Oslo"}')), says("both")
    )
    async with LlmCycle(model) as cycle:
        answer = await cycle.submit_with_tools("北京 and Oslo?", registry_of(Weather()))

    assert answer.message.text == "both"
    assert len(model.requests) == 3
    assert model.requests[1].messages[-1] == ToolMessage(call_id="call_1", name="get_weather", text=WEATHER)


async def test_11_after_max_turns_the_loop_ends_with_an_error() -> None:
    answers = [says("", call("get_weather", f'{{"city": "{number}"}}')) for number in range(3)]
    model = ScriptedModel(*answers)
    async with LlmCycle(model, CycleConfig(max_turns=3)) as cycle:
        with pytest.raises(MaxTurnsError, match="no final answer after 3 model steps"):
            await cycle.submit_with_tools("go", registry_of(Weather()))

    assert len(model.requests) == 3
    assert CycleConfig().max_turns == 10


async def test_12_a_stream_gives_the_events_in_the_order_of_the_design() -> None:
    model = ScriptedModel(says("looking", call("get_weather", BEIJING)), says("22"))
    async with LlmCycle(model) as cycle, asyncio.timeout(5):
        events = [event async for event in cycle.submit_stream_with_tools("查天气", registry_of(Weather()))]

    assert kinds(events) == [
        "AssistantTextDelta",
        "ToolExecutionStarted",
        "TurnComplete",
        "ToolExecutionCompleted",
        "AssistantTextDelta",
        "TurnComplete",
    ]


async def test_13_the_trace_holds_every_message_of_the_loop() -> None:
    asks = AssistantMessage(calls=(call("get_weather", BEIJING),))
    async with LlmCycle(ScriptedModel(says("", *asks.calls), says("22"))) as cycle:
        await cycle.submit_with_tools("北京?", registry_of(Weather()))

    assert cycle.messages() == (
        UserMessage(text="北京?"),
        asks,
        ToolMessage(call_id="call_1", name="get_weather", text=WEATHER),
        AssistantMessage(text="22"),
    )


def test_14_to_17_come_with_the_client_of_mcp_servers_and_the_page_says_so() -> None:
    page = (ROOT / "docs" / "library.md").read_text("utf-8")

    assert "`McpClient` and `McpTransport` are planned and not there yet" in page


def test_18_every_public_thing_of_the_package_has_a_docstring() -> None:
    bare = [
        f"{path.relative_to(ROOT)}: {thing.name}"
        for path in sorted((ROOT / "ias").rglob("*.py"))
        for thing in public_things(ast.parse(path.read_text("utf-8")))
        if not ast.get_docstring(thing)
    ]

    assert bare == []
    assert "D" in PROJECT["ruff"]["lint"]["extend-select"]
    assert PROJECT["ruff"]["lint"]["pydocstyle"]["convention"] == "google"


def test_19_one_command_runs_all_tests_and_warnings_are_errors() -> None:
    assert "pytest" in recipe("test")
    assert PROJECT["pytest"]["filterwarnings"] == ["error"]
    assert PROJECT["pytest"]["strict"] is True


async def test_errors_of_tools_are_structured_and_no_exception_of_a_tool_gets_out() -> None:
    async def breaks(_: object) -> None:
        raise ZeroDivisionError("by zero")

    async def refuses(_: object) -> None:
        raise InvalidArgumentsError("city is missing")

    registry = registry_of(PythonTool("breaks", breaks), PythonTool("refuses", refuses))
    broken, refused = await registry.invoke_all([("breaks", {}), ("refuses", {})])

    assert isinstance(broken.error, ExecutionFailedError)
    assert str(broken.error) == "the tool 'breaks' failed: ZeroDivisionError: by zero"
    assert isinstance(refused.error, InvalidArgumentsError)
