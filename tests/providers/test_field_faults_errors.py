"""Field faults of servers that stall, break off or refuse in their own way, by their row in docs/providers.md."""

import asyncio
import json

import pytest

from ias.domain.messages import JsonValue
from ias.errors import (
    AuthenticationError,
    BadRequestError,
    BalanceError,
    ContextOverflowError,
    LlmError,
    RateLimitedError,
    ServerFaultError,
    StreamCutError,
    TransportError,
)
from ias.providers.refusals import classify
from tests.providers.loopback import SSE_HEAD, Exchange, Script, delta, frames, refusing, streaming, take

HALF = frames(delta(content="half"), done=False)
STOP = delta("stop", content="")


def keeping_alive(begin: bytes, filler: bytes) -> Script:
    """Begin an answer, then send filler until the client is gone."""

    async def script(exchange: Exchange) -> None:
        await exchange.send(SSE_HEAD, begin)
        gone = asyncio.Event()
        while True:
            await exchange.send(filler)
            try:
                async with asyncio.timeout(0.02):
                    await gone.wait()
            except TimeoutError:
                continue

    return script


@pytest.mark.parametrize("filler", [b": keep-alive\n\n", b":\n", b"\n", b"event: ping\n\n", b"data:\n\n"])
async def test_row_28_filler_after_the_beginning_does_not_hide_a_stall(filler: bytes) -> None:
    with pytest.raises(TransportError, match=r"llm\.idle_timeout"):
        await take(keeping_alive(HALF, filler), idle=0.3)


@pytest.mark.parametrize(
    "filler", [b": keep-alive\n\n", b"\n", frames(delta(), done=False), b"data: {}\n\n", b"data: "]
)
async def test_row_28_nothing_holds_a_turn_for_ever(filler: bytes) -> None:
    with pytest.raises(TransportError, match=r"llm\.(idle_)?timeout"):
        await take(keeping_alive(b"", filler), idle=0.4, total=0.8)


@pytest.mark.parametrize("end", [b"", b"data: [DON", b'data: {"choices": [{"delta": {"content": "x"', b": bye\n\n"])
async def test_row_28_an_answer_that_breaks_off_is_none_and_can_be_tried_again(end: bytes) -> None:
    with pytest.raises(StreamCutError):
        await take(streaming(HALF + end))


@pytest.mark.parametrize("reason", ["insufficient_system_resource", "aborted", "whatever"])
async def test_row_28_an_answer_that_the_server_gave_up_is_none(reason: str) -> None:
    call = {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}
    with pytest.raises(ServerFaultError, match=reason):
        await take(streaming(frames(delta(content="half", tool_calls=[call]), delta(reason))))


async def test_row_29_comments_blank_lines_and_other_fields_are_no_part_of_an_answer() -> None:
    body = b": keep-alive\n\n\r\n:\n\nretry: 10\nid: 7\n" + frames(delta(content="a"), done=False)
    body += b": keep-alive\r\n\r\nevent: message\rdata:" + json.dumps(delta(content="b")).encode() + b"\r\r"
    taken, _ = await take(streaming(body + frames(STOP)))
    assert taken.text == "ab"


async def test_row_29_blank_lines_before_an_answer_that_is_no_stream_are_skipped() -> None:
    body = json.dumps({"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}]}).encode()

    async def script(exchange: Exchange) -> None:
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body) + 4}\r\n\r\n"
        await exchange.send(head.encode(), b"\n\r\n\n", body)

    taken, _ = await take(script)
    assert taken.response.message.text == "ok"


