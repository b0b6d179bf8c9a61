"""The product as a program would embed it, as a process of its own.

Run as `python -m bench.own_client stream|loop|many PORT`; see `bench.workers`.
"""

import asyncio
import json
import sys
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress

import httpx

from bench.answers import text_of
from bench.workers import Task, streams, work
from ias import BaseTool, CycleConfig, LlmCycle, MessageRequest, ToolRegistry
from ias.domain.messages import JsonObject, JsonValue, TextChunk, UserMessage
from ias.providers.choose import open_client
from ias.providers.openai import OpenAIChat
from ias.providers.profiles import PROFILES

PROFILE = PROFILES["openai_compatible"]
STARVED = 2.0  # seconds without a first piece; alone it comes in some ms


class Add(BaseTool):
    """The tool of the loop."""

    @property
    def name(self) -> str:
        """Its name."""
        return "add"

    @property
    def description(self) -> str:
        """What the model reads."""
        return "Add two numbers."

    @property
    def parameters(self) -> JsonObject:
        """Two numbers."""
        numbers: JsonObject = {"a": {"type": "integer"}, "b": {"type": "integer"}}
        return {"type": "object", "properties": numbers, "required": ["a", "b"]}

    async def execute(self, args: JsonObject) -> JsonValue:
        """Add."""
        return int(str(args["a"])) + int(str(args["b"]))


async def stream(port: str) -> None:
    """Read streams, with the adapter or with httpx and nothing else."""
    async with open_client() as client:
        provider = _provider(port, client)

        async def does(task: Task) -> Mapping[str, object]:
            model, count, side_by_side = str(task["model"]), int(str(task["count"])), int(str(task["streams"]))
            cost = await streams(
                side_by_side,
                lambda: _bare(client, port, model) if task["bare"] else _said(provider, model),
                text_of(count),
            )
            return {"wall": cost.wall, "cpu": cost.cpu}

        await work(does)


async def loop(port: str) -> None:
    """Run conversations, each with a new cycle over one provider."""
    async with open_client() as client:
        provider = _provider(port, client)
        registry = ToolRegistry()
        registry.register(Add())

        async def does(task: Task) -> Mapping[str, object]:
            config = CycleConfig(model=str(task["model"]), system="Add.", max_turns=11)
            wall, cpu = time.perf_counter(), time.process_time()
            cycle = LlmCycle(provider, config)
            answer = await cycle.submit_with_tools("Add up.", registry)
            cost = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
            if answer.message.text != task["text"]:
                raise RuntimeError(f"the cycle answered {answer.message.text!r}")
            return cost

        await work(does)


async def many(port: str) -> None:
    """Time the first piece of one stream more, while so many others run."""
    async with open_client() as client:
        provider = _provider(port, client)

        async def does(task: Task) -> Mapping[str, object]:
            begun = [asyncio.Event() for _ in range(int(str(task["others"])))]
            firsts: list[float] = []
            async with asyncio.TaskGroup() as group:
                listening = [group.create_task(_listen(provider, str(task["model"]), event)) for event in begun]
                with suppress(TimeoutError):
                    async with asyncio.timeout(STARVED):
                        for event in begun:
                            await event.wait()
                for _ in range(int(str(task["probes"]))):
                    firsts.append(await _first(provider, str(task["model"])))
                    if firsts[-1] >= STARVED:
                        break
                for other in listening:
                    other.cancel()
            return {"firsts": firsts, "begun": sum(event.is_set() for event in begun)}

        await work(does)


def _provider(port: str, client: httpx.AsyncClient) -> OpenAIChat:
    return OpenAIChat(PROFILE, model="any", base_url=f"http://127.0.0.1:{port}/v1", api_key=None, client=client)


async def _said(provider: OpenAIChat, model: str) -> AsyncGenerator[str, None]:
    request = MessageRequest(model=model, messages=(UserMessage(text="Go on."),))
    async with aclosing(provider.stream(request)) as items:
        async for item in items:
            if isinstance(item, TextChunk):
                yield item.text


async def _bare(client: httpx.AsyncClient, port: str, model: str) -> AsyncGenerator[str, None]:
    """Read a stream with as little as can be: lines, JSON, the text."""
    body = {"model": model, "messages": [{"role": "user", "content": "Go on."}], "stream": True}
    async with client.stream("POST", f"http://127.0.0.1:{port}/v1/chat/completions", json=body) as response:
        async for line in response.aiter_lines():
            if line.startswith("data: {"):
                choices = json.loads(line[6:])["choices"]
                if choices and (text := choices[0]["delta"].get("content")):
                    yield text


async def _listen(provider: OpenAIChat, model: str, begun: asyncio.Event) -> None:
    async with aclosing(_said(provider, model)) as pieces:
        async for _ in pieces:
            begun.set()


async def _first(provider: OpenAIChat, model: str) -> float:
    """Give the seconds until the first piece, `STARVED` where none came by then."""
    began = time.perf_counter()
    with suppress(TimeoutError):
        async with asyncio.timeout(STARVED), aclosing(_said(provider, model)) as pieces:
            await anext(pieces)
            return time.perf_counter() - began
    return STARVED


if __name__ == "__main__":
    asyncio.run({"stream": stream, "loop": loop, "many": many}[sys.argv[1]](sys.argv[2]))
