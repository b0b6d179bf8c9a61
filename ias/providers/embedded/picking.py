"""The tool that a sentence means, of those that the catalogue found."""

from dataclasses import dataclass

from ias.providers.embedded.amounts import SPAN, amount
from ias.providers.embedded.filling import takes
from ias.providers.embedded.hits import Hit
from ias.providers.embedded.remainder import trim
from ias.providers.embedded.templates import Fit, Template, fit, template_of
from ias.providers.embedded.tokens import Kind, Token, tokenize
from ias.providers.embedded.vocabulary import overlap

GOOD = 0.42
"""Score of an example from which its tool is taken."""
RANK_BONUS = (0.10, 0.05, 0.02)
"""What the catalogue's order adds."""
VALUE_BONUS = 0.45
"""What an address or coordinates add for a tool that takes them, and take from one that does not."""
CERTAIN = 1.0
"""Score from which a tool is taken though another one counts in the unit of the sentence's span of time."""
COUNTING = 0.2
"""Score that a tool needs to be taken for the unit that it counts in."""
NEAR = 0.28
"""Share of the sentence that a tool's own words must cover where no example fits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """A tool, and its example that the sentence meets best."""

    hit: Hit
    template: Template | None
    fit: Fit | None
    score: float


def pick(hits: tuple[Hit, ...], text: str) -> Pick | None:
    """Choose a tool; None where none fits well enough to be called."""
    sentence = tokenize(text)
    picks = [_best(hit, sentence, rank) for rank, hit in enumerate(hits)]
    best = max(picks, key=lambda candidate: candidate.score, default=None)
    counting = [c for c in picks if c.score >= COUNTING and SPAN.search(text) and _counts(c.hit, text)]
    if counting and best is not None and best.score < CERTAIN:
        return max(counting, key=lambda candidate: candidate.score)
    if best is not None and best.score >= GOOD:
        return best
    for candidate in picks:
        if overlap(candidate.hit, tokenize(trim(text))) >= NEAR:
            return candidate
    return None


def _counts(hit: Hit, text: str) -> bool:
    """Say whether a tool takes the sentence's span: hours for one, days for another."""
    return any(amount(parameter, text) is not None for parameter in hit.parameters)


def _best(hit: Hit, sentence: tuple[Token, ...], rank: int) -> Pick:
    best = Pick(hit=hit, template=None, fit=None, score=0.0)
    for example in hit.examples:
        template = template_of(example, hit)
        fitted = fit(template, sentence)
        if fitted.score > best.score:
            best = Pick(hit=hit, template=template, fit=fitted, score=fitted.score)
    bonus = RANK_BONUS[rank] if best.score and rank < len(RANK_BONUS) else 0.0
    for token in sentence:
        if token.kind in (Kind.ADDRESS, Kind.PAIR):
            bonus += VALUE_BONUS if any(takes(parameter, token.kind) for parameter in hit.parameters) else -VALUE_BONUS
    return Pick(hit=hit, template=best.template, fit=best.fit, score=best.score + bonus)
