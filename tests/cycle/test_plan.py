"""The calls of one answer, resolved: which tool, which arguments, or the result at once; and the loop guard."""

import json
from typing import Any

import pytest

from ias.cycle.plan import call_digest, canonical_args, plan_calls
from ias.domain.messages import JsonObject, JsonValue
from ias.domain.tools import Permission
from ias.errors import Code, InvalidArgumentsError
from ias.metatools import ModelTools
from ias.permissions import PermissionChecker, PermissionConfig
from ias.registry import BaseTool, ToolRegistry
from tests.cycle.script import call
from tests.registry.tools import CITY, PythonTool, echo


class Looks(PythonTool):
    """A tool that only looks something up."""

    answers_at_once = True


async def fails(_: JsonObject) -> JsonValue:
    raise InvalidArgumentsError("query must be text")


def registry_of(*tools: BaseTool) -> ToolRegistry:
    registry = ToolRegistry()
    registry.register_all(tools)
    return registry


ECHO = PythonTool("echo", echo, parameters=CITY)


async def test_a_call_is_resolved_to_its_tool_and_one_text_of_its_arguments() -> None:
    plan = await plan_calls((call(arguments='{"city": "北京", "a": 1.5}'),), registry_of(ECHO), earlier=())
    planned = plan.calls[0]
    assert (planned.tool, planned.tool_hash, planned.known) == ("echo", ECHO.facts.sha256, None)
    assert planned.args == '{"a":1.5,"city":"\\u5317\\u4eac"}'
    assert planned.digest == call_digest("echo", {"a": 1.5, "city": "北京"})
    assert not plan.is_loop


async def test_arguments_in_another_order_are_the_same_call() -> None:
    calls = (call(arguments='{"a":1,"b":2}'), call(arguments='{ "b": 2, "a": 1 }'), call(arguments='{"a":1,"b":3}'))
    first, second, third = (await plan_calls(calls, registry_of(ECHO), earlier=())).calls
    assert first.digest == second.digest != third.digest


@pytest.mark.parametrize(
    ("given", "code", "part"),
    [
        (call("nothing"), Code.NOT_FOUND, "the tools are: echo, looks, secret, wrong"),
        (call(fault="unexpected end at character 9"), Code.INVALID_ARGUMENTS, "unexpected end at character 9"),
        (call("wrong"), Code.INVALID_ARGUMENTS, "query must be text"),
        (call("secret"), Code.PERMISSION_DENIED, "shell"),
        (call(arguments='{"a": NaN}'), Code.INVALID_ARGUMENTS, "JSON has not"),
        (call(arguments='{"a": 1e999}'), Code.INVALID_ARGUMENTS, "JSON has not"),
        (call("looks", arguments='{"a": Infinity}'), Code.INVALID_ARGUMENTS, "JSON has not"),
    ],
)
async def test_a_call_that_cannot_be_made_is_answered_at_once(given: Any, code: Code, part: str) -> None:
    tools = (
        ECHO,
        Looks("looks", echo),
        Looks("wrong", fails),
        PythonTool("secret", echo, permissions=(Permission.SHELL,)),
    )
    registry = registry_of(*tools).with_permission_checker(
        PermissionChecker(PermissionConfig(allowed=(), denied=(Permission.SHELL,)))
    )
    known = (await plan_calls((given,), registry, earlier=())).calls[0].known
    assert known is not None
    assert known.code is code
    assert part in known.content


async def test_a_tool_that_answers_at_once_needs_no_run() -> None:
    planned = (await plan_calls((call("looks", '{"q":1}'),), registry_of(Looks("looks", echo)), earlier=())).calls[0]
    assert planned.known is not None
    assert (planned.known.content, planned.known.data) == ('{"q":1}', {"q": 1})


async def test_the_inner_tool_of_a_meta_tool_is_what_is_called_and_counted() -> None:
    tools = ModelTools(registry_of(ECHO))
    prompts = ('{"city": "x"}', ' {"city" : "x"} ')
    calls = tuple(
        call("call_capability", json.dumps({"name": "echo", "prompt": prompt}), call_id=f"c{at}")
        for at, prompt in enumerate(prompts)
    )
    plan = await plan_calls(calls, tools.for_model(), earlier=())
    assert [(planned.tool, planned.args) for planned in plan.calls] == [("echo", '{"city":"x"}')] * 2
    assert len({planned.digest for planned in plan.calls}) == 1


@pytest.mark.parametrize(
    ("earlier", "codes", "is_loop"),
    [
        (0, [None, None, "repeated_call"], False),
        (1, [None, "repeated_call", "repeated_call"], False),
        (2, ["repeated_call", "repeated_call", "repeated_call"], True),
        (3, ["repeated_call", "repeated_call", "repeated_call"], True),
    ],
)
async def test_the_third_identical_call_is_refused_and_the_fifth_ends_the_turn(
    earlier: int, codes: list[str | None], is_loop: bool
) -> None:
    digest = call_digest("echo", {"city": "x"})
    calls = tuple(call(arguments='{"city":"x"}', call_id=f"c{at}") for at in range(3))
    plan = await plan_calls(calls, registry_of(ECHO), earlier=["other", *[digest] * earlier])
    found = [None if planned.known is None else planned.known.code for planned in plan.calls]
    assert found == codes
    assert plan.is_loop is is_loop


async def test_calls_that_fail_count_as_well() -> None:
    wrong = call("nothing", '{"a": 1}')
    digests = [(await plan_calls((wrong,), registry_of(ECHO), earlier=())).calls[0].digest] * 4
    plan = await plan_calls((wrong,), registry_of(ECHO), earlier=digests)
    assert plan.is_loop
    assert plan.calls[0].known is not None
    assert plan.calls[0].known.code is Code.REPEATED_CALL


def test_arguments_have_one_text_and_no_numbers_beyond_json() -> None:
    assert canonical_args({"b": [1, 2.5, None], "a": "\ud800"}) == '{"a":"\\ud800","b":[1,2.5,null]}'
    with pytest.raises(InvalidArgumentsError, match="use a number"):
        canonical_args({"a": [float("inf")]})
