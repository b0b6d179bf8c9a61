"""The two meta-tools: what a model reads, reaches, and is told."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ias.domain.messages import JsonObject, JsonValue
from ias.domain.tools import Example, Permission
from ias.errors import InvalidArgumentsError, PermissionDeniedError, ToolError, ToolNotFoundError
from ias.metatools import ModelTools, read_prompt
from ias.permissions import PermissionChecker, PermissionConfig
from ias.registry import BaseTool, ToolRegistry
from tests.registry.tools import CITY, PythonTool, echo

WEATHER = PythonTool(
    "weather_now",
    echo,
    description="天气 weather",
    parameters=CITY,
    keywords=("下雨",),
    examples=(Example(ask="北京天气", params={"city": "北京"}),),
)
SHELL = PythonTool("shell_run", echo, description="weather by shell", permissions=(Permission.SHELL,))
USAGE = (
    'Its parameters: {"type":"object","properties":{"city":{"type":"string","description":"a city"},'
    '"days":{"type":"integer","minimum":1}},"required":["city"]} Example prompt: {"city": "北京"}'
)


def registry_of(*tools: BaseTool) -> ToolRegistry:
    registry = ToolRegistry().with_permission_checker(PermissionChecker(PermissionConfig(allow_unspecified=True)))
    registry.register_all(tools)
    return registry


def meta(*tools: BaseTool) -> ToolRegistry:
    return ModelTools(registry_of(*tools)).for_model()


def tool_of(registry: ToolRegistry, name: str) -> BaseTool:
    tool = registry.get(name)
    assert tool is not None
    return tool


def target(args: JsonObject, *tools: BaseTool) -> tuple[BaseTool, JsonObject]:
    return tool_of(meta(*tools), "call_capability").target(args)


def refusal(args: JsonObject, *tools: BaseTool) -> tuple[type[ToolError], str]:
    with pytest.raises(ToolError) as caught:
        target(args, *tools)
    return type(caught.value), str(caught.value)


def test_a_model_is_given_two_tools_or_all() -> None:
    registry = registry_of(WEATHER)

    assert ModelTools(registry).for_model().list_tools() == ("call_capability", "query_capabilities")
    assert ModelTools(registry, expose="all").for_model() is registry


def test_only_the_search_answers_at_once() -> None:
    assert [(tool.name, tool.answers_at_once) for tool in meta(WEATHER)] == [
        ("call_capability", False),
        ("query_capabilities", True),
    ]


def test_the_search_tells_the_names_that_may_be_used() -> None:
    description = tool_of(meta(WEATHER, SHELL), "query_capabilities").description

    assert description.endswith("The tools that exist: weather_now.")


async def test_the_search_finds_by_keyword_and_hides_what_is_not_allowed() -> None:
    answer = await tool_of(meta(WEATHER, SHELL), "query_capabilities").execute({"query": "weather"})

    assert isinstance(answer, dict)
    assert answer["tools"] == [
        {"name": "weather_now", "desc": "天气 weather", "call": "weather_now(city: string, days?: integer)"}
    ]


@pytest.mark.parametrize("args", [{}, {"query": ""}, {"query": None}])
async def test_a_search_without_words_lists_all(args: JsonObject) -> None:
    answer = await tool_of(meta(WEATHER, SHELL), "query_capabilities").execute(args)

    assert isinstance(answer, dict)
    assert answer["index"] == [{"name": "weather_now", "desc": "天气 weather"}]


async def test_a_search_with_something_else_than_text_is_refused() -> None:
    with pytest.raises(InvalidArgumentsError, match=r"query must be text, not a list"):
        await tool_of(meta(WEATHER), "query_capabilities").execute({"query": ["weather"]})


async def test_the_search_follows_a_reload() -> None:
    registry = registry_of(WEATHER)
    search = tool_of(ModelTools(registry).for_model(), "query_capabilities")
    await search.execute({})

    registry.replace_all((PythonTool("datetime", echo, description="time"),))

    assert search.description.endswith(": datetime.")


@pytest.mark.parametrize(
    "prompt",
    [
        '{"city": "北京", "days": "2"}',
        {"city": "北京", "days": 2},
        '  ```json\n{"city": "北京", "days": 2}\n``` ',
        json.dumps('{"city": "北京", "days": 2}'),
    ],
)
def test_a_call_is_about_the_inner_tool_with_checked_arguments(prompt: JsonValue) -> None:
    assert target({"name": "weather_now", "prompt": prompt}, WEATHER) == (WEATHER, {"city": "北京", "days": 2})


@pytest.mark.parametrize("prompt", [None, "", "{}", {}])
def test_a_tool_without_arguments_needs_no_prompt(prompt: JsonValue) -> None:
    plain = PythonTool("datetime", echo)

    assert target({"name": "datetime", "prompt": prompt}, plain) == (plain, {})
    assert target({"name": "datetime"}, plain) == (plain, {})


def test_a_name_in_other_case_is_understood_if_only_one_fits() -> None:
    upper = PythonTool("Weather_Now", echo, parameters=CITY)

    assert target({"name": " WEATHER_now", "prompt": {"city": "x"}}, WEATHER)[0] is WEATHER
    assert refusal({"name": "WEATHER_NOW"}, WEATHER, upper)[0] is ToolNotFoundError
    assert target({"name": "Weather_Now", "prompt": {"city": "x"}}, WEATHER, upper)[0] is upper


def test_an_unknown_name_is_answered_with_near_ones() -> None:
    assert refusal({"name": "wether"}, WEATHER, SHELL) == (
        ToolNotFoundError,
        "there is no tool 'wether'; did you mean weather_now?",
    )
    assert refusal({"name": "zzz"}, WEATHER) == (
        ToolNotFoundError,
        "there is no tool 'zzz'; call query_capabilities to see all tools",
    )


@pytest.mark.parametrize("name", [None, "", "  ", 5, ["weather_now"]])
def test_a_call_without_a_name_is_refused(name: JsonValue) -> None:
    assert refusal({"name": name}, WEATHER) == (
        InvalidArgumentsError,
        "name must be the name of a tool; call query_capabilities to find one",
    )


def test_a_tool_that_may_not_be_used_cannot_be_reached_by_its_name() -> None:
    assert refusal({"name": "shell_run", "prompt": "{}"}, WEATHER, SHELL) == (
        PermissionDeniedError,
        "the tool 'shell_run' needs the permission shell, which is not allowed: permissions.denied holds shell",
    )


@pytest.mark.parametrize("name", ["call_capability", "query_capabilities"])
def test_the_meta_tools_do_not_call_themselves(name: str) -> None:
    assert refusal({"name": name, "prompt": {"name": name}}, WEATHER)[0] is ToolNotFoundError


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"prompt": '{"city": 1.5}'}, "the arguments do not fit: city must be text, not 1.5"),
        ({"prompt": "北京"}, "prompt must be a JSON object, not 北京 (Expecting value at character 1)"),
        ({"prompt": '{"city": NaN}'}, 'prompt must be a JSON object, not {"city": NaN}'),
        ({"prompt": "[1]"}, "prompt must be a JSON object, not [1]"),
        ({"prompt": 5}, "prompt must be a JSON object, not 5"),
        ({"prompt": "[" * 100_000}, "prompt must be a JSON object, not " + "[" * 80 + "…"),
        ({"city": "x"}, "put city into prompt"),
    ],
)  # fmt: skip
def test_bad_arguments_are_answered_with_what_was_wrong_and_the_parameters(args: JsonObject, words: str) -> None:
    assert refusal({"name": "weather_now"} | args, WEATHER) == (InvalidArgumentsError, f"weather_now: {words}. {USAGE}")


async def test_a_call_outside_of_the_daemon_runs_the_inner_tool() -> None:
    call = tool_of(meta(WEATHER), "call_capability")

    assert await call.execute({"name": "weather_now", "prompt": '{"city": "x"}'}) == {"city": "x"}


async def test_a_failure_of_the_inner_tool_is_the_calls_own() -> None:
    async def fail(_: JsonObject) -> JsonValue:
        raise ToolError("no such city")

    invocation = await meta(PythonTool("bad", fail)).invoke("call_capability", {"name": "bad"})

    assert str(invocation.error) == "no such city"


async def test_the_meta_tools_work_where_tools_without_permissions_are_not_allowed() -> None:
    registry = ToolRegistry().with_permission_checker(PermissionChecker(PermissionConfig(allow_unspecified=False)))
    reader = PythonTool("reader", echo, permissions=(Permission.READ,))
    registry.register_all((reader, WEATHER))

    given_tools = ModelTools(registry).for_model()

    assert tool_of(given_tools, "query_capabilities").description.endswith(": reader.")
    assert (await given_tools.invoke("call_capability", {"name": "reader"})).output == {}
    assert isinstance(
        (await given_tools.invoke("call_capability", {"name": "weather_now"})).error, PermissionDeniedError
    )


@given(
    prompt=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
        max_leaves=4,
    )
)
def test_no_prompt_raises_anything_but_the_models_error(prompt: JsonValue) -> None:
    try:
        arguments = read_prompt(prompt)
    except InvalidArgumentsError:
        return
    assert isinstance(arguments, dict)


@given(args=st.dictionaries(st.text(max_size=4), st.integers() | st.text(max_size=6), max_size=3))
def test_a_prompt_comes_back_as_it_was_meant(args: JsonObject) -> None:
    assert read_prompt(json.dumps(args)) == read_prompt(json.dumps(json.dumps(args))) == args
