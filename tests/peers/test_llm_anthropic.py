"""Conversations on Anthropic's wire against servers that nobody here wrote, and bodies checked by its own types."""

import json
from contextlib import suppress

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
    StreamItem,
    TextChunk,
    ToolCall,
    ToolDef,
    ToolMessage,
    UserMessage,
    message_from_json,
    message_to_json,
)
from ias.errors import AuthenticationError, BadRequestError
from ias.providers.anthropic import AnthropicMessages
from ias.providers.profiles import ANTHROPIC, ANTHROPIC_COMPATIBLE, DEEPSEEK_ANTHROPIC, Profile
from tests.peers.llm.serve_model import KEY
from tests.peers.programs import faults_of

pytestmark = pytest.mark.peers

CITY: JsonObject = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = ToolDef(name="get_weather", description="Current weather of a city", parameters=CITY)
ASK = UserMessage(text="Which is warmer, Paris or Tokyo?")
DEGREES = {"Paris": "18 degrees", "Tokyo": "24 degrees"}
BUDGETED = "claude-haiku-4-5"
"""A model with manual thinking: the server checks what goes back of it."""


async def ask(
    url: str,
    *messages: Message,
    profile: Profile = ANTHROPIC,
    model: str = BUDGETED,
    bodies: list[str],
    key: str = "sk-any",
    **fields: object,
) -> list[StreamItem]:
    request = MessageRequest(model=model, messages=messages, **fields)  # type: ignore[arg-type]  - any field
    async with httpx.AsyncClient(trust_env=False) as client:
        provider = AnthropicMessages(
            profile,
            model=model,
            base_url=url,
            api_key=key,
            client=client,
            timeout=50,
            idle_timeout=40,
            tap=lambda kind, text: bodies.append(text) if kind == "llm-request" else None,
        )
        return [item async for item in provider.stream(request)]


def response_of(items: list[StreamItem]) -> ChatResponse:
    assert isinstance(items[-1], ChatResponse)
    return items[-1]


def results_of(message: AssistantMessage) -> list[Message]:
    return [
        ToolMessage(call_id=call.id, name=call.name, text=DEGREES[json.loads(call.arguments)["city"]])
        for call in message.calls
    ]


async def test_signed_and_hidden_thinking_survive_the_store_and_go_back(scripted_claude: str) -> None:
    bodies: list[str] = []
    first = response_of(await ask(scripted_claude, ASK, bodies=bodies, tools=(WEATHER,)))
    assert first.stop_reason is FinishReason.TOOL_CALLS
    assert first.message.reasoning == "Two cities, so two questions to the weather tool at once."
    assert first.message.calls == (
        ToolCall(id="toolu_paris", name="get_weather", arguments='{"city":"Paris"}'),
        ToolCall(id="toolu_tokyo", name="get_weather", arguments='{"city":"Tokyo"}'),
    )
    stored = message_from_json("assistant", message_to_json(first.message))
    items = await ask(scripted_claude, ASK, stored, *results_of(first.message), bodies=bodies, tools=(WEATHER,))
    last = response_of(items)
    assert (last.stop_reason, last.message.text) == (
        FinishReason.STOP,
        "Tokyo is warmer: 24 degrees against 18 in Paris.",
    )
    assert len([item for item in items if isinstance(item, ReasoningChunk)]) > 3
    assert len([item for item in items if isinstance(item, TextChunk)]) > 5
    assert faults_of(*bodies, client="anthropic") == []
    sent = json.loads(bodies[1])["messages"]
    assert [block["type"] for block in sent[1]["content"]] == ["redacted_thinking", "thinking", "tool_use", "tool_use"]
    assert sent[1]["content"][0]["data"] == "aGlkZGVu"
    assert sent[1]["content"][1]["signature"] == "c2lnbmVkLWJ5LXRoZS1zZXJ2ZXI="
    assert [block["tool_use_id"] for block in sent[2]["content"]] == ["toolu_paris", "toolu_tokyo"]


