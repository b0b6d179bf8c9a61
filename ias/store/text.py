"""Free text as the database can hold it, and the words that a memory is found by."""

import json
import re
import unicodedata
from functools import cache

from ias.domain.messages import JsonValue, replace_surrogates

CJK = r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]"  # kana, Chinese characters, Hangul
QUERY_WORDS = 64  # a question of more words is not better answered


def pack(value: JsonValue) -> str:
    """Give any JSON value as ASCII text."""
    return json.dumps(value, separators=(",", ":"))


def ascii_json(text: str) -> str:
    """Give a JSON text with NUL and everything beyond ASCII escaped; its value stays the same."""
    if text.isascii() and "\0" not in text:
        return text
    return "".join(char if "\0" < char < "\x80" else json.dumps(char)[1:-1] for char in text)


def clean(text: str) -> str:
    """Replace what a TEXT column refuses (NUL, lone surrogates) by U+FFFD: for short texts that are shown, not used."""
    return replace_surrogates(text).replace("\0", "\N{REPLACEMENT CHARACTER}")


def is_chinese(text: str) -> bool:
    """Say whether a text should be answered in Chinese: it has a Chinese character."""
    return not text.isascii() and re.search(r"[\u3400-\u9fff]", text) is not None


def words_of(text: str) -> list[str]:
    """Split a text into the words it is found by: Latin words, and single characters plus pairs of Chinese ones."""
    found: dict[str, None] = {}
    for match in _word().finditer(unicodedata.normalize("NFKC", text).casefold()):
        for word in _parts(match[0]):
            found[word] = None
    return list(found)


def weighted_words(text: str) -> list[list[str | int]]:
    """Give the words of a question with what each is worth: a single Chinese character says little."""
    words = sorted(words_of(text), key=len, reverse=True)[:QUERY_WORDS]
    return [[word, 1 if len(word) == 1 else 3] for word in words]


@cache
def _word() -> re.Pattern[str]:
    return re.compile(rf"{CJK}+|(?:(?!{CJK})[^\W_])+")


def _parts(run: str) -> list[str]:
    if re.match(CJK, run) is None:
        return [run]
    return [*run, *(run[at : at + 2] for at in range(len(run) - 1))]
