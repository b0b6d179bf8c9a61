"""Anthropic's Messages API, as Anthropic, DeepSeek's second endpoint and some local servers speak it."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial

import httpx

from ias.domain.messages import JsonObject, MessageRequest, StreamItem
from ias.errors import RejectedError, ServerFaultError, StreamCutError
from ias.providers.anthropic_answer import AnthropicAnswer
from ias.providers.anthropic_body import AnthropicBody
from ias.providers.anthropic_tools import AnthropicTools
from ias.providers.base import Tap
from ias.providers.exchange import Body, Endpoint, Exchange, encode, no_tap
from ias.providers.profiles import Profile
from ias.providers.sse import SseEvent, SseParser
from ias.providers.tool_names import names_of

VERSION = "2023-06-01"
"""platform.claude.com/docs/en/api/versioning: the one version there is."""
PAUSES_MAX = 8
"""How often an answer may pause; each time everything is sent again."""
PARTS = frozenset(
    {"message", "message_start", "message_delta", "content_block_start", "content_block_delta", "content_block_stop"}
)
"""Events that are a part of the answer; others, `ping` above all, only say that the connection lives."""
END = "message_stop"


class AnthropicMessages:
    """Stream answers of `POST {base_url}/v1/messages`.

    Args:
        profile: The vendor's ways.
        model: Answers requests that name none.
        base_url: Without `/v1/messages`.
        api_key: None where the server wants none.
        client: Shared by the process; not closed here.
        timeout: Seconds for one whole answer, its pauses included.
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
        tap: Tap = no_tap,
    ) -> None:
        self.name = profile.name
        self.model = model
        self._profile = profile
        self._exchange = Exchange(
            Endpoint(
                # Elsewhere an address ends in /v1, so it is often written so.
                url=base_url.rstrip("/").removesuffix("/v1") + "/v1/messages",
                api_key=api_key,
                key_header="x-api-key",
                key_prefix="",
                headers={"anthropic-version": VERSION},
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
        tools = AnthropicTools(request.tools, names)
        bodies = AnthropicBody(request, self._profile, model=model, names=names, tools=tools)
        body = bodies.build([])
        limit = body["max_tokens"]
        answer = AnthropicAnswer(
            self._profile,
            model=model,
            names=names,
            tools=tools,
            max_tokens=limit if isinstance(limit, int) else None,
        )
        clocks = self._exchange.start_clocks()
        read = partial(self._read, answer)
        for _ in range(PAUSES_MAX + 1):
            async with aclosing(self._exchange.chunks(encode(body), read, clocks)) as events:
                async for event in events:
                    for item in answer.feed(event):
                        yield item
            if not answer.is_paused:
                break
            answer.resume()
            body = bodies.build(answer.carried)
            clocks.again()
        else:
            raise RejectedError(f"the model paused more than {PAUSES_MAX} times in one answer: ask for less at once")
        for item in answer.rest():
            yield item
        yield answer.finish()

    async def _read(self, answer: AnthropicAnswer, body: Body) -> AsyncGenerator[JsonObject, None]:
        if "json" in body.media:
            yield body.chunk(await body.whole())
            return
        parser = SseParser()
        while (piece := await body.read()) is not None:
            for item in parser.feed(piece):
                event = _event(item, body) if isinstance(item, SseEvent) else None
                if event is None or event["type"] not in PARTS | {END}:
                    body.clocks.comment()
                    continue
                body.clocks.data()
                if event["type"] == END:
                    await body.drain()
                    return
                yield event
        is_ended = f'"{END}"' in parser.pending
        if not is_ended and (self._profile.needs_end_mark or not answer.has_reason):
            raise StreamCutError("the model's answer broke off before its end")


def _event(item: SseEvent, body: Body) -> JsonObject | None:
    """Read an event; one whose data names no type has that of its `event:` line."""
    if item.data.strip() == "[DONE]":
        # Gateways put it behind a stream that is not theirs.
        return None
    event = body.chunk(item.data)
    kind = event.get("type")
    event["type"] = kind if isinstance(kind, str) else item.name
    if event["type"] == "error":
        raise ServerFaultError("the provider reported a failure without saying which")
    return event
