"""From HTML to text: the article where a library finds one, else everything but the frame of the page."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

MIN_ARTICLE = 200  # characters; a shorter find is more often a cookie notice than the article
HUB_LINK_SHARE = 0.5  # of the text inside links; above it the page is a list of links, which article finders throw away
MAX_LINKS = 500
MAX_REFRESH = 10  # seconds; a page that reloads later than this is meant to be read first
FRAME = frozenset({"nav", "footer", "aside"})
UNSEEN = frozenset({"script", "style", "noscript", "template", "svg", "iframe", "object", "select", "button", "canvas"})
BLOCK_NAMES = (
    "address article blockquote body br caption center dd details div dl dt fieldset figcaption figure footer form"
    " h1 h2 h3 h4 h5 h6 header hr html li main nav ol p pre section summary table tbody thead tr ul"
)
BLOCKS = frozenset(BLOCK_NAMES.split())
HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}
CELLS = frozenset({"td", "th"})
VOID_NAMES = "area base br col embed hr img input link meta param source track wbr"
VOID = frozenset(VOID_NAMES.split())
# Python's parser stops at a marked section of an unknown kind, as in `<![foo`; browsers read it as a comment.
MARKED_SECTION = re.compile(r"<!\[(?!CDATA\[)[^>\n]{0,200}>?")
UNCLOSED = re.compile(r"<(?=[^<>]*(?:<|$))")
MAX_UNCLOSED = 1000  # Python's parser looks for the end of each tag to the end of the page: hours for 100,000 of them
REFRESH = re.compile(r"""^\s*(\d{1,3})\s*[;,]\s*(?:url\s*=)?\s*["']?([^"'\s>]+)""", re.IGNORECASE)
KEPT_SPACE = "\x01"  # stands for a space of preformatted text while others are squeezed
SPACES = re.compile(r"[ \t\r\f\v\u00a0\u3000]+")
BLANK_LINES = re.compile(r"\n{3,}")
SCRIPT_MARKS = re.compile(
    r"""id=["']?(?:root|app|__next|__nuxt|___gatsby)["'\s>]|enable javascript|(?:启用|开启)\s*javascript""",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link with its full address."""

    text: str
    url: str


@dataclass(slots=True, kw_only=True)
class Outline:
    """What the plain parser saw of a page; `refresh` is where a meta tag sends the reader."""

    title: str = ""
    description: str = ""
    text: str = ""
    links: list[Link] = field(default_factory=list[Link])
    link_share: float = 0.0
    refresh: str = ""
    has_scripts: bool = False


@dataclass(slots=True)
class _Scope:
    """Text that is gathered: of the whole page, without its frame, or of its main part."""

    parts: list[str] = field(default_factory=list[str])

    def text(self) -> str:
        """Join the parts: one space between words, one line a block."""
        lines = [SPACES.sub(" ", line).strip() for line in "".join(self.parts).split("\n")]
        return BLANK_LINES.sub("\n\n", "\n".join(lines)).strip().replace(KEPT_SPACE, " ")


class PageReader(HTMLParser):
    """Reads a page of any quality into text with line breaks, and keeps its title and links."""

    def __init__(self, base_url: str, *, is_markdown: bool = False) -> None:
        super().__init__(convert_charrefs=True)
        self.outline = Outline()
        self._base = base_url
        self._is_markdown = is_markdown
        self._whole, self._framed, self._main = _Scope(), _Scope(), _Scope()
        self._depth: dict[str, int] = {}
        self._link: list[str] | None = None
        self._link_url = ""
        self._link_chars = 0

    def finish(self) -> Outline:
        """Choose the best of the three readings and fill in the outline."""
        self.close()
        self._end_link()
        main, framed, whole = self._main.text(), self._framed.text(), self._whole.text()
        best = main if len(main) >= MIN_ARTICLE else framed
        self.outline.text = best if len(best) >= MIN_ARTICLE or len(best) * 2 > len(whole) else whole
        self.outline.title = SPACES.sub(" ", self.outline.title.replace("\n", " ")).strip()
        chars = sum(len(part.strip()) for part in self._framed.parts)
        self.outline.link_share = self._link_chars / chars if chars else 0.0
        return self.outline

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element."""
        if tag == "script":
            self.outline.has_scripts = True
        if tag == "meta":
            self._read_meta({name: value or "" for name, value in attrs})
        elif tag == "base" and (href := dict(attrs).get("href")):
            self._base = _join(self._base, href) or self._base
        if tag in BLOCKS:
            self._depth["title"] = 0  # a title that was never closed ends where the page begins
        if tag not in VOID:
            self._depth[tag] = self._depth.get(tag, 0) + 1
        if tag == "a":
            self._end_link()
            self._link_url = dict(attrs).get("href") or ""
            self._link = [] if self._link_url else None
        self._break(tag, is_start=True)

    def handle_endtag(self, tag: str) -> None:
        """Close an element; a stray end closes nothing."""
        if tag == "a":
            self._end_link()
        if self._depth.get(tag, 0) > 0:
            self._depth[tag] -= 1
        self._break(tag, is_start=False)

    def handle_data(self, data: str) -> None:
        """Take text where a reader would see it."""
        if self._is_in("title") and not self._is_in("svg"):
            if len(self.outline.title) < 500:
                self.outline.title += data
            return
        if any(self._depth.get(tag) for tag in UNSEEN):
            return
        is_kept = self._is_in("pre")
        data = data.replace("\t", "    ").replace(" ", KEPT_SPACE) if is_kept else data.replace("\n", " ")
        if self._link is not None:
            self._link.append(data)
        else:
            self._write(data)

    def _is_in(self, tag: str) -> bool:
        return self._depth.get(tag, 0) > 0

    def _write(self, text: str) -> None:
        self._whole.parts.append(text)
        if any(self._is_in(tag) for tag in FRAME):
            return
        self._framed.parts.append(text)
        if self._is_in("main") or self._is_in("article"):
            self._main.parts.append(text)

    def _break(self, tag: str, *, is_start: bool) -> None:
        """Write the line breaks and marks that stand for a tag."""
        if self._link is not None and tag != "a":
            self._link.append(" ")
            return
        if tag in CELLS and not is_start:
            self._write(" | ")
        elif tag in HEADINGS:
            self._write(f"\n\n{HEADINGS[tag]} " if is_start and self._is_markdown else "\n\n" if is_start else "\n")
        elif tag == "li":
            self._write("\n- " if is_start else "")
        elif tag == "p":
            self._write("\n\n")
        elif tag in BLOCKS:
            self._write("\n")

    def _end_link(self) -> None:
        """Write a link's text, and remember where it leads."""
        if self._link is None:
            return
        text = SPACES.sub(" ", "".join(self._link)).strip()
        self._link = None
        url = _join(self._base, self._link_url) if text else ""
        if url and len(self.outline.links) < MAX_LINKS:
            self.outline.links.append(Link(text=text[:200], url=url))
        if not any(self._is_in(tag) for tag in FRAME):
            self._link_chars += len(text)
        self._write(f"[{text}]({url})" if url and self._is_markdown else f"{text} ")

    def _read_meta(self, attrs: dict[str, str]) -> None:
        """Read a description, or where the page sends its readers at once."""
        name = (attrs.get("name") or attrs.get("property") or "").lower()
        if name in ("description", "og:description") and not self.outline.description:
            self.outline.description = SPACES.sub(" ", attrs.get("content", "")).strip()[:500]
        found = REFRESH.match(attrs.get("content", "")) if attrs.get("http-equiv", "").lower() == "refresh" else None
        if found and int(found[1]) <= MAX_REFRESH:
            self.outline.refresh = _join(self._base, found[2])


def outline(page: str, url: str, *, is_markdown: bool = False) -> Outline:
    """Read a page with the plain parser."""
    page = MARKED_SECTION.sub("", page)
    if page.count("<") > 2 * page.count(">") + MAX_UNCLOSED:
        page = UNCLOSED.sub("&lt;", page)
    reader = PageReader(url, is_markdown=is_markdown)
    reader.feed(page)
    return reader.finish()


def article(page: str, url: str, *, is_markdown: bool) -> str:
    """Take the article out of a page with trafilatura; "" where it is not installed or finds none."""
    try:
        # Takes 0.1 s to import: only the step that has a page pays for it.
        from trafilatura import extract  # noqa: PLC0415
    except ImportError:
        return ""
    try:
        found = extract(
            page,
            url=url,
            fast=True,
            include_comments=False,
            include_tables=True,
            include_formatting=is_markdown,
            include_links=is_markdown,
            output_format="markdown" if is_markdown else "txt",
        )
    except (ValueError, TypeError, AttributeError, LookupError, AssertionError, RecursionError, MemoryError):
        return ""  # a page that the library cannot take is still read by the plain parser
    return (found or "").strip()


def page_text(page: str, url: str, seen: Outline, *, is_markdown: bool) -> str:
    """Give the page's text: its article, or all of it where that is too little or the page is a list of links."""
    is_hub = seen.link_share >= HUB_LINK_SHARE
    if is_markdown:
        seen = outline(page, url, is_markdown=True)
    found = article(page, url, is_markdown=is_markdown)
    if is_hub and (is_markdown or len(seen.text) > 2 * len(found)):
        return seen.text
    if len(found) >= MIN_ARTICLE:
        return found
    return seen.text if len(seen.text) > len(found) else found


def needs_scripts(page: str, seen: Outline) -> bool:
    """Say whether a page is a shell that a browser fills in: scripts, and hardly a word to read."""
    if len(seen.text) >= MIN_ARTICLE or not seen.has_scripts:
        return False
    return len(seen.text) < 40 or SCRIPT_MARKS.search(page) is not None


def _join(base: str, href: str) -> str:
    """Make a full http address of a link; "" for mail, scripts, and places on the same page."""
    href = href.strip()
    if not href or href.startswith("#"):
        return ""
    try:
        url = urljoin(base, href)
        return url if urlsplit(url).scheme in ("http", "https") else ""
    except ValueError:
        return ""
