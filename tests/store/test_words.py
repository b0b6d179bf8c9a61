"""The fixed words, and free text as the database holds it."""

import json

import pytest

from ias.domain.jobs import TurnReason
from ias.domain.tools import Result
from ias.errors import Code
from ias.store import words
from ias.store.text import ascii_json, clean, is_chinese, weighted_words, words_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("北京天气", ["北", "京", "天", "气", "北京", "京天", "天气"]),
        ("Hello, WORLD_2 hello", ["hello", "world", "2"]),
        ("去Paris玩", ["去", "paris", "玩"]),
        ("ひらがな", ["ひ", "ら", "が", "な", "ひら", "らが", "がな"]),
        ("\0\ud800 !?", []),
    ],
)
def test_a_text_is_found_by_its_words(text: str, expected: list[str]) -> None:
    assert words_of(text) == expected


def test_pairs_weigh_more_than_single_characters_and_a_question_has_a_bound() -> None:
    assert weighted_words("北京") == [["北京", 3], ["北", 1], ["京", 1]]
    assert len(weighted_words(" ".join(map(str, range(1000))))) == 64


@pytest.mark.parametrize("value", [{"a": "北京 \0 \ud800 \U0001f600"}, ["plain"], 'é"\\'])
def test_escaping_a_json_text_keeps_its_value(value: object) -> None:
    text = ascii_json(json.dumps(value, ensure_ascii=False))
    assert (json.loads(text), text.isascii(), "\0" in text) == (value, True, False)


def test_short_texts_are_cleaned_of_what_no_column_takes() -> None:
    assert clean("a\0b\ud800c北\U0001f600") == "a\ufffdb\ufffdc北\U0001f600"


def test_the_language_is_that_of_the_person() -> None:
    assert (is_chinese("现在几点 now"), is_chinese("what time"), is_chinese("ひらがな"), is_chinese("")) == (
        True,
        False,
        False,
        False,
    )
    assert words.loop("天气") == words.LOOP.zh
    assert words.loop("weather") == words.LOOP.en


def test_every_reason_without_a_reply_has_closing_words() -> None:
    said = {reason: words.closing(reason, "hi", 3) for reason in TurnReason}
    assert said[TurnReason.MAX_TURNS] == words.MAX_TURNS.en.format(steps=3)
    assert all(said.values())


def test_a_failed_result_is_told_with_its_code() -> None:
    assert words.told(Result(content="21 °C")) == "21 °C"
    assert words.told(Result(content="no answer", code=Code.HTTP_TIMEOUT)) == "error (http_timeout): no answer"


def test_a_question_shows_every_item_and_the_beginning_of_the_digest() -> None:
    asked = words.question("hi", num=12, tool="t", digest="7f3a99", requests=("POST a", "x" * 600))
    assert asked.splitlines() == [
        "A12: t wants to",
        "- POST a",
        f"- {'x' * 500}…",
        "Approve: /approve A12 7f3a    Deny: /deny A12",
    ]
