"""How a cycle gets its provider, and what it does with errors that may pass."""

import pytest

from ias import AssistantTextDelta, CycleConfig, LlmCycle, ReasoningDelta, ToolRegistry
from ias.domain.messages import AssistantMessage, TextChunk, UserMessage
from ias.errors import BalanceError, ConfigError, RateLimitedError, ServerFaultError, StreamCutError
from tests.cycle.script import ScriptedModel, says
from tests.providers.loopback import model_server, streaming

CUT = StreamCutError("the stream ended before its end mark")
BODY = (
    b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"hello"},"finish_reason":null}]}\n\n'
    b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
    b"data: [DONE]\n\n"
)


class Pauses:
    """Takes the place of waiting, and keeps how long it would have been."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


async def test_a_provider_by_name_is_built_from_the_configuration() -> None:
    async with model_server(streaming(BODY)) as server:
        config = CycleConfig(model="m-2", base_url=server.url, api_key="sk-test-1", system="be brief", max_tokens=9)
        async with LlmCycle("deepseek", config) as cycle:
            answer = await cycle.submit_with_tools("hi", ToolRegistry())

    (exchange,) = server.exchanges
    assert answer.message.text == "hello"
    assert exchange.headers["authorization"] == "Bearer sk-test-1"
    assert (exchange.body["model"], exchange.body["max_tokens"]) == ("m-2", 9)
    assert "sk-test-1" not in repr(config)


async def test_without_a_key_the_default_provider_is_the_offline_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEEPSEEK_API_KEY", raising=False)

    answer = await LlmCycle().submit_with_tools("hello", ToolRegistry())

    assert answer.model == "offline"


@pytest.mark.parametrize(
    ("provider", "config", "message"),
    [
        ("depseek", CycleConfig(), "llm.provider is 'depseek': use one of auto, deepseek"),
        ("openai", CycleConfig(api_key="sk-1"), "name a model that openai serves"),
        ("openai", CycleConfig(model="gpt-5"), "openai needs an API key: set OPENAI_API_KEY"),
    ],
)
def test_what_a_provider_lacks_is_said_when_the_cycle_is_made(
    provider: str, config: CycleConfig, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    with pytest.raises(ConfigError, match=message):
        LlmCycle(provider, config)


async def test_what_may_pass_is_tried_again_and_the_new_text_replaces_the_old() -> None:
    pauses = Pauses()
    model = ScriptedModel([TextChunk(text="ha"), CUT], [ServerFaultError("busy")], says("hal lo", reasoning="hm"))
    cycle = LlmCycle(model, pause=pauses)

    events = [event async for event in cycle.submit_stream_with_tools("hi", ToolRegistry())]

    assert events[:-1] == [
        AssistantTextDelta(step=1, text="ha", attempt=1),
        ReasoningDelta(step=1, text="hm", attempt=3),
        AssistantTextDelta(step=1, text="hal", attempt=3),
        AssistantTextDelta(step=1, text=" lo", attempt=3, offset=3),
    ]
    assert cycle.messages() == (UserMessage(text="hi"), AssistantMessage(text="hal lo", reasoning="hm"))
    assert [round(seconds * 10) / 10 >= least for seconds, least in zip(pauses.seconds, (0.5, 1.0), strict=True)] == [
        True,
        True,
    ]


async def test_the_providers_wish_for_a_pause_is_honoured() -> None:
    pauses = Pauses()
    model = ScriptedModel([RateLimitedError("slow down", retry_after=30)], says("hello"))

    await LlmCycle(model, pause=pauses).submit_with_tools("hi", ToolRegistry())

    assert len(pauses.seconds) == 1
    assert pauses.seconds[0] >= 30


async def test_after_max_attempts_the_last_error_comes_out() -> None:
    pauses = Pauses()
    model = ScriptedModel([CUT], repeat=True)

    with pytest.raises(StreamCutError):
        await LlmCycle(model, CycleConfig(max_attempts=3), pause=pauses).submit_with_tools("hi", ToolRegistry())

    assert (len(model.requests), len(pauses.seconds)) == (3, 2)


async def test_what_would_not_pass_is_not_tried_again() -> None:
    model = ScriptedModel([BalanceError("no balance", status=402)], repeat=True)

    with pytest.raises(BalanceError):
        await LlmCycle(model, pause=Pauses()).submit_with_tools("hi", ToolRegistry())

    assert len(model.requests) == 1


async def test_a_closed_cycle_opens_its_provider_anew() -> None:
    async with model_server(streaming(BODY)) as server:
        cycle = LlmCycle("deepseek", CycleConfig(base_url=server.url, api_key="k"))
        await cycle.close()
        answer = await cycle.submit_with_tools("hi", ToolRegistry())
        await cycle.close()

    assert answer.message.text == "hello"
