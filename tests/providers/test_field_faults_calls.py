"""Field faults in the fragments of tool calls, by their row in docs/providers.md."""

import json
from dataclasses import dataclass
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ias.domain.messages import FinishReason, JsonObject, JsonValue, ToolCall, ToolDef, Usage
from ias.errors import InvalidArgumentsError
from ias.providers.arguments import read_arguments
from ias.providers.tool_deltas import CUT, MIXED, CallBuilder
from ias.providers.tool_names import WireNames
from ias.toolspec.arguments import validate_args
from tests.providers.loopback import Taken, delta, frames, request_of, streaming, take


def head(name: JsonValue = "f", args: JsonValue = "", **fields: JsonValue) -> JsonObject:
    """Give a fragment that opens a call."""
    return {**fields, "function": {"name": name, "arguments": args}}


def tail(args: JsonValue, **fields: JsonValue) -> JsonObject:
    """Give a fragment that continues one."""
    return {**fields, "function": {"arguments": args}}


def built(*deltas: list[JsonObject]) -> list[tuple[str, str, str]]:
    """Give the calls of several deltas, none of which may be a fault."""
    builder = CallBuilder()
    for fragments in deltas:
        builder.feed(list[JsonValue](fragments))
    calls = builder.finish(WireNames(()))
    assert [call.fault for call in calls] == [None] * len(calls)
    return [(call.id, call.name, call.arguments) for call in calls]


def nameless(calls: list[tuple[str, str, str]]) -> list[tuple[str, str]]:
    """Leave the ids out, which were made up and are all different."""
    assert len({call[0] for call in calls}) == len(calls)
    assert all(call[0].startswith("call_") for call in calls)
    return [call[1:] for call in calls]


async def answer(*chunks: JsonObject, max_tokens: int | None = None, usage: JsonObject | None = None) -> Taken:
    last: JsonObject = {"choices": [], "usage": usage}
    taken, _ = await take(streaming(frames(*chunks, last)), request_of(max_tokens=max_tokens))
    return taken


def test_row_10_a_new_id_on_a_used_index_is_another_call() -> None:
    both = [("a", "f", '{"x":1}'), ("b", "f", '{"x":2}')]
    assert built([head(index=0, id="a", args='{"x":1}')], [head(index=0, id="b", args='{"x":2}')]) == both
    assert built([head(index=0, id="a", args='{"x":1}'), head(index=0, id="b")], [tail('{"x":2}', index=0)]) == both


def test_row_10_a_known_id_wins_over_its_index() -> None:
    fragments = ([head(index=0, id="a"), head(index=1, id="b")], [tail('{"x":1}', index=1, id="a")])
    assert built(*fragments, [tail('{"x":2}', index=1)]) == [("a", "f", '{"x":1}'), ("b", "f", '{"x":2}')]


def test_row_10_a_tail_on_another_index_than_its_head_is_continued() -> None:
    first = ([head(index=0, id="a")], [tail('{"x"', index=1)], [tail(":1}", index=1)])
    second = ([head(index=1, id="b")], [tail('{"x":2}', index=2)])
    assert built(*first, *second) == [("a", "f", '{"x":1}'), ("b", "f", '{"x":2}')]


@pytest.mark.parametrize("index", [{}, {"index": None}, {"index": "x"}, {"index": True}])
def test_row_11_without_an_index_a_delta_with_an_id_opens_and_one_without_continues(index: JsonObject) -> None:
    first = ([head(id="a", **index)], [tail('{"x"', **index)], [tail(":1}", **index)])
    assert built(*first, [head("g", id="b", **index)], [tail("{}", **index)]) == [
        ("a", "f", '{"x":1}'),
        ("b", "g", "{}"),
    ]


def test_row_11_an_index_may_be_written_as_text() -> None:
    heads = [head(index="0", id="a"), head("g", index="1", id="b")]
    tails = [tail("{}", index="1"), tail('{"x":1}', index="0")]
    assert built(heads, tails) == [("a", "f", '{"x":1}'), ("b", "g", "{}")]


