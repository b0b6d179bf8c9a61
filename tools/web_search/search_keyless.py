"""The two sources that need no key: DuckDuckGo's page for old browsers, best effort, and Wikipedia."""

from collections.abc import Mapping
from html.parser import HTMLParser
from urllib.parse import parse_qs, quote, urlsplit

from search_hits import (
    Found,
    Hit,
    Query,
    SearchFailedError,
    error_text,
    keep,
    make_hit,
    pick,
    pick_list,
    pick_text,
    plain,
    read_body,
    read_json,
    read_status,
)

DUCKDUCKGO_URL = "https://html.duckduckgo.com/html/"
# Wikimedia refuses requests whose User-Agent does not say what they are (w.wiki/4wJS).
WIKIPEDIA_USER_AGENT = "ias-web-search/1.0 (search tool of a self-hosted assistant)"
DUCKDUCKGO_USER_AGENT = "Mozilla/5.0 (compatible; ias-web-search/1.0)"
BOT_CHECK_MARKS = ("anomaly-modal", "anomaly.js", "challenge-form")
NOTHING_FOUND_MARKS = ("no-results", "result--no-result")
OWN_HOST = "duckduckgo.com"


def ask_duckduckgo(query: Query) -> dict[str, object]:
    """Ask DuckDuckGo's html page."""
    asked = {"q": query.text, "kl": "cn-zh" if query.lang == "zh" else "wt-wt"}
    if query.freshness != "any":
        asked["df"] = query.freshness[0]
    return {
        "type": "http",
        "method": "GET",
        "url": DUCKDUCKGO_URL,
        "query": asked,
        "headers": {
            "Accept": "text/html",
            "Accept-Language": "zh-CN,zh;q=0.9,en;q=0.6" if query.lang == "zh" else "en-US,en;q=0.9",
            "User-Agent": DUCKDUCKGO_USER_AGENT,
        },
        "desc": "web search by html.duckduckgo.com",
    }


def read_duckduckgo(response: Mapping[str, object], query: Query) -> Found:
    """Read DuckDuckGo's page.

    Raises:
        SearchFailedError: If it is a bot check (HTTP 202), an error, or a page without results that does not say so.
    """
    page = read_body(response)
    status = read_status(response)
    if status not in (200, 202):
        raise SearchFailedError(f"HTTP {status}")
    reader = ResultPage()
    reader.feed(page)
    reader.close()
    hits = keep(reader.hits(), query.count)
    if hits:
        return Found(hits=hits)
    if status == 202 or any(mark in page for mark in BOT_CHECK_MARKS):
        raise SearchFailedError(f"HTTP {status}, it asks for a proof that a person is searching")
    if not any(mark in page for mark in NOTHING_FOUND_MARKS):
        raise SearchFailedError("a page without results (it throttles automatic searches)")
    return Found()


def ask_wikipedia(query: Query) -> dict[str, object]:
    """Ask the Wikipedia of the query's language."""
    return {
        "type": "http",
        "method": "GET",
        "url": f"https://{query.lang}.wikipedia.org/w/api.php",
        "query": {
            "action": "query",
            "list": "search",
            "srsearch": query.text,
            "srlimit": str(query.count),
            "format": "json",
            "utf8": "1",
        },
        "headers": {"Accept": "application/json", "User-Agent": WIKIPEDIA_USER_AGENT},
        "desc": f"search in {query.lang}.wikipedia.org",
    }


def read_wikipedia(response: Mapping[str, object], query: Query) -> Found:
    """Read Wikipedia's answer; the date is that of the article's last change."""
    answer = read_json(response)
    if pick(answer, "error") is not None:
        raise SearchFailedError(error_text(answer) or "an error without a text")
    hits: list[Hit | None] = []
    for item in pick_list(answer, "query.search"):
        title = pick_text(item, "title")
        if title:
            path = quote(title.replace(" ", "_"), safe="/:(),_-.~!'*")
            hits.append(
                make_hit(
                    title=title,
                    url=f"https://{query.lang}.wikipedia.org/wiki/{path}",
                    snippet=pick_text(item, "snippet"),
                    date=pick_text(item, "timestamp"),
                    source="维基百科" if query.lang == "zh" else "Wikipedia",
                )
            )
    return Found(hits=keep(hits, query.count))


class ResultPage(HTMLParser):
    """Collects title, address and snippet of each result that is neither an advertisement nor a link to a rival."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._found: list[dict[str, str]] = []
        self._is_ad = False
        self._field = ""

    def hits(self) -> list[Hit | None]:
        """Give what was collected, in the page's order."""
        return [
            make_hit(
                title=plain(found["title"]),
                url=found["url"],
                snippet=plain(found["snippet"]),
            )
            for found in self._found
            if found["url"]
        ]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note which result, and which part of it, begins."""
        attributes = dict(attrs)
        classes = (attributes.get("class") or "").split()
        if "result" in classes:
            self._is_ad = "result--ad" in classes
        elif tag == "a" and "result__a" in classes:
            address = "" if self._is_ad else real_address(attributes.get("href") or "")
            self._found.append({"title": "", "url": address, "snippet": ""})
            self._field = "title"
        elif "result__snippet" in classes and self._found:
            self._field = "snippet"

    def handle_endtag(self, tag: str) -> None:
        """End a title or snippet with its link; marked words inside it go on."""
        if tag in ("a", "div", "h2", "td"):
            self._field = ""

    def handle_data(self, data: str) -> None:
        """Add text to the part that is open."""
        if self._field:
            self._found[-1][self._field] += data


def real_address(href: str) -> str:
    """Take the target out of DuckDuckGo's redirect; "" for an advertisement and for a link to Google's search page."""
    if href.startswith("//"):
        href = f"https:{href}"
    try:
        parts = urlsplit(href)
        host = (parts.hostname or "").lower()
        if host == OWN_HOST or host.endswith(f".{OWN_HOST}"):
            href = next(iter(parse_qs(parts.query).get("uddg", [])), "")
            parts = urlsplit(href)
            host = (parts.hostname or "").lower()
    except ValueError:
        return ""
    is_own = host == OWN_HOST or host.endswith(f".{OWN_HOST}")
    is_google_search = host.removeprefix("www.").startswith("google.") and parts.path == "/search"
    return "" if is_own or is_google_search else href
