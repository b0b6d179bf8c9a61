"""A request as the person who decides sees it: from the stored bytes alone, every character for what it is."""

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ias.cli import words
from ias.cli.visible import visible, wrap
from ias.domain.approvals import canonical, digest_of, slots
from ias.domain.messages import JsonObject
from ias.domain.urls import PORTS
from ias.errors import StateError

GUTTER = "\u2502 "  # stands before each line that comes from the request, wrapped ones too: nothing else looks like it
BODY_SHORT = 2000  # characters of a body that are shown at once
NARROW, WIDE = 40, 120  # columns that a request is laid out for, whatever the terminal says


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestView:
    """The lines of a request, and whether a part of it is not among them."""

    lines: tuple[str, ...]
    is_whole: bool


def read_request(text: str, digest: str) -> tuple[JsonObject, ...]:
    """Read the stored requests of an approval.

    Args:
        text: A JSON list of canonical requests, as stored and as sent in `ApprovalRequested`.
        digest: Their digest.

    Raises:
        StateError: The bytes do not have that digest: what would be shown is not what was asked for.
    """
    items = cast("list[JsonObject]", json.loads(text))
    if digest_of(tuple(canonical(item) for item in items)) != digest:
        raise StateError("the stored request does not fit its digest; do not approve it, and look at `ias doctor`")
    return tuple(items)


def render(items: Sequence[JsonObject], *, is_full: bool) -> RequestView:
    """Lay requests out for a terminal.

    Args:
        items: As `read_request` gives them.
        is_full: Whether long bodies are shown whole.
    """
    width = min(WIDE, max(NARROW, shutil.get_terminal_size().columns)) - len(GUTTER) - 1
    lines: list[str] = []
    is_whole = True
    for number, item in enumerate(items, 1):
        if len(items) > 1:
            lines.append(f"{number}/{len(items)}")
        shown = _render_item(item, is_full=is_full)
        is_whole = is_whole and shown.is_whole
        lines.extend(GUTTER + piece for line in shown.lines for piece in wrap(line, width))
    return RequestView(lines=tuple(lines), is_whole=is_whole)


def summary(items: Sequence[JsonObject]) -> str:
    """Give requests in one line: what lists show."""
    return "; ".join(_target(item) for item in items)


def reach(items: Sequence[JsonObject]) -> tuple[str, ...]:
    """Say what a yes for the conversation, or for always, would let through later."""
    found: dict[str, None] = {}
    for item in items:
        match item["kind"]:
            case "call" | "start":
                phrase = words.REACH_CALL
            case "db":
                phrase = words.REACH_DB
            case _:
                phrase = words.REACH_HTTP
        found[phrase(target=_target(item), tool=visible(str(item["tool"])))] = None
    return tuple(found)


def secrets_in(items: Sequence[JsonObject]) -> tuple[str, ...]:
    """Give the names of the secrets that the host fills in when it sends these requests."""
    found: dict[str, None] = {}
    for item in items:
        pairs = [pair for part in ("query", "headers") for pair in cast("list[tuple[str, str]]", item.get(part) or [])]
        for text in (*(value for _, value in pairs), str(item.get("body") or "")):
            found |= dict.fromkeys(slots(text))
    return tuple(found)


def readable(text: str) -> str:
    """Give a JSON text with its characters as they are: in stored ones all but ASCII is escaped."""
    try:
        return json.dumps(json.loads(text), ensure_ascii=False)
    except ValueError:
        return text


def _target(item: JsonObject) -> str:
    match item["kind"]:
        case "http":
            return visible(f"{item['method']} {_origin(item)}{item['path']}")
        case "db":
            return visible(f"db {item['operation']}")
        case _:
            return visible(f"call {item['tool']}")


def _origin(item: Mapping[str, Any]) -> str:
    host, port, scheme = str(item["host"]), item["port"], str(item["scheme"])
    shown = f"[{host}]" if ":" in host else host
    return f"{scheme}://{shown}" + ("" if PORTS.get(scheme) == port else f":{port}")


def _render_item(item: JsonObject, *, is_full: bool) -> RequestView:
    lines = [_target(item)]
    match item["kind"]:
        case "http":
            if item.get("reroute"):
                lines.append(visible(f"rerouted to {item['reroute']}"))
            lines += _pairs("query", item["query"]) + _pairs("header", item["headers"])
            body = item.get("body")
            rest = RequestView(lines=(), is_whole=True) if body is None else _body("body", str(body), is_full=is_full)
        case "db":
            rest = _body("parameters", readable(str(item["params"])), is_full=is_full)
        case _:
            rest = _body("arguments", readable(str(item["args"])), is_full=is_full)
    return RequestView(lines=(*lines, *rest.lines), is_whole=rest.is_whole)


def _pairs(name: str, pairs: object) -> list[str]:
    lines: list[str] = []
    for key, value in cast("list[tuple[str, str]]", pairs):
        lines.append(f"{name}  {visible(key)} = {visible(value)}")
    return lines


def _body(name: str, text: str, *, is_full: bool) -> RequestView:
    """Show a body line by line; of a long one the beginning, its size and its SHA-256."""
    raw = text.encode("utf-8", "surrogatepass")
    is_whole = is_full or len(text) <= BODY_SHORT
    shown = text if is_whole else text[:BODY_SHORT]
    lines = [f"{name}  ({len(raw)} bytes)"]
    lines += [visible(line) for line in shown.split("\n")]
    if not is_whole:
        missing = len(raw) - len(shown.encode("utf-8", "surrogatepass"))
        sha256 = hashlib.sha256(raw).hexdigest()
        lines.append(words.HIDDEN(bytes=missing, total=len(raw), sha256=sha256))
    return RequestView(lines=tuple(lines), is_whole=is_whole)