@pytest.mark.parametrize("index", [{}, {"index": 0}])
def test_row_12_without_ids_a_new_name_is_a_new_call(index: JsonObject) -> None:
    first = ([head(**index)], [tail('{"x":1}', **index)])
    assert nameless(built(*first, [head("g", "{}", **index)])) == [("f", '{"x":1}'), ("g", "{}")]
    assert nameless(built(*first, [head(**index)], [tail("{}", **index)])) == [("f", '{"x":1}'), ("f", "{}")]


@pytest.mark.parametrize("index", [{}, {"index": 0}])
def test_row_12_a_name_told_again_with_every_fragment_is_one_call(index: JsonObject) -> None:
    fragments = [[head(args=args, **index)] for args in ("", '{"x"', ":1", "}", "")]
    assert nameless(built(*fragments)) == [("f", '{"x":1}')]


@pytest.mark.parametrize("blank", ["", " ", None])
def test_row_13_blank_ids_and_names_overwrite_nothing(blank: str | None) -> None:
    again = head(blank, "{}", index=0, id=blank)
    assert built([head(index=0, id="a")], [again], [head(blank, "", index=0, id=blank)]) == [("a", "f", "{}")]


def test_row_13_a_name_told_again_under_a_known_place_opens_nothing() -> None:
    assert built([head(index=0, id="a", args="{}")], [head(index=0)]) == [("a", "f", "{}")]


@pytest.mark.parametrize("nothing", [None, "", [], 0])
def test_row_14_arguments_that_are_missing_are_none_yet(nothing: JsonValue) -> None:
    named: JsonObject = {"index": 0, "id": "a", "function": {"name": "f"}}
    assert built([named], [tail('{"x":1}', index=0)], [tail(nothing, index=0)]) == [("a", "f", '{"x":1}')]
    assert built([named], [tail(nothing, index=0)]) == [("a", "f", "{}")]


