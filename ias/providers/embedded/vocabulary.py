"""The words that a tool is known by: its name, its description, its examples."""

from itertools import pairwise

from ias.providers.embedded.hits import Hit
from ias.providers.embedded.tokens import Kind, Token, tokenize


def overlap(hit: Hit, sentence: tuple[Token, ...], *, with_examples: bool = True) -> float:
    """Give the share of a sentence that meets the tool's own words, from 0 to 1, by words and character pairs.

    Args:
        hit: The tool.
        sentence: What is compared.
        with_examples: Whether the examples count; they hold values too.
    """
    examples = [example.ask for example in hit.examples] if with_examples else []
    known = _pairs(tokenize(" ".join([hit.name.replace("_", " "), hit.description, *examples])))
    asked = _pairs(sentence)
    return len(asked & known) / len(asked) if asked else 0.0


def _pairs(tokens: tuple[Token, ...]) -> set[str]:
    pairs = {token.text for token in tokens if token.kind is Kind.WORD and token.weight == 1}
    for first, second in pairwise(tokens):
        if first.kind is second.kind is Kind.HAN and first.end == second.start:
            pairs.add(first.text + second.text)
    return pairs
