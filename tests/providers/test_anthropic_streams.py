"""What comes over Anthropic's wire, right and wrong, and what the adapter makes of it."""

import asyncio
import json
from contextlib import suppress

import pytest

from ias.domain.messages import AssistantMessage, FinishReason, JsonObject, JsonValue, ToolCall, ToolDef, Usage
from ias.errors import (
    ContextOverflowError,
    EmptyResponseError,
    RejectedError,
    ServerFaultError,
    StreamCutError,
)
from ias.providers.anthropic import PAUSES_MAX
from ias.providers.profiles import ANTHROPIC, ANTHROPIC_COMPATIBLE, DEEPSEEK_ANTHROPIC
from tests.providers.anthropic_events import BEGIN, PING, STOP, answered, call, close, end, grow, start, text, whole
from tests.providers.loopback import SSE_HEAD, Exchange, events, in_turn, request_of, streaming, take

THOUGHT = [
    start(0, "thinking", thinking="", signature=""),
    grow(0, "thinking_delta", thinking="so "),
    grow(0, "thinking_delta", thinking="it is"),
    grow(0, "signature_delta", signature="SIG"),
    close(0),
]


@pytest.mark.parametrize(
    ("events_given", "arguments"),
    [
        (call(0, "a", "f"), "{}"),
        (call(0, "a", "f", "", '{"x"', ": 1}"), '{"x": 1}'),
        ([start(0, "tool_use", id="a", name="f", input={"x": 1})], '{"x": 1}'),
        (
            [
                start(0, "tool_use", id="a", name="f", input={"x": 1}),
                grow(0, "input_json_delta", partial_json='{"x": 2}'),
            ],
            '{"x": 2}',
        ),
        ([start(0, "tool_use", id="a", name="f"), grow(7, "input_json_delta", partial_json='{"x": 3}')], '{"x": 3}'),
        ([start(None, "tool_use", id="a", name="f", input='{"x": 4}')], '{"x": 4}'),
    ],
    ids=["no input", "pieces", "whole at the start", "both: deltas win", "a wrong index", "a text"],
)
async def test_the_input_of_a_call_is_found(events_given: list[JsonObject], arguments: str) -> None:
    response = (await answered(events_given, reason="tool_use")).response
    assert response.message == AssistantMessage(calls=(ToolCall(id="a", name="f", arguments=arguments),))
    assert response.stop_reason is FinishReason.TOOL_CALLS


async def test_parallel_calls_keep_their_order_and_a_broken_one_harms_itself_alone() -> None:
    response = (await answered(call(0, "a", "f", '{"x": '), call(1, "b", "g", '{"y": 2}'), reason="end_turn")).response
    broken, sound = response.message.calls
    assert (broken.id, broken.arguments, sound) == ("a", "{}", ToolCall(id="b", name="g", arguments='{"y": 2}'))
    assert broken.fault is not None
    assert response.stop_reason is FinishReason.TOOL_CALLS


async def test_missing_and_repeated_ids_become_new_ones() -> None:
    response = (await answered(call(0, "", "f"), call(1, "a", "f"), call(2, "a", "f"), reason="tool_use")).response
    ids = [one.id for one in response.message.calls]
    assert ids[1] == "a"
    assert len({*ids}) == 3


async def test_a_cut_answer_keeps_no_use_of_a_tool_whose_result_is_missing() -> None:
    begun = [start(1, "server_tool_use", id="srv", name="web_search", input={})]
    response = (await answered(THOUGHT, begun, text(2, "I look"), reason="max_tokens")).response
    assert response.message == AssistantMessage(text="I look", reasoning="so it is")


async def test_blank_texts_which_the_api_refuses_are_not_kept() -> None:
    response = (await answered(THOUGHT, text(1, "\n\n"), call(2, "a", "f"), reason="tool_use")).response
    assert response.message.blocks is not None
    assert response.message.blocks["content"] == [
        {"type": "thinking", "thinking": "so it is", "signature": "SIG"},
        {"type": "tool_use", "id": "a", "name": "f", "input": {}},
    ]


@pytest.mark.parametrize("reason", ["max_tokens", "refusal"])
async def test_no_call_of_a_cut_answer_is_given_nor_kept(reason: str) -> None:
    response = (await answered(THOUGHT, text(1, "I will"), call(2, "a", "f"), reason=reason)).response
    wanted = {"max_tokens": FinishReason.LENGTH, "refusal": FinishReason.CONTENT_FILTER}[reason]
    assert response.stop_reason is wanted
    assert response.message == AssistantMessage(text="I will", reasoning="so it is")


