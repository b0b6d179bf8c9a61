"""The search tool: each service's answers, recorded ones and empty ones, and how it goes on to the next."""

import json
from typing import Any

import pytest
import yaml

from tests.tools.host import ROOT, Message, module, play_by_host, recorded, run_line, serve, spec

BOCHA, ZHIPU, TAVILY = "api.bochaai.com", "open.bigmodel.cn", "api.tavily.com"
BRAVE, SERPER, DUCKDUCKGO = "api.search.brave.com", "google.serper.dev", "html.duckduckgo.com"
WIKIPEDIA_EN = "en.wikipedia.org"
SEARXNG_STATE: Message = {"plan": ["searxng", "duckduckgo", "wikipedia"], "tried": []}
ANSWERED = {DUCKDUCKGO: recorded("search_ddg/results_golang.html")}


def search(answers: dict[str, Message], *secrets: str, query: str = "golang", **params: Any) -> Any:
    return play_by_host("web_search", {"query": query, **params}, answers, secrets=secrets)


def hosts(requests: list[Message]) -> list[str]:
    return [request["url"].split("/")[2] for request in requests]


def answer_of(name: str, **fields: Any) -> Message:
    return {"status": 200, "headers": {}, "body": json.dumps({**fields, "_": name})}


def test_bocha_is_asked_with_a_placeholder_and_read_into_hits() -> None:
    requests, result = search(
        {BOCHA: recorded("search_bocha/web_search_esg_summary.json")},
        "BOCHA_KEY",
        query="阿里巴巴 ESG",
        freshness="week",
    )
    assert requests == [
        {
            "type": "http",
            "method": "POST",
            "url": "https://api.bochaai.com/v1/web-search",
            "headers": {"Accept": "application/json", "Authorization": "Bearer ${BOCHA_KEY}"},
            "json": {"query": "阿里巴巴 ESG", "freshness": "oneWeek", "summary": True, "count": 5},
            "desc": "web search by api.bochaai.com",
        }
    ]
    first = result["data"]["results"][0]
    assert (first["title"], first["url"], first["date"], first["source"]) == (
        "阿里巴巴：2024年环境、社会和治理（ESG）报告（英文版）.pdf",
        "https://m.waitang.com/report/85234526.html",
        "2024-07-24",
        "外唐智库",
    )
    assert len(first["snippet"]) <= 300
    lines = result["content"].splitlines()
    assert lines[0] == "“阿里巴巴 ESG”的搜索结果（来源：博查 Bocha）："
    assert lines[1].startswith(f"1. {first['title']} — {first['url']} — {first['snippet'][:20]}")
    assert [result["data"]["provider"], len(result["data"]["results"]), len(lines)] == ["bocha", 2, 3]


@pytest.mark.parametrize(
    ("secret", "host", "name", "expected"),
    [
        (
            "ZHIPU_KEY",
            ZHIPU,
            "search_zhipu/web_search_one.json",
            {
                "title": "2025年5月23日财经早资讯",
                "url": "https://www.sohu.com/a/897879632_121123890",
                "snippet": "一、1-4月我国对外直接投资575.4亿美元...",
                "date": "2025-05-23",
                "source": "搜狐",
            },
        ),
        (
            "TAVILY_KEY",
            TAVILY,
            "search_tavily/search_basic_search.json",
            {
                "title": "Pydantic AI - Pydantic AI",
                "url": "https://ai.pydantic.dev/",
                "snippet": "Pydantic AI is a Python agent framework designed to help you quickly, confidently, and"
                " painlessly build production grade applications and workflows with",
                "date": "",
                "source": "ai.pydantic.dev",
            },
        ),
        (
            "BRAVE_KEY",
            BRAVE,
            "search_brave/web_new_york_times.json",
            {
                "title": "The New York Times - Breaking News, US News, World News and Videos",
                "url": "https://www.nytimes.com",
                "snippet": "Live news, investigations, opinion, photos and video by the journalists of The New York"
                " Times from more than 150 countries around the world. Subscribe for coverage of U.S. and international"
                " news, politics, business, technology, science, health, arts, sports and more.",
                "date": "1 week ago",
                "source": "NYTimes",
            },
        ),
        (
            "SERPER_KEY",
            SERPER,
            "search_serper/search_amazon.json",
            {
                "title": "Amazon.com | Seattle WA - Facebook",
                "url": "https://facebook.com/Amazon/",
                "snippet": "Amazon.com, Seattle, Washington. 30191833 likes · 93201 talking about this. Official"
                " Facebook page of www.amazon.com.",
                "date": "",
                "source": "facebook.com",
            },
        ),
    ],
)
def test_each_service_is_read_into_the_same_five_fields(
    secret: str, host: str, name: str, expected: dict[str, str]
) -> None:
    requests, result = search({host: recorded(name)}, secret, count=10)
    assert hosts(requests) == [host]
    assert f"${{{secret}}}" in "".join(requests[0]["headers"].values())
    assert expected in result["data"]["results"]


