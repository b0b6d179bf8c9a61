"""The search services that need a key or a server of one's own: how each is asked and read."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from search_hits import (
    MAX_SNIPPET,
    Found,
    Query,
    SearchFailedError,
    as_list,
    as_text,
    error_text,
    keep,
    make_hit,
    pick,
    pick_list,
    pick_text,
    read_json,
    shorten,
)

# docs.bigmodel.cn, web search: a query has at most 70 characters; api-dashboard.search.brave.com: at most 400.
ZHIPU_MAX_QUERY = 70
BRAVE_MAX_QUERY = 400
CHINA_FRESHNESS = {"any": "noLimit", "day": "oneDay", "week": "oneWeek", "month": "oneMonth", "year": "oneYear"}
BRAVE_FRESHNESS = {"day": "pd", "week": "pw", "month": "pm", "year": "py"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A search service; `setting` is the secret, or the variable, that turns it on."""

    name: str
    title: str
    setting: str
    ask: Callable[[Query], dict[str, object]]
    read: Callable[[Mapping[str, object], Query], Found]


def ask_bocha(query: Query) -> dict[str, object]:
    """Ask Bocha (open.bochaai.com)."""
    return _post(
        "https://api.bochaai.com/v1/web-search",
        {"Authorization": "Bearer ${BOCHA_KEY}"},
        {
            "query": query.text,
            "freshness": CHINA_FRESHNESS[query.freshness],
            "summary": True,
            "count": query.count,
        },
    )


def read_bocha(response: Mapping[str, object], query: Query) -> Found:
    """Read Bocha's answer; a failure may come with HTTP 200 and a `code` of its own, number or text."""
    answer = read_json(response)
    if pick_text(answer, "code") not in ("200", ""):
        raise SearchFailedError(f"code {pick_text(answer, 'code')} {error_text(answer)}".strip())
    hits = [
        make_hit(
            title=pick_text(item, "name"),
            url=pick_text(item, "url"),
            snippet=pick_text(item, "summary") or pick_text(item, "snippet"),
            date=pick_text(item, "datePublished"),
            source=pick_text(item, "siteName"),
        )
        for item in pick_list(answer, "data.webPages.value")
    ]
    return Found(hits=keep(hits, query.count))


def ask_zhipu(query: Query) -> dict[str, object]:
    """Ask Zhipu's Web Search API (docs.bigmodel.cn)."""
    return _post(
        "https://open.bigmodel.cn/api/paas/v4/web_search",
        {"Authorization": "Bearer ${ZHIPU_KEY}"},
        {
            "search_query": query.text[:ZHIPU_MAX_QUERY],
            "search_engine": "search_std",
            "search_intent": False,
            "count": query.count,
            "search_recency_filter": CHINA_FRESHNESS[query.freshness],
            "content_size": "medium",
        },
    )


def read_zhipu(response: Mapping[str, object], query: Query) -> Found:
    """Read Zhipu's answer."""
    answer = read_json(response)
    _raise_for_error(answer)
    hits = [
        make_hit(
            title=pick_text(item, "title"),
            url=pick_text(item, "link"),
            snippet=pick_text(item, "content"),
            date=pick_text(item, "publish_date"),
            source=pick_text(item, "media"),
        )
        for item in pick_list(answer, "search_result")
    ]
    return Found(hits=keep(hits, query.count))


def ask_tavily(query: Query) -> dict[str, object]:
    """Ask Tavily (docs.tavily.com); a basic search costs one credit."""
    body: dict[str, object] = {"query": query.text, "search_depth": "basic", "max_results": query.count}
    if query.freshness != "any":
        body["time_range"] = query.freshness
    return _post("https://api.tavily.com/search", {"Authorization": "Bearer ${TAVILY_KEY}"}, body)


def read_tavily(response: Mapping[str, object], query: Query) -> Found:
    """Read Tavily's answer."""
    answer = read_json(response)
    _raise_for_error(answer)
    hits = [
        make_hit(
            title=pick_text(item, "title"),
            url=pick_text(item, "url"),
            snippet=pick_text(item, "content"),
            date=pick_text(item, "published_date"),
        )
        for item in pick_list(answer, "results")
    ]
    return Found(hits=keep(hits, query.count), answer=shorten(pick_text(answer, "answer"), MAX_SNIPPET))


def ask_brave(query: Query) -> dict[str, object]:
    """Ask Brave's web search."""
    asked = {
        "q": query.text[:BRAVE_MAX_QUERY],
        "count": str(query.count),
        "search_lang": "zh-hans" if query.lang == "zh" else "en",
    }
    if query.freshness != "any":
        asked["freshness"] = BRAVE_FRESHNESS[query.freshness]
    return _get(
        "https://api.search.brave.com/res/v1/web/search",
        asked,
        {"Accept": "application/json", "X-Subscription-Token": "${BRAVE_KEY}"},
    )


def read_brave(response: Mapping[str, object], query: Query) -> Found:
    """Read Brave's answer."""
    answer = read_json(response)
    _raise_for_error(answer)
    hits = [
        make_hit(
            title=pick_text(item, "title"),
            url=pick_text(item, "url"),
            snippet=pick_text(item, "description"),
            date=pick_text(item, "page_age") or pick_text(item, "age"),
            source=pick_text(item, "profile.name"),
        )
        for item in pick_list(answer, "web.results")
    ]
    return Found(hits=keep(hits, query.count))


