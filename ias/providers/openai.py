"""The chat-completions wire format, as DeepSeek, OpenAI, Qwen, Ollama and most local servers speak it."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from typing import cast

import httpx

from ias.aio import finish
from ias.domain.messages import JsonObject, MessageRequest, StreamItem
from ias.errors import AuthenticationError, LlmError, RejectedError, ServerFaultError, StreamCutError, TransportError
from ias.providers.answer import Answer
from ias.providers.base import Tap
from ias.providers.chat_body import chat_body, encode, names_of
from ias.providers.clocks import Clocks
from ias.providers.profiles import Profile
from ias.providers.refusals import classify
from ias.providers.sse import SseComment, SseParser

END_MARK = "[DONE]"
DRAIN = 0.1  # seconds for a server to end its answer after the end mark; a new connection costs as much
CONNECT_TIMEOUT = 10.0
"""Seconds to reach the host; all other waits are bounded by the two clocks."""
REFUSAL_LIMIT_BYTES = 64 * 1024
"""How much of a refusal is read."""
ANSWER_LIMIT_BYTES = 64 * 1024 * 1024
"""How much of an answer is read: 393,216 tokens (DeepSeek's longest) at some 150 bytes of envelope each."""


def _no_tap(kind: str, text: str) -> None:
    """Keep nothing."""


class OpenAIChat:
    """Stream answers of `POST {base_url}/chat/completions`.

    Args:
        profile: The vendor's ways.
        model: Answers requests that name none.
        base_url: Without `/chat/completions`.
        api_key: None where the server wants none.
        client: Shared by the process; not closed here.
        timeout: Seconds for one whole answer.
        idle_timeout: Seconds that the provider may be silent.
        tap: Receives what is sent and what comes, for the raw log.
    """

    def __init__(
        self,
        profile: Profile,
        *,
        model: str,
        base_url: str,
        api_key: str | None,
        client: httpx.AsyncClient,
        timeout: float = 600,
        idle_timeout: float = 120,
        tap: Tap = _no_tap,
    ) -> None:
        self.name = profile.name
        self.model = model
        self._profile = profile
        self._url = base_url.rstrip("/") + "/chat/completions"
        self._api_key = (api_key or "").strip()
        self._client = client
        self._timeout = timeout
        self._idle_timeout = idle_timeout
        self._tap = tap

    async def stream(self, request: MessageRequest) -> AsyncGenerator[StreamItem, None]:
        """Answer `request` as `Provider.stream` says."""
        model = request.model or self.model
        names = names_of(request)
        text = encode(chat_body(request, self._profile, model=model, names=names))
        offered = tuple(names.wire(tool.name) for tool in request.tools)
        answer = Answer(model=model, names=names, offered=offered, max_tokens=request.max_tokens)
        self._tap("llm-request", self._redact(text))
        async with aclosing(self._chunks(text, answer)) as chunks:
            async for chunk in chunks:
                for item in answer.feed(chunk):
                    yield item
        for item in answer.rest():
            yield item
        yield answer.finish()

    async def _chunks(self, text: str, answer: Answer) -> AsyncGenerator[JsonObject, None]:
        """Send the body and give the answer's chunks; translate every failure."""
        raw = bytearray()
        try:
            clocks = Clocks(total=self._timeout, idle=self._idle_timeout)
            async with clocks.waiting():
                response = await self._client.send(self._request(text), stream=True, follow_redirects=False)
            try:
                async with aclosing(self._parse(response, clocks, answer, raw)) as chunks:
                    async for chunk in chunks:
                        yield chunk
            finally:
                await finish(response.aclose())
        except httpx.TimeoutException:
            raise TransportError(f"no connection to {self._url!r} within {CONNECT_TIMEOUT:g} s") from None
        except httpx.UnsupportedProtocol:
            raise RejectedError(f"{self._url!r} is no address: set llm.base_url to https://…") from None
        except httpx.HTTPError as error:
            words = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            raise TransportError(self._redact(f"the connection to {self._url!r} failed ({words})")) from None
        except httpx.InvalidURL:
            raise RejectedError(f"{self._url!r} is no address: set llm.base_url to https://…") from None
        finally:
            self._tap("llm-response", self._redact(raw.decode("utf-8", "replace")))

    async def _parse(
        self, response: httpx.Response, clocks: Clocks, answer: Answer, raw: bytearray
    ) -> AsyncGenerator[JsonObject, None]:
        if response.status_code != 200:
            body = await _whole(response, clocks, raw, limit_bytes=REFUSAL_LIMIT_BYTES)
            raise self._refusal(response.status_code, body, response.headers)
        if "json" in response.headers.get("content-type", ""):
            body = await _whole(response, clocks, raw, limit_bytes=ANSWER_LIMIT_BYTES)
            yield self._chunk(body)
            return
        parser = SseParser()
        pieces = response.aiter_bytes()
        while (piece := await clocks.read(pieces)) is not None:
            _keep(raw, piece)
            for item in parser.feed(piece):
                if isinstance(item, SseComment):
                    clocks.comment()
                    continue
                clocks.data()
                if item.data.strip() == END_MARK:
                    await _drain(pieces)
                    return
                yield self._chunk(item.data)
        is_ended = parser.pending.strip() == END_MARK
        if not is_ended and (self._profile.needs_end_mark or not answer.has_reason):
            raise StreamCutError("the model's answer broke off before its end")

    def _chunk(self, text: str) -> JsonObject:
        """Read one chunk; an error object may stand in its place."""
        try:
            value: object = json.loads(text)
        except (ValueError, RecursionError):
            raise ServerFaultError("the provider sent a piece that is not JSON") from None
        if not isinstance(value, dict):
            raise ServerFaultError("the provider sent a piece that is no JSON object")
        chunk = cast("JsonObject", value)
        fault = chunk.get("error")
        if fault and not chunk.get("choices"):
            raise self._refusal(_status_of(fault), text, httpx.Headers())
        return chunk

    def _request(self, text: str) -> httpx.Request:
        headers = {"content-type": "application/json", "accept": "text/event-stream"}
        if self._api_key:
            if not (self._api_key.isascii() and self._api_key.isprintable()):
                # Checked here, since httpx would put the key into its own error.
                raise AuthenticationError("the API key holds characters that no key has: copy it anew")
            headers["authorization"] = f"Bearer {self._api_key}"
        timeout = httpx.Timeout(None, connect=CONNECT_TIMEOUT)
        return self._client.build_request("POST", self._url, content=text.encode(), headers=headers, timeout=timeout)

    def _refusal(self, status: int, body: str, headers: httpx.Headers) -> LlmError:
        return classify(status, self._redact(body), headers=headers)

    def _redact(self, text: str) -> str:
        return text.replace(self._api_key, "***") if self._api_key else text


async def _whole(response: httpx.Response, clocks: Clocks, raw: bytearray, *, limit_bytes: int) -> str:
    """Read a body that is no stream, up to a limit; queue filler (blank lines) may stand before it."""
    pieces = response.aiter_bytes()
    while len(raw) < limit_bytes and (piece := await clocks.read(pieces)) is not None:
        if piece.strip():
            clocks.data()
        else:
            clocks.comment()
        raw += piece
    return raw[:limit_bytes].decode("utf-8", "replace").strip()


async def _drain(pieces: AsyncIterator[bytes]) -> None:
    """Read what stands behind the end mark, nearly always nothing, so that the connection is kept for the next call."""
    with suppress(TimeoutError, httpx.HTTPError):
        async with asyncio.timeout(DRAIN):
            while await anext(pieces, None) is not None:
                pass


def _keep(raw: bytearray, piece: bytes) -> None:
    raw += piece
    if len(raw) > ANSWER_LIMIT_BYTES:
        raise ServerFaultError(f"the model's answer has more than {ANSWER_LIMIT_BYTES} bytes")


def _status_of(fault: object) -> int:
    """Give the status that an error inside a stream speaks of; without one it is the server's own."""
    code = cast("JsonObject", fault).get("code") if isinstance(fault, dict) else None
    if isinstance(code, str) and code.isdecimal() and len(code) == 3:
        code = int(code)
    return code if isinstance(code, int) and not isinstance(code, bool) and 400 <= code <= 599 else 500
