"""Free text as the database can hold it, and the words that a memory is found by."""

import json
import re
import unicodedata

from ias.domain.messages import JsonValue, replace_surrogates

NOT_PLAIN = re.compile(r"[^\x01-\x7f]")  # TEXT columns refuse NUL and lone surrogates; the rest goes along
CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
WORD = re.compile(rf"{CJK.pattern}+|(?:(?!{CJK.pattern})[^\W_])+")
QUERY_WORDS = 64  # a question of more words is not better answered


def pack(value: JsonValue) -> str:
    """Give any JSON value as ASCII text."""
    return json.dumps(value, separators=(",", ":"))


def ascii_json(text: str) -> str:
    """Give a JSON text with everything beyond ASCII escaped; its value stays the same."""
    return NOT_PLAIN.sub(lambda match: json.dumps(match[0])[1:-1], text)


def clean(text: str) -> str:
    """Replace what a TEXT column refuses (NUL, lone surrogates) by U+FFFD: for short texts that are shown, not used."""
    return replace_surrogates(text).replace("\0", "\N{REPLACEMENT CHARACTER}")


def is_chinese(text: str) -> bool:
    """Say whether a text should be answered in Chinese: it has a Chinese character."""
    return CJK.search(text) is not None


def words_of(text: str) -> list[str]:
    """Split a text into the words it is found by: Latin words, and single characters plus pairs of Chinese ones."""
    found: dict[str, None] = {}
    for match in WORD.finditer(unicodedata.normalize("NFKC", text).casefold()):
        for word in _parts(match[0]):
            found[word] = None
    return list(found)


def weighted_words(text: str) -> list[list[str | int]]:
    """Give the words of a question with what each is worth: a single Chinese character says little."""
    words = sorted(words_of(text), key=len, reverse=True)[:QUERY_WORDS]
    return [[word, 1 if len(word) == 1 else 3] for word in words]


def _parts(run: str) -> list[str]:
    if not CJK.match(run):
        return [run]
    return [*run, *(run[at : at + 2] for at in range(len(run) - 1))]
