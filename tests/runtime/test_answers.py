"""Bodies of answers: decoding within bounds, and what is text."""

import base64
import gzip
import tracemalloc
import zlib

import pytest

from ias.errors import Code, ToolError
from ias.runtime.answers import Body, answer
from ias.runtime.failures import ExchangeError
from ias.runtime.secrets import Secrets

NONE = Secrets({}, {})
TEXT = "天气 ".encode() * 1000


def raw_deflate(content: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(content) + packer.flush()


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("", TEXT),
        ("identity", TEXT),
        ("gzip", gzip.compress(TEXT)),
        ("X-GZIP", gzip.compress(TEXT)),
        ("gzip", gzip.compress(TEXT[:100]) + gzip.compress(TEXT[100:])),
        ("gzip", gzip.compress(TEXT) + b"\0" * 512),
        ("deflate", zlib.compress(TEXT)),
        ("deflate", raw_deflate(TEXT)),
    ],
    ids=range(8),
)
@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_a_body_is_decoded_however_it_is_cut(encoding: str, packed: bytes, size: int) -> None:
    body = Body(encoding, len(TEXT))
    for start in range(0, len(packed), size):
        body.add(packed[start : start + size])

    assert body.finish() == TEXT


@pytest.mark.parametrize(("encoding", "packed"), [("", b"x" * 101), ("gzip", gzip.compress(b"x" * 101))])
def test_a_body_of_one_byte_too_many_is_refused(encoding: str, packed: bytes) -> None:
    with pytest.raises(ToolError) as caught:
        Body(encoding, 100).add(packed)

    assert (caught.value.code, str(caught.value)) == (
        Code.RESPONSE_TOO_LARGE,
        "the answer has more than 100 bytes (http.max_response); ask for less of it",
    )


def test_a_bomb_is_refused_without_being_unpacked() -> None:
    packer = zlib.compressobj(9, wbits=31)
    bomb = b"".join(packer.compress(bytes(1024 * 1024)) for _ in range(1024)) + packer.flush()
    body = Body("gzip", 2 * 1024 * 1024)

    tracemalloc.start()
    with pytest.raises(ToolError) as caught:
        body.add(bomb)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert (len(bomb) < 2 * 1024 * 1024, caught.value.code, peak < 16 * 1024 * 1024) == (
        True,
        Code.RESPONSE_TOO_LARGE,
        True,
    )


@pytest.mark.parametrize(
    ("encoding", "packed", "words"),
    [
        ("gzip", gzip.compress(TEXT)[:-9], "the answer's compressed body ends too early"),
        ("gzip", b"no gzip", "the answer's compressed body cannot be decoded"),
        ("deflate", b"\xff\xff\xff\xff", "the answer's compressed body cannot be decoded"),
        ("deflate", b"x", "the answer's compressed body ends too early"),
        ("br", b"", "the answer is encoded as 'br', which was not asked for"),
        ("gzip, gzip", b"", "the answer is encoded as 'gzip, gzip', which was not asked for"),
    ],
)
def test_what_cannot_be_decoded_is_an_error(encoding: str, packed: bytes, words: str) -> None:
    with pytest.raises(ExchangeError) as caught:
        _decode(encoding, packed)

    assert str(caught.value) == words


def _decode(encoding: str, packed: bytes) -> bytes:
    body = Body(encoding, 1_000_000)
    body.add(packed)
    return body.finish()


def test_an_empty_body_needs_no_decoding() -> None:
    assert Body("gzip", 10).finish() == b""


@pytest.mark.parametrize(
    ("content_type", "body", "text"),
    [
        ("text/html; charset=GBK", "天气".encode("gbk"), "天气"),
        ('text/html; charset="gb2312"', "天气".encode("gbk"), "天气"),
        ("text/plain; charset=latin-1", b"\xe9", "é"),
        ("text/plain; charset=gbk", "天气x".encode(), None),
        ("text/plain; charset=nonsense", "天气".encode(), "天气"),
        ("text/plain; charset=zlib", b"x", "x"),
        ("", "\ufeff天气".encode(), "天气"),
        ("application/json", b"{}", "{}"),
        ("text/html", "天气".encode("gbk"), None),
        ("image/png", b"\x89PNG\r\n\x1a\n\0", None),
        ("application/octet-stream", b"a\0b", None),
    ],
)
def test_a_body_is_text_where_it_can_be_read_as_such(content_type: str, body: bytes, text: str | None) -> None:
    given = answer(200, [("Content-Type", content_type)], body, NONE)

    if text is None and "body" in given:
        assert given["body"] != ""
    elif text is None:
        assert given["body_base64"] == base64.b64encode(body).decode()
    else:
        assert given == {"status": 200, "headers": {"content-type": content_type}, "body": text}
