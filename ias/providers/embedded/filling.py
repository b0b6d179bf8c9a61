"""A tool's arguments out of a sentence: from the best template's slots, then from what else the sentence holds."""

import re
from dataclasses import dataclass

from ias.domain.messages import JsonObject, JsonValue
from ias.providers.embedded.amounts import amount, around_spans
from ias.providers.embedded.choices import choose, words_for
from ias.providers.embedded.hits import Hit, Parameter
from ias.providers.embedded.remainder import EDGE_MARKS, is_empty, is_phrase, strip_words, trim
from ias.providers.embedded.templates import Fit, Template, constants
from ias.providers.embedded.tokens import Kind, Token, is_chinese, number_of, tokenize, unquote
from ias.providers.embedded.vocabulary import overlap

CLOSE = 0.75
"""Recall from which values that the example does not name are taken over: its words are nearly all there."""
OF_KIND = {Kind.ADDRESS: ("url", "uri", "link", "address"), Kind.PAIR: ("location", "coordinates", "origin")}
"""Parameter names that take an address or coordinates."""
DATE_NAMES = re.compile(r"date|day|start|end|from|to|when|time")
LANGUAGE = "lang"
NAMED = re.compile(r"\S+ \S.* (?:in|near|at|for|of|about) (.+)")
"""Where no example helps, an English value stands behind the last preposition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """Arguments, and the required parameters that the sentence gave nothing for."""

    args: JsonObject
    missing: tuple[Parameter, ...]


def fill(hit: Hit, text: str, template: Template | None, fitted: Fit | None) -> Filled:
    """Fill what can be filled.

    Args:
        hit: The tool.
        text: What the person wrote.
        template: The best of the tool's templates, if it has any.
        fitted: How the sentence meets it.
    """
    tokens = tokenize(text)
    args: JsonObject = {}
    used: set[int] = set()
    if template is not None and fitted is not None:
        _from_slots(hit, text, tokens, fitted, args, used)
        if fitted.recall >= CLOSE:
            args.update({**constants(template, hit.parameters), **args})
    for parameter in hit.parameters:
        chosen = choose(parameter, text)
        if chosen is not None and _is_worded(template, parameter, chosen):
            chosen = None
        if parameter.name == LANGUAGE and set(parameter.choices) >= {"zh", "en"}:
            args[LANGUAGE] = "zh" if is_chinese(text) else "en"
        elif chosen is not None:
            args[parameter.name] = chosen
        elif (number := amount(parameter, text)) is not None:
            args[parameter.name] = number
    _from_kinds(hit, tokens, text, args, used)
    _from_remainder(hit, tokens, text, template, fitted, args, used)
    missing = tuple(parameter for parameter in hit.parameters if parameter.is_required and parameter.name not in args)
    return Filled(args=args, missing=missing)


def _is_worded(template: Template | None, parameter: Parameter, choice: str) -> bool:
    """Say whether the example has the word as well and does not mean the parameter by it."""
    if template is None or parameter.name in template.example.params:
        return False
    return any(isinstance(element, Token) and element.text == choice.lower() for element in template.elements)


def value_of(parameter: Parameter, text: str) -> JsonValue:
    """Read an answer to the question for one parameter; None where it does not fit."""
    if parameter.choices:
        return choose(parameter, text)
    if parameter.type in ("integer", "number"):
        numbers = (number_of(token.text) for token in tokenize(text))
        first = next((number for number in numbers if number is not None), None)
        return None if first is None else _numeric(parameter, first)
    value = trim(text)
    return [value] if parameter.type == "array" else value or None


def _from_slots(hit: Hit, text: str, tokens: tuple[Token, ...], fitted: Fit, args: JsonObject, used: set[int]) -> None:
    for name, (start, end) in fitted.spans.items():
        parameter = hit.parameter(name)
        if parameter is None:
            continue
        piece = text[tokens[start].start : tokens[end - 1].end]
        value = _slot_value(parameter, piece, hit)
        if value is not None:
            args[name] = value
            used.update(range(start, end))


def _slot_value(parameter: Parameter, piece: str, hit: Hit) -> JsonValue:
    if parameter.type in ("integer", "number"):
        number = number_of(piece)
        return None if number is None else _numeric(parameter, number)
    if is_empty(piece):
        return None
    value = unquote(piece)
    if value == piece.strip():
        value = _without_spans(trim(piece), hit)
        value = trim(strip_words(value, words_for(hit.parameters))) or value
    if parameter.pattern and not _matches(parameter.pattern, value):
        return None
    return value


def _from_kinds(hit: Hit, tokens: tuple[Token, ...], text: str, args: JsonObject, used: set[int]) -> None:
    """Give quotations, addresses, coordinates, dates and numbers to parameters that take them."""
    for position, token in enumerate(tokens):
        if position in used or not (token.is_opaque or token.kind is Kind.NUMBER):
            continue
        piece = text[token.start : token.end]
        parameter = next((p for p in hit.parameters if p.name not in args and takes(p, token.kind)), None)
        if parameter is None:
            continue
        number = number_of(piece)
        value: JsonValue = unquote(piece)
        if token.kind is Kind.NUMBER:
            value = None if number is None else _numeric(parameter, number)
        if value is not None:
            args[parameter.name] = value
            used.add(position)


def takes(parameter: Parameter, kind: Kind) -> bool:
    """Say whether a parameter is one for values of this kind."""
    is_text = parameter.type == "string" and not parameter.choices
    if kind is Kind.QUOTE:
        return is_text and parameter.is_required
    if kind is Kind.NUMBER:
        return parameter.type in ("integer", "number") and parameter.is_required
    if kind is Kind.DATE:
        return is_text and DATE_NAMES.search(parameter.name) is not None
    return is_text and any(word in parameter.name for word in OF_KIND.get(kind, ()))


def _from_remainder(
    hit: Hit,
    tokens: tuple[Token, ...],
    text: str,
    template: Template | None,
    fitted: Fit | None,
    args: JsonObject,
    used: set[int],
) -> None:
    """Give the first required text that is still missing the sentence without the template's words at its ends."""
    open_texts = [
        p for p in hit.parameters if p.is_required and p.name not in args and p.type == "string" and not p.choices
    ]
    if not open_texts or not tokens:
        return
    matched = fitted.matched if template is not None and fitted is not None else frozenset[int]()
    start, end = 0, len(tokens)
    while start < end and (start in matched or start in used):
        start += 1
    while end > start and (end - 1 in matched or end - 1 in used):
        end -= 1
    if start == end:
        return
    piece = text[tokens[start].start : tokens[end - 1].end].strip(EDGE_MARKS)
    parameter = open_texts[0]
    value = _without_spans(trim(piece), hit)
    named = NAMED.fullmatch(value)
    if named is not None and template is None:
        value = trim(named[1])
    if overlap(hit, tokenize(value), with_examples=False) == 1 or (not matched and not is_phrase(value)):
        return
    if not is_empty(piece) and not (parameter.pattern and not _matches(parameter.pattern, value)):
        args[parameter.name] = value


def _without_spans(value: str, hit: Hit) -> str:
    """Take spans of time that the tool counts out of a value, and the tool's own words beside them."""
    if not any(amount(parameter, value) is not None or choose(parameter, value) for parameter in hit.parameters):
        return trim(value)
    parts = around_spans(value)
    if len(parts) < 2:
        return trim(parts[0]) if parts else value
    kept = [part for part in map(trim, parts) if overlap(hit, tokenize(part), with_examples=False) < 1]
    return " ".join(kept) or value


def _numeric(parameter: Parameter, number: float) -> JsonValue:
    return int(number) if parameter.type == "integer" else number


def _matches(pattern: str, value: str) -> bool:
    try:
        return re.search(pattern, value) is not None
    except re.error:
        return True
