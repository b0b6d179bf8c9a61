"""The catalogue of tools: finds those that fit a question in Chinese or English, and tells names that exist.

Names are compared first, then BM25 ranks over name, description, keywords and parameter names. Terms are Latin words,
single Chinese characters and pairs of them: pairs alone and word lists both miss everyday questions.
"""

import difflib
import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ias.domain.messages import JsonObject, JsonValue
from ias.domain.tools import Example

SIGNATURES = 8  # tools shown with a compact signature
DETAILS = 3  # of these, shown with schema and examples
LINE = 80  # characters of a description in one line
INDEX_CHARS = 1500  # of the names in the meta-tool's description: about 500 tokens, sent with each request
NEAR = 3
K1, B = 1.2, 0.75  # the usual BM25 parameters
WEAK = 0.25  # hits below this part of the best one are noise
SHORT = 3  # letters of the shortest Latin word that makes a hit a good one
COVERED = 0.5  # part of a query's single characters, by rarity, that makes a hit without a pair a good one

TERMS = re.compile(r"[a-z]+|[0-9]+|[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
NAME = re.compile(r"[A-Za-z0-9_.:-]+")
SEPARATORS = re.compile(r"[_.:/\s-]+")
# Words of questions that tell nothing about what is asked.
WORDS = (
    "a an the is are am be of to in on at for and or do does did i me my you your it its this that what s how can "
    "could please with from by will would tell show give have has there"
)
STOP = frozenset(WORDS.split())
STOP_HAN = frozenset("的了吗呢啊吧么是我你他她它请帮给把和与在有个这那一")
HINT = "details has the arguments of the best hits; call_capability(name, prompt) calls one, prompt being them as JSON"
NO_HIT = "no tool fits these words well; these are all tools. Choose one, or search again with other words"
ALL = "these are all tools; search with a few words in the person's language to get their arguments"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A tool as the catalogue knows it."""

    name: str
    desc: str
    parameters: JsonObject
    keywords: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()


class Catalogue:
    """One state of the tools, indexed once; a reload makes a new one."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._entries = tuple(sorted(entries, key=lambda entry: entry.name))
        documents = [Counter(_document(entry)) for entry in self._entries]
        mean = sum(document.total() for document in documents) / max(1, len(documents))
        self._postings = _postings(documents, mean)
        self._rarity = {term: _rarity(len(holders), len(documents)) for term, holders in self._postings.items()}
        self._unknown = _rarity(0, len(documents))
        self._names = _spellings(self._entries)

    def search(self, query: str = "", *, is_visible: Callable[[str], bool] = lambda _: True) -> JsonObject:
        """Find tools.

        Args:
            query: Words in any language, or a tool's name; empty gives the index of all tools.
            is_visible: Whether a tool of that name may be told of at all.

        Returns:
            `{tools, details, hint}` with compact signatures and the best in full, or `{index, hint}` where nothing fits
            well: never nothing.
        """
        hits = [number for number in self._rank(query) if is_visible(self._entries[number].name)]
        if not hits:
            return self._index(NO_HIT if query.strip() else ALL, is_visible)
        best = [self._entries[number] for number in hits[:SIGNATURES]]
        return {
            "tools": [{"name": entry.name, "desc": _line(entry.desc), "call": signature(entry)} for entry in best],
            "details": [_detail(entry) for entry in best[:DETAILS]],
            "hint": HINT,
        }

    def index_text(self, *, is_visible: Callable[[str], bool] = lambda _: True) -> str:
        """Give the sorted names, as many as fit, for the meta-tool's description."""
        names = [entry.name for entry in self._entries if is_visible(entry.name)]
        text = ""
        for number, name in enumerate(names):
            longer = f"{text}, {name}" if text else name
            if len(longer) > INDEX_CHARS:
                return f"{text} and {len(names) - number} more"
            text = longer
        return text or "none"

    def near(self, name: str, *, is_visible: Callable[[str], bool] = lambda _: True) -> tuple[str, ...]:
        """Give up to three names that a wrong one may have meant."""
        names = [entry.name for entry in self._entries if is_visible(entry.name)]
        wanted = _squeezed(name)
        squeezed = {_squeezed(known): known for known in names}
        found = [squeezed[near] for near in difflib.get_close_matches(wanted, squeezed, n=NEAR)]
        found += [known for part, known in squeezed.items() if len(wanted) > 2 and (wanted in part or part in wanted)]
        ranked = (self._entries[number].name for number in self._rank(SEPARATORS.sub(" ", name)))
        return tuple(dict.fromkeys([*found, *(other for other in ranked if other in names)]))[:NEAR]

    def _rank(self, query: str) -> list[int]:
        named = self._named(query)
        terms = set(_terms(query))
        scores: dict[int, float] = {}
        for term in terms:
            for number, weight in self._postings.get(term, ()):
                scores[number] = scores.get(number, 0.0) + weight
        ranked = sorted(scores, key=lambda number: (-scores[number], number))
        if ranked and not self._is_good(terms, ranked[0]):
            return named
        floor = scores[ranked[0]] * WEAK if ranked else 0.0
        return [*named, *(number for number in ranked if scores[number] >= floor and number not in named)]

    def _is_good(self, terms: set[str], number: int) -> bool:
        """Say whether a hit shares a word or a pair of characters with the query, or most of its single characters."""
        shared = {term for term in terms if self._holds(term, number)}
        if any(len(term) >= (SHORT if term.isascii() else 2) for term in shared):
            return True
        single = {term for term in terms if len(term) == 1 or term.isascii()}
        if len(shared & single) < 2:
            return shared == terms  # the query is one character, and a tool has it
        told = sum(self._rarity[term] for term in shared & single)
        return told >= COVERED * sum(self._rarity.get(term, self._unknown) for term in single)

    def _holds(self, term: str, number: int) -> bool:
        return any(holder == number for holder, _ in self._postings.get(term, ()))

    def _named(self, query: str) -> list[int]:
        """Give the tools whose name, or the end of it, is the query, and those whose whole name stands in it."""
        whole = _squeezed(query)
        words = [_squeezed(word) for word in NAME.findall(query) if "_" in word]
        exact = [number for word in (whole, *words) for number, is_whole in self._names.get(word, ()) if is_whole]
        suffix = [number for number, is_whole in self._names.get(whole, ()) if not is_whole]
        return list(dict.fromkeys([*exact, *suffix]))

    def _index(self, hint: str, is_visible: Callable[[str], bool]) -> JsonObject:
        index: list[JsonValue] = [
            {"name": entry.name, "desc": _line(entry.desc)} for entry in self._entries if is_visible(entry.name)
        ]
        return {"index": index, "hint": hint}


def signature(entry: Entry) -> str:
    """Give a tool as one line of a call: `weather_now(location: string, lang?: zh|en)`."""
    properties = entry.parameters.get("properties")
    required = entry.parameters.get("required")
    needed = required if isinstance(required, list) else []
    parts = [
        f"{name}{'' if name in needed else '?'}: {_kind(schema)}"
        for name, schema in (properties.items() if isinstance(properties, dict) else ())
    ]
    return f"{entry.name}({', '.join(parts)})"


def _kind(schema: JsonValue) -> str:
    if not isinstance(schema, dict):
        return "any"
    choices = schema.get("enum")
    if isinstance(choices, list) and len(choices) <= SIGNATURES:
        return "|".join(str(choice) for choice in choices)
    return str(schema.get("type", "any"))


def _detail(entry: Entry) -> JsonObject:
    examples: list[JsonValue] = [{"ask": example.ask, "params": dict(example.params)} for example in entry.examples]
    return {"name": entry.name, "desc": entry.desc, "parameters": entry.parameters, "examples": examples}


def _line(text: str) -> str:
    first = text.strip().splitlines()[0] if text.strip() else ""
    return first if len(first) <= LINE else first[: LINE - 1].rstrip() + "…"


def _spellings(entries: tuple[Entry, ...]) -> dict[str, list[tuple[int, bool]]]:
    """Give for each name, and each end of one behind a separator, the tools: `now` for `weather_now`."""
    names: dict[str, list[tuple[int, bool]]] = {}
    for number, entry in enumerate(entries):
        names.setdefault(_squeezed(entry.name), []).append((number, True))
        for cut in SEPARATORS.finditer(entry.name):
            if end := _squeezed(entry.name[cut.end() :]):
                names.setdefault(end, []).append((number, False))
    return names


def _squeezed(name: str) -> str:
    return SEPARATORS.sub("", name).lower()


def _postings(documents: list[Counter[str]], mean: float) -> dict[str, list[tuple[int, float]]]:
    """Give for each term the documents that hold it, with the BM25 weight that it adds."""
    holders = Counter(term for document in documents for term in document)
    postings: dict[str, list[tuple[int, float]]] = {}
    for number, document in enumerate(documents):
        length = 1 - B + B * document.total() / mean
        for term, count in document.items():
            weight = _rarity(holders[term], len(documents)) * count * (K1 + 1) / (count + K1 * length)
            postings.setdefault(term, []).append((number, weight))
    return postings


def _rarity(holders: int, documents: int) -> float:
    return math.log(1 + (documents - holders + 0.5) / (holders + 0.5))


def _document(entry: Entry) -> Iterator[str]:
    properties = entry.parameters.get("properties")
    names = properties if isinstance(properties, dict) else {}
    for text in (entry.name, entry.desc, *entry.keywords, *names):
        yield from _terms(text)


def _terms(text: str) -> Iterator[str]:
    for found in TERMS.finditer(text.lower()):
        run = found[0]
        if run.isascii():
            if run not in STOP:
                yield _stem(run)
            continue
        for char in run:
            if char not in STOP_HAN:
                yield char
        for first, second in itertools.pairwise(run):
            yield first + second


def _stem(word: str) -> str:
    """Give a word without a plural's s, so that `places` finds `place`."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word
