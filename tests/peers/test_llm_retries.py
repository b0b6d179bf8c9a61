"""Faults of a server that grades its client: our errors, waited for as the queue waits."""

import asyncio
from collections.abc import Iterator

import httpx
import pytest

from ias.domain.messages import ChatResponse, JsonObject, MessageRequest, UserMessage
from ias.errors import LlmError
from ias.providers.base import retry_delay
from ias.providers.openai import OpenAIChat
from ias.providers.profiles import OPENAI
from tests.peers.programs import free_port, installed, running

pytestmark = pytest.mark.peers


@pytest.fixture
def grader() -> Iterator[str]:
    program, port = installed("llm", "bin", "llmock"), free_port()
    with running([program, "serve", "--port", str(port)], ready="running on"):
        yield f"http://127.0.0.1:{port}"


async def answer(url: str, client: httpx.AsyncClient, *, tries: int) -> tuple[list[str], ChatResponse | None]:
    """Ask until an answer comes, waiting as long as `retry_delay` says; give the names of the errors on the way."""
    provider = OpenAIChat(
        OPENAI, model="gpt-4o", base_url=f"{url}/v1", api_key="sk-x", client=client, timeout=20, idle_timeout=2
    )
    errors: list[str] = []
    for attempt in range(1, tries + 1):
        try:
            items = [
                item async for item in provider.stream(MessageRequest(model="", messages=(UserMessage(text="hi"),)))
            ]
        except LlmError as error:
            errors.append(type(error).__name__)
            delay = retry_delay(error, attempt)
            if delay is None:
                return errors, None
            await asyncio.sleep(delay)
        else:
            assert isinstance(items[-1], ChatResponse)
            return errors, items[-1]
    return errors, None


@pytest.mark.parametrize(
    ("behaviors", "errors"),
    [
        ([{"type": "fail", "status": 429, "retry_after": 1, "times": 2}], ["RateLimitedError", "RateLimitedError"]),
        ([{"type": "fail", "status": 503, "times": 1}], ["ServerFaultError"]),
        ([{"type": "stream_fault", "kind": "truncate", "after_chunks": 2}], ["StreamCutError"]),
        ([{"type": "stream_fault", "kind": "disconnect", "after_chunks": 2}], ["TransportError"]),
        ([{"type": "stream_fault", "kind": "malformed", "after_chunks": 2}], ["ServerFaultError"]),
        ([{"type": "stream_fault", "kind": "stall", "after_chunks": 2}], ["TransportError"]),
        ([{"type": "fail", "status": 401, "times": 1}], ["AuthenticationError"]),
    ],
    ids=["429", "503", "truncate", "disconnect", "malformed", "stall", "401"],
)
async def test_the_grader_finds_nothing_wrong(grader: str, behaviors: list[JsonObject], errors: list[str]) -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        await client.post(f"{grader}/_llmock/scenario", json={"behaviors": behaviors})
        seen, response = await answer(grader, client, tries=4)
        verdict = (await client.get(f"{grader}/_llmock/verdict")).json()
    assert seen == errors
    assert (response is None) == (errors == ["AuthenticationError"])
    # The one warning depends on timing: it comes when the whole body was on the wire before the client hung up.
    codes = {finding["code"] for finding in verdict["findings"]} - {"malformed_chunk_ignored"}
    assert (verdict["passed"], verdict["faults_injected"] > 0, codes) == (True, True, set())
