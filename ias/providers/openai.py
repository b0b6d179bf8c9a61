"""The chat-completions wire format, as DeepSeek, OpenAI, Qwen and most local servers speak it."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial

import httpx

from ias.domain.messages import JsonObject, MessageRequest, StreamItem
from ias.errors import StreamCutError
from ias.providers.answer import Answer
from ias.providers.base import Tap
from ias.providers.chat_body import chat_body
from ias.providers.exchange import Body, Endpoint, Exchange, encode, no_tap
from ias.providers.profiles import Profile
from ias.providers.readings import count, string
from ias.providers.sse import SseComment, SseParser
from ias.providers.tool_names import names_of

END_MARK = "[DONE]"


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
        tap: Tap = no_tap,
    ) -> None:
        self.name = profile.name
        self.model = model
        self._profile = profile
        self._exchange = Exchange(
            Endpoint(
                url=base_url.rstrip("/") + "/chat/completions",
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
        body = chat_body(request, self._profile, model=model, names=names)
        text = encode(body)
        offered = tuple(names.wire(tool.name) for tool in request.tools)
        limit = count(body, self._profile.max_tokens_field) or None
        answer = Answer(model=model, names=names, offered=offered, max_tokens=limit)

        read = partial(self._read, answer)
        async with aclosing(self._exchange.chunks(text, read, self._exchange.start_clocks())) as chunks:
            async for chunk in chunks:
                for item in answer.feed(chunk):
                    yield item
        for item in answer.rest():
            yield item
        yield answer.finish()

    async def _read(self, answer: Answer, body: Body) -> AsyncGenerator[JsonObject, None]:
        if "json" in body.media:
            yield _chunk(body, await body.whole())
            return
        parser = SseParser()
        while (piece := await body.read()) is not None:
            for item in parser.feed(piece):
                if isinstance(item, SseComment) or not item.data.strip():
                    body.clocks.comment()
                    continue
                body.clocks.data()
                if item.data.strip() == END_MARK:
                    await body.drain()
                    return
                yield _chunk(body, item.data)
        is_ended = parser.pending.strip() == END_MARK
        if not is_ended and (self._profile.needs_end_mark or not answer.has_reason):
            raise StreamCutError("the model's answer broke off before its end")


def _chunk(body: Body, text: str) -> JsonObject:
    """Read one chunk; gateways put their own refusals in its place, after a 200 and without an `error`.

    Raises:
        LlmError: It is one, or the text is no JSON object.
    """
    chunk = body.chunk(text)
    is_answer = any(key in chunk for key in ("choices", "usage")) or isinstance(chunk.get("data"), dict)
    if not is_answer and any(string(chunk.get(key)) for key in ("message", "msg", "detail")):
        raise body.fault(text)
    return chunk
