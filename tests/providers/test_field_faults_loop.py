"""Field faults that the tool loop meets, by their row in docs/providers.md: empty answers, odd names, repetitions."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from ias.cycle.loop import LlmCycle
from ias.cycle.plan import STOP_AT
from ias.cycle.step import CycleConfig
from ias.domain.messages import AssistantMessage, JsonObject, JsonValue, ToolMessage
from ias.errors import EmptyResponseError, MaxTurnsError
from ias.providers.openai import OpenAIChat
from ias.providers.profiles import DEEPSEEK
from ias.registry import ToolRegistry
from tests.providers.loopback import KEY, ModelServer, Script, delta, frames, in_turn, model_server, streaming
from tests.registry.tools import CITY, PythonTool, echo

NOTHING = frames(delta(reasoning_content=""), delta("stop", content=""))
LEAK = frames(delta(content="<|DSML|tool_calls>"), delta("stop"))
DONE = frames(delta(content="It rains."), delta("stop"))


def calling(*calls: tuple[str, str]) -> bytes:
    """Give an answer that calls tools by names with arguments."""
    made = [
        {"index": at, "id": f"call_{at}", "function": {"name": name, "arguments": arguments}}
        for at, (name, arguments) in enumerate(calls)
    ]
    return frames(delta(tool_calls=made), delta("tool_calls"))


async def at_once(_: float) -> None:
    """Wait for nothing."""


@asynccontextmanager
async def cycle_with(script: Script, *, max_turns: int = 10) -> AsyncGenerator[tuple[LlmCycle, ModelServer]]:
    async with model_server(script) as server, httpx.AsyncClient(trust_env=False) as client:
        provider = OpenAIChat(DEEPSEEK, model="deepseek-flash", base_url=server.url, api_key=KEY, client=client)
        yield LlmCycle(provider, CycleConfig(max_turns=max_turns), pause=at_once), server


def tools() -> ToolRegistry:
    registry = ToolRegistry()
    registry.register(PythonTool("get_weather", echo, parameters=CITY))
    registry.register(PythonTool("Note", echo))
    return registry


def thinking(server: ModelServer) -> list[JsonValue]:
    return [exchange.body["thinking"] for exchange in server.exchanges]


ON: JsonObject = {"type": "enabled"}
OFF: JsonObject = {"type": "disabled"}


@pytest.mark.parametrize("empty", [NOTHING, LEAK, calling()])
async def test_row_26_an_empty_answer_is_asked_for_again_and_the_third_time_without_thinking(empty: bytes) -> None:
    bodies = (calling(("get_weather", '{"city": "Oslo"}')), empty, empty, DONE)
    async with cycle_with(in_turn(*bodies)) as (cycle, server):
        answer = await cycle.submit_with_tools("Is it raining?", tools())
    assert answer.message.text == "It rains."
    assert thinking(server) == [ON, ON, ON, OFF]


async def test_row_26_empty_answers_without_end_fail_loudly() -> None:
    async with cycle_with(streaming(NOTHING)) as (cycle, server):
        with pytest.raises(EmptyResponseError, match="neither text nor a tool call"):
            await cycle.submit_with_tools("Is it raining?", tools())
    assert thinking(server) == [ON, ON, OFF, OFF, OFF]


async def test_row_27_an_answer_of_thoughts_alone_ends_the_turn_and_keeps_them() -> None:
    body = frames(delta(reasoning_content="It rains, I think."), delta("stop", content=""))
    async with cycle_with(in_turn(body)) as (cycle, server):
        answer = await cycle.submit_with_tools("Is it raining?", tools())
    assert answer.message == AssistantMessage(text="", reasoning="It rains, I think.")
    assert len(server.exchanges) == 1


@pytest.mark.parametrize("name", ["get_weather", "Get_Weather", "GET_WEATHER", " get_weather", "functions.get_weather"])
async def test_row_30_a_name_that_can_only_mean_one_tool_is_that_tool(name: str) -> None:
    async with cycle_with(in_turn(calling((name, '{"city": "Oslo"}')), DONE)) as (cycle, _):
        await cycle.submit_with_tools("Is it raining?", tools())
        result = cycle.messages()[2]
    assert isinstance(result, ToolMessage)
    assert (result.is_error, json.loads(result.text)) == (False, {"city": "Oslo"})


@pytest.mark.parametrize("name", ["Shell", "weather", "get_weather2", "<|channel|>", "😀", "note\nnote"])
async def test_row_30_an_unknown_name_is_told_with_the_tools_and_the_other_calls_run(name: str) -> None:
    answer = calling((name, "{}"), ("get_weather", '{"city": "Oslo"}'))
    async with cycle_with(in_turn(answer, DONE)) as (cycle, server):
        await cycle.submit_with_tools("Is it raining?", tools())
    sent: Any = server.exchanges[1].body["messages"]
    unknown, known = sent[2:]
    assert (unknown["tool_call_id"], known["tool_call_id"]) == ("call_0", "call_1")
    assert "the tools are: Note, get_weather" in unknown["content"]
    assert json.loads(known["content"]) == {"city": "Oslo"}


async def test_row_30_a_name_that_could_mean_two_tools_means_none() -> None:
    registry = tools()
    registry.register(PythonTool("note", echo))
    async with cycle_with(in_turn(calling(("NOTE", "{}"), ("note", '{"a": 1}')), DONE)) as (cycle, _):
        await cycle.submit_with_tools("Note it", registry)
        results = [message for message in cycle.messages() if isinstance(message, ToolMessage)]
    assert [result.is_error for result in results] == [True, False]


async def test_row_31_the_same_call_again_and_again_ends_the_turn() -> None:
    async with cycle_with(streaming(calling(("Note", '{"a": 1}')))) as (cycle, server):
        with pytest.raises(MaxTurnsError, match="the same call"):
            await cycle.submit_with_tools("Note it", tools())
        results = [message for message in cycle.messages() if isinstance(message, ToolMessage)]
    assert (len(server.exchanges), [result.is_error for result in results]) == (STOP_AT, [False] * 2 + [True] * 3)


async def test_row_31_different_calls_without_end_meet_the_limit_of_steps() -> None:
    bodies = (calling(("Note", f'{{"a": {number}}}')) for number in range(20))
    async with cycle_with(in_turn(*bodies), max_turns=6) as (cycle, server):
        with pytest.raises(MaxTurnsError, match="6 model steps"):
            await cycle.submit_with_tools("Note it", tools())
    assert len(server.exchanges) == 6


async def test_row_31_calls_that_were_broken_in_different_places_are_not_the_same_call() -> None:
    broken = [calling(("Note", '{"a": ' + "1" * length + "x}")) for length in range(1, 6)]
    async with cycle_with(in_turn(*broken, DONE)) as (cycle, _):
        answer = await cycle.submit_with_tools("Note it", tools())
        results = [message.text for message in cycle.messages() if isinstance(message, ToolMessage)]
    assert answer.message.text == "It rains."
    assert ["valid JSON" in text for text in results] == [True] * 5
