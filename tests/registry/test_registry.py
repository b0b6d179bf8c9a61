"""The registry: finding, checking and calling tools, and what a reload changes."""

import pytest

from ias.domain.approvals import StepKind
from ias.domain.messages import JsonObject, JsonValue, ToolDef
from ias.domain.tools import (
    Answer,
    Asks,
    CallAsk,
    CallContext,
    Permission,
    Result,
    StepInput,
    ToolInvocation,
    ToolType,
)
from ias.errors import Code, ExecutionFailedError, PermissionDeniedError, ToolError, ToolNotFoundError
from ias.permissions import PermissionChecker, PermissionConfig
from ias.registry import BaseTool, Changes, ToolRegistry
from tests.registry.tools import CITY, PythonTool, echo, meeting

CONTEXT = CallContext(user_id="u", conversation_id="c", call_id="r")


def registry_of(*tools: BaseTool) -> ToolRegistry:
    registry = ToolRegistry()
    registry.register_all(tools)
    return registry


async def fail(_: JsonObject) -> JsonValue:
    raise ToolError("no such city")


async def crash(_: JsonObject) -> JsonValue:
    raise KeyError("city")


def test_three_registered_tools_are_found_by_name_and_listed_in_order() -> None:
    tools = {name: PythonTool(name, echo) for name in ("b", "c", "a")}
    registry = registry_of(*tools.values())

    assert (registry.get("c"), registry.get("x")) == (tools["c"], None)
    assert registry.list_tools() == ("a", "b", "c")
    assert (list(registry), len(registry)) == ([tools["a"], tools["b"], tools["c"]], 3)


def test_definitions_are_what_the_model_sees_sorted_by_name() -> None:
    registry = registry_of(PythonTool("b", echo), PythonTool("a", echo, description="d", parameters=CITY))

    assert registry.definitions() == (
        ToolDef(name="a", description="d", parameters=CITY),
        ToolDef(name="b", description="does something", parameters={"type": "object", "properties": {}}),
    )


def test_a_name_is_registered_once_and_a_refused_batch_changes_nothing() -> None:
    registry = registry_of(PythonTool("a", echo))

    with pytest.raises(ToolError, match=r"a tool named 'a' is registered already; unregister it first"):
        registry.register_all((PythonTool("b", echo), PythonTool("a", echo)))

    assert registry.list_tools() == ("a",)


def test_an_unregistered_tool_is_given_back_and_gone() -> None:
    tool = PythonTool("a", echo)
    registry = registry_of(tool)

    assert (registry.unregister("a"), registry.unregister("a"), registry.list_tools()) == (tool, None, ())


def test_a_reload_says_what_was_added_changed_and_removed() -> None:
    registry = registry_of(PythonTool("kept", echo), PythonTool("changed", echo), PythonTool("gone", echo))

    changes = registry.replace_all(
        (PythonTool("kept", echo), PythonTool("changed", echo, parameters=CITY), PythonTool("new", echo))
    )

    assert changes == Changes(added=("new",), changed=("changed",), removed=("gone",))
    assert registry.list_tools() == ("changed", "kept", "new")


def test_who_goes_through_the_tools_during_a_reload_sees_the_old_ones() -> None:
    registry = registry_of(PythonTool("a", echo), PythonTool("b", echo))
    going = iter(registry)

    first = next(going).name
    registry.replace_all(())

    assert [first, *(tool.name for tool in going)] == ["a", "b"]


async def test_a_call_gives_its_record() -> None:
    registry = registry_of(PythonTool("echo", echo))

    assert await registry.invoke("echo", {"x": 1}) == ToolInvocation(tool_name="echo", input={"x": 1}, output={"x": 1})


async def test_a_call_of_an_unknown_tool_is_refused() -> None:
    with pytest.raises(ToolNotFoundError, match=r"there is no tool 'nothing'"):
        await ToolRegistry().invoke("nothing", {})


async def test_a_call_without_permission_does_not_reach_the_tool() -> None:
    called: list[JsonObject] = []

    async def work(args: JsonObject) -> JsonValue:
        called.append(args)
        return None

    registry = registry_of(PythonTool("sh", work, permissions=(Permission.SHELL,))).with_permission_checker(
        PermissionChecker(PermissionConfig())
    )

    with pytest.raises(PermissionDeniedError, match=r"the tool 'sh' needs the permission shell"):
        await registry.invoke("sh", {})
    assert called == []


