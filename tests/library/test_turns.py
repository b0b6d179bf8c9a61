"""One turn at a time: what happens to turns that are cancelled, left open, or begun beside another."""

import asyncio
from contextlib import aclosing

import pytest

from ias import AssistantTextDelta, LlmCycle, LlmError, ToolExecutionCompleted, ToolRegistry
from ias.cycle.execution import CANCELLED
from ias.cycle.loop import tool_message
from ias.domain.messages import (
    AssistantMessage,
    JsonObject,
    JsonValue,
    Message,
    ToolMessage,
    UserMessage,
)
from tests.cycle.script import ScriptedModel, call, says
from tests.library.tools import Weather
from tests.registry.tools import PythonTool

STOPPED = tool_message(call(), CANCELLED).text


def registry_of(*tools: PythonTool | Weather) -> ToolRegistry:
    registry = ToolRegistry()
    registry.register_all(tools)
    return registry


def answered(cycle: LlmCycle) -> list[tuple[str, str]]:
    return [(message.call_id, message.text) for message in cycle.messages() if isinstance(message, ToolMessage)]


class Slow:
    """Work that never ends by itself."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.was_stopped = asyncio.Event()

    async def __call__(self, _: JsonObject) -> JsonValue:
        self.began.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.was_stopped.set()


@pytest.mark.parametrize("calls", [1, 2])
async def test_a_cancelled_turn_stops_its_tools_and_leaves_no_call_unanswered(calls: int) -> None:
    slow = Slow()
    model = ScriptedModel(says("", *(call("slow", call_id=f"c{number}") for number in range(calls))), says("and on"))
    cycle = LlmCycle(model)
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        task = group.create_task(cycle.submit_with_tools("go", registry_of(PythonTool("slow", slow))))
        await slow.began.wait()
        task.cancel()

    assert slow.was_stopped.is_set()
    assert answered(cycle) == [(f"c{number}", STOPPED) for number in range(calls)]
    assert (await cycle.submit_with_tools("go on", registry_of())).message.text == "and on"


async def test_what_ended_before_the_cancellation_keeps_its_result() -> None:
    slow = Slow()
    model = ScriptedModel(says("", call("get_weather", '{"city": "x"}', call_id="a"), call("slow", call_id="b")))
    cycle = LlmCycle(model)
    async with (
        asyncio.timeout(5),
        aclosing(cycle.submit_stream_with_tools("go", registry_of(Weather(), PythonTool("slow", slow)))) as events,
    ):
        async for event in events:
            if isinstance(event, ToolExecutionCompleted):
                break

    assert slow.was_stopped.is_set()
    assert answered(cycle) == [("a", '{"city":"x","temp":22}'), ("b", STOPPED)]


async def test_the_next_prompt_ends_a_stream_that_was_left_open() -> None:
    calls = (call("get_weather", '{"city": "x"}', call_id="a"),)
    cycle = LlmCycle(ScriptedModel(says("look", *calls), says("done")))
    stream = cycle.submit_stream_with_tools("one", registry_of(Weather()))
    while not isinstance(await anext(stream), AssistantTextDelta):
        pass
    await anext(stream)  # the call is announced, nothing more

    await cycle.submit_with_tools("two", registry_of(Weather()))

    trace: tuple[Message, ...] = (
        UserMessage(text="one"),
        AssistantMessage(text="look", calls=calls),
        ToolMessage(call_id="a", name="get_weather", text=STOPPED, is_error=True),
        UserMessage(text="two"),
        AssistantMessage(text="done"),
    )
    assert cycle.messages() == trace
    assert [event async for event in stream] == []


async def test_a_prompt_beside_another_is_refused() -> None:
    slow = Slow()
    cycle = LlmCycle(ScriptedModel(says("", call("slow"))))
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        task = group.create_task(cycle.submit_with_tools("one", registry_of(PythonTool("slow", slow))))
        await slow.began.wait()
        with pytest.raises(LlmError, match="a prompt is under way already"):
            await cycle.submit_with_tools("two", registry_of())
        task.cancel()

    assert [message.text for message in cycle.messages() if isinstance(message, UserMessage)] == ["one"]