def test_zhipu_gives_as_many_hits_as_asked_for_and_gets_a_short_query() -> None:
    requests, result = search(
        {ZHIPU: recorded("search_zhipu/web_search_three.json")},
        "ZHIPU_KEY",
        query="财经" * 50,
        count=2,
        freshness="day",
    )
    assert requests[0]["json"] == {
        "search_query": "财经" * 35,
        "search_engine": "search_std",
        "search_intent": False,
        "count": 2,
        "search_recency_filter": "oneDay",
        "content_size": "medium",
    }
    assert [hit["date"] for hit in result["data"]["results"]] == ["2025-05-23", "2025-05-23"]


def test_serper_shows_the_fact_box_and_asks_for_the_language_and_the_day() -> None:
    requests, result = search(
        {SERPER: recorded("search_serper/search_amazon.json")}, "SERPER_KEY", query="亚马逊", freshness="day"
    )
    assert requests[0]["json"] == {"q": "亚马逊", "num": 5, "gl": "cn", "hl": "zh-cn", "tbs": "qdr:d"}
    assert result["data"]["answer"].startswith("Amazon.com, Inc. is an American multinational")
    assert "\n摘要：Amazon.com, Inc. is" in result["content"]


def test_tavily_and_brave_get_their_own_words_for_a_time() -> None:
    answers = {
        TAVILY: recorded("search_tavily/error_401.json", status=401),
        BRAVE: recorded("search_brave/web_empty.json"),
    }
    requests, _ = search(answers, "TAVILY_KEY", "BRAVE_KEY", freshness="month", lang="zh")
    assert requests[0]["json"] == {
        "query": "golang",
        "search_depth": "basic",
        "max_results": 5,
        "time_range": "month",
    }
    assert requests[1]["query"] == {"q": "golang", "count": "5", "search_lang": "zh-hans", "freshness": "pm"}


@pytest.mark.parametrize(
    ("secret", "host", "answer", "note"),
    [
        (
            "BOCHA_KEY",
            BOCHA,
            recorded("search_bocha/error_401.json", status=401),
            "博查 Bocha failed (HTTP 401 Invalid API KEY)",
        ),
        (
            "BOCHA_KEY",
            BOCHA,
            recorded("search_bocha/error_429.json"),
            "博查 Bocha failed (code 429 You have reached the request limit)",
        ),
        (
            "ZHIPU_KEY",
            ZHIPU,
            recorded("search_zhipu/error_429_1113_no_balance.json", status=429),
            "智谱 Zhipu failed (HTTP 429 1113 余额不足或无可用资源包,请充值。)",
        ),
        (
            "TAVILY_KEY",
            TAVILY,
            recorded("search_tavily/error_401.json", status=401),
            "Tavily failed (HTTP 401 Unauthorized: missing or invalid API key.)",
        ),
        (
            "BRAVE_KEY",
            BRAVE,
            recorded("search_brave/error_429_rate_limited.json", status=429),
            "Brave failed (HTTP 429 RATE_LIMITED Request rate limit exceeded for plan)",
        ),
        (
            "SERPER_KEY",
            SERPER,
            recorded("search_serper/error_403_unauthorized.json", status=403),
            "Serper failed (HTTP 403 Unauthorized.)",
        ),
        ("ZHIPU_KEY", ZHIPU, recorded("search_zhipu/web_search_empty.json"), "智谱 Zhipu found nothing"),
        ("BRAVE_KEY", BRAVE, recorded("search_brave/web_empty.json"), "Brave found nothing"),
        ("BOCHA_KEY", BOCHA, answer_of("null", code=200, data=None), "博查 Bocha found nothing"),
        ("BOCHA_KEY", BOCHA, answer_of("odd", data={"webPages": {"value": [None, 3, {}]}}), "博查 Bocha found nothing"),
        ("TAVILY_KEY", TAVILY, answer_of("text", results="none"), "Tavily found nothing"),
        (
            "SERPER_KEY",
            SERPER,
            {"status": 200, "headers": {}, "body": "[]"},
            "Serper failed (HTTP 200, but the answer is not JSON)",
        ),
        (
            "TAVILY_KEY",
            TAVILY,
            {"status": 502, "headers": {}, "body": "<h1>Bad Gateway</h1>"},
            "Tavily failed (HTTP 502 Bad Gateway)",
        ),
        (
            "TAVILY_KEY",
            TAVILY,
            {"status": 200, "headers": {}, "body": '{"results": [', "truncated": True},
            "Tavily failed (HTTP 200, but the answer is not JSON, cut short)",
        ),
        (
            "BRAVE_KEY",
            BRAVE,
            {"error": {"code": "http_timeout", "message": "no answer in 20 s"}},
            "Brave failed (it did not answer in time)",
        ),
        ("SERPER_KEY", SERPER, {"status": 200, "headers": {}, "body_base64": "/w=="}, None),
    ],
)
def test_a_service_that_fails_or_finds_nothing_is_followed_by_the_next(
    secret: str, host: str, answer: Message, note: str | None
) -> None:
    requests, result = search({host: answer, **ANSWERED}, secret)
    assert hosts(requests) == [host, DUCKDUCKGO]
    assert (result["data"]["provider"], len(result["data"]["results"])) == ("duckduckgo", 5)
    if note is not None:
        assert result["data"]["notes"] == [note]
        assert result["content"].splitlines()[-1] == f"Note: {note}"


