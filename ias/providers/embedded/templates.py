"""An example's sentence as a template: parameter values become slots, the rest words to meet again."""

from dataclasses import dataclass

from ias.domain.messages import JsonObject
from ias.providers.embedded.hits import Example, Hit, Parameter
from ias.providers.embedded.tokens import CONNECTORS, Kind, Token, number_of, number_words, tokenize

ABSORB = 0.12
"""Cost of each token that a slot takes: small, so that slots can be long; not nothing, so that words match first."""
EMPTY_SLOT = 0.9
"""Cost of a slot that takes nothing."""
EXTRA = 0.8
"""Cost of a weighty word of the sentence that the example does not have."""
OUTSIDE = 1.6
"""How much more a word counts that nothing in the example accounts for: better a slot takes it."""
TORN = 0.5
"""What a slot with a single Chinese character leaves of the score: a word was most likely torn apart."""
SLOT_SHARE = 0.6
"""How much of a slot's words counts as understood."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """Where a parameter's value stands in the sentence; some take a token of their kind alone."""

    parameter: str
    is_number: bool = False
    kind: Kind | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """An example cut into words and slots."""

    example: Example
    elements: tuple[Token | Slot, ...]

    @property
    def slots(self) -> frozenset[str]:
        """Names of the parameters that stand in the sentence."""
        return frozenset(element.parameter for element in self.elements if isinstance(element, Slot))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """How a sentence meets a template.

    Args:
        score: From 0 to 1.
        recall: Share of the template's words that the sentence has, from 0 to 1.
        spans: For each slot that took something, the first token and the one after the last.
        matched: Positions of the sentence's tokens that are the template's words.
    """

    score: float
    recall: float
    spans: dict[str, tuple[int, int]]
    matched: frozenset[int]


def template_of(example: Example, hit: Hit) -> Template:
    """Cut an example; longer values first, so that one inside another does not split it."""
    tokens = tokenize(example.ask)
    taken: dict[int, tuple[int, Slot]] = {}
    values = [(hit.parameter(name), value) for name, value in example.params.items()]
    for parameter, value in sorted(values, key=lambda pair: -len(str(pair[1]))):
        if (
            parameter is None
            or parameter.choices
            or not isinstance(value, str | int | float)
            or isinstance(value, bool)
        ):
            continue
        span = _place(value, tokens, example.ask)
        if span is not None and not any(start < span[1] and span[0] < end for start, (end, _) in taken.items()):
            is_number = parameter.type in ("integer", "number")
            kind = tokens[span[0]].kind if span[1] == span[0] + 1 else None
            kind = kind if kind in (Kind.DATE, Kind.PAIR) else None
            taken[span[0]] = (span[1], Slot(parameter=parameter.name, is_number=is_number, kind=kind))
    elements: list[Token | Slot] = []
    position = 0
    while position < len(tokens):
        if position in taken:
            position, slot = taken[position]
            elements.append(slot)
        else:
            elements.append(tokens[position])
            position += 1
    return Template(example=example, elements=tuple(elements))


def fit(template: Template, sentence: tuple[Token, ...]) -> Fit:
    """Align a sentence with a template at the least cost, and weigh what they share."""
    elements = template.elements
    steps = _align(elements, sentence)
    matched, spans = _trace(steps, elements, len(sentence))
    words = [element for element in elements if isinstance(element, Token)]
    total = sum(word.weight for word in words)
    weight = sum(token.weight for token in sentence)
    shared = sum(sentence[position].weight for position in matched)
    inside = sum(token.weight for start, end in spans.values() for token in sentence[start:end])
    is_vague = all(sentence[position].weight < 1 for position in matched) and any(word.weight == 1 for word in words)
    if not total or not shared or not weight or is_vague:
        return Fit(score=0.0, recall=0.0, spans=spans, matched=matched)
    recall = shared / (total + len(template.slots - spans.keys()))
    precision = min(
        1.0, (shared + SLOT_SHARE * inside) / (shared + SLOT_SHARE * inside + _outside(sentence, matched, spans))
    )
    torn = sum(1 for start, end in spans.values() if end - start == 1 and sentence[start].kind is Kind.HAN)
    score = 2 * recall * precision / (recall + precision) * TORN**torn
    return Fit(score=score, recall=recall, spans=spans, matched=matched)


