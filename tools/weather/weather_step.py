"""One step of a call: its parameters, the host's answers, and the messages it can print."""

import json
import os
import re
from dataclasses import dataclass

from weather_fields import Json, line_of, list_of, number_of, object_of, text_of

KEY = "QWEATHER_KEY"
HOST = "QWEATHER_HOST"
CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
QWEATHER_HOST = re.compile(r"([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+qweatherapi\.com")
NAME_CHARS = 100  # of a place; longer ones are no place
BODY_CHARS = 2_000_000  # of an answer; the host cuts longer ones


class Refusal(Exception):  # noqa: N818  it ends a call with an answer, it is not a defect
    """End the call with a result that says what went wrong, in both languages.

    Attributes:
        zh: The Chinese text.
        en: The English text.
        facts: Structured details for the result's `data`.
    """

    def __init__(self, zh: str, en: str, **facts: object) -> None:
        """Keep both texts; `facts` must be JSON values."""
        super().__init__(en)
        self.zh = zh
        self.en = en
        self.facts: Json = facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What one line on stdin says; `host` is the account's QWeather host, "" where it is not set up."""

    location: str
    adm: str
    params: Json
    lang: str
    has_key: bool
    host: str
    state: Json
    responses: tuple[Json, ...]

    def say(self, zh: str, en: str) -> str:
        """Pick the text of the call's language."""
        return zh if self.lang == "zh" else en

    def whole(self, name: str, *, default: int, high: int) -> int:
        """Return an integer parameter, moved into 1 to `high`."""
        value = number_of(self.params.get(name))
        return default if value is None else max(1, min(high, int(value)))

    @property
    def has_qweather(self) -> bool:
        """Tell whether QWeather can be asked: it needs the key and the account's own host."""
        return self.has_key and bool(self.host)


def read_call(envelope: Json) -> Call:
    """Read an envelope and the environment; fields of a wrong type count as missing."""
    params = object_of(envelope.get("params"))
    # A place is text: it must not name a secret for the host to fill in.
    location, adm = (line_of(params.get(name), limit=NAME_CHARS).replace("${", "$ {") for name in ("location", "adm"))
    lang = text_of(params.get("lang"))
    if lang not in ("zh", "en"):
        lang = "zh" if CJK.search(location + adm) else "en"
    several = list_of(envelope.get("responses")) or [envelope.get("response")]
    return Call(
        location=location,
        adm=adm,
        params=params,
        lang=lang,
        has_key=KEY in list_of(envelope.get("secrets")),
        host=read_host(os.environ.get(HOST, "")),
        state=object_of(envelope.get("state")),
        responses=tuple(object_of(response) for response in several),
    )


def read_host(text: str) -> str:
    """Take the host out of what was set as QWEATHER_HOST; "" where it is none of QWeather's."""
    host = text.strip().lower().removeprefix("https://").removeprefix("http://").split("/")[0]
    return host if QWEATHER_HOST.fullmatch(host) else ""


def result(content: str, facts: Json, *, is_error: bool = False) -> Json:
    """Build the message that ends the call."""
    message: Json = {"type": "result", "content": content, "data": facts}
    return {**message, "is_error": True} if is_error else message


def get(url: str, query: Json, desc: str, headers: Json | None = None) -> Json:
    """Build a GET request; query values that are empty are left out."""
    kept = {name: str(value) for name, value in query.items() if value not in (None, "")}
    message: Json = {"type": "http", "method": "GET", "url": url, "query": kept, "desc": desc}
    return {**message, "headers": headers} if headers else message


def asked(requests: list[Json], state: Json) -> Json:
    """Build the message that asks the host for one request, or for several side by side."""
    if len(requests) == 1:
        return {**requests[0], "state": state}
    return {"type": "batch", "requests": requests, "state": state}


def parsed(response: Json) -> object:
    """Parse the body of an answer; None where it is no JSON."""
    try:
        return json.loads(text_of(response.get("body"), limit=BODY_CHARS))
    except (ValueError, RecursionError):
        return None
