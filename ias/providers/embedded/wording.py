"""What to ask the catalogue: words of the message that may be a tool's, not the values in it."""

import math
import re
from collections import Counter
from itertools import pairwise

from ias.providers.embedded.remainder import COURTESY
from ias.providers.embedded.tokens import Kind, Token, tokenize

ANNOUNCED = re.compile(r"^([^:：]{2,24})[:：](?!//)\s*\S")
"""A request that announces its value: `记一下：…`, `Search for: …`."""
QUERY_LIMIT = 200
"""Characters that go to the catalogue."""
SHORTLIST = 3
"""Names asked for at once: the catalogue gives as many tools in full."""
PAIR_WEIGHT = 2.0
"""A pair of Chinese characters says more than one."""


def query_words(text: str) -> str:
    """Give the words for a first question to the catalogue.

    Names of places and people, quotations and numbers are left out, since no tool is known by them; English names
    show by their capital letter. Addresses are told by their kind.
    """
    words = COURTESY.sub("", text)
    announced = ANNOUNCED.match(words)
    words = announced[1] if announced else words
    shorter = words
    for position, token in reversed(list(enumerate(tokenize(words)))):
        if token.kind is Kind.ADDRESS:
            shorter = f"{shorter[: token.start]} url {shorter[token.end :]}"
        elif token.is_opaque or _is_figure(token) or (position and _is_name(words, token)):
            shorter = f"{shorter[: token.start]} {shorter[token.end :]}"
    shorter = " ".join(shorter.split())
    return (shorter if tokenize(shorter) else text)[:QUERY_LIMIT].strip()


def shortlist(lines: tuple[tuple[str, str], ...], text: str) -> tuple[str, ...]:
    """Choose names from the index, by what the message shares with their lines; rare words count for more.

    The catalogue answers a sentence that is mostly values with the index of all tools: "从清华大学到颐和园怎么走".
    """
    documents = [_terms(tokenize(f"{name.replace('_', ' ')} {line}")) for name, line in lines]
    holders = Counter(term for document in documents for term in document)
    asked = _terms(tokenize(text))
    scores = {
        name: sum(_weight(term, holders[term], len(lines)) for term in asked & document)
        for (name, _), document in zip(lines, documents, strict=True)
    }
    best = sorted((name for name in scores if scores[name] > 0), key=lambda name: -scores[name])
    return tuple(best[:SHORTLIST])


def _is_figure(token: Token) -> bool:
    """Say whether it is a number in digits; 一条 and 三天 are words that a tool may be known by."""
    return token.kind is Kind.NUMBER and token.text.isascii()


def _is_name(text: str, token: Token) -> bool:
    written = text[token.start : token.end]
    return token.kind is Kind.WORD and len(written) > 1 and written[0].isupper()


def _terms(tokens: tuple[Token, ...]) -> set[str]:
    terms = {token.text for token in tokens if token.weight == 1 and not token.is_opaque}
    for first, second in pairwise(tokens):
        if first.kind is second.kind is Kind.HAN and first.end == second.start:
            terms.add(first.text + second.text)
    return terms


def _weight(term: str, holders: int, lines: int) -> float:
    rarity = math.log(1 + lines / holders)
    return rarity * PAIR_WEIGHT if len(term) == 2 and not term.isascii() else rarity