async def test_calls_that_end_at_the_limit_count_as_cut() -> None:
    body = events(BEGIN, *call(0, "a", "f"), end("tool_use", {"output_tokens": 50}), STOP)
    taken, _ = await take(streaming(body), request_of(max_tokens=50), profile=ANTHROPIC)
    assert (taken.response.stop_reason, taken.response.message.calls) == (FinishReason.LENGTH, ())


async def test_a_refusal_without_a_word_says_why() -> None:
    body = whole(reason="refusal", stop_details={"type": "refusal", "category": "cyber"})
    with pytest.raises(RejectedError, match=r"refused to answer \(cyber\)"):
        await take(streaming(body), profile=ANTHROPIC)


async def test_an_answer_that_outgrows_the_context_says_so() -> None:
    with pytest.raises(ContextOverflowError):
        await answered(text(0, "and so on"), reason="model_context_window_exceeded")


async def test_a_reason_that_nobody_knows_is_a_failure() -> None:
    with pytest.raises(ServerFaultError, match="'meltdown'"):
        await answered(text(0, "x"), reason="meltdown")


@pytest.mark.parametrize("reason", ["end_turn", "stop_sequence", None])
async def test_other_ends_are_ends(reason: str | None) -> None:
    response = (await answered(text(0, "done"), reason=reason)).response
    assert (response.stop_reason, response.message) == (FinishReason.STOP, AssistantMessage(text="done"))


async def test_blocks_that_must_go_back_are_kept_in_their_order_byte_for_byte() -> None:
    secret: JsonObject = {"type": "redacted_thinking", "data": "EmwKAhgB=="}
    found: JsonObject = {"type": "web_search_tool_result", "tool_use_id": "srv", "content": [{"encrypted": "x"}]}
    response = (
        await answered(
            [start(0, "redacted_thinking", data="EmwKAhgB==")],
            [event | {"index": 1} for event in THOUGHT],
            [
                start(2, "server_tool_use", id="srv", name="web_search", input={}),
                grow(2, "input_json_delta", partial_json='{"query": "q"}'),
            ],
            [start(3, "web_search_tool_result", tool_use_id="srv", content=[{"encrypted": "x"}])],
            [
                start(4, "text", text="It"),
                grow(4, "citations_delta", citation={"url": "u"}),
                grow(4, "text_delta", text=" is"),
            ],
            call(5, "a", "f", '{"x": 1}'),
            reason="tool_use",
        )
    ).response
    assert response.message.calls == (ToolCall(id="a", name="f", arguments='{"x": 1}'),)
    assert (response.message.text, response.message.reasoning) == ("It is", "so it is")
    assert response.message.blocks == {
        "provider": "anthropic",
        "model": "deepseek-flash",
        "content": [
            secret,
            {"type": "thinking", "thinking": "so it is", "signature": "SIG"},
            {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {"query": "q"}},
            found,
            {"type": "text", "text": "It is", "citations": [{"url": "u"}]},
            {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}},
        ],
    }


async def test_a_block_that_grew_in_an_unknown_way_is_not_given_back() -> None:
    response = (await answered(THOUGHT, [start(1, "novelty"), grow(1, "novel_delta", x=1)], text(2, "done"))).response
    assert response.message.blocks is not None
    content = response.message.blocks["content"]
    assert isinstance(content, list)
    assert [block["type"] for block in content] == ["thinking", "text"]  # type: ignore[index]  - objects


async def test_unsigned_thinking_is_kept_where_no_signature_is_asked_for() -> None:
    unsigned = [start(0, "thinking", thinking=""), grow(0, "thinking_delta", thinking="so")]
    answer = text(1, "done")
    kept = (await answered(unsigned, answer, profile=DEEPSEEK_ANTHROPIC)).response.message.blocks
    assert kept is not None
    assert kept["content"] == [
        {"type": "thinking", "thinking": "so", "signature": ""},
        {"type": "text", "text": "done"},
    ]
    assert (await answered(unsigned, answer)).response.message.blocks is None


def words_of(body: JsonObject) -> JsonValue:
    return body["messages"]


