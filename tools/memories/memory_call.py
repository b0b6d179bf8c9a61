"""One step of a memories call: its parameters, the store's answer, and the messages it can print."""

import re
from dataclasses import dataclass
from typing import Any, cast

CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")

# A message of the line protocol; its values are JSON of several types.
Message = dict[str, Any]


class Refusal(Exception):  # noqa: N818  it ends a call with an answer, it is not a defect
    """End the call with a result that says what went wrong, in both languages.

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
class Step:
    """What one line on stdin says; `answer` is None before the store was asked, `state` what the last step kept."""

    params: dict[str, Any]
    answer: dict[str, Any] | None
    state: dict[str, Any]
    lang: str

    @property
    def error(self) -> dict[str, Any]:
        """Return the store's error, empty when there is none."""
        error = (self.answer or {}).get("error")
        if error is None:
            return {}
        return object_of(error) or {"code": "db_failed", "message": text_of(error)}

    def say(self, zh: str, en: str) -> str:
        """Pick the text of the call's language."""
        return zh if self.lang == "zh" else en

    def has(self, name: str) -> bool:
        """Tell whether a parameter was given."""
        return self.params.get(name) is not None

    def text(self, name: str) -> str:
        """Return a text parameter, empty when it is missing."""
        return text_of(self.params.get(name))

    def needed(self, name: str) -> str:
        """Return a text parameter.

        Raises:
            Refusal: It is missing or blank.
        """
        value = self.text(name)
        if not value:
            raise Refusal(f"缺少参数 {name}。", f"The parameter {name} is missing.")
        return value

    def texts(self, name: str) -> list[str]:
        """Return the texts of a list parameter, each once, blanks left out."""
        return texts_of(self.params.get(name))

    def whole(self, name: str, *, default: int, most: int) -> int:
        """Return an integer parameter, moved into 1..`most`."""
        value = self.params.get(name)
        if isinstance(value, bool) or not isinstance(value, int):
            return default
        return max(1, min(most, value))

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of the store's answer."""
        rows = (self.answer or {}).get("rows")
        items = cast("list[Any]", rows) if isinstance(rows, list) else []
        return [object_of(item) for item in items if isinstance(item, dict)]

    def changed(self) -> int:
        """Return how many memories the store changed."""
        value = (self.answer or {}).get("changed")
        return value if isinstance(value, int) else 0


def read_step(envelope: Message) -> Step:
    """Read an envelope; fields of a wrong type count as missing."""
    params = object_of(envelope.get("params"))
    answered = "db_response" in envelope
    answer = object_of(envelope.get("db_response")) if answered else None
    state = object_of(envelope.get("state"))
    step = Step(params=params, answer=answer, state=state, lang="en")
    lang = text_of(params.get("lang"))
    if lang not in ("zh", "en"):
        spoken = [text_of(value) for value in params.values()] + texts_of(params.get("tags"))
        if not step.text("body") and not step.text("query"):  # a list says nothing itself: its memories do
            spoken += [text_of(row.get("body")) for row in step.rows()]
        spoken.append(text_of(state.get("body")))
        lang = "zh" if CJK.search(" ".join(spoken)) else "en"
    return Step(params=params, answer=answer, state=state, lang=lang)


def object_of(value: Any) -> dict[str, Any]:
    """Return `value` if it is a JSON object, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def text_of(value: Any) -> str:
    """Return a text or integer as text without outer blanks, anything else as the empty text."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return str(value).strip()


def texts_of(value: Any) -> list[str]:
    """Return the texts of a list, each once, blanks left out."""
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return list(dict.fromkeys(filter(None, map(text_of, items))))


def result(content: str, facts: dict[str, Any], *, is_error: bool = False) -> Message:
    """Build the message that ends the call."""
    message: Message = {"type": "result", "content": content, "data": facts}
    if is_error:
        message["is_error"] = True
    return message
