"""What the product is compared with, in the environment of `make peers-bench`: the openai SDK and pydantic-ai.

Run as `python -m bench.peer_client stream|loop PORT`; see `bench.workers`.
"""

import asyncio
import sys
import time
from collections.abc import AsyncGenerator, Mapping
from importlib import import_module
from typing import Any

from bench.answers import text_of
from bench.workers import Task, streams, work

# The peers are imported by name: they are not in the environment in which this file is checked, so all of them is Any.


async def stream(port: str) -> None:
    """Read streams with the openai SDK."""
    openai: Any = import_module("openai")
    async with openai.AsyncOpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="none", max_retries=0) as client:

        async def does(task: Task) -> Mapping[str, object]:
            count, side_by_side = int(str(task["count"])), int(str(task["streams"]))

            async def one() -> AsyncGenerator[str, None]:
                answer = await client.chat.completions.create(
                    model=str(task["model"]), messages=[{"role": "user", "content": "Go on."}], stream=True
                )
                async for chunk in answer:
                    if chunk.choices and chunk.choices[0].delta.content:
                        yield chunk.choices[0].delta.content

            cost = await streams(side_by_side, one, text_of(count))
            return {"wall": cost.wall, "cpu": cost.cpu}

        await work(does)


async def loop(port: str) -> None:
    """Run conversations with pydantic-ai, whole answers or streamed ones."""
    pydantic_ai: Any = import_module("pydantic_ai")
    models: Any = import_module("pydantic_ai.models.openai")
    providers: Any = import_module("pydantic_ai.providers.openai")
    provider = providers.OpenAIProvider(base_url=f"http://127.0.0.1:{port}/v1", api_key="none")
    agents: dict[object, Any] = {}

    async def hear(_context: object, events: Any) -> None:
        async for _ in events:
            pass

    async def does(task: Task) -> Mapping[str, object]:
        model = task["model"]
        if model not in agents:
            agents[model] = pydantic_ai.Agent(models.OpenAIChatModel(model, provider=provider), instructions="Add.")
            agents[model].tool_plain(add)
        wall, cpu = time.perf_counter(), time.process_time()
        result = await agents[model].run("Add up.", event_stream_handler=hear if task["stream"] else None)
        cost = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
        if result.output != task["text"]:
            raise RuntimeError(f"pydantic-ai answered {result.output!r}")
        return cost

    await work(does)


async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


if __name__ == "__main__":
    asyncio.run({"stream": stream, "loop": loop}[sys.argv[1]](sys.argv[2]))
