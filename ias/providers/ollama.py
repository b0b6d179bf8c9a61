"""Ollama's own chat API: lines of JSON, arguments as objects, a context size that can be set."""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing

import httpx

from ias.domain.messages import JsonObject, MessageRequest, StreamItem
from ias.errors import StreamCutError
from ias.providers.base import Tap
from ias.providers.exchange import Body, Endpoint, Exchange, encode, no_tap
from ias.providers.ndjson import LineParser
from ias.providers.ollama_answer import OllamaAnswer
from ias.providers.ollama_body import ollama_body
from ias.providers.profiles import Profile
from ias.providers.tool_names import names_of


class OllamaChat:
    """Stream answers of `POST {base_url}/api/chat`.

    Args:
        profile: The vendor's ways.
        model: Answers requests that name none.
        base_url: Without `/api/chat`.
        api_key: None where the server wants none, as on one's own machine.
        client: Shared by the process; not closed here.
        timeout: Seconds for one whole answer.
        idle_timeout: Seconds that the provider may be silent; loading a model counts.
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
        tap: Tap = no_tap,
    ) -> None:
        self.name = profile.name
        self.model = model
        self._profile = profile
        self._exchange = Exchange(
            Endpoint(
                # Ollama is often written with the path of its other API.
                url=base_url.rstrip("/").removesuffix("/v1").removesuffix("/api") + "/api/chat",
                api_key=api_key,
                client=client,
                timeout=timeout,
                idle_timeout=idle_timeout,
                tap=tap,
            )
        )

    async def stream(self, request: MessageRequest) -> AsyncGenerator[StreamItem, None]:
        """Answer `request` as `Provider.stream` says."""
        model = request.model or self.model
        names = names_of(request)
        text = encode(ollama_body(request, self._profile, model=model, names=names))
        offered = tuple(names.wire(tool.name) for tool in request.tools)
        answer = OllamaAnswer(model=model, names=names, offered=offered, max_tokens=request.max_tokens)
        async with aclosing(self._exchange.chunks(text, _read, self._exchange.start_clocks())) as lines:
            async for line in lines:
                for item in answer.feed(line):
                    yield item
        for item in answer.rest():
            yield item
        yield answer.finish()


async def _read(body: Body) -> AsyncGenerator[JsonObject, None]:
    if body.media == "application/json":
        # What was asked for as a stream may come whole.
        yield body.chunk(await body.whole())
        return
    parser = LineParser()
    while (piece := await body.read()) is not None:
        for text in parser.feed(piece):
            if not text:
                body.clocks.comment()
                continue
            body.clocks.data()
            line = body.chunk(text)
            yield line
            if line.get("done") is True:
                await body.drain()
                return
    line = _last(parser.pending, body)
    if line.get("done") is not True:
        raise StreamCutError("the model's answer broke off before its end")
    yield line


def _last(text: str, body: Body) -> JsonObject:
    """Read a line that has no newline behind it: half of one is no line."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return body.chunk(text)
