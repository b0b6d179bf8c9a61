"""What servers do wrong in a stream, and what the adapter makes of it."""

import asyncio
import json

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ias.domain.messages import AssistantMessage, FinishReason, JsonObject, ToolCall, ToolDef, Usage
from ias.errors import (
    AuthenticationError,
    BadRequestError,
    EmptyResponseError,
    LlmError,
    RateLimitedError,
    RejectedError,
    ServerFaultError,
    StreamCutError,
    TransportError,
)
from ias.providers.openai import OpenAIChat
from ias.providers.profiles import DEEPSEEK, OPENAI_COMPATIBLE
from tests.providers.loopback import (
    KEY,
    RECORDED,
    SSE_HEAD,
    Exchange,
    delta,
    frames,
    refusing,
    request_of,
    streaming,
    take,
)

STOP = delta("stop", content="")


def fragment(
    index: int | None = None, identity: str | None = None, name: str | None = None, args: object = None
) -> JsonObject:
    """Give one tool-call fragment with the fields that are set."""
    function = {key: value for key, value in (("name", name), ("arguments", args)) if value is not None}
    fields = (("index", index), ("id", identity), ("function", function))
    return {key: value for key, value in fields if value is not None}  # type: ignore[misc]  - any fields


async def calls_of(*lists: list[JsonObject], reason: str = "tool_calls") -> list[tuple[str, str, str]]:
    chunks = [delta(tool_calls=fragments) for fragments in lists]
    taken, _ = await take(streaming(frames(*chunks, delta(reason))))
    assert taken.response.stop_reason is FinishReason.TOOL_CALLS
    return [(call.id, call.name, call.arguments) for call in taken.response.message.calls]


async def test_parallel_calls_on_one_index_are_told_apart_by_their_ids() -> None:
    assert await calls_of(
        [fragment(0, "a", "f", '{"x":1}')], [fragment(0, "b", "f", '{"x"')], [fragment(0, args=":2}")], reason="stop"
    ) == [("a", "f", '{"x":1}'), ("b", "f", '{"x":2}')]


async def test_two_ids_on_one_index_are_two_calls_even_without_arguments() -> None:
    assert await calls_of([fragment(0, "a", "f")], [fragment(0, "b", "f")]) == [("a", "f", "{}"), ("b", "f", "{}")]


async def test_a_tail_on_another_index_continues_the_last_call() -> None:
    assert await calls_of([fragment(0, "a", "f", "")], [fragment(1, args='{"x":1}')]) == [("a", "f", '{"x":1}')]


async def test_fragments_without_an_index_continue_the_last_call() -> None:
    assert await calls_of([fragment(None, "a", "f")], [fragment(args='{"x"')], [fragment(args=":1}")]) == [
        ("a", "f", '{"x":1}')
    ]


async def test_a_known_id_wins_over_its_index() -> None:
    assert await calls_of(
        [fragment(0, "a", "f", '{"x":'), fragment(1, "b", "g", "")],
        [fragment(1, "a", args="1}")],
        [fragment(1, args="{}")],
    ) == [("a", "f", '{"x":1}'), ("b", "g", "{}")]


async def test_restated_blank_ids_and_names_overwrite_nothing() -> None:
    assert await calls_of([fragment(0, "a", "f", "")], [fragment(0, "", "", "{}"), fragment(0, " ", None, "")]) == [
        ("a", "f", "{}")
    ]


async def test_calls_without_ids_get_one_each() -> None:
    got = await calls_of(
        [fragment(0, None, "f", '{"x":1}')], [fragment(0, None, "f", '{"x":2}')], [fragment(0, None, "g", "{}")]
    )
    assert [call[1:] for call in got] == [("f", '{"x":1}'), ("f", '{"x":2}'), ("g", "{}")]
    assert len({call[0] for call in got}) == 3
    assert all(call[0].startswith("call_") for call in got)


async def test_two_fragments_of_one_call_in_one_list_are_joined() -> None:
    assert await calls_of([fragment(0, "a", "f", '{"x"'), fragment(0, args=":1}")]) == [("a", "f", '{"x":1}')]


async def test_arguments_may_be_an_object_or_missing_or_null() -> None:
    null: JsonObject = {"index": 0, "function": {"name": None, "arguments": None}}
    assert await calls_of([fragment(0, "a", "f", {"x": "é"}), fragment(1, "b", "g")], [null]) == [
        ("a", "f", '{"x": "é"}'),
        ("b", "g", "{}"),
    ]


async def test_broken_arguments_are_a_fault_of_their_call_alone() -> None:
    chunks = [
        delta(tool_calls=[fragment(0, "a", "f", '{"x": "unended}'), fragment(1, "b", "g", "{}")]),
        delta("tool_calls"),
    ]
    taken, _ = await take(streaming(frames(*chunks)))
    broken, sound = taken.response.message.calls
    assert (broken.arguments, sound) == ("{}", ToolCall(id="b", name="g", arguments="{}"))
    assert broken.fault is not None
    assert "at character 6" in broken.fault


