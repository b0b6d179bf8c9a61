"""The page tool: charsets, pages of every quality, and what is not HTML."""

import base64
import sys
from typing import Any

import pytest

from tests.tools.host import Message, module, play_by_host

URL = "https://example.com/a/page"
SIMPLIFIED = "这是一段关于城市公共交通的报道，我们来看看人们的看法，还有很多细节没有说到。"
TRADITIONAL = "這是一段關於城市公共交通的報導，我們來看看人們的看法，還有很多細節沒有說到。"
JAPANESE = "これは都市の公共交通についての記事です。朝夕の混雑した時にどのように運行しているかを見ます。"
KOREAN = "이것은 도시의 대중 교통에 대한 기사이고 아침과 저녁에 어떻게 운행하는지를 살펴보는 글이다."


def fetch(answer: Message, **params: Any) -> Message:
    _, result = play_by_host("fetch_page", {"url": URL, **params}, {"example.com": answer})
    return result


def text_of(result: Message) -> str:
    assert "is_error" not in result, result["content"]
    return result["content"].split("\n\n", 1)[1]


def raw(content: bytes, kind: str | None = "text/html") -> Message:
    """Answer as the host does: text where the bytes are UTF-8, else base64."""
    headers = {} if kind is None else {"content-type": kind}
    try:
        return {"status": 200, "headers": headers, "body": content.decode("utf-8")}
    except UnicodeDecodeError:
        return {"status": 200, "headers": headers, "body_base64": base64.b64encode(content).decode("ascii")}


def html(text: str, *, head: str = "") -> str:
    return f"<html><head>{head}<title>T</title></head><body><p>{text}</p></body></html>"


@pytest.mark.parametrize(
    ("text", "codec", "named"),
    [
        (SIMPLIFIED, "gb18030", "gb2312"),
        (SIMPLIFIED + "\U00020000", "gb18030", "GBK"),
        (TRADITIONAL, "big5", "big5"),
        (JAPANESE, "cp932", "Shift_JIS"),
        (JAPANESE, "euc-jp", "euc-jp"),
        (JAPANESE, "iso-2022-jp", "iso-2022-jp"),
        (SIMPLIFIED, "hz", "hz-gb-2312"),
        (KOREAN, "euc-kr", "euc-kr"),
        ("Où est le château ?", "cp1252", "iso-8859-1"),
    ],
)
def test_a_charset_named_by_the_header_or_the_page_is_used(text: str, codec: str, named: str) -> None:
    by_header = fetch(raw(html(text).encode(codec), f"text/html; charset={named}"))
    by_page = fetch(raw(html(text, head=f'<meta charset="{named}">').encode(codec)))
    assert (text_of(by_header), text_of(by_page)) == (text, text)


@pytest.mark.parametrize(
    ("text", "codec", "kind"),
    [
        (SIMPLIFIED, "gb18030", "text/html"),
        (SIMPLIFIED, "gb18030", "text/html; charset=ISO-8859-1"),
        (SIMPLIFIED, "gb18030", "text/html; charset=utf-8"),
        (SIMPLIFIED, "gb18030", "text/html; charset=no-such-charset"),
        (TRADITIONAL, "big5", "text/html"),
        (JAPANESE, "cp932", "text/html"),
        (JAPANESE, "euc-jp", "text/html"),
        (KOREAN, "euc-kr", "text/html"),
        ("Où est le château, déjà vu ?", "cp1252", "text/html"),
        (SIMPLIFIED, "utf-16", "text/html"),
        (SIMPLIFIED, "utf-8-sig", "text/html; charset=gbk"),
    ],
)
def test_a_charset_that_is_missing_or_wrong_is_found_out(text: str, codec: str, kind: str) -> None:
    assert text_of(fetch(raw(html(text).encode(codec), kind))) == text


def test_a_character_cut_in_two_at_the_end_does_not_change_the_charset() -> None:
    content = html(SIMPLIFIED).encode("gb18030") + "完".encode("gb18030")[:1]
    assert text_of(fetch(raw(content))) == SIMPLIFIED


def test_a_list_of_links_is_read_whole() -> None:
    items = "".join(f'<li><a href="/n/{number}">新闻标题第 {number} 条</a></li>' for number in range(40))
    answer = raw(f"<title>首页</title><body><ul>{items}</ul></body>".encode())
    assert [f"新闻标题第 {number} 条" in text_of(fetch(answer)) for number in range(40)] == [True] * 40
    assert "[新闻标题第 39 条](https://example.com/n/39)" in text_of(fetch(answer, format="markdown"))


def test_the_plain_parser_reads_tables_lists_and_code() -> None:
    page = "<h2>A</h2><ul><li>one<li>two</ul><table><tr><td>x<td>1</td></tr></table><pre>if a:\n    b</pre>"
    seen = module("fetch_page", "page_html").outline(page, URL, is_markdown=True)
    assert seen.text == "## A\n\n- one\n- two\n\nx1 |\n\nif a:\n    b"


