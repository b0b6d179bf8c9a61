"""Which provider the settings mean, and how long a failed call waits."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest

from ias.errors import AuthenticationError, BalanceError, ConfigError, LlmError, RateLimitedError, ServerFaultError
from ias.providers.base import retry_delay
from ias.providers.choose import LlmSettings, is_offline, open_provider
from ias.providers.profiles import PROFILES, Profile
from ias.providers.refusals import classify, retry_after
from tests.providers.loopback import ADAPTERS


async def opened(env: dict[str, str] | None = None, **settings: object) -> tuple[str, str]:
    async with httpx.AsyncClient() as client:
        provider = open_provider(LlmSettings(**settings), env=env or {}, client=client, tap=lambda *_: None)  # type: ignore[arg-type]  - any setting
        return provider.name, provider.model


async def test_without_a_key_the_rules_answer() -> None:
    assert is_offline(LlmSettings(), {})
    assert await opened() == ("offline", "offline")
    assert await opened({"DEEPSEEK_API_KEY": ""}) == ("offline", "offline")


async def test_with_a_key_deepseek_answers() -> None:
    assert await opened({"DEEPSEEK_API_KEY": "sk-1"}) == ("deepseek", "deepseek-flash")
    assert await opened(api_key="sk-1", model="deepseek-v4-pro") == ("deepseek", "deepseek-v4-pro")
    assert await opened({"DEEPSEEK_API_KEY": "sk-1"}, provider="offline") == ("offline", "offline")


async def test_other_providers_are_named() -> None:
    assert await opened(provider="ollama", model="qwen3") == ("ollama", "qwen3")
    assert await opened({"DASHSCOPE_API_KEY": "k"}, provider="qwen", model="qwen-plus") == ("qwen", "qwen-plus")
    assert await opened(provider="ollama_compatible", model="qwen3") == ("ollama_compatible", "qwen3")
    assert await opened({"DEEPSEEK_API_KEY": "k"}, provider="deepseek_anthropic") == (
        "deepseek_anthropic",
        "deepseek-flash",
    )
    assert await opened(provider="openai_compatible", model="m", base_url="http://127.0.0.1:1/v1") == (
        "openai_compatible",
        "m",
    )


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
async def test_each_profile_gets_the_adapter_of_its_wire(profile: Profile) -> None:
    async with httpx.AsyncClient() as client:
        settings = LlmSettings(provider=profile.name, model="m", api_key="k", base_url="http://127.0.0.1:1/v1")
        provider = open_provider(settings, env={}, client=client, tap=lambda *_: None)
    assert type(provider) is ADAPTERS[profile.wire]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"provider": "deepsek"}, "llm.provider is 'deepsek': use one of auto, deepseek"),
        ({"provider": "deepseek"}, "set DEEPSEEK_API_KEY"),
        ({"provider": "openai", "api_key": "k"}, "llm.model is not set"),
        ({"provider": "anthropic", "model": "m"}, "set ANTHROPIC_API_KEY"),
        ({"provider": "anthropic_compatible", "model": "m"}, "like http://127.0.0.1:8000"),
        ({"provider": "openai_compatible", "model": "m"}, "llm.base_url is not set"),
        ({"provider": "ollama", "model": "m", "base_url": "localhost:11434"}, "llm.base_url is 'localhost:11434'"),
    ],
)
async def test_settings_that_cannot_work_say_what_to_set(settings: dict[str, str], words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        await opened({}, **settings)
    assert words in str(caught.value)


def test_delays_double_to_a_cap_with_some_jitter() -> None:
    fault = ServerFaultError("x")
    assert [retry_delay(fault, attempt, draw=lambda: 0) for attempt in (0, 1, 2, 3, 5, 6, 10_000)] == [
        0.5,
        0.5,
        1,
        2,
        8,
        10,
        10,
    ]
    assert retry_delay(fault, 1, draw=lambda: 1) == pytest.approx(0.55)
    assert 0.5 <= (retry_delay(fault, 1) or 0) <= 0.55


@pytest.mark.parametrize(("wish", "delay"), [(0.1, 0.5), (20, 20), (86_400, 600)])
def test_the_providers_wish_is_honoured_to_a_bound(wish: float, delay: float) -> None:
    assert retry_delay(RateLimitedError("x", retry_after=wish), 1, draw=lambda: 0) == delay


def test_what_cannot_succeed_is_not_tried_again() -> None:
    assert retry_delay(AuthenticationError("x"), 1) is None


def test_retry_after_is_seconds_or_milliseconds_or_a_date() -> None:
    assert retry_after({"retry-after": "3"}) == 3
    assert retry_after({"retry-after-ms": "1500", "retry-after": "9"}) == 1.5
    assert retry_after({"retry-after": "soon"}) is None
    assert retry_after({}) is None
    later = retry_after({"retry-after": format_datetime(datetime.now(UTC) + timedelta(seconds=100))})
    assert later is not None
    assert 90 < later <= 100
    assert retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (429, '{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}', BalanceError),
        (429, '{"error":{"message":"Allocated quota exceeded","code":"insufficient_quota"}}', RateLimitedError),
        (429, '{"error":{"code":"1113","message":"余额不足或无可用资源包,请充值。"}}', BalanceError),
        (403, '{"code":"AllocationQuota.FreeTierOnly","message":"the free tier is used up"}', BalanceError),
        (403, '{"error":"region not allowed"}', AuthenticationError),
        (408, "", ServerFaultError),
    ],
)
def test_a_refusal_is_told_by_its_body_too(status: int, body: str, kind: type[LlmError]) -> None:
    assert type(classify(status, body)) is kind
