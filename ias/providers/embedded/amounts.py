"""Amounts with a unit: how many days, hours, results or metres, for parameters that count them."""

import re

from ias.providers.embedded.hits import Parameter
from ias.providers.embedded.tokens import number_of

NUMBER = (
    r"\d{1,6}|[一二两三四五六七八九十]{1,3}|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?![a-z])"
)
UNITS: tuple[tuple[str, tuple[str, ...], int], ...] = (
    (r"天|日|days?(?![a-z])", ("day",), 1),
    (r"周|个星期|星期|weeks?(?![a-z])", ("day",), 7),
    (r"个?小时|个?钟头|hours?(?![a-z])|hrs?(?![a-z])", ("hour",), 1),
    (r"公里|千米|km(?![a-z])|kilometers?(?![a-z])|kilometres?(?![a-z])", ("radius", "metre", "meter"), 1000),
    (r"米|meters?(?![a-z])|metres?(?![a-z])|m(?![a-z])", ("radius", "metre", "meter"), 1),
    (r"条|个|篇|家|results?(?![a-z])|pages?(?![a-z])|places?(?![a-z])|items?(?![a-z])", ("limit", "count"), 1),
)
"""A unit's words, parts of the names of parameters that count it, and what one of it is there."""
LEAD = r"(?:未来|接下来|今后|之后|最近|近|over the next|in the next|for the next|the next|next|within|for)?\s*"
SPAN = re.compile(
    rf"{LEAD}(?<![A-Za-z0-9.])(?:{NUMBER})\s*(?:{'|'.join(unit for unit, _, _ in UNITS[:3])})(?:内|里|之内)?的?",
    re.IGNORECASE,
)
"""A span of time; a place's name does not contain one."""


def amount(parameter: Parameter, text: str) -> int | None:
    """Find the amount that a parameter counts, by its name; None where the sentence has none."""
    if parameter.type not in ("integer", "number"):
        return None
    for unit, names, factor in UNITS:
        if not any(name in parameter.name for name in names):
            continue
        found = re.search(rf"(?<![A-Za-z0-9.])({NUMBER})\s*(?:{unit})", text, re.IGNORECASE)
        number = None if found is None else number_of(found[1])
        if number is not None:
            return int(number * factor)
    return None


def around_spans(text: str) -> list[str]:
    """Give the parts of a value that stand before, between and behind spans of time."""
    return [part.strip() for part in SPAN.split(text) if part.strip()]
