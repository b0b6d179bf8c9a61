"""One call of the date and time tool: its parameters, its clock, and the message that ends it."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
# What is written the same in both languages: IANA names, offsets, ISO 8601 with its T and Z.
NEUTRAL = re.compile(r"[A-Za-z_]+/[A-Za-z_/+\-0-9]+|\b(?:UTC|GMT)\b|(?<=\d)[TZ]")
WORD = re.compile(r"[A-Za-z]{2,}")
TEXTS = ("timezone", "to_timezone", "date", "end", "festival", "lunar_date")

# A message of the line protocol; its values are JSON of several types.
Message = dict[str, Any]


class Refusal(Exception):  # noqa: N818  it ends a call with an answer, it is not a defect
    """End the call with a result that says what to write instead, in both languages.

    Attributes:
        zh: The Chinese text.
        en: The English text.
        facts: Structured details for the result's `data`.
    """

    def __init__(self, zh: str, en: str, **facts: Any) -> None:
        """Keep both texts; `facts` must be JSON values."""
        super().__init__(en)
        self.zh = zh
        self.en = en
        self.facts: dict[str, Any] = facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What one line on stdin asks; `now` is the aware instant at which it is answered."""

    params: dict[str, Any]
    now: datetime
    lang: str

    def say(self, zh: str, en: str) -> str:
        """Pick the text of the call's language."""
        return zh if self.lang == "zh" else en

    def text(self, name: str) -> str:
        """Return a text parameter, empty when it is missing."""
        return text_of(self.params.get(name))

    def whole(self, name: str, *, least: int, most: int) -> int | None:
        """Return an integer parameter, None when it is missing.

        Raises:
            Refusal: It is not an integer in `least`..`most`.
        """
        value = self.params.get(name)
        if value is None or value == "":
            return None
        number = _integer(value)
        if number is None or not least <= number <= most:
            shown = _shown(value)
            raise Refusal(
                f"参数 {name} 要写 {least} 到 {most} 的整数，不能是 {shown}。",
                f"The parameter {name} is {shown}: write an integer from {least} to {most}.",
                parameter=name,
            )
        return number


def read_call(envelope: Any, now: datetime) -> Call:
    """Read an envelope; parameters of a wrong type count as missing."""
    given = cast("Message", envelope) if isinstance(envelope, dict) else {}
    params = given.get("params")
    known = cast("Message", params) if isinstance(params, dict) else {}
    return Call(params=known, now=now, lang=_language(known))


def text_of(value: Any) -> str:
    """Return a text or number as text without outer blanks, anything else as the empty text."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return str(value).strip()


def result(content: str, facts: Message, *, is_error: bool = False) -> Message:
    """Build the message that ends the call."""
    message: Message = {"type": "result", "content": content, "data": facts}
    if is_error:
        message["is_error"] = True
    return message


def _language(params: Message) -> str:
    """Return `lang`, else English for parameters in Latin words alone, else Chinese."""
    lang = text_of(params.get("lang"))
    if lang in ("zh", "en"):
        return lang
    texts = " ".join(text_of(params.get(name)) for name in TEXTS)
    if CJK.search(texts):
        return "zh"
    return "en" if WORD.search(NEUTRAL.sub(" ", texts)) else "zh"


def _integer(value: Any) -> int | None:
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    text = text_of(value)
    return int(text) if re.fullmatch(r"[+-]?[0-9]{1,9}", text) else None


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:40] + "…"