def test_row_15_one_index_twice_in_a_chunk_is_read_in_order() -> None:
    assert built([head(index=0, id="a"), tail('{"x"', index=0), tail(":1}", index=0)]) == [("a", "f", '{"x":1}')]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How a vendor marks the head and the tails of call number `n`."""

    has_id: bool = True
    repeats_id: bool = False
    index: str = "own"

    def marks(self, n: int, *, is_head: bool) -> JsonObject:
        marks: JsonObject = {}
        if self.index != "none":
            marks["index"] = {"own": n, "zero": 0, "shifted": n if is_head else n + 1}[self.index]
        if self.has_id and (is_head or self.repeats_id):
            marks["id"] = f"id-{n}"
        elif self.repeats_id:
            marks["id"] = ""
        return marks


SHAPES = st.builds(
    Shape, has_id=st.booleans(), repeats_id=st.booleans(), index=st.sampled_from(["own", "zero", "none", "shifted"])
)
ARGUMENTS = st.sampled_from(
    [
        "{}",
        '{"x":1}',
        '{"x":"a}b{"}',
        '{"x":{"y":[1,2]}}',
        '{"path":"/tmp/a","text":"{\\"k\\": 1}"}',
        '{"x":"1}","y":2}',
    ]
)
CALLS = st.lists(st.tuples(ARGUMENTS, st.lists(st.integers(0, 40), max_size=3)), min_size=1, max_size=4)


def fragments_of(shape: Shape, n: int, arguments: str, cuts: list[int]) -> list[JsonObject]:
    edges = sorted({0, len(arguments), *(cut % (len(arguments) + 1) for cut in cuts)})
    pieces = [arguments[begin:end] for begin, end in pairwise(edges)]
    first = head(f"tool-{n}", pieces[0], **shape.marks(n, is_head=True))
    return [first, *(tail(piece, **shape.marks(n, is_head=False)) for piece in pieces[1:])]


@settings(max_examples=400)
@given(SHAPES, CALLS, st.randoms(use_true_random=False), st.booleans())
def test_row_15_any_order_of_fragments_is_put_together_or_a_fault_and_never_mixed(
    shape: Shape, calls: list[tuple[str, list[int]]], order: Random, is_sequence: bool
) -> None:
    waiting = [fragments_of(shape, n, arguments, cuts) for n, (arguments, cuts) in enumerate(calls)]
    builder = CallBuilder()
    while any(waiting):
        ready = [fragments for fragments in waiting if fragments]
        builder.feed([(ready[0] if is_sequence else order.choice(ready)).pop(0)])
    made = builder.finish(WireNames(()))
    assert sorted(call.name for call in made) == [f"tool-{n}" for n in range(len(calls))]
    for call in made:
        given_arguments = calls[int(call.name.removeprefix("tool-"))][0]
        if call.fault is None:
            assert call.arguments == given_arguments
        else:
            assert json.loads(call.arguments) == {} or call.fault == CUT
    if is_sequence or (shape.has_id and shape.repeats_id) or shape.index == "own":
        assert [call.fault for call in made] == [None] * len(made)


@pytest.mark.parametrize("indexes", [(0, 0, 0, 0), (None,) * 4, (0, 1, 1, 2)])
@pytest.mark.parametrize("tails", [("1}", 'cd"}'), ("1}", '"}')])
def test_row_15_pieces_that_fit_several_calls_are_given_to_none(
    indexes: tuple[int | None, ...], tails: tuple[str, str]
) -> None:
    # Inside a string of the second call the end of the first one would go unseen.
    heads = [head(id="a", args='{"x":', index=indexes[0]), head(id="b", args='{"y":"ab', index=indexes[1])]
    builder = CallBuilder()
    builder.feed([*heads, tail(tails[0], index=indexes[2]), tail(tails[1], index=indexes[3])])
    assert [(call.arguments, call.fault) for call in builder.finish(WireNames(()))] == [("{}", MIXED)] * 2


def test_row_15_a_call_that_took_more_than_its_own_puts_those_in_doubt_that_were_open_meanwhile() -> None:
    # Heads are counted from 0 and tails from 1, which nothing shows but the rest that is one too many.
    builder = CallBuilder()
    builder.feed([head(index=0, id="a", args='{"'), head(index=1, id="b", args='{"x'), tail('x":1}', index=1)])
    builder.feed([head(index=2, id="c", args="{}"), tail('":1}', index=2)])
    a, b, c = builder.finish(WireNames(()))
    assert (a.fault, b.fault) == (MIXED, MIXED)
    assert c.fault is not None


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ('{"a": "two\nlines\tand \x00"}', '{"a": "two\\nlines\\tand \\u0000"}'),
        (r'{"a": "it\'s \d+ \x"}', '{"a": "it\'s \\\\d+ \\\\x"}'),
    ],
)
def test_row_16_slips_that_lose_nothing_are_mended(written: str, text: str) -> None:
    assert built([head(index=0, id="a", args=written)]) == [("a", "f", text)]


@pytest.mark.parametrize(
    ("written", "place"),
    [
        ('{"a": b"}', "character 6"),
        ('{"a" "b"}', "character 5"),
        ("{'a': 1}", "character 1"),
        ("{a: 1}", "character 1"),
    ],
)
def test_row_16_structure_is_never_guessed_and_the_place_is_told(written: str, place: str) -> None:
    builder = CallBuilder()
    builder.feed([head(index=0, id="a", args=written), head("g", "{}", index=1, id="b")])
    broken, sound = builder.finish(WireNames(()))
    assert broken.fault is not None
    assert (broken.arguments, place in broken.fault) == ("{}", True)
    assert sound == ToolCall(id="b", name="g", arguments="{}")


TWO = [head(index=0, id="a", args='{"x":1}'), head("g", '{"path": "/tmp/', index=1, id="b")]


async def test_row_17_arguments_cut_at_the_limit_run_nothing_whatever_the_reason_says() -> None:
    taken = await answer(delta("tool_calls", tool_calls=TWO), max_tokens=50, usage={"completion_tokens": 50})
    assert (taken.response.stop_reason, taken.response.message.calls) == (FinishReason.LENGTH, ())


async def test_row_17_without_a_known_limit_no_call_of_an_answer_that_was_cut_is_carried_out() -> None:
    taken = await answer(delta("tool_calls", tool_calls=TWO))
    whole, cut = taken.response.message.calls
    assert whole == ToolCall(id="a", name="f", arguments='{"x":1}', fault=CUT)
    assert (cut.arguments, cut.fault is not None) == ("{}", True)


def test_row_17_a_text_cut_anywhere_is_known_to_be_cut() -> None:
    text = '{"a": [true, false, null, -1.5e+3, "x\\u00e9\\n"], "b": {"c": "d"}}'
    assert [length for length in range(1, len(text)) if not read_arguments(text[:length]).is_cut] == []
    assert [read_arguments(whole).is_cut for whole in (text, "", "{a: 1}", '{"a": 1}}')] == [False] * 4


@pytest.mark.parametrize("reason", ["length", "content_filter"])
async def test_row_18_no_call_of_a_turn_that_was_cut_is_given(reason: str) -> None:
    taken = await answer(delta(content="I will"), delta(reason, tool_calls=TWO))
    assert (taken.response.stop_reason, taken.response.message.calls) == (FinishReason(reason), ())


@pytest.mark.parametrize("nothing", ["", " ", "null"])
def test_row_20_no_arguments_are_an_empty_object(nothing: str) -> None:
    assert built([head(index=0, id="a", args=nothing)]) == [("a", "f", "{}")]


def test_row_21_arguments_may_come_as_an_object() -> None:
    assert built([head(index=0, id="a", args={"x": ["é", None]})]) == [("a", "f", '{"x": ["é", null]}')]
    assert built([head(index=0, id="a", args='"{\\"x\\": 1}"')]) == [("a", "f", '{"x": 1}')]


SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"n": {"type": "integer"}, "tags": {"type": "array"}, "hint": {"type": "string"}},
    "required": ["n"],
}


def test_row_22_what_means_the_same_is_read_as_the_schema_wants_it() -> None:
    given_arguments: JsonObject = {"n": "3", "tags": '["a"]', "hint": None}
    assert validate_args(SCHEMA, given_arguments) == {"n": 3, "tags": ["a"]}


@pytest.mark.parametrize("wrong", [{"n": "three"}, {"n": ""}, {"n": None}, {"n": 3, "tags": "a, b"}, {}])
def test_row_22_what_does_not_is_refused_by_name(wrong: JsonObject) -> None:
    with pytest.raises(InvalidArgumentsError, match=r"\b(n|tags)\b"):
        validate_args(SCHEMA, wrong)


@pytest.mark.parametrize("reason", ["stop", "", None, "end_turn", "function_call"])
async def test_row_23_calls_that_are_there_decide_and_not_the_reason(reason: str | None) -> None:
    taken = await answer(delta(tool_calls=[head(index=0, id="a", args="{}")]), delta(reason))
    assert taken.response.stop_reason is FinishReason.TOOL_CALLS
    assert taken.response.message.calls == (ToolCall(id="a", name="f", arguments="{}"),)


async def test_row_23_the_form_before_tool_calls_is_read_too() -> None:
    chunks = [delta(function_call={"name": "f", "arguments": ""}), delta(function_call={"arguments": '{"x":1}'})]
    taken = await answer(*chunks, delta("function_call"))
    assert [(call.name, call.arguments) for call in taken.response.message.calls] == [("f", '{"x":1}')]


async def test_row_25_a_blank_reason_is_none_and_the_last_usage_counts() -> None:
    chunks: list[JsonObject] = [{**delta("", content="x"), "usage": {"completion_tokens": at}} for at in (1, 2)]
    taken = await answer(*chunks, {**delta("stop"), "usage": None}, usage={"completion_tokens": 3, "prompt_tokens": 5})
    assert (taken.response.stop_reason, taken.response.usage) == (FinishReason.STOP, Usage(input=5, output=3))


@pytest.mark.parametrize("identity", ["functions.get_weather:0", "call_00_Zx 9/ü", "0"])
async def test_row_39_an_id_comes_back_as_it_was_given(identity: str) -> None:
    tools = (ToolDef(name="get_weather"),)
    taken, _ = await take(
        streaming(frames(delta("tool_calls", tool_calls=[head("get_weather", "{}", index=0, id=identity)]))),
        request_of(tools=tools),
    )
    message = taken.response.message
    _, server = await take(
        streaming(frames(delta("stop", content="ok"))), request_of(messages=(*request_of().messages, message))
    )
    sent = json.loads(json.dumps(server.exchanges[0].body["messages"]))
    assert (sent[1]["tool_calls"][0]["id"], sent[2]["tool_call_id"]) == (identity, identity)
