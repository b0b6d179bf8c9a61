"""Field faults that reach a person as text, by their row in docs/providers.md: leaked calls, reasoning, nothing."""

from typing import Any

import pytest

from ias.domain.messages import AssistantMessage, FinishReason, ToolCall, ToolDef
from ias.errors import EmptyResponseError
from ias.providers.leaks import LeakGate
from ias.providers.profiles import DEEPSEEK, OLLAMA_COMPATIBLE, OPENAI_COMPATIBLE, QWEN, Profile
from tests.providers.loopback import delta, frames, request_of, streaming, take

WEATHER = ToolDef(name="get_weather")
STOP = delta("stop", content="")
FULL, DOUBLE, WIDE = "\uff5c", "\u2016", "\u2551"
DSML = (
    f'<{FULL}DSML{FULL}tool_calls>\n<{FULL}DSML{FULL}invoke name="get_weather">\n'
    f'<{FULL}DSML{FULL}parameter name="city" string="true">Paris</{FULL}DSML{FULL}parameter>\n'
    f"</{FULL}DSML{FULL}invoke>\n</{FULL}DSML{FULL}tool_calls>"
)
SPELLINGS = [
    DSML,
    DSML.replace("tool_calls", "function_calls"),
    DSML.replace("tool_calls", "tool-calls"),
    DSML.replace("tool_calls", "toolcalls"),
    DSML.replace("tool_calls", " calls"),
    DSML.replace(FULL, "|"),
    DSML.replace(FULL, FULL * 2),
    DSML.replace(FULL, "||"),
    DSML.replace(FULL, DOUBLE),
    DSML.replace(FULL, WIDE),
    DSML.replace(FULL, f" {FULL} "),
    DSML.replace("DSML", "dsml"),
    DSML.replace(f"</{FULL}DSML{FULL}parameter>", "</parameter>"),
    DSML.removeprefix("<"),
    DSML.replace(f"<{FULL}DSML", "<DSML"),
    DSML.partition("\n")[2],
    f"<{FULL}DSML{FULL}get_weather>\n<city>Paris</city>\n</{FULL}DSML{FULL}get_weather>",
    f"</{FULL}DSML{FULL}parameter>\n</{FULL}DSML{FULL}invoke>",
]
OTHERS = [
    '<tool_call>\n{"name": "get_weather", "arguments": {}}\n</tool_call>',
    '<tool_call> [{"name": "get_weather"}]',
    "<tool_call>get_weather\n<arg_key>city</arg_key>",
    "<tool_call><function=get_weather>",
    '<tool_call name="get_weather">',
    '<tool>{"name": "get_weather"}</tool>',
    "<function=get_weather>{}</function>",
    '<function_calls>\n<invoke name="get_weather">',
    f"<{FULL}tool▁calls▁begin{FULL}><{FULL}tool▁call▁begin{FULL}>function<{FULL}tool▁sep{FULL}>get_weather",
    f"<{FULL}tool▁call▁begin{FULL}>get_weather",
    f"<{FULL}tool▁outputs▁begin{FULL}>",
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{}",
    "<|tool_call_begin|>functions.get_weather:0",
    "<|tool_call|>[{}]",
    '<|python_tag|>{"name": "get_weather"}',
    "<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{}<|call|>",
    '<minimax:tool_call>\n<invoke name="get_weather">',
    '[TOOL_CALLS] [{"name": "get_weather", "arguments": {}}]',
    '{"name": "get_weather", "arguments": {"city": "Paris"}}',
    '{\n  "name": "get_weather",\n  "parameters": {"city": "Paris"}\n}',
    '[{"name": "get_weather", "arguments": {}}, {"name": "get_weather", "arguments": {}}]',
    '{"type": "function", "function": {"name": "get_weather", "arguments": "{}"}}',
    '{"type": "function", "name": "get_weather", "parameters": {}}',
    '{"function": "get_weather", "arguments": {}}',
    '{"tool": "get_weather", "arguments": {}}',
]
WHOLE_ANSWERS = [
    '{"arguments": {"city": "Paris"}, "name": "get_weather"}',
    '{"parameters": {"city": "Paris"}, "name": "get_weather"}',
    '{"tool_calls": [{"id": "1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}]}',
    '{"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}',
    '{"arguments": {"city": "Par',
]
HARMLESS = [
    "| Letter | Name |\n|---|---|\n| DSML | markup |\n",
    f"`{DSML.splitlines()[0]}` opens a call.",
    f"```xml\n{DSML}\n```\nis how it looks.",
    "The tag <tool_call> opens a call, <tool> does not.",
    "f{x} and {y: 1}\n{not json}\n[1, 2]\n[link](url)\n",
    '{"id": "17", "name": "Paris"}',
    '{"name": "get_weather", "city": "Paris"}',
    '{"arguments": {"x": 1}, "name": "somebody"}',
    "a || b, a | b, x <| y",
    "<tools>\n  <tool>\n    <name>hammer</name>\n  </tool>\n</tools>",
]