async def test_calls_that_another_provider_made_are_sent_without_thinking_since_the_server_refuses_them_with(
    scripted_claude: str,
) -> None:
    bodies: list[str] = []
    first = response_of(await ask(scripted_claude, ASK, bodies=bodies, tools=(WEATHER,)))
    bare = AssistantMessage(calls=first.message.calls)
    last = response_of(await ask(scripted_claude, ASK, bare, *results_of(bare), bodies=bodies, tools=(WEATHER,)))
    assert last.message.text.startswith("Tokyo is warmer")
    with_thinking = {**json.loads(bodies[1]), "thinking": json.loads(bodies[0])["thinking"]}
    async with httpx.AsyncClient(trust_env=False) as client:
        refusal = await client.post(f"{scripted_claude}/v1/messages", json=with_thinking)
    assert (refusal.status_code, "must begin with a `thinking` block" in refusal.text) == (400, True)


@pytest.mark.parametrize("profile", [ANTHROPIC, DEEPSEEK_ANTHROPIC, ANTHROPIC_COMPATIBLE], ids=lambda one: one.name)
@pytest.mark.parametrize("model", ["claude-opus-5", "claude-haiku-4-5", "claude-fable-5"])
@pytest.mark.parametrize("thinking", [True, False])
async def test_the_official_types_find_nothing_wrong(
    scripted_claude: str, profile: Profile, model: str, thinking: bool
) -> None:
    bodies: list[str] = []
    calls = (
        ToolCall(id="x:1", name="files.read", arguments='{"city": "Paris"}'),
        ToolCall(id="y", name="f", arguments="["),
    )
    talk = (
        UserMessage(text="hi"),
        AssistantMessage(text="I look.", reasoning="hm", calls=calls),
        ToolMessage(call_id="x:1", name="files.read", text="no such file", is_error=True),
        ASK,
    )
    tools = (WEATHER, ToolDef(name="files.read", parameters={"anyOf": [{"properties": {"$top": {}}}]}))
    # The script has no line for this history, so the server may refuse it; what counts is what was sent.
    with suppress(BadRequestError):
        await ask(scripted_claude, *talk, profile=profile, model=model, bodies=bodies, thinking=thinking, tools=tools)
    assert faults_of(*bodies, client="anthropic") == []


def test_the_official_types_do_find_faults() -> None:
    right: JsonObject = {"model": "m", "stream": True, "max_tokens": 1, "messages": [{"role": "user", "content": "hi"}]}
    block: JsonObject = {"type": "tool_use", "id": "a", "name": "f", "input": "{}"}
    wrong: JsonObject = {**right, "messages": [{"role": "assistant", "content": [block]}]}
    faults = faults_of(json.dumps(wrong), json.dumps({**right, "temprature": 1}), client="anthropic")
    assert "input" in faults[0]
    assert faults[-1] == "unknown field .temprature"


async def test_a_real_engine_streams_its_text(small_model: str) -> None:
    bodies: list[str] = []
    items = await ask(
        small_model,
        UserMessage(text="Say hello."),
        profile=ANTHROPIC_COMPATIBLE,
        key=KEY,
        bodies=bodies,
        max_tokens=60,
    )
    response = response_of(items)
    assert "".join(item.text for item in items if isinstance(item, TextChunk)) == response.message.text
    assert response.message.text or response.message.reasoning
    assert response.stop_reason in (FinishReason.STOP, FinishReason.LENGTH)
    assert min(response.usage.input, response.usage.output) > 0
    assert faults_of(*bodies, client="anthropic") == []


async def test_a_real_engine_refuses_a_wrong_key(small_model: str) -> None:
    with pytest.raises(AuthenticationError):
        await ask(small_model, UserMessage(text="hi"), profile=ANTHROPIC_COMPATIBLE, key="sk-wrong", bodies=[])
