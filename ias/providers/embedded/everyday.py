"""Everyday questions that rules read whole, before any tool's examples are compared."""

import re

from ias.domain.messages import JsonObject
from ias.providers.embedded.dates import TOOL as DATETIME
from ias.providers.embedded.dates import read_date_question
from ias.providers.embedded.places import read_place_question
from ias.providers.embedded.tokens import is_chinese, unquote

SEARCH = "web_search"
SEARCHING = re.compile(
    r"(?:请|帮我|麻烦你?|给我)*(?:上网|在网上|网上)?(?:百度|谷歌|搜索|搜一?搜|搜(?!索))(?:一下)?[：:，,\s]*"
    r"(?P<zh>.*[\u3400-\u9fff].*|\S.*)"
    r"|(?:please |can you |could you )?(?:search(?: the web| online| the internet)?(?: for)?|google|web search"
    r"(?: for)?)[:\s]+(?P<en>.+)",
    re.IGNORECASE,
)
LONGEST = 300
"""Characters of the longest question; the time of patterns grows with a text's square."""
PAGE = "fetch_page"
READING = re.compile(
    r"(?:请|帮我)*(?:打开|看一?看|看一?下|读一?下|读|访问|总结一?下?|抓取)(?:网页|网站|这个网页)?\s*(?P<zh>"
    r"(?:https?://)?[a-z0-9-]+(?:\.[a-z0-9-]+)+)"
    r"|(?:please )?(?:open|read|fetch|visit|get|summari[sz]e)(?: the page| the site)? (?P<en>[a-z0-9-]+"
    r"(?:\.[a-z0-9-]+)*\.[a-z]{2,})",
    re.IGNORECASE,
)
NARROWED = re.compile(
    r"最近|近一|本[周月]|这[周个]|今[天年]|记忆|附近|\bmemor|\bpast\b|\bthis (?:week|month|year)\b|\blast (?:week"
    r"|month|year)\b",
    re.IGNORECASE,
)
"""Searches with a limit of time, or in another place than the web; the examples of the tools tell those."""


def read_everyday(text: str) -> tuple[str, JsonObject] | None:
    """Give the tool and the arguments of an everyday question; None for any other sentence."""
    if len(text) > LONGEST:
        return None
    date = read_date_question(text)
    if date is not None:
        return DATETIME, date
    return read_place_question(text) or _search(text) or _page(text)


def _search(text: str) -> tuple[str, JsonObject] | None:
    said = text.strip().rstrip("?？。!！ ")
    found = SEARCHING.fullmatch(said)
    if found is None or NARROWED.search(said):
        return None
    query = unquote(found["zh"] or found["en"])
    return SEARCH, {"query": query, "lang": "zh" if is_chinese(text) else "en"}


def _page(text: str) -> tuple[str, JsonObject] | None:
    """Read an address without `https://`; one that has it is seen by itself."""
    found = READING.fullmatch(text.strip().rstrip("?？。!！ "))
    if found is None:
        return None
    url = found["zh"] or found["en"]
    return PAGE, {"url": url if "://" in url else f"https://{url}", "lang": "zh" if is_chinese(text) else "en"}