async def test_a_call_without_a_name_fails_the_answer() -> None:
    with pytest.raises(ServerFaultError, match="without a name"):
        await calls_of([fragment(0, "a", None, "{}")])


@pytest.mark.parametrize("reason", ["length", "content_filter"])
async def test_no_call_of_a_cut_answer_is_given(reason: str) -> None:
    taken, _ = await take(
        streaming(frames(delta(content="I will"), delta(reason, tool_calls=[fragment(0, "a", "f", "{}")])))
    )
    assert taken.response.stop_reason is FinishReason(reason)
    assert taken.response.message == AssistantMessage(text="I will")


async def test_calls_that_end_at_the_limit_count_as_cut() -> None:
    chunk = delta("tool_calls", tool_calls=[fragment(0, "a", "f", "{}")])
    taken, _ = await take(streaming(frames({**chunk, "usage": {"completion_tokens": 50}})), request_of(max_tokens=50))
    assert taken.response.stop_reason is FinishReason.LENGTH
    assert taken.response.message.calls == ()


async def test_reasoning_alone_is_an_answer() -> None:
    taken, _ = await take(streaming(frames(delta(reasoning_content="so it is 4"), STOP)))
    assert taken.response.message == AssistantMessage(text="", reasoning="so it is 4")
    assert taken.response.stop_reason is FinishReason.STOP


async def test_reasoning_under_its_other_name_is_read_once() -> None:
    chunks = [delta(reasoning="a"), delta(reasoning="b", reasoning_content="b"), delta(content="c"), STOP]
    taken, _ = await take(streaming(frames(*chunks)))
    assert (taken.reasoning, taken.response.message) == ("ab", AssistantMessage(text="c", reasoning="ab"))


async def test_an_empty_reasoning_is_kept_and_not_shown() -> None:
    taken, _ = await take(streaming(frames(delta(reasoning_content="", content=None), delta(content="c"), STOP)))
    assert taken.response.message == AssistantMessage(text="c", reasoning="")
    assert len(taken.items) == 2


async def test_a_character_cut_in_two_is_made_whole() -> None:
    body = b'data: {"choices":[{"delta":{"content":"a\\ud83d"}}]}\n\n'
    body += b'data: {"choices":[{"delta":{"content":"\\ude00"}}]}\n\n'
    lone = b'data: {"choices":[{"delta":{"content":"\\ud83d"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    taken, _ = await take(streaming(body + lone))
    assert (taken.text, taken.response.message.text) == ("a😀\ufffd", "a😀\ufffd")


async def test_usage_on_every_chunk_and_blank_reasons_do_no_harm() -> None:
    first: JsonObject = {**delta("", content="x"), "usage": {"prompt_tokens": 3, "completion_tokens": 1}}
    last: JsonObject = {
        "choices": [],
        "usage": {"prompt_tokens": 3, "completion_tokens": 9, "prompt_cache_hit_tokens": 2},
    }
    taken, _ = await take(streaming(frames(first, STOP, last)))
    assert taken.response.usage == Usage(input=3, output=9, cached=2)


@pytest.mark.parametrize(
    "chunks",
    [[STOP], [delta("stop", content=" \n")], [delta(content="I look it up"), delta("tool_calls")], []],
    ids=["nothing", "blanks", "announced calls", "no chunk"],
)
async def test_an_answer_of_nothing_may_be_asked_again(chunks: list[JsonObject]) -> None:
    with pytest.raises(EmptyResponseError):
        await take(streaming(frames(*chunks)))


async def test_a_call_written_as_text_is_never_shown() -> None:
    taken: list[object] = []
    chunks = [
        delta(content=piece)
        for piece in ("Let me see.\n", "<\uff5cDS", "ML\uff5cfunction_calls>", "\n<\uff5cDSML\uff5cinvoke")
    ]
    with pytest.raises(EmptyResponseError, match="as text"):
        taken.extend((await take(streaming(frames(*chunks, STOP))))[0].items)
    assert taken == []


@pytest.mark.parametrize("done", [False, True])
async def test_a_stream_that_breaks_off_is_not_an_answer(done: bool) -> None:
    body = frames(delta(content="half"), *([STOP] if done else []), done=False)
    with pytest.raises(StreamCutError):
        await take(streaming(body))


async def test_a_compatible_server_may_leave_the_end_mark_out() -> None:
    taken, _ = await take(streaming(frames(delta(content="all"), STOP, done=False)), profile=OPENAI_COMPATIBLE)
    assert taken.response.message.text == "all"


