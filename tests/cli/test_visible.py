"""What a person must judge is seen for what it is, character by character."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ias.cli.visible import cells, one_line, tame, visible, wrap


@pytest.mark.parametrize("text", ["plain text ~", "北京，天气？", "Ünïcödé Ж", "→ • ½ 😀 ①"])
def test_letters_digits_punctuation_and_symbols_stay(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    ("char", "name"),
    [
        ("\x1b", "001B"),
        ("\n", "000A"),
        ("\x9b", "009B"),
        ("\xa0", "00A0"),
        ("\u00ad", "00AD"),
        ("\u0301", "0301"),
        ("\u034f", "034F"),
        ("\u115f", "115F"),
        ("\u200b", "200B"),
        ("\u202e", "202E"),
        ("\u2066", "2066"),
        ("\u2800", "2800"),
        ("\u3000", "3000"),
        ("\u3164", "3164"),
        ("\ud800", "D800"),
        ("\ue000", "E000"),
        ("\ufe0f", "FE0F"),
        ("\ufeff", "FEFF"),
        ("\uffa0", "FFA0"),
        ("\U000e0041", "E0041"),
        ("\U000e0100", "E0100"),
        ("\u27e8", "27E8"),
    ],
)
def test_what_hides_moves_or_imitates_is_named_instead(char: str, name: str) -> None:
    assert visible(f"a{char}b") == f"a⟨U+{name}⟩b"


@given(st.text(alphabet=st.characters(exclude_categories=[])))
def test_nothing_but_letters_numbers_punctuation_symbols_and_spaces_comes_out(text: str) -> None:
    assert all(char == " " or unicodedata.category(char)[0] in "LNPS" for char in visible(text))


@given(st.text(), st.text())
def test_two_texts_never_look_the_same(one: str, other: str) -> None:
    assert (visible(one) == visible(other)) == (one == other)


def test_text_to_read_keeps_its_lines_and_marks_but_nothing_harmful() -> None:
    assert tame("a\n\te\u0301 👩\u200d🚀\x1b[2J\u202e\x00") == "a\n\te\u0301 👩\u200d🚀⟨U+001B⟩[2J⟨U+202E⟩⟨U+0000⟩"


@given(st.text(alphabet="ab北 "), st.integers(min_value=2, max_value=9))
def test_wrapping_drops_nothing_and_keeps_to_the_width(text: str, width: int) -> None:
    lines = wrap(text, width)

    assert "".join(lines) == text
    assert all(cells(line) <= width for line in lines)


def test_a_long_text_becomes_one_short_line() -> None:
    assert one_line("a  b\nc" + "d" * 20, 8) == "a b cdd…"
