"""Anthropic's answers as they were recorded, through a real connection."""

import json

import pytest

from ias.domain.messages import AssistantMessage, FinishReason, ToolCall, ToolDef, Usage
from ias.errors import (
    AuthenticationError,
    BadRequestError,
    BalanceError,
    ContextOverflowError,
    LlmError,
    RateLimitedError,
    ServerFaultError,
)
from ias.providers.profiles import ANTHROPIC
from tests.providers.anthropic_events import BEGIN, text
from tests.providers.loopback import KEY, RECORDED, SSE_HEAD, Exchange, events, refusing, request_of, streaming, take

WEATHER = ToolDef(name="weather", description="Current weather")
CALL = ToolCall(
    id="toolu_01MKSN7NHsBVKr7Jvw5pqCQq", name="weather", arguments='{"latitude": "52.5200", "longitude": "13.4050"}'
)


def recorded(name: str) -> bytes:
    return (RECORDED / "anthropic" / name).read_bytes()


async def test_a_call_is_put_together_and_its_pings_do_no_harm() -> None:
    taken, server = await take(
        streaming(recorded("messages_stream_text_then_tool_use.sse")), request_of(tools=(WEATHER,)), profile=ANTHROPIC
    )
    assert taken.response.message == AssistantMessage(calls=(CALL,))
    assert taken.response.stop_reason is FinishReason.TOOL_CALLS
    assert taken.response.usage == Usage(input=633, output=75)
    assert taken.response.model == "claude-haiku-4-5-20251001"
    headers = server.exchanges[0].headers
    assert (headers["x-api-key"], headers["anthropic-version"]) == (KEY, "2023-06-01")
    assert "authorization" not in headers


async def test_thinking_is_shown_and_kept_with_its_signature() -> None:
    taken, _ = await take(streaming(recorded("messages_stream_thinking_then_text.sse")), profile=ANTHROPIC)
    message = taken.response.message
    assert taken.reasoning == message.reasoning
    assert taken.text == message.text
    assert message.text.startswith("Here are the basic")
    assert message.reasoning is not None
    assert message.reasoning.startswith("This is a straightforward question about pedestrian safety.")
    assert message.blocks is not None
    thinking, words = message.blocks["content"]  # type: ignore[misc]  - a list of two blocks
    assert (message.blocks["provider"], message.blocks["model"]) == ("anthropic", "deepseek-flash")
    assert thinking["thinking"] == message.reasoning  # type: ignore[index]  - an object
    assert thinking["signature"].startswith("EvMCCkYICxgC")  # type: ignore[index]  - an object
    assert words == {"type": "text", "text": message.text}


async def test_thinking_before_a_call_is_kept_in_front_of_it() -> None:
    taken, _ = await take(
        streaming(recorded("messages_stream_thinking_then_tool_use.sse")),
        request_of(tools=(WEATHER,)),
        profile=ANTHROPIC,
    )
    message = taken.response.message
    assert message.calls == (CALL,)
    assert message.blocks is not None
    content = message.blocks["content"]
    assert isinstance(content, list)
    assert [block["type"] for block in content] == ["thinking", "tool_use"]  # type: ignore[index]  - objects
    assert content[1]["input"] == json.loads(CALL.arguments)  # type: ignore[index]  - an object


@pytest.mark.parametrize("cut", range(0, 2500, 83))
async def test_a_recorded_stream_sent_in_two_pieces_gives_the_same_answer(cut: int) -> None:
    body = recorded("messages_stream_text_then_tool_use.sse")

    async def script(exchange: Exchange) -> None:
        await exchange.send(SSE_HEAD, body[:cut], body[cut:])

    taken, _ = await take(script, profile=ANTHROPIC)
    assert taken.response.message.calls == (CALL,)


@pytest.mark.parametrize(
    ("status", "kind", "body"),
    [
        (401, AuthenticationError, recorded("error_401.json")),
        (529, ServerFaultError, recorded("error_529_overloaded.json")),
        (429, RateLimitedError, b'{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}'),
        (403, AuthenticationError, b'{"type":"error","error":{"type":"permission_error","message":"no"}}'),
        (413, BadRequestError, b'{"type":"error","error":{"type":"request_too_large","message":"no"}}'),
        (
            400,
            ContextOverflowError,
            b'{"error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000"}}',
        ),
        (
            400,
            ContextOverflowError,
            b'{"error":{"message":"input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000"}}',
        ),
        (400, BalanceError, b'{"error":{"message":"Your credit balance is too low to access the Anthropic API."}}'),
    ],
)
async def test_a_refusal_becomes_its_error(status: int, kind: type[LlmError], body: bytes) -> None:
    with pytest.raises(LlmError) as caught:
        await take(refusing(status, body), profile=ANTHROPIC)
    assert (type(caught.value), caught.value.status) == (kind, status)


async def test_the_wish_to_wait_is_read() -> None:
    with pytest.raises(RateLimitedError) as caught:
        await take(refusing(429, b"{}", "retry-after: 7"), profile=ANTHROPIC)
    assert caught.value.retry_after == 7


@pytest.mark.parametrize(
    ("fault", "kind", "status"),
    [
        ("overloaded_error", ServerFaultError, 529),
        ("rate_limit_error", RateLimitedError, 429),
        ("invalid_request_error", BadRequestError, 400),
        ("something_new", ServerFaultError, 500),
    ],
)
async def test_an_error_amid_the_stream_is_told_by_its_type(fault: str, kind: type[LlmError], status: int) -> None:
    body = events(BEGIN, *text(0, "half"), {"type": "error", "error": {"type": fault, "message": "Overloaded"}})
    with pytest.raises(LlmError, match="Overloaded") as caught:
        await take(streaming(body), profile=ANTHROPIC)
    assert (type(caught.value), caught.value.status) == (kind, status)
