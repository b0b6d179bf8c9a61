"""What a search service found, whatever it calls its fields, and careful readers of its JSON."""

import html
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import cast
from urllib.parse import urlsplit

MAX_TITLE = 200  # characters; some services give whole paragraphs as a title
MAX_SNIPPET = 300  # characters; ten hits then stay near 1,500 tokens
MAX_REASON = 160  # characters of a service's own error text
# Why nothing came back, in both languages; the host's own words are English and for logs.
UNREACHED = {
    "no_address": (
        "没有网络，或域名解析不通，请运行 ias doctor --online 检查",
        "no network or no DNS; run `ias doctor --online`",
    ),
    "http_timeout": ("没有及时回答", "it did not answer in time"),
    "response_too_large": ("回答太大", "its answer is too large"),
    "http_failed": ("连接不上", "not reachable"),
}
ERROR_TEXT_PATHS = ("error.message", "error.detail", "error.info", "detail.error", "message", "msg", "detail", "error")

TAGS = re.compile(r"<[^<>]{0,500}>")
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
SPACES = re.compile(r"\s+")
CHINESE = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is looked for: `freshness` is any, day, week, month or year; `lang` is zh or en."""

    text: str
    count: int
    freshness: str
    lang: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One page that was found; `source` is the site's name, `date` is as the service gives it, "" where it does not."""

    title: str
    url: str
    snippet: str
    date: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a service answered; `answer` is a direct answer or a fact box, "" where there is none."""

    hits: tuple[Hit, ...] = ()
    answer: str = ""


class SearchFailedError(Exception):
    """A service did not answer the question; the message says why in a few words."""


def pick(value: object, path: str) -> object:
    """Follow `path` (`a.b.c`) through JSON objects; None where it leads nowhere."""
    for key in path.split("."):
        if not isinstance(value, dict):
            return None
        value = cast("dict[str, object]", value).get(key)
    return value


def pick_text(value: object, path: str) -> str:
    """Read the text or number at `path`, without tags, entities and surplus space; "" for everything else."""
    return as_text(pick(value, path))


def pick_list(value: object, path: str) -> list[object]:
    """Read the list at `path`; an empty one for everything else."""
    return as_list(pick(value, path))


def as_text(value: object) -> str:
    """Read a text or number as plain text; "" for everything else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return plain(str(value))


def as_list(value: object) -> list[object]:
    """Read a list; an empty one for everything else."""
    return cast("list[object]", value) if isinstance(value, list) else []


def plain(text: str) -> str:
    """Make one line of plain text out of a fragment of HTML."""
    text = html.unescape(TAGS.sub("", text))
    return SPACES.sub(" ", CONTROLS.sub(" ", text)).strip()


def shorten(text: str, limit: int) -> str:
    """Cut `text` to at most `limit` characters, the last one being an ellipsis where something is missing."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def make_hit(*, title: str, url: str, snippet: str, date: str = "", source: str = "") -> Hit | None:
    """Make a hit out of clean texts; None where there is no address that a person could open."""
    url = url.strip()
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return None
    return Hit(
        title=shorten(title or url, MAX_TITLE),
        url=url,
        snippet=shorten(snippet, MAX_SNIPPET),
        date=short_date(date),
        source=shorten(source or parts.netloc.removeprefix("www."), MAX_TITLE),
    )


def short_date(text: str) -> str:
    """Keep the day of an ISO instant; other forms (`1 week ago`) stay as they are."""
    return text[:10] if re.match(r"\d{4}-\d{2}-\d{2}[T ]", text) else shorten(text, 40)


def keep(hits: list[Hit | None], count: int) -> tuple[Hit, ...]:
    """Keep the first `count` hits, each address once."""
    by_url: dict[str, Hit] = {}
    for hit in hits:
        if hit is not None:
            by_url.setdefault(hit.url.rstrip("/"), hit)
    return tuple(by_url.values())[:count]


def rows(hits: tuple[Hit, ...]) -> list[dict[str, str]]:
    """Give hits as JSON."""
    return [asdict(hit) for hit in hits]


def read_body(response: Mapping[str, object]) -> str:
    """Give the text of a host's `response`; what could not be read as text is empty.

    Raises:
        SearchFailedError: If nothing came back.
    """
    if response.get("error") is not None:
        code = pick_text(response, "error.code")
        is_unknown_host = "has no address" in pick_text(response, "error.message")
        raise SearchFailedError("no_address" if is_unknown_host else code if code in UNREACHED else "http_failed")
    body = response.get("body")
    return body if isinstance(body, str) else ""


def read_json(response: Mapping[str, object]) -> object:
    """Parse the JSON of a host's `response`.

    Raises:
        SearchFailedError: If nothing came back, the status is not 2xx, or the body is not a JSON object.
    """
    body = read_body(response)
    status = read_status(response)
    try:
        answer: object = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    if not 200 <= status < 300:
        raise SearchFailedError(f"HTTP {status} {error_text(answer) or shorten(plain(body), 80)}".strip())
    if not isinstance(answer, dict):
        cut = ", cut short" if response.get("truncated") is True else ""
        raise SearchFailedError(f"HTTP {status}, but the answer is not JSON{cut}")
    return cast("object", answer)


def read_status(response: Mapping[str, object]) -> int:
    """Give the HTTP status of a host's `response`, 0 where there is none."""
    status = response.get("status")
    return status if isinstance(status, int) else 0


def error_text(answer: object) -> str:
    """Find what a service says about its own failure, with its code where it has one."""
    text = next((found for path in ERROR_TEXT_PATHS if (found := pick_text(answer, path))), "")
    code = pick_text(answer, "error.code")
    return shorten(f"{code} {text}".strip(), MAX_REASON)
