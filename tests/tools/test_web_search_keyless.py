"""The search tool without a key: DuckDuckGo's page, its refusals, and Wikipedia behind it."""

from typing import Any

import pytest

from tests.tools.host import Message, play_by_host, recorded

DUCKDUCKGO, WIKIPEDIA_EN, WIKIPEDIA_ZH = "html.duckduckgo.com", "en.wikipedia.org", "zh.wikipedia.org"
SETTINGS = "BOCHA_KEY, ZHIPU_KEY, TAVILY_KEY, BRAVE_KEY, SERPER_KEY, SEARXNG_URL"
ANSWERED = {DUCKDUCKGO: recorded("search_ddg/results_golang.html")}


def search(answers: dict[str, Message], *, query: str = "golang", **params: Any) -> tuple[list[Message], Message]:
    return play_by_host("web_search", {"query": query, **params}, answers)


def test_duckduckgo_gives_real_addresses_without_a_key() -> None:
    requests, result = search(ANSWERED, count=10, freshness="week")
    assert requests[0]["query"] == {"q": "golang", "kl": "wt-wt", "df": "w"}
    found = result["data"]["results"]
    assert len(found) == 10
    assert found[0] == {
        "title": "The Go Programming Language",
        "url": "https://go.dev/",
        "snippet": "Go is an open source programming language that makes it simple to build secure, scalable systems.",
        "date": "",
        "source": "go.dev",
    }
    assert [hit["url"] for hit in found if "duckduckgo.com" in hit["url"]] == []


def test_duckduckgo_s_advertisements_are_left_out() -> None:
    page = (
        '<div class="result result--ad"><h2><a class="result__a" href="https://ad.example/">Buy</a></h2></div>'
        '<div class="result"><a class="result__a" href="//duckduckgo.com/y.js?ad_domain=x.example&uddg=">Ad</a></div>'
        '<div class="result"><a class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fgood.example%2F">'
        "A &amp; B</a>"
        '<a class="result__snippet">One <b>two</b></a></div>'
    )
    _, result = search({DUCKDUCKGO: {"status": 200, "headers": {}, "body": page}})
    assert result["data"]["results"] == [
        {
            "title": "A & B",
            "url": "https://good.example/",
            "snippet": "One two",
            "date": "",
            "source": "good.example",
        }
    ]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (
            recorded("search_ddg/anomaly_http202.html", status=202),
            "failed (HTTP 202, it asks for a proof that a person is searching)",
        ),
        (
            recorded("search_ddg/anomaly_http202.html", status=200),
            "failed (HTTP 200, it asks for a proof that a person is searching)",
        ),
        (
            recorded("search_ddg/throttled_http200_empty_page.html"),
            "failed (a page without results (it throttles automatic searches))",
        ),
        (
            {"status": 200, "headers": {}, "body": ""},
            "failed (a page without results (it throttles automatic searches))",
        ),
        ({"status": 403, "headers": {}, "body": "no"}, "failed (HTTP 403)"),
        (recorded("search_ddg/no_results_google_link.html"), "found nothing"),
    ],
)
def test_wikipedia_answers_where_duckduckgo_does_not(answer: Message, reason: str) -> None:
    answers = {DUCKDUCKGO: answer, WIKIPEDIA_EN: recorded("search_wikipedia/search_america.json")}
    requests, result = search(answers, query="america", freshness="day")
    assert requests[1]["headers"]["User-Agent"].startswith("ias-web-search/")
    assert result["data"]["results"][1] == {
        "title": "United States",
        "url": "https://en.wikipedia.org/wiki/United_States",
        "snippet": "United States of America (USA), also known as the United States (U.S.) or America, is a country"
        " primarily located in North America. It is a federal republic",
        "date": "2025-08-21",
        "source": "Wikipedia",
    }
    assert result["data"]["notes"] == [
        f"DuckDuckGo {reason}",
        f"these are from Wikipedia alone, regardless of date; for the whole web set one of {SETTINGS}",
    ]


def test_the_chinese_wikipedia_is_asked_for_a_chinese_query_and_its_error_is_told_with_what_to_set() -> None:
    answers = {
        DUCKDUCKGO: recorded("search_ddg/throttled_http200_empty_page.html"),
        WIKIPEDIA_ZH: recorded("search_wikipedia/http403_user_agent.txt", status=403),
    }
    requests, result = search(answers, query="美国历史")
    assert [request["url"].split("/")[2] for request in requests] == [DUCKDUCKGO, WIKIPEDIA_ZH]
    assert result["is_error"] is True
    assert "HTTP 403 Please set a user-agent and respect our robot policy" in result["content"]
    assert result["content"].endswith(f"可以请管理员配置其中一项后再试：{SETTINGS}。")


def test_nothing_found_is_no_error_where_a_web_search_answered() -> None:
    answers = {
        DUCKDUCKGO: recorded("search_ddg/no_results_google_link.html"),
        WIKIPEDIA_EN: recorded("search_wikipedia/search_none.json"),
    }
    _, result = search(answers)
    assert result == {
        "type": "result",
        "content": "Nothing was found for “golang” (DuckDuckGo found nothing; Wikipedia found nothing).",
        "data": {"provider": "", "results": [], "notes": ["DuckDuckGo found nothing", "Wikipedia found nothing"]},
    }


def test_nothing_found_in_wikipedia_alone_is_an_error() -> None:
    answers = {
        DUCKDUCKGO: recorded("search_ddg/anomaly_http202.html", status=202),
        WIKIPEDIA_EN: recorded("search_wikipedia/search_none.json"),
    }
    _, result = search(answers)
    assert result["is_error"] is True
