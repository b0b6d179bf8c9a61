"""The streams and refusals that services really sent."""

import json

import pytest

from ias.domain.messages import AssistantMessage, FinishReason, ToolCall, Usage
from ias.errors import (
    AuthenticationError,
    BadRequestError,
    BalanceError,
    ContextOverflowError,
    LlmError,
    RateLimitedError,
    ServerFaultError,
)
from ias.providers.profiles import QWEN
from tests.providers.loopback import KEY, RECORDED, refusing, request_of, streaming, take

REASONING = "The user is asking for the weather in San Francisco."


def recorded(name: str) -> bytes:
    return (RECORDED / name).read_bytes()


async def test_a_plain_answer_streams_its_text() -> None:
    taken, _ = await take(streaming(recorded("deepseek/chat_stream_plain_answer.sse")))
    assert taken.text == taken.response.message.text == "1, 2, 3."
    assert taken.response.message == AssistantMessage(text="1, 2, 3.")
    assert taken.response.stop_reason is FinishReason.STOP
    assert taken.response.usage == Usage(input=11, output=8)
    assert taken.response.model == "deepseek-v4-flash"


async def test_reasoning_streams_before_one_tool_call() -> None:
    taken, _ = await take(streaming(recorded("deepseek/chat_stream_reasoning_tool_call.sse")))
    message = taken.response.message
    assert message.reasoning == taken.reasoning
    assert message.calls == (
        ToolCall(id="call_00_ioIn7yN9p1ZOMNpDLwd4MgAF", name="weather", arguments='{"location": "San Francisco"}'),
    )
    assert (message.text, taken.text) == ("", "")
    assert taken.response.stop_reason is FinishReason.TOOL_CALLS
    assert taken.response.usage == Usage(input=339, output=83, cached=320, reasoning=39)


async def test_two_parallel_calls_keep_their_order_and_ids() -> None:
    taken, _ = await take(streaming(recorded("deepseek/chat_stream_reasoning_two_tools.sse")))
    assert [(call.name, json.loads(call.arguments), call.fault) for call in taken.response.message.calls] == [
        ("get_weather", {"city": "Berlin"}, None),
        ("get_weather", {"city": "Tokyo"}, None),
    ]
    assert taken.response.message.calls[1].id == "call_01_ql4b84FFaIMjJ8lk6yhZ7541"
    assert taken.response.usage == Usage(input=303, output=102, cached=128, reasoning=26)


async def test_an_answer_cut_by_its_length_says_so() -> None:
    taken, _ = await take(streaming(recorded("deepseek/chat_stream_finish_length.sse")))
    assert taken.response.stop_reason is FinishReason.LENGTH
    assert taken.response.usage == Usage(input=13, output=40)
    assert taken.text == taken.response.message.text != ""


async def test_a_provider_short_of_resources_is_a_fault_that_may_pass() -> None:
    with pytest.raises(ServerFaultError, match="insufficient_system_resource"):
        await take(streaming(recorded("deepseek/chat_stream_insufficient_system_resource.sse")))


async def test_qwen_restates_blank_ids_and_sends_usage_apart() -> None:
    taken, _ = await take(streaming(recorded("qwen/chat_stream_tool_call.sse")), profile=QWEN)
    assert taken.response.message.calls == (
        ToolCall(id="call_eee11723464a4b9eb8cee71d", name="weather", arguments='{"location": "San Francisco"}'),
    )
    assert taken.response.usage == Usage(input=295, output=22)


async def test_qwen_reasoning_and_answer_are_told_apart() -> None:
    taken, _ = await take(streaming(recorded("qwen/chat_stream_reasoning_usage.sse")), profile=QWEN)
    assert taken.text.endswith("3**")
    assert taken.reasoning == taken.response.message.reasoning != ""
    assert taken.response.usage == Usage(input=24, output=1355, reasoning=1084)


@pytest.mark.parametrize("name", ["deepseek/chat_two_tools.json", "deepseek/chat_plain_with_reasoning.json"])
async def test_a_server_that_does_not_stream_is_understood(name: str) -> None:
    taken, _ = await take(refusing(200, b"\n\n\n" + recorded(name)))
    sent = json.loads(recorded(name))["choices"][0]["message"]
    message = taken.response.message
    assert (message.text, message.reasoning) == (sent["content"], sent.get("reasoning_content"))
    assert [call.name for call in message.calls] == [call["function"]["name"] for call in sent.get("tool_calls", [])]


@pytest.mark.parametrize(
    ("name", "status", "kind"),
    [
        ("error_400_context_length", 400, ContextOverflowError),
        ("error_400_reasoning_content", 400, BadRequestError),
        ("error_401", 401, AuthenticationError),
        ("error_402", 402, BalanceError),
        ("error_422", 422, BadRequestError),
        ("error_429_concurrency", 429, RateLimitedError),
        ("error_503", 503, ServerFaultError),
    ],
)
async def test_a_refusal_becomes_its_error(name: str, status: int, kind: type[LlmError]) -> None:
    body = recorded(f"deepseek/{name}.json")
    with pytest.raises(LlmError) as caught:
        await take(refusing(status, body))
    assert type(caught.value) is kind
    assert caught.value.status == status
    assert json.loads(body)["error"]["message"][:60] in str(caught.value)


async def test_what_is_sent_and_what_comes_is_tapped_without_the_key() -> None:
    taps: list[tuple[str, str]] = []
    body = json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}"}}).encode()
    with pytest.raises(AuthenticationError) as caught:
        await take(refusing(401, body), request_of(f"my key is {KEY}"), taps=taps)
    assert KEY not in str(caught.value)
    assert [kind for kind, _ in taps] == ["llm-request", "llm-response"]
    assert KEY not in repr(taps)
    assert json.loads(taps[1][1]) == {"error": {"message": "Incorrect API key provided: ***"}}