def test_a_page_is_read_without_the_library_too() -> None:
    reader = module("fetch_page", "page_html")
    page = html(SIMPLIFIED * 20)
    kept = {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == "trafilatura"}
    sys.modules["trafilatura"] = None  # type: ignore[assignment]  # how Python marks a module that cannot be imported
    try:
        assert reader.article(page, URL, is_markdown=False) == ""
        assert reader.page_text(page, URL, reader.outline(page, URL), is_markdown=False) == SIMPLIFIED * 20
    finally:
        del sys.modules["trafilatura"]
        sys.modules.update(kept)


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<![foo bar>hello", "hello"),
        ("<title>never closed<body>hello", "hello"),
        ("<p>hello <b>world<p>again</div></div>", "hello world\n\nagain"),
        ("<nav>hello, only a menu</nav>", "hello, only a menu"),
        ("<svg><title>icon</title></svg>hello", "hello"),
        ("hello &amp; &#x4f60;&#xD800;&bogus;", "hello & 你\ufffd&bogus;"),
        ("<a name=top>hello<p>world", "hello\n\nworld"),
        ("<a href=/x>hello<a href=/y>world", "hello world"),
        ("hello\x00\x1b[31m\u202eworld", "hello[31mworld"),
        ("hello <", "hello <"),
        ("\r\nhello\r\n", "hello"),
    ],
)
def test_a_malformed_page_is_read_as_far_as_it_goes(page: str, text: str) -> None:
    assert text_of(fetch({"status": 200, "headers": {"content-type": "application/xhtml+xml"}, "body": page})) == text


@pytest.mark.parametrize("piece", ["<a ", "<!--", "</", "<![CDATA[", "<?", "<div>", "<a href=x>", "&", '<a b="'])
def test_a_huge_hostile_page_ends_in_one_message(piece: str) -> None:
    message = fetch({"status": 200, "headers": {"content-type": "text/html"}, "body": piece * (300_000 // len(piece))})
    assert message["type"] == "result"
    assert len(message["content"]) < 7000


@pytest.mark.parametrize(
    ("kind", "content", "text"),
    [
        ("application/json", '{"a":[1,{"b":"中"}]}', '{\n  "a": [\n    1,\n    {\n      "b": "中"\n    }\n  ]\n}'),
        ("application/ld+json; charset=utf-8", "{broken", "{broken"),
        ("application/json", "[" * 100_000, "[" * 6000 + "\n\n[characters 0–6000 / 100000; next part: start=6000]"),
        ("text/plain", "a < b\n<html> is a tag", "a < b\n<html> is a tag"),
        ("text/plain", "<!DOCTYPE html><p>served as text</p>", "served as text"),
        (None, "just words", "just words"),
        (None, " <html><p>words", "words"),
        ("application/xml", "<a><b>1</b></a>", "<a><b>1</b></a>"),
        ("text/xml", '<!DOCTYPE a [<!ENTITY x "y">]><rss>&x;</rss>', '<!DOCTYPE a [<!ENTITY x "y">]><rss>&x;</rss>'),
        ("application/rss+xml", "<rss><broken", "<rss><broken"),
        ("application/octet-stream", "plain after all", "plain after all"),
    ],
)
def test_what_is_not_html_is_read_by_its_kind(kind: str | None, content: str, text: str) -> None:
    assert text_of(fetch(raw(content.encode(), kind))) == text


RSS = """<?xml version="1.0" encoding="gb2312"?><rss version="2.0"><channel><title>新闻</title><item>
<title>第一条</title><link>https://example.com/1</link><pubDate>Mon, 01 Jun 2026</pubDate>
<description>&lt;p&gt;内容 &amp;amp; 更多&lt;/p&gt;</description>
</item><item><title>第二条</title></item></channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Log</title><entry><title>One</title>
<link href="https://example.com/one"/>
<updated>2026-06-01</updated>
<summary>Words</summary></entry></feed>"""


@pytest.mark.parametrize(
    ("feed", "codec", "title", "text"),
    [
        (RSS, "gb18030", "新闻", "1. 第一条 — https://example.com/1 — Mon, 01 Jun 2026\n   内容 & 更多\n2. 第二条"),
        (ATOM, "utf-8", "Log", "1. One — https://example.com/one — 2026-06-01\n   Words"),
    ],
)
def test_a_feed_is_read_as_a_list_of_its_items(feed: str, codec: str, title: str, text: str) -> None:
    result = fetch(raw(feed.encode(codec), "application/rss+xml"))
    assert (result["data"]["title"], text_of(result)) == (title, text)
