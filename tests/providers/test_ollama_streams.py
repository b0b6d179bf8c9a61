"""What comes over Ollama's own wire, right and wrong, and what the adapter makes of it."""

import pytest

from ias.domain.messages import AssistantMessage, FinishReason, JsonObject, JsonValue, ToolCall, Usage
from ias.errors import (
    BadRequestError,
    ContextOverflowError,
    EmptyResponseError,
    LlmError,
    ServerFaultError,
    StreamCutError,
)
from ias.providers.profiles import OLLAMA
from tests.providers.loopback import (
    NDJSON_HEAD,
    RECORDED,
    Exchange,
    Taken,
    lines,
    refusing,
    request_of,
    streaming,
    take,
)

JSON_HEAD = NDJSON_HEAD.replace(b"x-ndjson", b"json; charset=utf-8")


def line(**message: JsonValue) -> JsonObject:
    return {"model": "m", "message": {"role": "assistant", "content": "", **message}, "done": False}


def done(reason: str | None = "stop", **fields: JsonValue) -> JsonObject:
    return {
        "model": "m",
        "message": {"role": "assistant", "content": ""},
        "done": True,
        "done_reason": reason,
        **fields,
    }


def call(name: str, arguments: JsonValue, **fields: JsonValue) -> JsonObject:
    return {"function": {"name": name, "arguments": arguments}, **fields}


async def answered(*given: JsonObject, max_tokens: int | None = None) -> Taken:
    script = streaming(lines(*given), head=NDJSON_HEAD)
    taken, _ = await take(script, request_of(max_tokens=max_tokens), profile=OLLAMA)
    return taken


def recorded(name: str) -> bytes:
    return (RECORDED / "ollama" / name).read_bytes()


async def test_a_recorded_call_without_an_id_gets_one() -> None:
    taken, server = await take(streaming(recorded("chat_stream_tool_call.ndjson"), head=NDJSON_HEAD), profile=OLLAMA)
    (made,) = taken.response.message.calls
    assert (made.name, made.arguments, made.fault) == ("get_weather", '{"city": "Tokyo"}', None)
    assert made.id.startswith("call_")
    assert taken.response.stop_reason is FinishReason.TOOL_CALLS
    assert (taken.response.usage, taken.response.model) == (Usage(input=169, output=15), "llama3.2")
    assert server.exchanges[0].headers["authorization"].startswith("Bearer ")


async def test_recorded_calls_with_ids_keep_them() -> None:
    taken, _ = await take(
        streaming(recorded("chat_stream_two_tools_with_ids.ndjson"), head=NDJSON_HEAD), profile=OLLAMA
    )
    assert taken.response.message.calls == (
        ToolCall(id="call_dwjfhc0f", name="get_current_weather", arguments='{"format": "celsius", "location": "北京"}'),
        ToolCall(id="call_e8ymdkla", name="get_history_weather", arguments='{"format": "celsius", "location": "洛阳"}'),
    )


async def test_a_recorded_whole_answer_is_read_too() -> None:
    taken, _ = await take(streaming(recorded("chat_tool_call.json"), head=JSON_HEAD), profile=OLLAMA)
    assert [made.arguments for made in taken.response.message.calls] == ['{"city": "Tokyo"}']


@pytest.mark.parametrize("cut", range(0, 500, 31))
async def test_a_recorded_stream_sent_in_two_pieces_gives_the_same_answer(cut: int) -> None:
    body = recorded("chat_stream_two_tools_with_ids.ndjson")

    async def script(exchange: Exchange) -> None:
        await exchange.send(NDJSON_HEAD, body[:cut], body[cut:])

    taken, _ = await take(script, profile=OLLAMA)
    assert [made.id for made in taken.response.message.calls] == ["call_dwjfhc0f", "call_e8ymdkla"]


