"""A sentence cut into comparable pieces: Latin words, single Chinese characters, numbers, quotations, addresses."""

import re
from dataclasses import dataclass
from enum import StrEnum

HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
DIGITS = "零一二三四五六七八九"
NUMBER_WORDS = "zero one two three four five six seven eight nine ten eleven twelve"
ENGLISH_NUMBERS = tuple(NUMBER_WORDS.split())
UNITS = "个条篇天日周月年小时点次公里元度页家则名位分"
PIECE = re.compile(
    r"(?P<address>https?://[A-Za-z0-9._~:/?#@!$&'()*+,;=%\[\]-]+)"
    r"|(?P<quote>“[^”]*”|「[^」]*」|『[^』]*』|《[^》]*》|\"[^\"]*\"|(?<![A-Za-z0-9])'[^']+'(?![A-Za-z0-9]))"
    r"|(?P<date>\d{4}-\d{1,2}-\d{1,2}(?:[T ]\d{1,2}:\d{2}(?::\d{2})?)?)"
    r"|(?P<pair>-?\d+(?:\.\d+)?\s*[,，]\s*-?\d+\.\d+)"
    r"|(?P<number>-?\d+(?:\.\d+)?(?![A-Za-z0-9._-])|[零一二两三四五六七八九十百]+(?=[" + UNITS + r"]))"
    r"|(?P<time>大前天|前天|昨天|今天|明天|大后天|后天|今晚|明晚|今早|明早|现在|目前|下周末?|这周末?|周末)"
    r"|(?P<word>[A-Za-z0-9\u00c0-\u024f]+(?:[._'+#/-][A-Za-z0-9\u00c0-\u024f]+)*)"
    r"|(?P<han>[\u3400-\u9fff\uf900-\ufaff])"
)
WEAK_WORDS = (
    "的 了 吗 呢 啊 吧 呀 么 请 我 你 您 一 下 帮 给 个 是 有 在 把 这 那 想 要 能 会 可 以 就 也 都 和 与 于 里 "
    "the a an is are was be do does did to of in on at for me my i you your it that this please can could would will "
    "and with by from there what's s how get go what"
)
WEAK = frozenset(WEAK_WORDS.split())
"""Pieces that say little about what is wanted."""


SAME = {"去": "到", "至": "到", "离": "到", "距": "到", "寻": "找", "close": "near", "nearby": "near"}
"""Words that stand for one another between two places."""
CONNECTORS = frozenset({"from", "to", "near", "in", "at", "从", "到", "附"})
"""Words that part two values, and so hardly stand inside one."""


class Kind(StrEnum):
    """What a token is."""

    ADDRESS = "address"
    QUOTE = "quote"
    DATE = "date"
    PAIR = "pair"
    NUMBER = "number"
    TIME = "time"
    WORD = "word"
    HAN = "han"


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A piece; `text` is lower case, `start` and `end` its place in the sentence."""

    text: str
    kind: Kind
    start: int
    end: int

    @property
    def weight(self) -> float:
        """How much it says: 0.3 for the words of every sentence, else 1."""
        return 0.3 if self.text in WEAK else 1.0

    @property
    def key(self) -> str:
        """What is compared."""
        return SAME.get(self.text, self.text)

    @property
    def is_opaque(self) -> bool:
        """Whether it is a value as it stands and no word of a sentence."""
        return self.kind in (Kind.ADDRESS, Kind.QUOTE, Kind.DATE, Kind.PAIR)


def tokenize(text: str) -> tuple[Token, ...]:
    """Cut a sentence; punctuation is left out."""
    return tuple(
        Token(text=found[0].lower(), kind=Kind(found.lastgroup or "word"), start=found.start(), end=found.end())
        for found in PIECE.finditer(text)
    )


def is_chinese(text: str) -> bool:
    """Say whether to answer in Chinese."""
    return HAN.search(text) is not None


def unquote(text: str) -> str:
    """Give what stands between quotation marks."""
    text = text.strip()
    pairs = ("“”", "「」", "『』", "《》", '""', "''")
    for opening, closing in pairs:
        if len(text) > 1 and text[0] == opening and text[-1] == closing:
            return text[1:-1].strip()
    return text


def number_of(text: str) -> float | int | None:
    """Read digits, an English number word up to twelve, or Chinese numerals up to 99."""
    text = text.strip().lower()
    if re.fullmatch(r"-?\d{1,15}", text):
        return int(text)
    if re.fullmatch(r"-?\d{1,15}\.\d{1,15}", text):
        return float(text)
    if text in ENGLISH_NUMBERS:
        return ENGLISH_NUMBERS.index(text)
    return _chinese_number(text.replace("两", "二"))


def number_words(value: float) -> tuple[str, ...]:
    """Give the ways to write a number in a sentence."""
    words = [str(value)]
    if isinstance(value, int) and 0 <= value < len(ENGLISH_NUMBERS):
        words.append(ENGLISH_NUMBERS[value])
    if isinstance(value, int) and 0 <= value < 10:
        words += [DIGITS[value], *(["两"] if value == 2 else [])]
    return tuple(words)


def _chinese_number(text: str) -> int | None:
    found = re.fullmatch(rf"([{DIGITS[1:]}])?(十)?([{DIGITS}])?", text)
    if not text or found is None:
        return None
    tens, ten, ones = found[1], found[2], found[3]
    if ten is None:
        return DIGITS.index(text) if len(text) == 1 else None
    return 10 * (DIGITS.index(tens) if tens else 1) + (DIGITS.index(ones) if ones else 0)
