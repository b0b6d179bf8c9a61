"""One request to a model provider and its streamed answer: two clocks, translated failures, the key in nothing."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import cast

import httpx

from ias.aio import finish
from ias.domain.messages import JsonObject, replace_surrogates
from ias.errors import AuthenticationError, BadRequestError, LlmError, RejectedError, ServerFaultError, TransportError
from ias.providers.base import Tap
from ias.providers.clocks import Clocks
from ias.providers.refusals import classify

DRAIN = 0.1  # seconds for a server to end its answer after the end mark; a new connection costs as much
CONNECT_TIMEOUT = 10.0
"""Seconds to reach the host; all other waits are bounded by the two clocks."""
REFUSAL_LIMIT_BYTES = 64 * 1024
"""How much of a refusal is read."""
ANSWER_LIMIT_BYTES = 64 * 1024 * 1024
"""How much of an answer is read: 393,216 tokens (DeepSeek's longest) at some 150 bytes of envelope each."""
FAULT_STATUSES = {
    # platform.claude.com/docs/en/api/errors: inside a stream, after a 200, an error has a type and no status.
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}


def no_tap(kind: str, text: str) -> None:
    """Keep nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a provider is asked, and how.

    Args:
        url: The whole address.
        api_key: None where the server wants none.
        key_header: The header that carries the key.
        key_prefix: What stands before the key in it.
        headers: What every request carries besides.
        client: Shared by the process; not closed here.
        timeout: Seconds for one whole answer.
        idle_timeout: Seconds that the provider may be silent.
        tap: Receives what is sent and what comes, for the raw log.
    """

    url: str
    api_key: str | None = field(repr=False)
    client: httpx.AsyncClient
    key_header: str = "authorization"
    key_prefix: str = "Bearer "
    headers: Mapping[str, str] = field(default_factory=lambda: {})
    timeout: float = 600
    idle_timeout: float = 120
    tap: Tap = no_tap


class Body:
    """An answer's body as it comes."""

    def __init__(self, response: httpx.Response, clocks: Clocks, refusal: "Refusal") -> None:
        self.media = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        self.raw = bytearray()
        self.clocks = clocks
        self._pieces = response.aiter_bytes()
        self._refusal = refusal

    async def read(self) -> bytes | None:
        """Wait for the next bytes; None at the end.

        Raises:
            TransportError: One of the clocks ran out.
            ServerFaultError: The answer is longer than any can be.
        """
        piece = await self.clocks.read(self._pieces)
        if piece is not None:
            self.raw += piece
            if len(self.raw) > ANSWER_LIMIT_BYTES:
                raise ServerFaultError(f"the model's answer has more than {ANSWER_LIMIT_BYTES} bytes")
        return piece

    async def whole(self, *, limit_bytes: int = ANSWER_LIMIT_BYTES) -> str:
        """Read a body that is no stream, up to a limit; queue filler (blank lines) may stand before it."""
        while len(self.raw) < limit_bytes and (piece := await self.clocks.read(self._pieces)) is not None:
            if piece.strip():
                self.clocks.data()
            else:
                self.clocks.comment()
            self.raw += piece
        return self.raw[:limit_bytes].decode("utf-8", "replace").strip()

    async def drain(self) -> None:
        """Read what stands behind the end mark, nearly always nothing, so that the connection is kept."""
        with suppress(TimeoutError, httpx.HTTPError):
            async with asyncio.timeout(DRAIN):
                while await anext(self._pieces, None) is not None:
                    pass

    def chunk(self, text: str) -> JsonObject:
        """Read one chunk; an error object may stand in its place.

        Raises:
            LlmError: It is one, or the text is no JSON object.
        """
        try:
            value: object = json.loads(text)
        except (ValueError, RecursionError):
            words = "the provider sent a piece that is not JSON"
            is_half = text.lstrip().startswith(("{", "["))  # what it says is the model's, not the provider's
            raise (ServerFaultError(words) if is_half else self._no_chunk(words, text)) from None
        if not isinstance(value, dict):
            raise self._no_chunk("the provider sent a piece that is no JSON object", text)
        chunk = cast("JsonObject", value)
        fault = chunk.get("error")
        if fault and not chunk.get("choices"):
            raise self.fault(text, status=_status_of(fault))
        return chunk

    def fault(self, text: str, *, status: int = 0) -> LlmError:
        """Make the error for what stands in the place of a chunk; without a status its words tell what it means."""
        return self._refusal(status, text, httpx.Headers())

    def _no_chunk(self, words: str, text: str) -> LlmError:
        """Make the error for a piece that is no object; a bare string or a list may tell of the account."""
        error = self.fault(text)
        return ServerFaultError(words) if isinstance(error, ServerFaultError) else error


Refusal = Callable[[int, str, httpx.Headers], LlmError]
Reader = Callable[[Body], AsyncGenerator[JsonObject, None]]
"""Cuts a body into chunks, as one wire format has it."""


class Exchange:
    """Sends request bodies to an endpoint."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._api_key = (endpoint.api_key or "").strip()

    def start_clocks(self) -> Clocks:
        """Start the clocks of one answer."""
        return Clocks(total=self._endpoint.timeout, idle=self._endpoint.idle_timeout)

    async def chunks(self, text: str, read: Reader, clocks: Clocks) -> AsyncGenerator[JsonObject, None]:
        """Send a body and give the answer's chunks.

        Raises:
            LlmError: And nothing else, whatever the server does.
        """
        url = _shown(self._endpoint.url)
        self._endpoint.tap("llm-request", self._redact(text))
        raw = bytearray()
        try:
            async with clocks.waiting():
                response = await self._endpoint.client.send(self._request(text), stream=True, follow_redirects=False)
            try:
                body = Body(response, clocks, self._refusal)
                raw = body.raw
                if response.status_code != 200:
                    refusal = await body.whole(limit_bytes=REFUSAL_LIMIT_BYTES)
                    raise self._refusal(response.status_code, refusal, response.headers)
                async with aclosing(read(body)) as chunks:
                    async for chunk in chunks:
                        yield chunk
            finally:
                clocks.stop()
                await finish(response.aclose())
        except httpx.TimeoutException:
            raise TransportError(f"no connection to {url!r} within {CONNECT_TIMEOUT:g} s") from None
        except (httpx.UnsupportedProtocol, httpx.InvalidURL):
            raise RejectedError(f"{url!r} is no address: set llm.base_url to https://…") from None
        except httpx.HTTPError as error:
            words = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            raise TransportError(self._redact(f"the connection to {url!r} failed ({words})")) from None
        finally:
            self._endpoint.tap("llm-response", self._redact(raw.decode("utf-8", "replace")))

    def _request(self, text: str) -> httpx.Request:
        endpoint = self._endpoint
        headers = {"content-type": "application/json", "accept": "text/event-stream", **endpoint.headers}
        if self._api_key:
            if not (self._api_key.isascii() and self._api_key.isprintable()):
                # Checked here, since httpx would put the key into its own error.
                raise AuthenticationError("the API key holds characters that no key has: copy it anew")
            headers[endpoint.key_header] = endpoint.key_prefix + self._api_key
        timeout = httpx.Timeout(None, connect=CONNECT_TIMEOUT)
        return endpoint.client.build_request(
            "POST", endpoint.url, content=text.encode(), headers=headers, timeout=timeout
        )

    def _refusal(self, status: int, body: str, headers: httpx.Headers) -> LlmError:
        error = classify(status, body, headers=headers)
        # Afterwards, since an escape in the body can hide the key until it is read.
        error.args = (self._redact(str(error)),)
        return error

    def _redact(self, text: str) -> str:
        return text.replace(self._api_key, "***") if self._api_key else text


def encode(body: JsonObject) -> str:
    """Give the body's text, without lone surrogates, which every provider refuses.

    Raises:
        BadRequestError: `llm.extra` holds what JSON cannot say.
    """
    try:
        return replace_surrogates(json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")))
    except (ValueError, TypeError, RecursionError) as error:
        raise BadRequestError(f"the request cannot be written as JSON ({error}): check llm.extra") from error


def _shown(url: str) -> str:
    """Give the address without what may be secret in it: a name with a password, and a query."""
    return re.sub(r"//[^/]*@", "//***@", url.partition("?")[0])


def _status_of(fault: object) -> int:
    """Give the status that an error inside a stream speaks of; 0 where its words must tell."""
    if not isinstance(fault, dict):
        return 0
    fields = cast("JsonObject", fault)
    code, kind = fields.get("code"), fields.get("type")
    if isinstance(code, str) and code.isdecimal() and len(code) == 3:
        code = int(code)
    if isinstance(code, int) and not isinstance(code, bool) and 400 <= code <= 599:
        return code
    return FAULT_STATUSES.get(kind, 0) if isinstance(kind, str) else 0
