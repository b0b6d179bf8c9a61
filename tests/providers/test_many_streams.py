"""Many answers at once over the one client of a process."""

import asyncio
from contextlib import aclosing

from ias.domain.messages import TextChunk
from ias.providers.choose import open_client
from ias.providers.openai import OpenAIChat
from ias.providers.profiles import DEEPSEEK
from tests.providers.loopback import KEY, SSE_HEAD, Exchange, delta, frames, model_server, request_of

OTHERS = 64
BOUND = 10.0


async def test_64_answers_that_go_on_do_not_keep_another_from_beginning() -> None:
    going_on = asyncio.Event()
    begun = 0

    async def script(exchange: Exchange) -> None:
        await exchange.send(SSE_HEAD, frames(delta(content="begun"), done=False))
        await going_on.wait()
        await exchange.send(frames(delta("stop", content="")))

    async def listen(provider: OpenAIChat) -> None:
        nonlocal begun
        async with aclosing(provider.stream(request_of())) as items:
            async for item in items:
                if isinstance(item, TextChunk):
                    begun += 1
                    if begun == OTHERS + 1:  # the last of them came while all others were open
                        going_on.set()

    async with model_server(script) as server, open_client() as client:
        provider = OpenAIChat(DEEPSEEK, model="m", base_url=server.url, api_key=KEY, client=client)
        async with asyncio.timeout(BOUND), asyncio.TaskGroup() as group:
            for _ in range(OTHERS + 1):
                group.create_task(listen(provider))
    assert begun == OTHERS + 1
    assert len(server.exchanges) == OTHERS + 1