async def test_row_37_an_answer_inside_another_envelope_is_read() -> None:
    answer = {"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}], "usage": {"completion_tokens": 1}}
    taken, _ = await take(streaming(frames({"data": answer, "success": True})))  # type: ignore[dict-item]  - JSON
    assert (taken.response.message.text, taken.response.usage.output) == ("ok", 1)


NO_MONEY = "Insufficient Balance"
TOO_LONG = "This model's maximum context length is 1048576 tokens. However, you requested 2000000 tokens"


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (402, {}, BalanceError),
        (429, {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}, BalanceError),
        (429, {"error": {"code": "PrepaidBillOverdue", "message": "x"}}, BalanceError),
        (429, {"code": "BudgetLimitExceeded", "message": "x", "request_id": "r"}, BalanceError),
        (400, {"code": "Arrearage", "message": "Access denied"}, BalanceError),
        (403, {"error": {"code": "AllocationQuota.FreeTierOnly", "message": "x"}}, BalanceError),
        (429, {"error": NO_MONEY}, BalanceError),
        (429, NO_MONEY, BalanceError),
        (429, [{"error": {"message": NO_MONEY}}], BalanceError),
        (429, {"error": {"error": {"message": NO_MONEY}}}, BalanceError),
        (429, {"error": json.dumps({"error": {"message": NO_MONEY}})}, BalanceError),
        (400, {"error": {"message": "error", "metadata": {"raw": json.dumps({"msg": NO_MONEY})}}}, BalanceError),
        (400, {"errors": [{"message": NO_MONEY}]}, BalanceError),
        (429, {"error": {"message": "余额不足或无可用资源包", "code": "1113"}}, BalanceError),
        (429, {"error": {"code": "insufficient_quota", "message": "Allocated quota exceeded"}}, RateLimitedError),
        (429, {"error": {"message": "check your plan and billing details. Please retry in 17.2s"}}, RateLimitedError),
        (429, {"error": {"message": "Rate limit reached"}}, RateLimitedError),
        (429, "slow down", RateLimitedError),
        (400, {"error": {"message": TOO_LONG}}, ContextOverflowError),
        (400, {"message": "Input token exceed the limit", "code": "quota_limit_reached"}, ContextOverflowError),
        (400, {"detail": [{"msg": TOO_LONG}]}, ContextOverflowError),
        (400, {"object": "error", "message": "no", "type": "BadRequestError", "code": 400}, BadRequestError),
        (401, {"error": {"message": "Authentication Fails"}}, AuthenticationError),
        (503, "<html>upstream</html>", ServerFaultError),
        (500, {"error": {"message": "overdue"}}, ServerFaultError),
    ],
)  # fmt: skip
async def test_row_37_a_refusal_is_classified_by_its_words_in_any_envelope(
    status: int, body: JsonValue, kind: type[LlmError]
) -> None:
    with pytest.raises(LlmError) as caught:
        await take(refusing(status, json.dumps(body).encode()))
    assert (type(caught.value), caught.value.status) == (kind, status)


@pytest.mark.parametrize(
    ("piece", "kind"),
    [
        ({"error": {"message": NO_MONEY, "type": "unknown_error", "code": "invalid_request_error"}}, BalanceError),
        ({"error": {"code": "insufficient_quota", "message": "x"}}, BalanceError),
        ({"error": NO_MONEY}, BalanceError),
        (NO_MONEY, BalanceError),
        ({"code": "Arrearage", "message": "Access denied"}, BalanceError),
        ({"success": False, "data": None, "message": NO_MONEY}, BalanceError),
        ({"error": {"message": TOO_LONG}}, ContextOverflowError),
        ({"error": {"message": "Incorrect API key provided"}}, AuthenticationError),
        ({"error": {"message": "Rate limit reached"}}, RateLimitedError),
        ({"error": {"message": "slow", "code": "429"}}, RateLimitedError),
        ({"error": {"message": "boom"}}, ServerFaultError),
        ("boom", ServerFaultError),
        ([1], ServerFaultError),
        ([{"error": {"message": NO_MONEY, "code": 400}}], BalanceError),
        ({"message": "boom"}, ServerFaultError),
    ],
)
@pytest.mark.parametrize("media", ["text/event-stream", "application/json"])
async def test_row_37_an_error_after_a_200_is_classified_by_its_words(
    piece: JsonValue, kind: type[LlmError], media: str
) -> None:
    text = json.dumps(piece)
    body = f"data: {text}\n\n" if media == "text/event-stream" else text
    head = f"HTTP/1.1 200 OK\r\ncontent-type: {media}\r\nconnection: close\r\n\r\n"
    with pytest.raises(LlmError) as caught:
        await take(streaming(body.encode(), head=head.encode()))
    assert type(caught.value) is kind


async def test_row_37_words_that_are_no_json_are_read_too_but_not_half_a_chunk() -> None:
    with pytest.raises(BalanceError, match=NO_MONEY):
        await take(streaming(f"data: {NO_MONEY}\n\n".encode()))
    with pytest.raises(ServerFaultError, match="not JSON"):
        await take(streaming(b'data: {"choices": [{"delta": {"content": "Insufficient Balance\n\n'))


@pytest.mark.parametrize("depth", [1, 10_000])
def test_row_37_no_envelope_is_too_deep_or_too_long(depth: int) -> None:
    error = classify(400, '{"error":' * depth + '"no' + "!" * 100_000 + '"' + "}" * depth)
    assert type(error) is BadRequestError
    assert len(str(error)) < 400
