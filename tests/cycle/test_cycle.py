"""The loop for programs that embed ias: events in order, errors as text for the model, the whole trace kept."""

import asyncio
from contextlib import aclosing
from dataclasses import replace

import pytest

from ias.cycle.loop import LlmCycle
from ias.cycle.step import CycleConfig
from ias.domain.events import (
    AssistantTextDelta,
    ReasoningDelta,
    StreamEvent,
    ToolExecutionCompleted,
    ToolExecutionStarted,
    TurnComplete,
)
from ias.domain.messages import (
    AssistantMessage,
    JsonObject,
    JsonValue,
    MessageRequest,
    TextChunk,
    ToolMessage,
    UserMessage,
)
from ias.domain.tools import Permission
from ias.errors import Code, MaxTurnsError, StreamCutError, ToolError
from ias.metatools import ModelTools
from ias.permissions import PermissionChecker
from ias.registry import BaseTool, ToolRegistry
from tests.cycle.script import ScriptedModel, call, says
from tests.registry.tools import CITY, PythonTool, echo, meeting

CONFIG = CycleConfig(model="m-1", system="be brief", max_turns=3, max_tokens=99, thinking=False, extra={"seed": 1})
BEIJING = '{"city": "北京"}'
SHOWN = '{"city":"\\u5317\\u4eac"}'


async def weather(args: JsonObject) -> JsonValue:
    return {"city": args["city"], "temp": 22}


async def refuses(_: JsonObject) -> JsonValue:
    raise ToolError("no such city", code=Code.NOT_FOUND)


async def breaks(_: JsonObject) -> JsonValue:
    raise ZeroDivisionError("division by zero")


def registry_of(*tools: BaseTool) -> ToolRegistry:
    registry = ToolRegistry()
    registry.register_all(tools)
    return registry


WEATHER = PythonTool("get_weather", weather, parameters=CITY)


async def events_of(cycle: LlmCycle, registry: ToolRegistry) -> list[StreamEvent]:
    async with asyncio.timeout(5):
        return [event async for event in cycle.submit_stream_with_tools("北京天气", registry)]


async def test_events_come_in_the_order_of_the_design() -> None:
    model = ScriptedModel(says("let me look", call("get_weather", BEIJING), reasoning="hm"), says("北京今天 22°C"))
    cycle = LlmCycle(model, CONFIG)
    assert await events_of(cycle, registry_of(WEATHER)) == [
        ReasoningDelta(step=1, text="hm"),
        AssistantTextDelta(step=1, text="let"),
        AssistantTextDelta(step=1, text=" me", offset=3),
        AssistantTextDelta(step=1, text=" look", offset=6),
        ToolExecutionStarted(step=1, run_id="", call_id="call_1", tool_name="get_weather", input=SHOWN),
        TurnComplete(step=1, reason="tool_calls"),
        ToolExecutionCompleted(
            step=1,
            run_id="",
            call_id="call_1",
            tool_name="get_weather",
            output='{"city":"北京","temp":22}',
            code="ok",
            is_error=False,
        ),
        AssistantTextDelta(step=2, text="北京今天"),
        AssistantTextDelta(step=2, text=" 22°C", offset=4),
        TurnComplete(step=2, reason="stop"),
    ]


async def test_the_whole_trace_is_kept_and_sent_with_each_request() -> None:
    model = ScriptedModel(says("", call("get_weather", BEIJING)), says("22°C"))
    cycle = LlmCycle(model, CONFIG)
    answer = await cycle.submit_with_tools("北京天气", registry_of(WEATHER))
    trace = (
        UserMessage(text="北京天气"),
        AssistantMessage(calls=(call("get_weather", BEIJING),)),
        ToolMessage(call_id="call_1", name="get_weather", text='{"city":"北京","temp":22}'),
        AssistantMessage(text="22°C"),
    )
    assert answer.message == trace[-1]
    assert cycle.messages() == trace
    request = MessageRequest(
        model="m-1",
        messages=trace[:3],
        system="be brief",
        tools=registry_of(WEATHER).definitions(),
        max_tokens=99,
        thinking=False,
        extra={"seed": 1},
    )
    assert model.requests == [replace(request, messages=trace[:1]), request]


async def test_errors_of_tools_go_back_to_the_model_as_text() -> None:
    calls = (
        call("refuses", call_id="a"),
        call("breaks", call_id="b"),
        call("nothing", call_id="c"),
        call("secret", call_id="d"),
        call("get_weather", call_id="e", fault="a quote is missing"),
    )
    registry = registry_of(
        WEATHER,
        PythonTool("refuses", refuses),
        PythonTool("breaks", breaks),
        PythonTool("secret", echo, permissions=(Permission.SHELL,)),
    ).with_permission_checker(PermissionChecker())
    cycle = LlmCycle(ScriptedModel(says("", *calls), says("sorry")), CONFIG)
    await cycle.submit_with_tools("go", registry)
    results = [message for message in cycle.messages() if isinstance(message, ToolMessage)]
    assert [(result.call_id, result.is_error) for result in results] == [(letter, True) for letter in "abcde"]
    assert [result.text.split(":")[0] for result in results] == [
        "error (not_found)",
        "error (tool_failed)",
        "error (not_found)",
        "error (permission_denied)",
        "error (invalid_arguments)",
    ]
    assert "ZeroDivisionError: division by zero" in results[1].text


