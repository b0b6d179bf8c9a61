"""From JSON, feeds and other text that is not HTML to text that reads well."""

import html
import json
import re
from xml.etree import ElementTree as ET

MAX_ITEMS = 100
MAX_SUMMARY = 300  # characters of a feed item's description
TAGS = re.compile(r"<[^<>]{0,1000}>")
SPACES = re.compile(r"\s+")


def read_json(text: str) -> str:
    """Print JSON with one field a line; text that is not JSON stays as it is."""
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return text


def read_feed(text: str) -> tuple[str, str]:
    """Give the title and the items of an RSS or Atom feed; ("", the text) for other XML."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        return "", text  # entities can grow without end; no feed needs them
    try:
        root = ET.fromstring(text.lstrip())  # noqa: S314 - entities were refused above
    except (ET.ParseError, ValueError):
        return "", text
    if _name(root) not in ("rss", "feed", "RDF"):
        return "", text
    items = [element for element in root.iter() if _name(element) in ("item", "entry")]
    channel = next((element for element in root if _name(element) == "channel"), root)
    lines = [_item(number, item) for number, item in enumerate(items[:MAX_ITEMS], start=1)]
    if len(items) > MAX_ITEMS:
        lines.append(f"… {len(items) - MAX_ITEMS}")
    return _child(channel, "title"), "\n".join(lines)


def _item(number: int, item: ET.Element) -> str:
    """Write one item of a feed: title, address, date, and the start of its description."""
    link = _child(item, "link") or next(
        (element.get("href", "") for element in item if _name(element) == "link" and element.get("href")), ""
    )
    date = _child(item, "pubDate") or _child(item, "published") or _child(item, "updated") or _child(item, "date")
    summary = _child(item, "description") or _child(item, "summary") or _child(item, "content")
    if len(summary) > MAX_SUMMARY:
        summary = summary[: MAX_SUMMARY - 1] + "…"
    head = " — ".join(part for part in (_child(item, "title"), link, date) if part)
    return f"{number}. {head}" + (f"\n   {summary}" if summary else "")


def _child(element: ET.Element, name: str) -> str:
    """Give the plain text of a child, whatever its namespace."""
    for child in element:
        if _name(child) == name:
            return SPACES.sub(" ", html.unescape(TAGS.sub(" ", "".join(child.itertext())))).strip()
    return ""


def _name(element: ET.Element) -> str:
    """Give an element's name without its namespace."""
    return element.tag.rpartition("}")[2]
