"""Foreign text on a terminal: nothing that moves the cursor, hides, reorders or imitates what `ias` says itself."""

import re
import unicodedata
from functools import lru_cache

OPEN, CLOSE = "\u27e8", "\u27e9"  # around an escaped character; in a text these two are escaped themselves
NOT_PLAIN = re.compile(r"[^\x20-\x7e]")
# Controls but tab and newline, text direction, lone surrogates, line and paragraph separators, tags.
HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff"
    "\U000e0000-\U000e0fff]"
)
# Default_Ignorable_Code_Point of Unicode's DerivedCoreProperties, where the category does not show it; and blanks.
INVISIBLE = (
    (0x034F, 0x034F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x2065, 0x2065),
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0xE0000, 0xE0FFF),
)


def visible(text: str) -> str:
    """Give a text in which every character is seen for what it is: for what a person must judge.

    Letters, digits, punctuation and symbols stay; each other character, marks and newlines too, becomes `⟨U+202E⟩`.
    """
    return NOT_PLAIN.sub(lambda match: match[0] if is_plain(match[0]) else code_point(match[0]), text)


def tame(text: str) -> str:
    """Give a text to read: newlines, tabs and marks stay, only what is harmful to a terminal or its reader goes."""
    return HARMFUL.sub(lambda match: code_point(match[0]), text)


def one_line(text: str, limit: int) -> str:
    """Give the beginning of a text in one tame line of at most `limit` characters."""
    line = tame(" ".join(text.split()))
    return line if len(line) <= limit else line[: limit - 1] + "…"


@lru_cache(maxsize=4096)
def is_plain(char: str) -> bool:
    """Say whether a character is seen for what it is."""
    code = ord(char)
    if char in (OPEN, CLOSE) or any(low <= code <= high for low, high in INVISIBLE):
        return False
    return char == " " or unicodedata.category(char)[0] in "LNPS"


def code_point(char: str) -> str:
    """Name a character."""
    return f"{OPEN}U+{ord(char):04X}{CLOSE}"


def cells(text: str) -> int:
    """Give the columns that a text of plain characters takes on a terminal."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def wrap(text: str, width: int) -> list[str]:
    """Cut a line into pieces of at most `width` columns, wherever it comes: nothing is moved or dropped."""
    lines: list[str] = []
    line, used = "", 0
    for char in text:
        size = cells(char)
        if used + size > width and line:
            lines.append(line)
            line, used = "", 0
        line += char
        used += size
    return [*lines, line]