def passed(*pieces: str) -> tuple[str, bool]:
    gate = LeakGate((WEATHER.name,))
    shown = "".join(gate.feed(piece) for piece in pieces) + gate.finish()
    return shown, gate.has_leaked


async def test_row_01_a_call_in_dsml_is_neither_shown_nor_an_answer() -> None:
    with pytest.raises(EmptyResponseError, match="as text"):
        await take(streaming(frames(delta(content=DSML), STOP)), request_of(tools=(WEATHER,)))


async def test_row_01_beside_a_real_call_the_markup_is_cut_off() -> None:
    call = {"index": 0, "id": "a", "function": {"name": "get_weather", "arguments": "{}"}}
    chunks = [delta(content=f"I look.\n{DSML}"), delta(tool_calls=[call]), delta("tool_calls")]
    taken, _ = await take(streaming(frames(*chunks)), request_of(tools=(WEATHER,)))
    expected = AssistantMessage(text="I look.\n", calls=(ToolCall(id="a", name="get_weather", arguments="{}"),))
    assert (taken.text, taken.response.message) == ("I look.\n", expected)


async def test_row_01_a_call_that_was_only_thought_is_no_answer() -> None:
    chunks = [delta(reasoning_content="I ask.\n" + DSML[:30]), delta(reasoning_content=DSML[30:]), STOP]
    with pytest.raises(EmptyResponseError, match="as text"):
        await take(streaming(frames(*chunks)), request_of(tools=(WEATHER,)))


@pytest.mark.parametrize("leak", SPELLINGS)
def test_row_02_every_spelling_is_caught_at_every_boundary(leak: str) -> None:
    text = "Let me look.\n" + leak
    expected = ("Let me look.\n", True)
    assert passed(*text) == expected
    assert {passed(text[:at], text[at:]) for at in range(len(text) + 1)} == {expected}


@pytest.mark.parametrize("text", HARMLESS)
def test_row_02_text_that_only_speaks_of_calls_passes_whole_at_every_boundary(text: str) -> None:
    assert passed(*text) == (text, False)
    assert {passed(text[:at], text[at:]) for at in range(len(text) + 1)} == {(text, False)}


@pytest.mark.parametrize("thinking", [True, False])
async def test_row_03_a_request_without_tools_leaves_tools_and_tool_choice_out(thinking: bool) -> None:
    _, server = await take(streaming(frames(delta(content="ok"), STOP)), request_of(thinking=thinking))
    assert {"tools", "tool_choice"}.isdisjoint(server.exchanges[0].body)


@pytest.mark.parametrize("leak", OTHERS)
def test_row_04_other_models_markup_is_caught_at_every_boundary(leak: str) -> None:
    text = "Let me look.\n" + leak
    expected = ("Let me look.\n", True)
    assert passed(*text) == expected
    assert {passed(text[:at], text[at:]) for at in range(len(text) + 1)} == {expected}