async def test_a_paused_answer_is_sent_back_as_it_is_and_goes_on() -> None:
    use = [start(0, "server_tool_use", id="srv", name="web_search", input={"query": "q"})]
    first = events(BEGIN, *use, *text(1, "Let me see. "), end("pause_turn", {"output_tokens": 10}), STOP)
    last = events(BEGIN, *text(0, "It rains."), end("end_turn", {"output_tokens": 20}), STOP)
    taken, server = await take(in_turn(first, last), profile=ANTHROPIC)
    assert taken.text == "Let me see. It rains."
    assert taken.response.usage == Usage(input=10, output=30)
    said: list[JsonValue] = [
        {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {"query": "q"}},
        {"type": "text", "text": "Let me see. "},
    ]
    assert server.exchanges[1].body == {
        **server.exchanges[0].body,
        "messages": [*server.exchanges[0].body["messages"], {"role": "assistant", "content": said}],  # type: ignore[misc]  - a list
    }
    assert taken.response.message.blocks == {
        "provider": "anthropic",
        "model": "deepseek-flash",
        "content": [*said, {"type": "text", "text": "It rains."}],
    }


async def test_each_part_of_a_paused_answer_has_the_whole_limit() -> None:
    first = events(BEGIN, *text(0, "Let me see."), end("pause_turn", {"output_tokens": 20}), STOP)
    last = events(BEGIN, *call(0, "a", "f"), end("tool_use", {"output_tokens": 20}), STOP)
    taken, _ = await take(in_turn(first, last), request_of(max_tokens=25), profile=ANTHROPIC)
    assert (taken.response.stop_reason, taken.response.usage.output) == (FinishReason.TOOL_CALLS, 40)


async def test_after_a_pause_pings_hold_the_idle_clock_again_until_the_answer_goes_on() -> None:
    parts = iter([whole(text(0, "Let me see. "), reason="pause_turn"), whole(text(0, "It rains."))])
    begun = asyncio.Event()

    async def script(exchange: Exchange) -> None:
        part = next(parts)
        await exchange.send(SSE_HEAD)
        if b"rains" in part:
            asyncio.get_running_loop().call_later(0.6, begun.set)
            while not begun.is_set():
                await exchange.send(events(PING))
                with suppress(TimeoutError):
                    async with asyncio.timeout(0.02):
                        await begun.wait()
        await exchange.send(part)

    taken, _ = await take(script, profile=ANTHROPIC, idle=0.3)
    assert taken.text == "Let me see. It rains."


async def test_an_answer_cannot_pause_for_ever() -> None:
    asked: list[Exchange] = []

    async def script(exchange: Exchange) -> None:
        asked.append(exchange)
        await exchange.send(SSE_HEAD, whole(text(0, "hm "), reason="pause_turn"))

    with pytest.raises(RejectedError, match="paused more than 8 times"):
        await take(script, profile=ANTHROPIC)
    assert len(asked) == PAUSES_MAX + 1


async def test_a_pause_before_the_first_word_may_be_asked_again() -> None:
    with pytest.raises(EmptyResponseError, match="paused"):
        await answered(reason="pause_turn")


@pytest.mark.parametrize(
    ("parts", "reason"),
    [([], "end_turn"), ([text(0, " ")], "end_turn"), ([text(0, "I call it")], "tool_use"), ([[PING]], None)],
    ids=["nothing", "blanks", "announced calls", "pings"],
)
async def test_an_answer_of_nothing_may_be_asked_again(parts: list[list[JsonObject]], reason: str | None) -> None:
    with pytest.raises(EmptyResponseError):
        await answered(*parts, reason=reason)


async def test_a_call_written_as_text_is_never_shown() -> None:
    pieces = ["Let me see.\n", "<\uff5cDS", "ML\uff5cfunction_calls>", "\n<\uff5cDSML\uff5cinvoke"]
    deltas = [grow(0, "text_delta", text=piece) for piece in pieces]
    with pytest.raises(EmptyResponseError, match="as text"):
        await answered([start(0, "text", text=""), *deltas], profile=DEEPSEEK_ANTHROPIC)


async def test_a_stream_that_breaks_off_is_not_an_answer() -> None:
    body = events(BEGIN, *text(0, "half"))
    for profile, given in ((ANTHROPIC, body + events(end("end_turn"))), (ANTHROPIC_COMPATIBLE, body)):
        with pytest.raises(StreamCutError):
            await take(streaming(given), profile=profile)


