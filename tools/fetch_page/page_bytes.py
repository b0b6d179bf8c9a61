"""From the bytes of an answer to text: which charset, and whether it is text at all."""

import base64
import binascii
import codecs
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

# html.spec.whatwg.org looks at the first 1,024 bytes; pages that put scripts first need more.
SNIFF_BYTES = 4096
BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
DECLARED = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9_.:-]{2,40})""")
HEADER_CHARSET = re.compile(r"""charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]{2,40})""", re.IGNORECASE)
# encoding.spec.whatwg.org: browsers read these names as the wider set; Python's own codecs of them fail on real pages.
WIDER = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "gb_2312-80": "gb18030",
    "x-gbk": "gb18030",
    "big5": "big5hkscs",
    "big5-hkscs": "big5hkscs",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "sjis": "cp932",
    "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949",
    "iso-8859-1": "cp1252",
    "latin1": "cp1252",
    "us-ascii": "cp1252",
    "ascii": "cp1252",
}
ESCAPING = ("iso-2022-jp", "iso-2022-kr", "hz-gb-2312", "hz")  # plain ASCII bytes, so they pass as UTF-8
GUESSES = ("gb18030", "big5hkscs", "cp932", "euc-jp", "cp949")
# The most frequent characters of running text, simplified and traditional Chinese, Japanese and Korean.
FREQUENT = frozenset(
    "的一是不了在有人我他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可里"
    "這來國個說們為時會著過學對裡後沒還與從當於開發"
    "のにはをがたでとしているれさすなもからあこりまっ"
    "이다는을에의가고하지을로은들도를"
)
MAX_BAD_SHARE = 0.01  # of the characters; more replacement characters than this, and it is another charset
MIN_COUNTED = 400  # bytes; a few stray ones in a short text prove nothing
BINARY_TYPES = ("image/", "audio/", "video/", "font/", "application/pdf", "application/zip", "application/x-")
TEXT_TYPES = ("text/", "application/json", "application/xml", "application/javascript")
SIGNATURES = (
    (b"%PDF", "application/pdf"),
    (b"\x89PNG", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"\x7fELF", "application/x-executable"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """What an answer holds: `text` is None where it is not text; `kind` is its media type; `size` in bytes."""

    text: str | None
    kind: str
    size: int
    is_cut: bool


def read_body(response: Mapping[str, object]) -> Body:
    """Read the host's `response`, whose body is `body` (UTF-8 text) or `body_base64` (everything else)."""
    declared = header(response, "content-type")
    kind = declared.partition(";")[0].strip().lower()
    is_cut = response.get("truncated") is True
    text = response.get("body")
    encoded = response.get("body_base64")
    if isinstance(encoded, str) and encoded:
        try:
            raw = base64.b64decode(encoded)
        except (binascii.Error, ValueError):
            raw = b""
        kind = media_type(raw, kind)
        found = None if is_binary(raw, kind) else decode(raw, declared)
        return Body(text=found, kind=kind, size=len(raw), is_cut=is_cut)
    text = text if isinstance(text, str) else ""
    start = text[:SNIFF_BYTES].encode("utf-8", "replace")
    kind = media_type(start, kind)
    size = len(text.encode("utf-8", "replace"))
    if is_binary(start, kind):
        return Body(text=None, kind=kind, size=size, is_cut=is_cut)
    return Body(text=reread(text.removeprefix("\ufeff"), start, declared), kind=kind, size=size, is_cut=is_cut)


def header(response: Mapping[str, object], name: str) -> str:
    """Give a header of the host's `response`, whatever the case of its name; "" where it is missing."""
    headers = response.get("headers")
    if not isinstance(headers, dict):
        return ""
    for key, value in cast("dict[str, object]", headers).items():
        if key.lower() == name:
            return value if isinstance(value, str) else ""
    return ""


def media_type(raw: bytes, kind: str) -> str:
    """Correct a missing or meaningless media type by the first bytes."""
    for start, real in SIGNATURES:
        if raw.startswith(start):
            return kind if kind.startswith("application/") and real == "application/zip" else real
    if kind not in ("", "application/octet-stream", "binary/octet-stream", "unknown/unknown", "text/plain"):
        return kind
    start = raw[:SNIFF_BYTES].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype html", b"<html", b"<head", b"<body")):
        return "text/html"
    if kind:
        return kind
    if start.startswith(b"<?xml"):
        return "application/xml"
    return "text/html" if b"<html" in start else "text/plain"


def is_binary(raw: bytes, kind: str) -> bool:
    """Say whether the bytes are no text: by their type, else by bytes that no text has."""
    if kind.startswith(TEXT_TYPES) or kind.endswith(("+xml", "+json")):
        looks_like_utf16 = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or "utf-16" in kind
        start = raw[:SNIFF_BYTES]
        return start.count(0) > MAX_BAD_SHARE * max(len(start), MIN_COUNTED) and not looks_like_utf16
    if kind.startswith(BINARY_TYPES) and not kind.endswith(("javascript", "sh", "yaml")):
        return True
    return b"\x00" in raw[:SNIFF_BYTES]


def reread(text: str, start: bytes, declared: str) -> str:
    """Read a text again whose charset hides in ASCII bytes (ISO-2022-JP, HZ)."""
    for name in named_charsets(start, declared):
        if name in ESCAPING:
            try:
                return text.encode("ascii").decode("hz" if name.startswith("hz") else name, "replace")
            except (UnicodeError, LookupError):
                return text
    return text


def decode(raw: bytes, declared: str) -> str:
    """Decode bytes: by a byte order mark, by a name that fits, as UTF-8, else by the best guess.

    A name only counts if the bytes agree: servers that say ISO-8859-1 or UTF-8 for a page in GBK are common.
    """
    for bom, name in BOMS:
        if raw.startswith(bom):
            return raw[len(bom) :].decode(name, "replace")
    for name in [*named_charsets(raw[:SNIFF_BYTES], declared), "utf-8"]:
        text = try_decode(raw, WIDER.get(name, name))
        if text is not None and WIDER.get(name, name) != "cp1252":
            return text
    return guess(raw)


def named_charsets(start: bytes, declared: str) -> Iterator[str]:
    """Give the charsets that the header and then the page name, in lower case."""
    if found := HEADER_CHARSET.search(declared):
        yield found[1].lower()
    for name in DECLARED.findall(start):
        yield name.decode("ascii").lower()


def try_decode(raw: bytes, name: str) -> str | None:
    """Decode with few errors, None where that fails; a character cut off at the end is no error."""
    try:
        decoder = codecs.getincrementaldecoder(name)("replace")
    except (LookupError, AttributeError, TypeError):
        return None
    try:
        text = decoder.decode(raw, final=False)
    except (UnicodeError, AssertionError):
        return None
    return text if text.count("\ufffd") <= MAX_BAD_SHARE * len(text) else None


def guess(raw: bytes) -> str:
    """Decode with the East Asian charset in which the text reads most like language, else as Western text."""
    best, best_score = "", 0.0
    for name in GUESSES:
        text = try_decode(raw, name)
        if text is None:
            continue
        wide = [char for char in text if ord(char) > 0x2E80]
        score = sum(char in FREQUENT for char in wide) / len(wide) if wide else 0.0
        if score > best_score:
            best, best_score = text, score
    return best if best_score > MAX_BAD_SHARE else raw.decode("cp1252", "replace")
