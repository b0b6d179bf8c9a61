"""What happens in a conversation, as listeners hear it; names as in the streaming design of the library."""

import json
from dataclasses import asdict, dataclass
from typing import ClassVar, TypeAlias

from ias.domain.messages import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Root of all events. `turn_id` is empty for calls outside a turn; `step` counts the turn's model steps, from 1.

    Example:
        ```python
        async for event in cycle.submit_stream_with_tools("Is it raining in Oslo?", registry):
            print(event.name, event.step)
        ```
    """

    name: ClassVar[str]
    turn_id: str = ""
    step: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantTextDelta(Event):
    """Text of the answer from `offset` (in characters) on; a new `attempt` replaces the text of the one before."""

    name: ClassVar[str] = "AssistantTextDelta"
    text: str
    attempt: int = 1
    offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningDelta(Event):
    """Reasoning of the model from `offset` (in characters) on; never stored as an event."""

    name: ClassVar[str] = "ReasoningDelta"
    text: str
    attempt: int = 1
    offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolExecutionStarted(Event):
    """A call begins; `tool_name` is the inner tool."""

    name: ClassVar[str] = "ToolExecutionStarted"
    run_id: str
    call_id: str
    tool_name: str
    input: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolExecutionCompleted(Event):
    """A call has its result."""

    name: ClassVar[str] = "ToolExecutionCompleted"
    run_id: str
    call_id: str
    tool_name: str
    output: str
    code: str
    is_error: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequested(Event):
    """A person must decide on `A<num>` before the call goes on; `expires_at` is epoch milliseconds."""

    name: ClassVar[str] = "ApprovalRequested"
    approval_id: str
    num: int
    run_id: str
    tool_name: str
    digest: str
    request: str
    expires_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalResolved(Event):
    """An approval has its end: approved, denied, expired or cancelled."""

    name: ClassVar[str] = "ApprovalResolved"
    approval_id: str
    num: int
    state: str
    decided_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnComplete(Event):
    """A model step ended: `tool_calls` means that the turn goes on, any other reason that it is over."""

    name: ClassVar[str] = "TurnComplete"
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice(Event):
    """Words of `ias` itself to the person: a queued message, an unknown outcome, a command's answer."""

    name: ClassVar[str] = "Notice"
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Error(Event):
    """Something failed that the person should know of."""

    name: ClassVar[str] = "Error"
    text: str


StreamEvent: TypeAlias = (
    AssistantTextDelta
    | ReasoningDelta
    | ToolExecutionStarted
    | ToolExecutionCompleted
    | ApprovalRequested
    | ApprovalResolved
    | TurnComplete
    | Notice
    | Error
)


def event_to_json(event: StreamEvent) -> str:
    """Give an event's stored and sent form: one JSON object without its name, ASCII only."""
    body: JsonObject = asdict(event)
    return json.dumps(body, separators=(",", ":"))