def test_services_are_asked_in_their_order_until_one_answers() -> None:
    secrets = ("SERPER_KEY", "BRAVE_KEY", "TAVILY_KEY", "ZHIPU_KEY", "BOCHA_KEY", "OTHER_KEY")
    requests, result = search({}, *secrets)
    assert hosts(requests) == [BOCHA, ZHIPU, TAVILY, BRAVE, SERPER, DUCKDUCKGO, WIKIPEDIA_EN]
    assert result["is_error"] is True
    assert len(result["data"]["notes"]) == 7


@pytest.mark.parametrize(
    ("params", "text"),
    [
        ({}, "query is missing: write what to search for, as text"),
        ({"query": " \u0000 "}, "query is missing: write what to search for, as text"),
        ({"query": "x" * 501}, "query has 501 characters; write at most 500"),
        ({"query": "x", "count": 11}, "count is 11; write a whole number from 1 to 10"),
        ({"query": "x", "count": True}, "count is True; write a whole number from 1 to 10"),
        ({"query": "x", "freshness": "hour"}, "freshness is 'hour'; write one of any, day, week, month, year"),
        ({"query": "x", "lang": "fr"}, "lang is 'fr'; write zh or en"),
    ],
)
def test_wrong_arguments_are_told_before_anything_is_asked(params: Message, text: str) -> None:
    assert play_by_host("web_search", params, {}) == ([], {"type": "result", "content": text, "is_error": True})


def test_a_query_cannot_name_a_secret() -> None:
    requests, _ = search(ANSWERED, query="print ${TAVILY_KEY}")
    assert requests[0]["query"]["q"] == "print $ {TAVILY_KEY}"


def searxng(answer: Message) -> Message:
    """Serve the step after SearXNG's answer."""
    return serve("web_search", {"params": {"query": "mac worker"}, "response": answer, "state": SEARXNG_STATE})


def test_searxng_s_results_and_info_box_are_read() -> None:
    result = searxng(recorded("search_searxng/search_several_engines_infobox.json"))
    assert result["data"]["answer"] == "インドにおける男性の名前 (लक्ष्मण)"
    assert [hit["url"] for hit in result["data"]["results"]] == [
        "https://ja.wikipedia.org/wiki/%E3%82%A2%E3%83%80%E3%83%A0%E3%83%BB%E3%83%A9%E3%82%AF%E3%82%B9%E3%83%9E%E3%83%B3",
        "https://500ji-nihonshi.com/edo/post-805/",
    ]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (
            recorded("search_searxng/http403_json_format_off.html", status=403),
            "HTTP 403: add json to search.formats in the server's settings.yml",
        ),
        (
            recorded("search_searxng/search_all_engines_failed.json"),
            (
                "its engines failed: brave: too many requests, duckduckgo: timeout, google: timeout,"
                " karmasearch: access denied, startpage: timeout"
            ),
        ),
    ],
)
def test_searxng_s_failures_lead_on_with_their_reason(answer: Message, reason: str) -> None:
    message = searxng(answer)
    assert message["url"] == "https://html.duckduckgo.com/html/"
    assert message["state"] == {"plan": ["duckduckgo", "wikipedia"], "tried": [["searxng", reason]]}


def test_the_program_asks_the_searxng_server_of_its_environment() -> None:
    line = json.dumps({"params": {"query": "你好", "freshness": "year"}, "secrets": []}) + "\n"
    code, out, err = run_line(spec("web_search"), line, {"SEARXNG_URL": "https://search.example.com/"})
    message = json.loads(out)
    assert (code, err, out.count("\n")) == (0, "", 1)
    assert message["url"] == "https://search.example.com/search"
    assert message["query"] == {"q": "你好", "format": "json", "language": "zh-CN", "time_range": "year"}


@pytest.mark.parametrize(
    ("line", "starts"),
    [
        ("", ""),
        ("{broken\n", '{"type": "result", "content": "the line is not JSON'),
        ("[]\n", '{"type": "result", "content": "the line is not a JSON object'),
    ],
)
def test_the_program_survives_any_line(line: str, starts: str) -> None:
    code, out, err = run_line(spec("web_search"), line, {})
    assert (code, out[: len(starts)], err) == (0, starts, "")


def test_every_address_that_is_asked_is_declared() -> None:
    spec = yaml.safe_load((ROOT / "tools/web_search/specs/search.tool.yaml").read_text("utf-8"))
    declared = {host for host in spec["hosts"] if not host.startswith("*")}
    services = module("web_search", "search_services").SERVICES
    assert declared == {BOCHA, ZHIPU, TAVILY, BRAVE, SERPER, DUCKDUCKGO}
    assert [service.setting for service in services] == [*spec["secrets"], *spec["env"]]
