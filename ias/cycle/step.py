"""One model step: the same code for the daemon's queue and for `LlmCycle`."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ias.domain.messages import JsonValue, Message, MessageRequest, StreamItem
from ias.providers.base import Provider
from ias.registry import ToolRegistry


@dataclass(frozen=True, slots=True, kw_only=True)
class CycleConfig:
    """How model steps are made; all of it has a default.

    Attributes:
        model: The model's name; empty for the provider's own choice.
        system: The system prompt.
        max_turns: Model steps of one turn, from 1.
        max_tokens: Longest answer in tokens; None leaves it to the provider.
        thinking: Whether the model may reason first, where it can.
        extra: Fields that go into the request's body as they are.
        api_key: The provider's key; by default its environment variable, like DEEPSEEK_API_KEY.
        base_url: The provider's address; by default its public one.
        timeout: Seconds for one model call.
        idle_timeout: Seconds between two pieces of an answer.
        max_attempts: Tries of one model step, from 1.
        approval_timeout: Seconds that an approver has for an answer.
        state: A folder that keeps the calls of dropped-in tools, and what they remember; by default all of it is gone
            when the cycle is closed.

    Example:
        ```python
        CycleConfig(model="qwen3:4b", base_url="http://127.0.0.1:11434/v1", max_turns=5)
        ```
    """

    model: str = ""
    system: str | None = None
    max_turns: int = 10
    max_tokens: int | None = None
    thinking: bool = True
    extra: Mapping[str, JsonValue] = field(default_factory=lambda: {})
    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None
    timeout: float = 600.0
    idle_timeout: float = 120.0
    max_attempts: int = 5
    approval_timeout: float = 900.0
    state: Path | None = None


class ModelStep:
    """Calls the model once.

    Args:
        provider: The wire to the model.
        config: What is the same in each request.
    """

    def __init__(self, provider: Provider, config: CycleConfig) -> None:
        self._provider = provider
        self.config = config

    def stream(self, messages: tuple[Message, ...], registry: ToolRegistry) -> AsyncGenerator[StreamItem, None]:
        """Send the messages and give the answer's pieces as they arrive, the whole `ChatResponse` last.

        Raises:
            LlmError: While iterating, retryable or not, as the provider said; nothing of the answer counts then.
        """
        request = MessageRequest(
            model=self.config.model,
            system=self.config.system,
            messages=messages,
            tools=registry.definitions(),
            max_tokens=self.config.max_tokens,
            thinking=self.config.thinking,
            extra=self.config.extra,
        )
        return self._provider.stream(request)
