"""The provider that the configuration asks for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ias.errors import ConfigError
from ias.providers.base import Provider, Tap
from ias.providers.offline import OfflineProvider
from ias.providers.profiles import DEEPSEEK, PROFILES, Profile, Wire

if TYPE_CHECKING:
    import httpx

    from ias.providers.anthropic import AnthropicMessages
    from ias.providers.ollama import OllamaChat
    from ias.providers.openai import OpenAIChat

AUTO = "auto"
OFFLINE = "offline"
IN_FLIGHT_MAX = 128  # model calls at once: a streamed answer holds its connection, and one more must not wait behind it


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmSettings:
    """What `llm:` in config.yaml says of the provider; times in seconds. What a single request carries is not here."""

    provider: str = AUTO
    model: str | None = None
    base_url: str | None = None
    api_key: str | None = None
    timeout: float = 600
    idle_timeout: float = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A provider on the network, with all that it needs; the key is not shown in `repr`."""

    profile: Profile
    model: str
    base_url: str
    api_key: str | None = field(repr=False)


def is_offline(llm: LlmSettings, env: Mapping[str, str]) -> bool:
    """Say whether no model answers: so configured, or `auto` without a key."""
    if llm.provider == AUTO:
        return not _key(llm, DEEPSEEK, env)
    return llm.provider == OFFLINE


def open_client() -> "httpx.AsyncClient":
    """Make the process's one client for model calls, through the environment's proxy; close it at the end."""
    import httpx  # noqa: PLC0415 - costs the offline start 60 ms and 15 MB

    return httpx.AsyncClient(limits=httpx.Limits(max_connections=IN_FLIGHT_MAX))


def open_provider(
    llm: LlmSettings, *, env: Mapping[str, str], client: "httpx.AsyncClient | None", tap: Tap
) -> Provider:
    """Make the provider.

    Args:
        llm: The settings.
        env: Where API keys are looked up that the settings do not give.
        client: The process's shared client; needed unless `is_offline`.
        tap: See `Tap`.

    Raises:
        ConfigError: The provider's name is unknown, or its model, address or key is missing.
    """
    chosen = choose(llm, env)
    if chosen is None:
        return OfflineProvider()
    if client is None:
        raise ValueError("a provider on the network needs a client")
    return _adapter(chosen.profile)(
        chosen.profile,
        model=chosen.model,
        base_url=chosen.base_url,
        api_key=chosen.api_key,
        client=client,
        timeout=llm.timeout,
        idle_timeout=llm.idle_timeout,
        tap=tap,
    )


def choose(llm: LlmSettings, env: Mapping[str, str]) -> Chosen | None:
    """Find out what the settings come to, opening nothing; None where the offline rules answer.

    Raises:
        ConfigError: As `open_provider`.
    """
    if is_offline(llm, env):
        return None
    profile = DEEPSEEK if llm.provider == AUTO else PROFILES.get(llm.provider)
    if profile is None:
        known = ", ".join([AUTO, *PROFILES, OFFLINE])
        raise ConfigError(f"llm.provider is {llm.provider!r}: use one of {known}")
    model = llm.model or profile.default_model
    if not model:
        raise ConfigError(f"llm.model is not set: name a model that {profile.name} serves")
    base_url = llm.base_url or profile.base_url
    if not base_url:
        raise ConfigError(
            f"llm.base_url is not set: {profile.name} needs the server's address, like http://127.0.0.1:8000/v1"
        )
    if not base_url.startswith(("https://", "http://")):
        raise ConfigError(f"llm.base_url is {base_url!r}: write the whole address, beginning with https://")
    key = _key(llm, profile, env)
    if profile.key_env and not key:
        raise ConfigError(f"{profile.name} needs an API key: set {profile.key_env} in the environment or in .env")
    return Chosen(profile=profile, model=model, base_url=base_url, api_key=key)


def _adapter(profile: Profile) -> "type[AnthropicMessages | OllamaChat | OpenAIChat]":
    # Imported here, since httpx costs the offline start 60 ms and 15 MB.
    match profile.wire:
        case Wire.CHAT_COMPLETIONS:
            from ias.providers.openai import OpenAIChat  # noqa: PLC0415 - see above

            return OpenAIChat
        case Wire.ANTHROPIC:
            from ias.providers.anthropic import AnthropicMessages  # noqa: PLC0415 - see above

            return AnthropicMessages
        case Wire.OLLAMA:
            from ias.providers.ollama import OllamaChat  # noqa: PLC0415 - see above

            return OllamaChat


def _key(llm: LlmSettings, profile: Profile, env: Mapping[str, str]) -> str | None:
    return llm.api_key or (env.get(profile.key_env) if profile.key_env else None) or None
