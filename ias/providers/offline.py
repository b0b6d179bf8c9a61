"""The built-in stand-in for a model where no API key is set: rules, not a language model, and it says so."""

from collections.abc import AsyncGenerator
from dataclasses import replace

from ias.domain.messages import (
    ChatResponse,
    FinishReason,
    Message,
    MessageRequest,
    StreamItem,
    TextChunk,
    Usage,
    UserMessage,
)
from ias.providers.embedded.answering import answer
from ias.providers.embedded.direct import COMMAND

# Characters of a message that the rules look at: their time grows with its square, and all else waits meanwhile. A text
# that is too long for a memory (4,000) must stay so.
READ = 4_200


class OfflineProvider:
    """Answer requests by rules.

    It sees what any model sees, the request alone: it asks the catalogue with the words of the message, fits the
    message to the examples of the tools found, calls the best one and passes its result on.
    """

    name = "offline"
    model = "offline"

    async def stream(self, request: MessageRequest) -> AsyncGenerator[StreamItem, None]:
        """Answer `request` as `Provider.stream` says; it never fails."""
        message = answer(replace(request, messages=tuple(_shortened(message) for message in request.messages)))
        if message.text:
            yield TextChunk(text=message.text)
        reason = FinishReason.TOOL_CALLS if message.calls else FinishReason.STOP
        yield ChatResponse(message=message, stop_reason=reason, usage=Usage(), model=self.model)


def _shortened(message: Message) -> Message:
    if not isinstance(message, UserMessage) or len(message.text) <= READ or COMMAND.match(message.text):
        return message
    return replace(message, text=message.text[:READ])
