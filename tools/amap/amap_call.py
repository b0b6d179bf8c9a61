"""One step of a call: its parameters, the host's answers, and the messages it can print."""

import json
import re
from dataclasses import dataclass
from typing import Any

from amap_fields import number_of, object_of, objects_of, text_of, texts_of

KEY = "AMAP_KEY"
CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
MESSAGE_CHARS = 200  # of a service's own error text, which is passed on

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
class Call:
    """What one line on stdin says."""

    params: dict[str, Any]
    secrets: tuple[str, ...]
    state: dict[str, Any]
    responses: tuple[dict[str, Any], ...]
    lang: str

    @property
    def has_key(self) -> bool:
        """Tell whether the host can fill in the AMap key."""
        return KEY in self.secrets

    def say(self, zh: str, en: str) -> str:
        """Pick the text of the call's language."""
        return zh if self.lang == "zh" else en

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

    def whole(self, name: str, *, default: int, low: int, high: int) -> int:
        """Return an integer parameter, moved into `low`..`high`."""
        value = number_of(self.params.get(name))
        return default if value is None else max(low, min(high, int(value)))

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        """Return one of `choices`, the first when the parameter is missing.

        Raises:
            Refusal: It is another value.
        """
        value = self.text(name).lower() or choices[0]
        if value not in choices:
            listed = ", ".join(dict.fromkeys(choices))
            raise Refusal(f"参数 {name} 只能是：{listed}。", f"{name} must be one of: {listed}.")
        return value


def read_call(envelope: Message) -> Call:
    """Read an envelope; fields of a wrong type count as missing."""
    params = object_of(envelope.get("params"))
    several = objects_of(envelope.get("responses"))
    one = envelope.get("response")
    lang = text_of(params.get("lang"))
    if lang not in ("zh", "en"):
        spoken = " ".join(text_of(value) for value in params.values())
        lang = "zh" if CJK.search(spoken) else "en"
    return Call(
        params=params,
        secrets=tuple(texts_of(envelope.get("secrets"))),
        state=object_of(envelope.get("state")),
        responses=(object_of(one),) if isinstance(one, dict) else tuple(several),
        lang=lang,
    )


def result(content: str, facts: dict[str, Any], *, is_error: bool = False) -> Message:
    """Build the message that ends the call."""
    message: Message = {"type": "result", "content": content, "data": facts}
    if is_error:
        message["is_error"] = True
    return message


def asked(requests: list[Message], state: dict[str, Any]) -> Message:
    """Build the message that asks the host for one request, or for several side by side."""
    if len(requests) == 1:
        return {**requests[0], "state": state}
    return {"type": "batch", "requests": requests, "state": state}


def unreached(service: str, code: str, message: str) -> tuple[str, str]:
    """Say in both languages why nothing came back; the host's own words are English and for logs."""
    if "has no address" in message:
        return (
            f"连不上 {service}：没有网络，或域名解析不通，请运行 ias doctor --online 检查。",
            f"{service} could not be reached: no network or no DNS; run `ias doctor --online`.",
        )
    if code == "http_timeout":
        return f"{service} 没有及时回答，请稍后再试。", f"{service} did not answer in time. Try again later."
    if code == "response_too_large":
        return f"{service} 的回答太大。", f"The answer of {service} is too large."
    return f"连不上 {service}，请稍后再试。", f"{service} could not be reached. Try again later."


def json_body(response: dict[str, Any], service: str) -> Any:
    """Parse the body of an answer.

    Raises:
        Refusal: Nothing came back, or it is not JSON.
    """
    error = object_of(response.get("error"))
    if error:
        code = text_of(error.get("code")) or "http_failed"
        zh, en = unreached(service, code, text_of(error.get("message")))
        raise Refusal(
            zh,
            en,
            code=code,
            retry=True,
        )
    try:
        return json.loads(text_of(response.get("body")))
    except (ValueError, RecursionError):
        status = text_of(response.get("status")) or "?"
        cut = response.get("truncated") is True
        raise Refusal(
            f"{service} 的回答{'太长，被截断' if cut else '不是 JSON'}（HTTP {status}），无法读取。",
            f"The answer of {service} {'was cut' if cut else 'is not JSON'} (HTTP {status}).",
            http_status=status,
            retry=True,
        ) from None