async def test_calls_of_one_answer_run_side_by_side_and_are_answered_in_their_order() -> None:
    calls = tuple(call("meet", f'{{"n": {number}}}', call_id=f"c{number}") for number in range(4))
    cycle = LlmCycle(ScriptedModel(says("", *calls), says("met")), CONFIG)
    async with asyncio.timeout(5):
        await cycle.submit_with_tools("go", registry_of(PythonTool("meet", meeting(4))))
    results = [message for message in cycle.messages() if isinstance(message, ToolMessage)]
    assert [(result.call_id, result.text) for result in results] == [(f"c{number}", f"{number}") for number in range(4)]


async def test_a_model_that_never_answers_is_stopped_after_max_turns() -> None:
    answers = [says("", call("get_weather", f'{{"city": "{number}"}}')) for number in range(3)]
    cycle = LlmCycle(ScriptedModel(*answers), CONFIG)
    with pytest.raises(MaxTurnsError, match="after 3 model steps"):
        await cycle.submit_with_tools("go", registry_of(WEATHER))
    assert [type(message) for message in cycle.messages()] == [UserMessage, *[AssistantMessage, ToolMessage] * 3]


async def test_a_model_that_repeats_one_call_is_refused_then_stopped() -> None:
    seen: list[JsonObject] = []

    async def counts(args: JsonObject) -> JsonValue:
        seen.append(args)
        return "again"

    model = ScriptedModel(says("", call("counts")), repeat=True)
    cycle = LlmCycle(model, CycleConfig(model="m-1", max_turns=10))
    with pytest.raises(MaxTurnsError, match="the same call 5 times"):
        await cycle.submit_with_tools("go", registry_of(PythonTool("counts", counts)))
    results = [message.text.split(":")[0] for message in cycle.messages() if isinstance(message, ToolMessage)]
    assert results == ["again", "again", "error (repeated_call)", "error (repeated_call)", "error (turn_ended)"]
    assert (len(seen), len(model.requests)) == (2, 5)


async def test_a_tool_behind_a_meta_tool_is_called_and_named() -> None:
    arguments = '{"name": "get_weather", "prompt": "{\\"city\\": \\"北京\\"}"}'
    model = ScriptedModel(says("", call("call_capability", arguments)), says("22°C"))
    cycle = LlmCycle(model, CONFIG)
    events = await events_of(cycle, ModelTools(registry_of(WEATHER)).for_model())
    completed = [event for event in events if isinstance(event, ToolExecutionCompleted)]
    assert [(event.tool_name, event.output, event.code) for event in completed] == [
        ("get_weather", '{"city":"北京","temp":22}', "ok")
    ]


async def test_a_failed_model_call_is_told_to_the_caller_and_the_next_prompt_goes_on() -> None:
    cut = StreamCutError("the stream ended early")
    model = ScriptedModel([TextChunk(text="half"), cut], says("whole"))
    cycle = LlmCycle(model, replace(CONFIG, max_attempts=1))
    with pytest.raises(StreamCutError):
        await cycle.submit_with_tools("one", registry_of(WEATHER))
    await cycle.submit_with_tools("two", registry_of(WEATHER))
    assert cycle.messages() == (UserMessage(text="one"), UserMessage(text="two"), AssistantMessage(text="whole"))


async def test_a_stream_that_is_left_early_ends_the_model_call() -> None:
    model = ScriptedModel(says("one two three"))
    cycle = LlmCycle(model, CONFIG)
    async with aclosing(cycle.submit_stream_with_tools("go", registry_of(WEATHER))) as events:
        assert await anext(events) == AssistantTextDelta(step=1, text="one")
    assert model.closed == 1


async def test_a_stream_left_between_results_leaves_no_call_unanswered() -> None:
    calls = (call("get_weather", BEIJING, call_id="a"), call("get_weather", '{"city": "x"}', call_id="b"))
    cycle = LlmCycle(ScriptedModel(says("", *calls)), CONFIG)
    async with aclosing(cycle.submit_stream_with_tools("go", registry_of(WEATHER))) as events:
        async for event in events:
            if isinstance(event, ToolExecutionCompleted):
                break
    results = [message.call_id for message in cycle.messages() if isinstance(message, ToolMessage)]
    assert results == ["a", "b"]