async def test_an_end_mark_without_its_blank_line_counts() -> None:
    taken, _ = await take(streaming(frames(delta(content="all"), STOP, done=False) + b"data: [DONE]"))
    assert taken.response.message.text == "all"


async def test_a_connection_that_is_reset_is_a_transport_error() -> None:
    async def script(exchange: Exchange) -> None:
        await exchange.send(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9999\r\n\r\n",
            frames(delta(content="x"), done=False),
        )

    with pytest.raises(TransportError, match="failed"):
        await take(script)


async def test_nobody_listening_is_a_transport_error() -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        provider = OpenAIChat(DEEPSEEK, model="m", base_url="http://127.0.0.1:9", api_key=KEY, client=client)
        with pytest.raises(TransportError, match=r"http://127.0.0.1:9/chat/completions"):
            await anext(provider.stream(request_of()))


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"data: {not json\n\n", ServerFaultError),
        (b"data: [1]\n\n", ServerFaultError),
        (b'data: {"error": "overloaded"}\n\n', ServerFaultError),
        (b'data: {"error": {"message": "slow down", "code": 429}}\n\n', RateLimitedError),
        (b'data: {"error": {"message": "bad key", "code": "401"}}\n\n', AuthenticationError),
    ],
)
async def test_an_error_inside_a_stream_is_told_apart(body: bytes, kind: type[LlmError]) -> None:
    with pytest.raises(LlmError) as caught:
        await take(streaming(frames(delta(content="x"), done=False) + body))
    assert type(caught.value) is kind


async def test_retry_after_is_passed_on() -> None:
    with pytest.raises(RateLimitedError) as caught:
        await take(refusing(429, b"{}", "retry-after: 17"))
    assert caught.value.retry_after == 17


@pytest.mark.parametrize("status", [301, 404, 500, 529])
@pytest.mark.parametrize("body", [b"", b"<html>\xff no", b'"oops"', b"[]", b"null", b'{"error": null}'])
async def test_any_refusal_is_an_llm_error(status: int, body: bytes) -> None:
    with pytest.raises(LlmError) as caught:
        await take(refusing(status, body, "location: http://127.0.0.1:9/"))
    assert isinstance(caught.value, ServerFaultError if status >= 500 else BadRequestError)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    body=st.one_of(
        st.binary(max_size=400),
        st.lists(
            st.sampled_from(
                [b"data: ", b"\n\n", b'{"choices":', b"[", b"]", b"null", b"{}", b'"delta":', b"}", b"[DONE]"]
            )
        ).map(b"".join),
    )
)
def test_garbage_never_raises_anything_but_an_llm_error(body: bytes) -> None:
    async def run() -> None:
        try:
            await take(streaming(body))
        except LlmError:
            return

    asyncio.run(run())


@pytest.mark.parametrize("cut", range(0, 2000, 61))
async def test_a_recorded_stream_sent_in_two_pieces_gives_the_same_answer(cut: int) -> None:
    body = (RECORDED / "qwen/chat_stream_tool_call.sse").read_bytes()

    async def script(exchange: Exchange) -> None:
        await exchange.send(SSE_HEAD, body[:cut], body[cut:])

    taken, _ = await take(script)
    assert taken.response.message.calls[0].arguments == '{"location": "San Francisco"}'


async def test_a_key_that_cannot_be_sent_is_refused_without_showing_it() -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        provider = OpenAIChat(DEEPSEEK, model="m", base_url="http://127.0.0.1:9", api_key="sk-\u4f60\n1", client=client)
        with pytest.raises(AuthenticationError) as caught:
            await anext(provider.stream(request_of()))
    assert "sk-" not in str(caught.value)


@pytest.mark.parametrize("url", ["ftp://127.0.0.1", "http://a:b", "nonsense"])
async def test_an_address_that_is_none_is_refused(url: str) -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        provider = OpenAIChat(DEEPSEEK, model="m", base_url=url, api_key=KEY, client=client)
        with pytest.raises(RejectedError, match=r"llm.base_url"):
            await anext(provider.stream(request_of()))


async def test_names_are_shaped_for_the_wire_and_given_back() -> None:
    name = "files.read/" + "x" * 80
    other = "files_read"

    async def script(exchange: Exchange) -> None:
        tools = exchange.body["tools"]
        assert isinstance(tools, list)
        wire = json.loads(json.dumps(tools))[0]["function"]["name"]
        assert len(wire) <= 64
        await exchange.send(SSE_HEAD, frames(delta("tool_calls", tool_calls=[fragment(0, "a", wire, "{}")])))

    taken, _ = await take(script, request_of(tools=(ToolDef(name=name), ToolDef(name=other))))
    assert taken.response.message.calls == (ToolCall(id="a", name=name, arguments="{}"),)
