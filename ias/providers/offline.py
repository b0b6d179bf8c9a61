"""The built-in stand-in for a model where no API key is set: rules, not a language model, and it says so."""

from collections.abc import AsyncGenerator

from ias.domain.messages import (
    AssistantMessage,
    ChatResponse,
    FinishReason,
    MessageRequest,
    StreamItem,
    TextChunk,
    Usage,
)
from ias.providers.embedded.answering import answer


class OfflineProvider:
    """Answer requests by rules.

    It sees what any model sees, the request alone: it asks the catalogue with the words of the message, fits the
    message to the examples of the tools found, calls the best one and passes its result on.
    """

    name = "offline"
    model = "offline"

    async def stream(self, request: MessageRequest) -> AsyncGenerator[StreamItem, None]:
        """Answer `request` as `Provider.stream` says; it never fails."""
        message: AssistantMessage = answer(request)
        if message.text:
            yield TextChunk(text=message.text)
        reason = FinishReason.TOOL_CALLS if message.calls else FinishReason.STOP
        yield ChatResponse(message=message, stop_reason=reason, usage=Usage(), model=self.model)
