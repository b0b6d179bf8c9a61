"""A conversation on Ollama's own wire against a server that nobody here wrote, checked by its client's own types."""

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
    StreamItem,
    TextChunk,
    ToolDef,
    ToolMessage,
    UserMessage,
)
from ias.providers.ollama import OllamaChat
from ias.providers.profiles import OLLAMA
from tests.peers.programs import faults_of

pytestmark = pytest.mark.peers

CITY: JsonObject = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = ToolDef(name="get_weather", description="Current weather of a city", parameters=CITY)
DEGREES = {"Paris": "18 degrees", "Tokyo": "24 degrees"}


async def test_two_calls_and_the_final_text_stream(scripted_llama: str) -> None:
    bodies: list[str] = []
    messages: list[Message] = [UserMessage(text="Which is warmer, Paris or Tokyo?")]
    async with httpx.AsyncClient(trust_env=False) as client:
        provider = OllamaChat(
            OLLAMA,
            model="qwen3",
            base_url=scripted_llama,
            api_key=None,
            client=client,
            timeout=20,
            idle_timeout=10,
            tap=lambda kind, text: bodies.append(text) if kind == "llm-request" else None,
        )
        first = (await items_of(provider, messages))[-1]
        assert isinstance(first, ChatResponse)
        messages.append(first.message)
        for call in first.message.calls:
            degrees = DEGREES[json.loads(call.arguments)["city"]]
            messages.append(ToolMessage(call_id=call.id, name=call.name, text=degrees))
        items = await items_of(provider, messages)

    assert first.stop_reason is FinishReason.TOOL_CALLS
    assert [(call.name, json.loads(call.arguments)) for call in first.message.calls] == [
        ("get_weather", {"city": "Paris"}),
        ("get_weather", {"city": "Tokyo"}),
    ]
    last = items[-1]
    assert isinstance(last, ChatResponse)
    text = "Tokyo is warmer: 24 degrees against 18 in Paris."
    assert (last.stop_reason, last.message) == (FinishReason.STOP, AssistantMessage(text=text))
    assert len([item for item in items if isinstance(item, TextChunk)]) > 5
    assert faults_of(*bodies, client="ollama") == []
    assert json.loads(bodies[1])["options"] == {"num_predict": 500, "num_ctx": 8192}


async def items_of(provider: OllamaChat, messages: list[Message]) -> list[StreamItem]:
    request = MessageRequest(
        model="",
        messages=tuple(messages),
        tools=(WEATHER,),
        system="Be brief.",
        max_tokens=500,
        extra={"options": {"num_ctx": 8192}},
    )
    return [item async for item in provider.stream(request)]


def test_the_clients_types_do_find_faults() -> None:
    call: JsonObject = {"function": {"name": "f", "arguments": "{}"}}
    wrong: JsonObject = {"model": "m", "messages": [{"role": "assistant", "tool_calls": [call]}]}
    right: JsonObject = {"model": "m", "messages": [{"role": "user", "content": "hi", "nam": "x"}], "thnk": True}
    faults = faults_of(json.dumps(wrong), json.dumps(right), client="ollama")
    assert "arguments" in faults[0]
    assert sorted(faults[1:]) == ["unknown field .messages[0].nam", "unknown field .thnk"]