def ask_serper(query: Query) -> dict[str, object]:
    """Ask Serper (Google's results)."""
    body: dict[str, object] = {"q": query.text, "num": query.count}
    body |= {"gl": "cn", "hl": "zh-cn"} if query.lang == "zh" else {"gl": "us", "hl": "en"}
    if query.freshness != "any":
        body["tbs"] = f"qdr:{query.freshness[0]}"
    return _post("https://google.serper.dev/search", {"X-API-KEY": "${SERPER_KEY}"}, body)


def read_serper(response: Mapping[str, object], query: Query) -> Found:
    """Read Serper's answer, with Google's answer box or knowledge graph where there is one."""
    answer = read_json(response)
    if pick(answer, "organic") is None and error_text(answer):
        raise SearchFailedError(error_text(answer))
    hits = [
        make_hit(
            title=pick_text(item, "title"),
            url=pick_text(item, "link"),
            snippet=pick_text(item, "snippet"),
            date=pick_text(item, "date"),
        )
        for item in pick_list(answer, "organic")
    ]
    box = (
        pick_text(answer, "answerBox.answer")
        or pick_text(answer, "answerBox.snippet")
        or pick_text(answer, "knowledgeGraph.description")
    )
    return Found(hits=keep(hits, query.count), answer=shorten(box, MAX_SNIPPET))


def ask_searxng(query: Query) -> dict[str, object]:
    """Ask the SearXNG server that the variable SEARXNG_URL names."""
    base = os.environ.get("SEARXNG_URL", "").strip().rstrip("/")
    asked = {"q": query.text, "format": "json", "language": "zh-CN" if query.lang == "zh" else "en"}
    if query.freshness != "any":
        asked["time_range"] = query.freshness
    return _get(f"{base}/search", asked, {"Accept": "application/json"})


def read_searxng(response: Mapping[str, object], query: Query) -> Found:
    """Read SearXNG's answer; no results with silent engines behind it is a failure, not an empty answer."""
    if response.get("status") == 403:
        raise SearchFailedError("HTTP 403: add json to search.formats in the server's settings.yml")
    answer = read_json(response)
    hits = [
        make_hit(
            title=pick_text(item, "title"),
            url=pick_text(item, "url"),
            snippet=pick_text(item, "content"),
            date=pick_text(item, "publishedDate"),
        )
        for item in pick_list(answer, "results")
    ]
    found = Found(hits=keep(hits, query.count), answer=shorten(_searxng_box(answer), MAX_SNIPPET))
    silent = [_engine_trouble(item) for item in pick_list(answer, "unresponsive_engines")]
    if not found.hits and silent:
        raise SearchFailedError(shorten(f"its engines failed: {', '.join(silent)}", MAX_SNIPPET))
    return found


def _searxng_box(answer: object) -> str:
    """Find a direct answer (a text, an object, or null) or the first info box."""
    for item in pick_list(answer, "answers"):
        if text := as_text(item) or pick_text(item, "answer"):
            return text
    return next((text for box in pick_list(answer, "infoboxes") if (text := pick_text(box, "content"))), "")


def _engine_trouble(item: object) -> str:
    """Write one of SearXNG's `[engine, reason]` pairs."""
    return ": ".join(as_text(part) for part in as_list(item))


def _raise_for_error(answer: object) -> None:
    """Turn an `error` object in an answer with HTTP 200 into a failure."""
    if pick(answer, "error") is not None:
        raise SearchFailedError(error_text(answer) or "an error without a text")


def _post(url: str, headers: dict[str, str], body: dict[str, object]) -> dict[str, object]:
    """Make a POST of a JSON body, named after the service's host."""
    return {
        "type": "http",
        "method": "POST",
        "url": url,
        "headers": {"Accept": "application/json", **headers},
        "json": body,
        "desc": f"web search by {urlsplit(url).netloc}",
    }


def _get(url: str, asked: dict[str, str], headers: dict[str, str]) -> dict[str, object]:
    """Make a GET, named after the service's host."""
    return {
        "type": "http",
        "method": "GET",
        "url": url,
        "query": asked,
        "headers": headers,
        "desc": f"web search by {urlsplit(url).netloc}",
    }


# The order in which they are tried.
SERVICES: tuple[Service, ...] = (
    Service(name="bocha", title="博查 Bocha", setting="BOCHA_KEY", ask=ask_bocha, read=read_bocha),
    Service(name="zhipu", title="智谱 Zhipu", setting="ZHIPU_KEY", ask=ask_zhipu, read=read_zhipu),
    Service(name="tavily", title="Tavily", setting="TAVILY_KEY", ask=ask_tavily, read=read_tavily),
    Service(name="brave", title="Brave", setting="BRAVE_KEY", ask=ask_brave, read=read_brave),
    Service(name="serper", title="Serper", setting="SERPER_KEY", ask=ask_serper, read=read_serper),
    Service(name="searxng", title="SearXNG", setting="SEARXNG_URL", ask=ask_searxng, read=read_searxng),
)
