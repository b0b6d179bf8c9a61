"""A model of the tests: it answers request after request as its script says, and keeps what it was asked."""

from collections.abc import AsyncGenerator, Sequence

from ias.domain.messages import (
    AssistantMessage,
    ChatResponse,
    FinishReason,
    MessageRequest,
    ReasoningChunk,
    StreamItem,
    TextChunk,
    ToolCall,
    Usage,
)
from ias.errors import LlmError

Answer = Sequence[StreamItem | LlmError]
USAGE = Usage(input=7, output=3)


class ScriptedModel:
    """A provider that keeps the contract: chunks, then one response; or an error, after which nothing counts."""

    name = "scripted"
    model = "m-1"

    def __init__(self, *answers: Answer, repeat: bool = False) -> None:
        self._answers = list(answers)
        self._repeat = repeat
        self.requests: list[MessageRequest] = []
        self.closed = 0

    async def stream(self, request: MessageRequest) -> AsyncGenerator[StreamItem, None]:
        self.requests.append(request)
        answer = self._answers[0] if self._repeat else self._answers.pop(0)
        try:
            for item in answer:
                if isinstance(item, LlmError):
                    raise item
                yield item
        finally:
            self.closed += 1


def response(text: str = "", *calls: ToolCall, reasoning: str | None = None) -> ChatResponse:
    """Make a whole answer."""
    return ChatResponse(
        message=AssistantMessage(text=text, reasoning=reasoning, calls=calls),
        stop_reason=FinishReason.TOOL_CALLS if calls else FinishReason.STOP,
        usage=USAGE,
        model="m-1",
    )


def says(text: str, *calls: ToolCall, reasoning: str = "") -> Answer:
    """Make an answer that comes in pieces: its reasoning, its text word by word, then the whole."""
    pieces: list[StreamItem] = [ReasoningChunk(text=reasoning)] if reasoning else []
    words = text.split(" ") if text else []
    pieces.extend(TextChunk(text=word if at == 0 else f" {word}") for at, word in enumerate(words))
    return [*pieces, response(text, *calls, reasoning=reasoning or None)]


def call(name: str = "echo", arguments: str = "{}", *, call_id: str = "call_1", fault: str | None = None) -> ToolCall:
    """Make a call."""
    return ToolCall(id=call_id, name=name, arguments=arguments, fault=fault)
