"""Chinese numerals as they stand in dates and times."""

import re

DIGITS = {
    "\u3007": 0,
    "零": 0,
    "一": 1,
    "二": 2,
    "两": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
}
TENS = {"廿": "二十", "卅": "三十"}
NUMERAL = "\u3007零一二两三四五六七八九十廿卅"
BEFORE_UNIT = re.compile(rf"[{NUMERAL}]+(?=[年月日号点时分天周个])")


def number_of(numeral: str) -> int | None:
    """Read a numeral up to 99, or digits one by one as in 二〇二六; digits 0-9 are read too."""
    if re.fullmatch(r"[0-9]{1,4}", numeral):
        return int(numeral)
    for short, long in TENS.items():
        numeral = numeral.replace(short + "十", long).replace(short, long)
    if "十" not in numeral:
        figures = [DIGITS.get(sign) for sign in numeral]
        return int("".join(map(str, figures))) if figures and None not in figures and len(figures) <= 4 else None
    tens, _, ones = numeral.partition("十")
    known = {"": 0, **DIGITS}
    if ones not in known or (tens and tens not in DIGITS):
        return None
    return (DIGITS[tens] if tens else 1) * 10 + known[ones]


def with_digits(text: str) -> str:
    """Write the numerals that stand before a unit of a date or a time with digits."""
    return BEFORE_UNIT.sub(lambda match: _digits(match[0]), text)


def _digits(numeral: str) -> str:
    number = number_of(numeral)
    return numeral if number is None else str(number)