async def test_a_compatible_server_may_leave_out_what_frames_the_answer() -> None:
    body = events(grow(0, "text_delta", text="all"), end("end_turn"))
    taken, _ = await take(streaming(body + b"data: [DONE]\n\n"), profile=ANTHROPIC_COMPATIBLE)
    assert taken.response.message == AssistantMessage(text="all")


async def test_an_event_without_a_type_has_that_of_its_line() -> None:
    body = b'event: content_block_delta\ndata: {"index": 0, "delta": {"type": "text_delta", "text": "all"}}\n\n'
    body += events(end("end_turn")) + b"event: message_stop\ndata: {}\n\n"
    taken, _ = await take(streaming(body), profile=ANTHROPIC)
    assert taken.response.message == AssistantMessage(text="all")


async def test_a_whole_answer_is_read_too() -> None:
    answer: JsonObject = {
        "type": "message",
        "content": [{"type": "text", "text": "all"}, {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}}],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 3, "output_tokens": 4},
    }
    body = json.dumps(answer).encode()
    head = SSE_HEAD.replace(b"text/event-stream", b"application/json")
    taken, _ = await take(streaming(body, head=head), profile=ANTHROPIC)
    assert taken.response.message == AssistantMessage(
        text="all", calls=(ToolCall(id="a", name="f", arguments='{"x": 1}'),)
    )
    assert taken.response.usage == Usage(input=3, output=4)


async def test_all_that_was_read_counts_as_input() -> None:
    begin: JsonObject = {
        "type": "message_start",
        "message": {
            "usage": {
                "input_tokens": 3,
                "cache_read_input_tokens": 100,
                "cache_creation_input_tokens": 20,
                "output_tokens": 1,
            }
        },
    }
    usage: JsonObject = {"input_tokens": 0, "output_tokens": 9, "output_tokens_details": {"thinking_tokens": 4}}
    taken, _ = await take(streaming(events(begin, *text(0, "x"), end("end_turn", usage), STOP)), profile=ANTHROPIC)
    assert taken.response.usage == Usage(input=123, output=9, cached=100, reasoning=4)


async def test_a_character_cut_in_two_is_made_whole_in_all_places() -> None:
    parts = [
        [
            start(0, "thinking"),
            grow(0, "thinking_delta", thinking="\ud83d"),
            grow(0, "thinking_delta", thinking="\ude00"),
        ],
        [grow(0, "signature_delta", signature="S")],
        [start(1, "text"), grow(1, "text_delta", text="\ud83d"), grow(1, "text_delta", text="\ude00\ud83d")],
    ]
    taken = await answered(*parts)
    assert (taken.text, taken.reasoning) == ("😀\ufffd", "😀")
    assert taken.response.message.blocks is not None
    assert taken.response.message.blocks["content"] == [
        {"type": "thinking", "thinking": "😀", "signature": "S"},
        {"type": "text", "text": "😀\ufffd"},
    ]


async def test_names_of_tools_and_properties_are_shaped_for_the_wire_and_given_back() -> None:
    tool = ToolDef(name="files.read", parameters={"type": "object", "properties": {"$top": {}, "ok.y": {}}})

    async def script(exchange: Exchange) -> None:
        offered = exchange.body["tools"]
        assert isinstance(offered, list)
        sent = json.loads(json.dumps(offered))[0]
        key = next(key for key in sent["input_schema"]["properties"] if key != "ok.y")
        given = json.dumps({key: 1, "ok.y": 2, "else": 3})
        await exchange.send(SSE_HEAD, whole(call(0, "a", sent["name"], given), reason="tool_use"))

    taken, _ = await take(script, request_of(tools=(tool,)), profile=ANTHROPIC)
    assert taken.response.message.calls == (
        ToolCall(id="a", name="files.read", arguments='{"$top": 1, "ok.y": 2, "else": 3}'),
    )


async def test_a_block_that_json_cannot_say_fails_the_answer() -> None:
    deep: JsonValue = {}
    for _ in range(100):
        deep = {"x": deep}
    for value in (deep, float("nan")):
        with pytest.raises(ServerFaultError, match="given back"):
            await answered([start(0, "server_tool_result", content=value)], text(1, "x"))
