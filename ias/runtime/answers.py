"""Answers of servers, decoded within bounds, in the form that a tool gets."""

import base64
import re
import zlib
from collections.abc import Iterable

from ias.domain.messages import JsonObject
from ias.errors import Code, ToolError
from ias.runtime.failures import ExchangeError
from ias.runtime.secrets import Secrets

PLAIN = frozenset({"", "identity"})
GZIP = frozenset({"gzip", "x-gzip"})
GZIP_START = b"\x1f"
GZIP_WINDOW, ZLIB_WINDOW, RAW_WINDOW = 31, 15, -15  # zlib's wbits
# Of one hop alone, or no longer true of a decoded body.
DROPPED = frozenset(
    {
        "connection",
        "content-encoding",
        "content-length",
        "keep-alive",
        "proxy-authenticate",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
CHARSET = re.compile(r"charset\s*=\s*[\"']?([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE)


class Body:
    """A body that arrives in pieces: decoded as it comes, never more than `limit` bytes of it.

    Args:
        encoding: The answer's Content-Encoding, empty if it has none.
        limit: Bound of the decoded and of the encoded size, in bytes.

    Raises:
        ExchangeError: If the encoding is not one that was asked for.
    """

    def __init__(self, encoding: str, limit: int) -> None:
        self._limit = limit
        self._received = 0
        self._decoded = bytearray()
        self._head = b""  # of a deflated body, until it shows which of the two forms it has
        self._kind = encoding.strip().lower()
        self._decoder = zlib.decompressobj(GZIP_WINDOW)
        self._is_chosen = self._kind in GZIP
        if self._kind not in PLAIN | GZIP | {"deflate"}:
            raise ExchangeError(f"the answer is encoded as {encoding[:40]!r}, which was not asked for")

    def add(self, chunk: bytes) -> None:
        """Take what came next.

        Raises:
            ToolError: With code response_too_large, or http_failed if it cannot be decoded.
        """
        self._received += len(chunk)
        if self._received > self._limit:
            raise self._too_large()
        if self._kind in PLAIN:
            self._decoded += chunk
            return
        if not self._is_chosen:
            chunk = self._head = self._head + chunk
            if len(chunk) < 2:
                return
            self._is_chosen = True
            self._decoder = zlib.decompressobj(ZLIB_WINDOW if _has_zlib_header(chunk) else RAW_WINDOW)
        self._decode(chunk)

    def finish(self) -> bytes:
        """Give the whole decoded body.

        Raises:
            ExchangeError: If its encoded form ended too early.
        """
        if self._kind not in PLAIN and self._received and not self._decoder.eof:
            raise ExchangeError("the answer's compressed body ends too early")
        return bytes(self._decoded)

    def _decode(self, chunk: bytes) -> None:
        while chunk:
            if self._decoder.eof:  # the next member of a gzip file, or padding, which is nobody's
                if self._kind not in GZIP or not chunk.startswith(GZIP_START):
                    return
                self._decoder = zlib.decompressobj(GZIP_WINDOW)
            room = self._limit - len(self._decoded) + 1
            try:
                self._decoded += self._decoder.decompress(chunk, room)
            except zlib.error as error:
                raise ExchangeError("the answer's compressed body cannot be decoded") from error
            if len(self._decoded) > self._limit:
                raise self._too_large()
            chunk = self._decoder.unconsumed_tail or self._decoder.unused_data

    def _too_large(self) -> ToolError:
        message = f"the answer has more than {self._limit:,} bytes (http.max_response); ask for less of it"
        return ToolError(message, code=Code.RESPONSE_TOO_LARGE)


def answer(status: int, headers: Iterable[tuple[str, str]], body: bytes, secrets: Secrets) -> JsonObject:
    """Give an answer as a tool gets it, without the secrets that it may echo.

    Returns:
        `{status, headers, body}`, or `body_base64` where the body is no text: neither in the charset that it declares
        nor UTF-8. Headers have lower-case names; values of a repeated one are joined by a comma.
    """
    joined: dict[str, str] = {}
    for name, value in headers:
        key = name.lower()
        if key not in DROPPED:
            joined[key] = f"{joined[key]}, {value}" if key in joined else value
    body = secrets.scrub_bytes(body)
    text = _text(body, joined.get("content-type", ""))
    return {
        "status": status,
        "headers": {secrets.scrub(name): secrets.scrub(value) for name, value in joined.items()},
        **({"body": text} if text is not None else {"body_base64": base64.b64encode(body).decode("ascii")}),
    }


def _has_zlib_header(chunk: bytes) -> bool:
    """Tell zlib's form (RFC 1950 §2.2) from the bare one that some servers send as deflate (RFC 9110 §8.4.1.2)."""
    return chunk[0] & 0x0F == 8 and (chunk[0] << 8 | chunk[1]) % 31 == 0


def _text(body: bytes, content_type: str) -> str | None:
    declared = CHARSET.search(content_type)
    for charset in (declared[1] if declared else "utf-8", "utf-8"):
        try:
            text = body.decode("utf-8-sig" if charset.lower() in ("utf-8", "utf8") else charset)
        except (UnicodeError, LookupError):
            continue
        if "\0" not in text:
            return text
    return None
