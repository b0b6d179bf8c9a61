"""A call's arguments as the model wrote them, made the text of one JSON object or a fault."""

import json
import re
from dataclasses import dataclass
from typing import NoReturn

from ias.domain.messages import JsonObject, replace_surrogates

NOTHING = "{}"
KINDS = {"list": "an array", "str": "a string", "bool": "a boolean", "NoneType": "null"}
BAD_ESCAPE = re.compile(r'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})|\\(.?)', re.DOTALL)
"""Either an escape that JSON knows (first group) or a backslash that it does not (second)."""

HALF_WORD = re.compile(
    r"(t|tr|tru|f|fa|fal|fals|n|nu|nul|-)?|\.?(\d+)?([eE][+-]?)?|\\?u?[0-9a-fA-F]{0,4}",
)
"""What can stand where a JSON text that was cut cannot be read on: nothing, or half a word, number or escape."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """`text` is always one JSON object; `fault` says what was wrong where it stands in for something else.

    Args:
        text: One JSON object.
        fault: For the model.
        is_cut: Whether what was written is only the beginning of a JSON text.
        goes_on: Whether something follows on a whole JSON text.
    """

    text: str
    fault: str | None = None
    is_cut: bool = False
    goes_on: bool = False


def read_arguments(written: str | JsonObject) -> Arguments:
    r"""Make what a model wrote one JSON object.

    Lossless slips are mended: nothing at all for no arguments, raw control characters, escapes that JSON does not
    know (`\'`, `\d`), an object inside a string. Structure is never guessed: a missing quote or brace is a fault,
    and often the sign of an answer that was cut.
    """
    if not isinstance(written, str):
        return _object(written)
    text = written.strip()
    if text in ("", "null"):
        return Arguments(text=NOTHING)
    try:
        value = _loads(text)
    except ValueError as first:
        try:
            value = _loads(BAD_ESCAPE.sub(_mend, text))
        except ValueError as second:
            return _broken(first, second)
        except RecursionError:
            return _broken(first, first)
    except RecursionError:
        return Arguments(text=NOTHING, fault="the arguments are nested too deeply; write one flat JSON object")
    if isinstance(value, str):
        value = _inner(value)
    return _object(value, text)


def _broken(first: ValueError, second: ValueError) -> Arguments:
    """Give the fault of a text that `first` was found in, and `second` once its escapes were mended."""
    fault = f"the arguments are not valid JSON: {_place(first)}; write one JSON object"
    if not isinstance(second, json.JSONDecodeError):
        return Arguments(text=NOTHING, fault=fault)
    is_cut = second.msg.startswith("Unterminated string") or HALF_WORD.fullmatch(second.doc, second.pos) is not None
    return Arguments(text=NOTHING, fault=fault, is_cut=is_cut, goes_on=second.msg == "Extra data")


def _object(value: object, text: str | None = None) -> Arguments:
    if not isinstance(value, dict):
        kind = KINDS.get(type(value).__name__, "a number")
        return Arguments(text=NOTHING, fault=f"the arguments are {kind}; write one JSON object")
    if text is not None and _is_strict_object(text):
        return Arguments(text=text)
    try:
        return Arguments(text=replace_surrogates(json.dumps(value, ensure_ascii=False, allow_nan=False)))
    except (ValueError, RecursionError):
        return Arguments(
            text=NOTHING, fault="the arguments hold a number or a depth that JSON has not; write one JSON object"
        )


def _is_strict_object(text: str) -> bool:
    """Say whether `text` can be kept byte for byte; an escaped lone surrogate is a 400 at DeepSeek."""
    if "\\ud" in text.lower() or text != replace_surrogates(text):
        return False
    try:
        return isinstance(json.loads(text, parse_constant=_refuse), dict)
    except ValueError:
        return False


def _loads(text: str) -> object:
    return json.loads(text, strict=False, parse_constant=_refuse)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _inner(text: str) -> object:
    try:
        return _loads(text)
    except (ValueError, RecursionError):
        return text


def _mend(found: re.Match[str]) -> str:
    if found[1] is not None:
        return found[0]
    return found[2] if found[2] == "'" else "\\\\" + found[2]


def _place(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg.lower()} at character {error.pos}"
    return str(error)
