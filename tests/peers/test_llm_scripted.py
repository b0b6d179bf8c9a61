"""A DeepSeek-shaped conversation against a model server that nobody here wrote."""

import json

import httpx
import pytest

from ias.domain.messages import (
    AssistantMessage,
    ChatResponse,
    FinishReason,
    JsonObject,
    Message,
    MessageRequest,
    ReasoningChunk,
    TextChunk,
    ToolCall,
    ToolDef,
    ToolMessage,
    UserMessage,
)
from ias.providers.openai import OpenAIChat
from ias.providers.profiles import DEEPSEEK
from tests.peers.programs import faults_of

pytestmark = pytest.mark.peers

CITY: JsonObject = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = ToolDef(name="get_weather", description="Current weather of a city", parameters=CITY)
DEGREES = {"Paris": "18 degrees", "Tokyo": "24 degrees"}


async def test_reasoning_two_parallel_calls_and_the_final_text_stream(scripted_model: str) -> None:
    bodies: list[str] = []
    messages: list[Message] = [UserMessage(text="Which is warmer, Paris or Tokyo?")]
    streamed: list[tuple[str, str]] = []
    async with httpx.AsyncClient(trust_env=False) as client:
        provider = OpenAIChat(
            DEEPSEEK,
            model="deepseek-flash",
            base_url=scripted_model,
            api_key="sk-any",
            client=client,
            timeout=20,
            idle_timeout=10,
            tap=lambda kind, text: bodies.append(text) if kind == "llm-request" else None,
        )
        first = await one_step(provider, messages, streamed)
        messages.append(first.message)
        for call in first.message.calls:
            city = json.loads(call.arguments)["city"]
            messages.append(ToolMessage(call_id=call.id, name=call.name, text=DEGREES[city]))
        last = await one_step(provider, messages, streamed)

    assert first.stop_reason is FinishReason.TOOL_CALLS
    assert first.message == AssistantMessage(
        reasoning="Two cities, so two questions to the weather tool at once.",
        calls=(
            ToolCall(id="call_00_paris", name="get_weather", arguments='{"city":"Paris"}'),
            ToolCall(id="call_01_tokyo", name="get_weather", arguments='{"city":"Tokyo"}'),
        ),
    )
    text = "Tokyo is warmer: 24 degrees against 18 in Paris."
    assert (last.stop_reason, last.message) == (
        FinishReason.STOP,
        AssistantMessage(text=text, reasoning="18 is less than 24."),
    )
    assert "".join(piece for kind, piece in streamed if kind == "text") == text
    assert len([kind for kind, _ in streamed if kind == "reasoning"]) > 5
    assert len([kind for kind, _ in streamed if kind == "text"]) > 5
    assert faults_of(*bodies) == []
    sent = json.loads(bodies[1])["messages"]
    assert sent[2]["reasoning_content"] == first.message.reasoning
    assert [message["tool_call_id"] for message in sent[3:]] == ["call_00_paris", "call_01_tokyo"]


async def one_step(provider: OpenAIChat, messages: list[Message], streamed: list[tuple[str, str]]) -> ChatResponse:
    request = MessageRequest(model="", messages=tuple(messages), tools=(WEATHER,), system="Be brief.", max_tokens=500)
    response: ChatResponse | None = None
    async for item in provider.stream(request):
        match item:
            case TextChunk():
                streamed.append(("text", item.text))
            case ReasoningChunk():
                streamed.append(("reasoning", item.text))
            case ChatResponse():
                response = item
    assert response is not None
    return response


def test_the_official_types_do_find_faults() -> None:
    wrong = {"model": "m", "stream": True, "messages": [{"role": "tool", "content": None}], "temprature": 1}
    right = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "hi"}], "temprature": 1}
    faults = faults_of(json.dumps(wrong), json.dumps(right))
    assert len(faults) == 2
    assert "tool_call_id" in faults[0]
    assert faults[1] == "unknown field .temprature"
