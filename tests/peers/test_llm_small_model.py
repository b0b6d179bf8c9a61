"""A real model on a real engine: what it streams is not scripted."""

import json

import httpx
import pytest

from ias.domain.messages import (
    ChatResponse,
    FinishReason,
    JsonObject,
    JsonValue,
    Message,
    MessageRequest,
    ReasoningChunk,
    StreamItem,
    TextChunk,
    ToolDef,
    ToolMessage,
    UserMessage,
)
from ias.errors import AuthenticationError, ContextOverflowError
from ias.providers.openai import OpenAIChat
from ias.providers.profiles import OPENAI_COMPATIBLE
from tests.peers.llm.serve_model import KEY
from tests.peers.programs import faults_of

pytestmark = pytest.mark.peers

CITY: JsonObject = {
    "type": "object",
    "properties": {"city": {"type": "string", "enum": ["Paris", "Tokyo"]}},
    "required": ["city"],
}
TOOLS = (ToolDef(name="weather.now", description="Current weather of a city", parameters=CITY),)
PUSHED: dict[str, JsonValue] = {"tool_choice": "required", "logit_bias": [[44, 3.0], [2, 8.0]], "temperature": 0}
"""Makes so small a model write a call."""


async def ask(
    url: str, *messages: Message, key: str = KEY, bodies: list[str] | None = None, **fields: object
) -> list[StreamItem]:
    kept: list[str] = [] if bodies is None else bodies
    request = MessageRequest(model="", messages=messages, **fields)  # type: ignore[arg-type]  - any field
    async with httpx.AsyncClient(trust_env=False) as client:
        provider = OpenAIChat(
            OPENAI_COMPATIBLE,
            model="smollm2",
            base_url=url,
            api_key=key,
            client=client,
            timeout=50,
            idle_timeout=40,
            tap=lambda kind, text: kept.append(text) if kind == "llm-request" else None,
        )
        return [item async for item in provider.stream(request)]


def response_of(items: list[StreamItem]) -> ChatResponse:
    assert isinstance(items[-1], ChatResponse)
    return items[-1]


async def test_reasoning_and_text_stream_in_pieces(small_model: str) -> None:
    items = await ask(small_model, UserMessage(text="Say hello."), max_tokens=60, extra={"temperature": 0})
    response = response_of(items)
    texts = [item.text for item in items if isinstance(item, TextChunk)]
    thoughts = [item.text for item in items if isinstance(item, ReasoningChunk)]
    assert "".join(texts) == response.message.text
    assert "".join(thoughts) == response.message.reasoning
    assert len(thoughts) > 3
    assert response.stop_reason in (FinishReason.STOP, FinishReason.LENGTH)
    assert response.usage.input > 0
    assert response.usage.output > 0


async def test_a_call_and_its_result_make_a_history_that_the_engine_takes(small_model: str) -> None:
    bodies: list[str] = []
    question = UserMessage(text="What is the weather in Paris?")
    first = response_of(await ask(small_model, question, tools=TOOLS, max_tokens=200, extra=PUSHED, bodies=bodies))
    assert first.stop_reason is FinishReason.TOOL_CALLS
    assert {call.name for call in first.message.calls} == {"weather.now"}
    assert all(
        call.fault is None and json.loads(call.arguments)["city"] in ("Paris", "Tokyo") for call in first.message.calls
    )
    results = [ToolMessage(call_id=call.id, name=call.name, text="18 degrees, rain") for call in first.message.calls]
    last = response_of(
        await ask(
            small_model, question, first.message, *results, max_tokens=40, extra={"temperature": 0}, bodies=bodies
        )
    )
    assert last.message.text or last.message.reasoning
    fault = [text for text in faults_of(*bodies) if "logit_bias" not in text]
    assert fault == []


async def test_a_wrong_key_is_refused(small_model: str) -> None:
    with pytest.raises(AuthenticationError):
        await ask(small_model, UserMessage(text="hi"), key="sk-wrong")


async def test_a_request_beyond_the_context_says_so(small_model: str) -> None:
    with pytest.raises(ContextOverflowError):
        await ask(small_model, UserMessage(text="word " * 6000))