async def test_a_tools_own_failure_is_in_the_record() -> None:
    invocation = await registry_of(PythonTool("bad", fail)).invoke("bad", {})

    assert (invocation.output, str(invocation.error), invocation.error and invocation.error.code) == (
        None,
        "no such city",
        Code.TOOL_FAILED,
    )


async def test_whatever_a_tool_raises_becomes_a_tool_error() -> None:
    invocation = await registry_of(PythonTool("bad", crash)).invoke("bad", {})

    assert isinstance(invocation.error, ExecutionFailedError)
    assert str(invocation.error) == "the tool 'bad' failed: KeyError: 'city'"
    assert isinstance(invocation.error.__cause__, KeyError)


async def test_calls_run_side_by_side_and_their_records_keep_the_order() -> None:
    registry = registry_of(PythonTool("meet", meeting(3)))

    records = await registry.invoke_all([("meet", {"n": number}) for number in range(3)])

    assert [(record.output, record.error) for record in records] == [(0, None), (1, None), (2, None)]


async def test_a_refusal_among_several_calls_stays_its_own() -> None:
    registry = registry_of(PythonTool("echo", echo), PythonTool("bad", crash))

    records = await registry.invoke_all([("nothing", {}), ("echo", {"x": 1}), ("bad", {})])

    assert [(record.tool_name, record.output, record.error and record.error.code) for record in records] == [
        ("nothing", None, Code.NOT_FOUND),
        ("echo", {"x": 1}, None),
        ("bad", None, Code.TOOL_FAILED),
    ]


async def test_no_calls_give_no_records() -> None:
    assert await ToolRegistry().invoke_all([]) == ()


def test_registries_may_share_a_checker() -> None:
    checker = PermissionChecker(PermissionConfig())
    first, second = registry_of().with_permission_checker(checker), registry_of().with_permission_checker(checker)
    shell = PythonTool("sh", echo, permissions=(Permission.SHELL,))

    for registry in (first, second):
        with pytest.raises(PermissionDeniedError):
            registry.check(shell)


def test_a_tool_may_be_written_with_plain_class_attributes() -> None:
    attributes = {
        "name": "get_weather",
        "description": "Weather",
        "parameters": CITY,
        "execute": lambda _, args: echo(args),
    }
    tool: BaseTool = type("Weather", (BaseTool,), attributes)()

    assert (tool.facts.name, tool.facts.type, tool.facts.permissions) == ("get_weather", ToolType.PYTHON, ())
    assert (tool.target({"city": "x"}), tool.keywords, tool.examples) == ((tool, {"city": "x"}), (), ())


def test_a_tools_hash_follows_its_definition() -> None:
    one, same, other = PythonTool("a", echo), PythonTool("a", echo), PythonTool("a", echo, description="else")

    assert one.facts == same.facts
    assert one.facts.sha256 != other.facts.sha256


async def test_the_default_run_asks_once_for_the_whole_call_and_ends_with_its_value() -> None:
    run = PythonTool("a", echo).begin({"x": 1}, CONTEXT)

    assert await run.step(StepInput()) == Asks(asks=(CallAsk(kind=StepKind.CALL, args={"x": 1}),))
    assert await run.step(answered({"value": "text"})) == Result(content="text")
    assert await run.step(answered({"value": {"城": 1}})) == Result(content='{"城":1}', data={"城": 1})


@pytest.mark.parametrize(
    ("error", "result"),
    [
        ({"code": "timeout", "message": "late"}, Result(content="late", code=Code.TIMEOUT)),
        ({"code": "of its own", "message": "odd"}, Result(content="odd", code=Code.TOOL_FAILED)),
        ("plain", Result(content="plain", code=Code.TOOL_FAILED)),
    ],
)
async def test_the_default_run_ends_with_the_error_that_it_is_given(error: JsonValue, result: Result) -> None:
    assert await PythonTool("a", echo).begin({}, CONTEXT).step(answered({"error": error})) == result


def answered(body: JsonObject) -> StepInput:
    return StepInput(step=1, answers=(Answer(kind=StepKind.CALL, body=body),))
