"""One model step: the same code for the daemon's queue and for `LlmCycle`."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path

from ias.cycle.context import estimate_frame, estimate_message, fit
from ias.domain.messages import ChatResponse, JsonValue, Message, MessageRequest, StreamItem
from ias.providers.base import Provider
from ias.registry import ToolRegistry

LARGEST_SCALE = 3.0  # a usage further off than that is no count of this request
LEARNING = 0.3  # weight of the newest answer

EMPTIES_WITH_THINKING = 2  # empty answers come again and again while the model thinks (DeepSeek-V3#1453)


@dataclass(frozen=True, slots=True, kw_only=True)
class CycleConfig:
    """How model steps are made; all of it has a default.

    Attributes:
        model: The model's name; empty for the provider's own choice.
        system: The system prompt.
        max_turns: Model steps of one turn, from 1.
        max_tokens: Longest answer in tokens; None leaves it to the provider.
        thinking: Whether the model may reason first, where it can.
        context_tokens: What a request may hold; of a longer conversation the oldest turns are left out.
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
    context_tokens: int = 60_000
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
        self._scale = 1.0  # the provider's count of tokens over the estimate, as its last answers showed

    def stream(
        self, messages: tuple[Message, ...], registry: ToolRegistry, *, empties: int = 0
    ) -> AsyncGenerator[StreamItem, None]:
        """Send the messages and give the answer's pieces as they arrive, the whole `ChatResponse` last.

        Args:
            messages: The conversation.
            registry: The tools that are offered.
            empties: How often this step was answered with nothing; thinking is switched off from the third try on.

        Raises:
            LlmError: While iterating, retryable or not, as the provider said; nothing of the answer counts then.
        """
        tools = registry.definitions()
        room = self.config.context_tokens / self._scale - estimate_frame(self.config.system, tools)
        request = MessageRequest(
            model=self.config.model,
            system=self.config.system,
            messages=fit(messages, tokens=room),
            tools=tools,
            max_tokens=self.config.max_tokens,
            thinking=self.config.thinking and empties < EMPTIES_WITH_THINKING,
            extra=self.config.extra,
        )
        return self._measured(request)

    async def _measured(self, request: MessageRequest) -> AsyncGenerator[StreamItem, None]:
        """Stream the answer, and learn from its usage how this provider counts."""
        async with aclosing(self._provider.stream(request)) as items:
            async for item in items:
                if isinstance(item, ChatResponse) and item.usage.input > 0:
                    estimate = estimate_frame(request.system, request.tools)
                    estimate += sum(estimate_message(message) for message in request.messages)
                    measured = min(LARGEST_SCALE, max(1 / LARGEST_SCALE, item.usage.input / max(1.0, estimate)))
                    self._scale += (measured - self._scale) * LEARNING
                yield item