async def test_thinking_and_text_stream_in_pieces() -> None:
    taken = await answered(line(thinking="so "), line(thinking="it is"), line(content="a"), line(content="b"), done())
    assert (taken.reasoning, taken.text) == ("so it is", "ab")
    assert len(taken.items) == 5
    assert taken.response.message == AssistantMessage(text="ab", reasoning="so it is")
    assert taken.response.stop_reason is FinishReason.STOP


async def test_equal_ids_and_equal_calls_are_all_kept() -> None:
    calls = [call("f", {"x": 1}, id="a"), call("f", {"x": 2}, id="a"), call("f", {"x": 2})]
    response = (await answered(line(tool_calls=list(calls)), done())).response
    assert [made.arguments for made in response.message.calls] == ['{"x": 1}', '{"x": 2}', '{"x": 2}']
    assert response.message.calls[0].id == "a"
    assert len({made.id for made in response.message.calls}) == 3


@pytest.mark.parametrize(
    ("arguments", "text", "is_fault"),
    [('{"x":1}', '{"x":1}', False), (None, "{}", False), ([1], "{}", True), ("{", "{}", True), (3, "{}", True)],
)
async def test_arguments_may_come_in_any_shape(arguments: JsonValue, text: str, is_fault: bool) -> None:
    (made,) = (await answered(line(tool_calls=[call("f", arguments)]), done())).response.message.calls
    assert (made.arguments, made.fault is not None) == (text, is_fault)


@pytest.mark.parametrize(("reason", "limit"), [("length", None), ("stop", 50)])
async def test_no_call_of_a_cut_answer_is_given(reason: str, limit: int | None) -> None:
    given = (line(content="I will", tool_calls=[call("f", {})]), done(reason, eval_count=50))
    response = (await answered(*given, max_tokens=limit)).response
    assert response.stop_reason is FinishReason.LENGTH
    assert response.message == AssistantMessage(text="I will")


@pytest.mark.parametrize("given", [[done()], [done("load")], [line(content=" "), done(None)]])
async def test_an_answer_of_nothing_may_be_asked_again(given: list[JsonObject]) -> None:
    with pytest.raises(EmptyResponseError):
        await answered(*given)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (lines(line(content="half")), StreamCutError),
        (lines(line(content="half")) + b'{"done": tr', StreamCutError),
        (b"", StreamCutError),
        (b"[1]\n", ServerFaultError),
        (b"{no\n", ServerFaultError),
        (lines(line(content="half"), {"error": "model runner has unexpectedly stopped"}), ServerFaultError),
        (lines(line(tool_calls=[call("", {})])), ServerFaultError),
        (lines(line(content="x"), done("meltdown")), ServerFaultError),
    ],
)
async def test_a_broken_stream_is_a_failure(body: bytes, kind: type[LlmError]) -> None:
    with pytest.raises(kind):
        await take(streaming(body, head=NDJSON_HEAD), profile=OLLAMA)


async def test_the_last_line_may_lack_its_newline_and_blank_ones_may_stand_between() -> None:
    body = b"\n\r\n" + lines(line(content="all"), done()).rstrip()
    taken, _ = await take(streaming(body, head=NDJSON_HEAD), profile=OLLAMA)
    assert taken.response.message == AssistantMessage(text="all")


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (404, b'{"error":"model \'x\' not found"}', BadRequestError),
        (400, b'{"error":"registry.ollama.ai/library/x does not support tools"}', BadRequestError),
        (400, b'{"error":"the input length exceeds the context length"}', ContextOverflowError),
        (500, recorded("error_500.json"), ServerFaultError),
        (503, b'{"error":"server busy, please try again.  maximum pending requests exceeded"}', ServerFaultError),
    ],
)
async def test_a_refusal_becomes_its_error(status: int, body: bytes, kind: type[LlmError]) -> None:
    with pytest.raises(LlmError) as caught:
        await take(refusing(status, body), profile=OLLAMA)
    assert (type(caught.value), caught.value.status) == (kind, status)
