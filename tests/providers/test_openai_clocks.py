"""How long an answer may be silent, and how long it may take."""

import asyncio

import httpx
import pytest

from ias.errors import TransportError
from ias.providers.openai import OpenAIChat
from ias.providers.profiles import DEEPSEEK
from tests.providers.loopback import SSE_HEAD, Exchange, delta, frames, model_server, request_of, take

STOP = delta("stop", content="")


async def test_silence_ends_the_call() -> None:
    stalled = asyncio.Event()

    async def script(exchange: Exchange) -> None:
        await exchange.send(SSE_HEAD, frames(delta(content="x"), done=False))
        await stalled.wait()

    with pytest.raises(TransportError, match=r"nothing came from the model for 0.2 s"):
        await take(script, idle=0.2)


async def test_a_server_that_never_answers_ends_the_call() -> None:
    stalled = asyncio.Event()

    async def script(_: Exchange) -> None:
        await stalled.wait()

    with pytest.raises(TransportError, match=r"llm\.idle_timeout"):
        await take(script, idle=0.2)


async def keep_alive(exchange: Exchange, *, until: asyncio.Event) -> None:
    """Send comments until the client is gone or `until` is set."""
    while not until.is_set():
        await exchange.send(b": keep-alive\n\n")
        try:
            async with asyncio.timeout(0.02):
                await until.wait()
        except TimeoutError:
            continue


async def test_keep_alives_hold_the_idle_clock_until_the_answer_begins() -> None:
    begun = asyncio.Event()

    async def script(exchange: Exchange) -> None:
        await exchange.send(SSE_HEAD)
        asyncio.get_running_loop().call_later(0.6, begun.set)
        await keep_alive(exchange, until=begun)
        await exchange.send(frames(delta(content="late"), STOP))

    taken, _ = await take(script, idle=0.3)
    assert taken.text == "late"


async def test_keep_alives_do_not_hide_an_answer_that_stalled() -> None:
    async def script(exchange: Exchange) -> None:
        await exchange.send(SSE_HEAD, frames(delta(content="x"), done=False))
        await keep_alive(exchange, until=asyncio.Event())

    with pytest.raises(TransportError, match=r"llm\.idle_timeout"):
        await take(script, idle=0.3)


async def test_keep_alives_without_end_meet_the_deadline() -> None:
    async def script(exchange: Exchange) -> None:
        await exchange.send(SSE_HEAD)
        await keep_alive(exchange, until=asyncio.Event())

    with pytest.raises(TransportError, match=r"llm\.timeout"):
        await take(script, idle=0.3, total=0.8)


async def test_leaving_the_stream_early_closes_the_connection() -> None:
    gone = asyncio.Event()

    async def script(exchange: Exchange) -> None:
        await exchange.send(SSE_HEAD, frames(delta(content="x"), done=False))
        try:
            await keep_alive(exchange, until=asyncio.Event())
        finally:
            gone.set()

    async with model_server(script) as server, httpx.AsyncClient(trust_env=False) as client:
        provider = OpenAIChat(DEEPSEEK, model="m", base_url=server.url, api_key=None, client=client)
        stream = provider.stream(request_of())
        await anext(stream)
        await stream.aclose()
        async with asyncio.timeout(5):
            await gone.wait()
    assert "authorization" not in server.exchanges[0].headers
