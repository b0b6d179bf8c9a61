"""Tool calls written as text, and texts that only look like it."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ias.providers.leaks import LeakGate

BAR = "\uff5c"
LEAKS = [
    f'<{BAR}DSML{BAR}function_calls><{BAR}DSML{BAR}invoke name="f">',
    f"<{BAR}{BAR}DSML{BAR}{BAR}tool_calls>",
    "<|DSML|tool-calls>",
    "<\u2016DSML\u2016invoke>",
    "< | DSML | invoke",
    f"<{BAR}tool▁calls▁begin{BAR}><{BAR}tool▁call▁begin{BAR}>f",
    '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>',
    "<tool_call><function=f>",
    "<function=f>",
    "<|tool_calls_section_begin|>",
    '[TOOL_CALLS] [{"name": "f"}]',
    '<function_calls>\n<invoke name="f">',
]
HARMLESS = [
    "a < b and a <= c, <b>bold</b>, x <| y, [1] [tools](url)",
    "Qwen opens a call with <tool_call> and closes it again.",
    f"Write `<{BAR}DSML{BAR}invoke>` there.",
    f"```xml\n<{BAR}DSML{BAR}tool_calls>\n```\nthat is all",
    "~~~\n<tool_call>{}\n~~~",
    '{"name": "somebody else", "arguments": {}}',
    '{"name": "f"}',
    "<",
    "[tool",
    "1\n\n2\n",
]


def through(pieces: list[str]) -> tuple[str, bool]:
    gate = LeakGate(("f",))
    shown = "".join(gate.feed(piece) for piece in pieces) + gate.finish()
    return shown, gate.has_leaked


def cut(text: str, places: list[int]) -> list[str]:
    edges = [0, *sorted(place % (len(text) + 1) for place in places), len(text)]
    return [text[start:end] for start, end in pairwise(edges)]


@pytest.mark.parametrize("leak", LEAKS)
def test_a_leaked_call_is_swallowed_from_its_first_character(leak: str) -> None:
    assert through(["Let me look.\n" + leak]) == ("Let me look.\n", True)
    assert through([*("Let me look.\n" + leak)]) == ("Let me look.\n", True)


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_goes_through_whole(text: str) -> None:
    assert through([text]) == (text, False)
    assert through([*text]) == (text, False)


@given(st.sampled_from(LEAKS + HARMLESS), st.lists(st.integers(0, 200), max_size=8))
def test_the_cuts_of_a_stream_change_nothing(text: str, places: list[int]) -> None:
    assert through(cut(text, places)) == through([text])


@given(
    st.text(alphabet='<>[]|`~\n {}"DSMLtool_callinvokefunction=:', max_size=80),
    st.lists(st.integers(0, 90), max_size=8),
)
def test_any_text_is_shown_to_a_point_and_all_of_it_where_nothing_leaks(text: str, places: list[int]) -> None:
    shown, has_leaked = through(cut(text, places))
    assert text.startswith(shown)
    assert has_leaked or shown == text
    assert (shown, has_leaked) == through([text])


def test_an_answer_that_is_a_bare_json_call_is_swallowed() -> None:
    assert through(['  {"na', 'me": "f", "argu', 'ments": {"x": 1}}']) == ("  ", True)
    assert through(['{"name": "f", "arguments": {"x"']) == ("", True)


def test_plain_text_is_not_held_back() -> None:
    gate = LeakGate(("f",))
    assert [gate.feed(piece) for piece in ("It", " is", " 5 <", " 6.")] == ["It", " is", " 5 ", "< 6."]