def _outside(sentence: tuple[Token, ...], matched: frozenset[int], spans: dict[str, tuple[int, int]]) -> float:
    """Weigh what the template does not account for; a connector inside a slot says that the slot is too long."""
    inside = {
        position
        for start, end in spans.values()
        for position in range(start, end)
        if sentence[position].key not in CONNECTORS
    }
    beyond = (token for position, token in enumerate(sentence) if position not in matched and position not in inside)
    return OUTSIDE * sum(token.weight for token in beyond)


def _place(value: str | float, tokens: tuple[Token, ...], ask: str) -> tuple[int, int] | None:
    """Find a value in the sentence: as it stands, or its words in their order with others between."""
    if isinstance(value, int | float):
        words = number_words(value)
        return next(((i, i + 1) for i, token in enumerate(tokens) if token.text in words), None)
    start = ask.lower().find(value.lower())
    if start >= 0:
        return _span(tokens, start, start + len(value))
    begin = end = -1
    for word in value.lower().split():
        end = ask.lower().find(word, max(end, 0))
        if end < 0:
            return None
        begin = end if begin < 0 else begin
        end += len(word)
    return _span(tokens, begin, end) if begin >= 0 else None


def _span(tokens: tuple[Token, ...], start: int, end: int) -> tuple[int, int] | None:
    inside = [position for position, token in enumerate(tokens) if token.end > start and token.start < end]
    return (inside[0], inside[-1] + 1) if inside else None


Cell = tuple[float, str]


def _align(elements: tuple[Token | Slot, ...], sentence: tuple[Token, ...]) -> list[list[Cell]]:
    """Fill the table of least costs; a cell says how it was reached.

    The moves: `match` a word, `take` the first token into a slot, `more` into the same slot, `skip` an element,
    `extra` passes a token of the sentence by.
    """
    table: list[list[Cell]] = [[(0.0, "")]]
    for column, token in enumerate(sentence):
        table[0].append((table[0][column][0] + EXTRA * token.weight, "extra"))
    for row, element in enumerate(elements, 1):
        skip = element.weight if isinstance(element, Token) else 0.0 if element.is_number else EMPTY_SLOT
        line: list[Cell] = [(table[row - 1][0][0] + skip, "skip")]
        for column, token in enumerate(sentence, 1):
            line.append(_best(element, token, above=table[row - 1], line=line, column=column, skip=skip))
        table.append(line)
    return table


def _best(
    element: Token | Slot, token: Token, *, above: list[Cell], line: list[Cell], column: int, skip: float
) -> Cell:
    options: list[Cell] = [(above[column][0] + skip, "skip")]
    if not (isinstance(element, Slot) and line[column - 1][1] in ("take", "more")):
        options.append((line[column - 1][0] + EXTRA * token.weight, "extra"))
    if isinstance(element, Token):
        if element.key == token.key and not token.is_opaque:
            options.append((above[column - 1][0], "match"))
    elif element.is_number or element.kind is not None:
        if number_of(token.text) is not None if element.is_number else token.kind is element.kind:
            options.append((above[column - 1][0], "take"))
    else:
        options.append((above[column - 1][0] + ABSORB, "take"))
        if line[column - 1][1] in ("take", "more"):
            options.append((line[column - 1][0] + ABSORB, "more"))
    return min(options, key=lambda cell: cell[0])


def _trace(
    table: list[list[Cell]], elements: tuple[Token | Slot, ...], length: int
) -> tuple[frozenset[int], dict[str, tuple[int, int]]]:
    row, column = len(elements), length
    matched: set[int] = set()
    spans: dict[str, tuple[int, int]] = {}
    while row or column:
        move = table[row][column][1]
        element = elements[row - 1] if row else None
        if move in ("take", "more") and isinstance(element, Slot):
            spans[element.parameter] = (column - 1, spans.get(element.parameter, (0, column))[1])
        if move == "match":
            matched.add(column - 1)
        row -= move in ("match", "take", "skip")
        column -= move != "skip"
    return frozenset(matched), spans


def constants(template: Template, parameters: tuple[Parameter, ...]) -> JsonObject:
    """Give the example's values that its words stand for without naming them: of closed sets, numbers and switches."""
    closed = {p.name for p in parameters if p.choices or p.type in ("integer", "number", "boolean")}
    return {name: value for name, value in template.example.params.items() if name in closed - template.slots}