@pytest.mark.parametrize("leak", WHOLE_ANSWERS)
def test_row_04_json_that_names_a_tool_late_is_caught_where_it_is_the_whole_answer(leak: str) -> None:
    assert {passed(leak[:at], leak[at:]) for at in range(len(leak) + 1)} == {("", True)}


def test_row_04_json_is_not_held_back_once_it_cannot_be_a_call() -> None:
    gate = LeakGate((WEATHER.name,))
    shown = [gate.feed(piece) for piece in ('{"na', 'me": "Par', "is", '", "arguments"', ": {}}")]
    assert shown == ["", '{"name": "Par', "is", '", "arguments"', ": {}}"]


@pytest.mark.parametrize("text", ["", " \n"])
async def test_row_24_tool_calls_as_the_reason_and_none_there_is_an_empty_answer(text: str) -> None:
    with pytest.raises(EmptyResponseError, match="neither text nor a tool call"):
        await take(streaming(frames(delta(content=text), delta("tool_calls"))))


async def test_row_24_even_with_words_that_announce_a_call() -> None:
    with pytest.raises(EmptyResponseError):
        await take(streaming(frames(delta(content="I look it up."), delta("tool_calls"))))


async def test_row_26_an_answer_of_nothing_can_be_tried_again() -> None:
    with pytest.raises(EmptyResponseError):
        await take(streaming(frames(delta(role="assistant", content=None, reasoning_content=""), STOP)))


async def test_row_27_reasoning_alone_is_an_answer_and_not_asked_for_again() -> None:
    taken, server = await take(streaming(frames(delta(reasoning_content="so it is 4"), STOP)))
    assert taken.response.message == AssistantMessage(text="", reasoning="so it is 4")
    assert (taken.response.stop_reason, len(server.exchanges)) == (FinishReason.STOP, 1)


@pytest.mark.parametrize(
    ("fields", "reasoning"),
    [
        ({"reasoning_content": "hm"}, "hm"),
        ({"reasoning": "hm"}, "hm"),
        ({"reasoning": "hm", "reasoning_content": "hm"}, "hm"),
        ({"reasoning": "hm", "reasoning_content": ""}, "hm"),
        ({"reasoning": "hm", "reasoning_content": None}, "hm"),
        ({"reasoning": "hm", "reasoning_details": [{"type": "reasoning.text", "text": "hm"}]}, "hm"),
        ({"reasoning_details": [{"type": "reasoning.text", "text": "h"}, {"type": "x", "text": "m"}]}, "hm"),
        ({"reasoning_content": ""}, ""),
        ({"reasoning": {"effort": "low"}}, None),
        ({}, None),
    ],
)
async def test_row_35_reasoning_is_read_once_under_any_of_its_names(
    fields: dict[str, Any], reasoning: str | None
) -> None:
    taken, _ = await take(streaming(frames(delta(**fields), delta(content="4"), STOP)), profile=OPENAI_COMPATIBLE)
    assert taken.response.message == AssistantMessage(text="4", reasoning=reasoning)


@pytest.mark.parametrize(
    ("profile", "fields"),
    [
        (DEEPSEEK, {"reasoning_content": "hm"}),
        (QWEN, {"reasoning_content": "hm"}),
        (OPENAI_COMPATIBLE, {"reasoning_content": "hm"}),
        (OLLAMA_COMPATIBLE, {}),
    ],
)
async def test_row_35_reasoning_goes_back_as_each_vendor_takes_it(profile: Profile, fields: dict[str, object]) -> None:
    talk = (*request_of().messages, AssistantMessage(text="4", reasoning="hm"), *request_of("why?").messages)
    _, server = await take(
        streaming(frames(delta(content="ok"), STOP)),
        request_of(messages=talk),
        profile=profile,
    )
    sent = server.exchanges[0].body["messages"]
    assert isinstance(sent, list)
    assert sent[1] == {"role": "assistant", "content": "4", **fields}
