"""Jobs of the three queues, and what a handler makes of one."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from ias.domain.messages import AssistantMessage, ToolCall, Usage
from ias.domain.money import Money
from ias.domain.tools import Result


class Queue(StrEnum):
    """The three durable queues."""

    LLM = "llm"
    TOOL = "tool"
    SEND = "send"


class TurnReason(StrEnum):
    """Why a turn ended."""

    REPLY = "reply"
    MAX_TURNS = "max_turns"
    LOOP = "loop"
    CANCELLED = "cancelled"
    NEW = "new"
    PROVIDER_ERROR = "provider_error"
    DEAD = "dead"
    COMMAND = "command"
    BUDGET = "budget"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A claimed job: `owner_id` is a turn, run or delivery, `lease_token` the proof that it is still ours."""

    id: str
    queue: Queue
    lane: str
    conversation_id: str
    owner_id: str
    attempts: int
    max_attempts: int
    lease_token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCall:
    """One call of a model answer, resolved: the inner tool, its checked arguments, or a result known at once."""

    call: ToolCall
    tool: str
    tool_hash: str
    args: str
    digest: str
    known: Result | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmStep:
    """A model answer to store: its calls become runs, or its text closes the turn.

    `stop` ends the turn although calls are open; `closing` are then the words that the person reads. `cost` is None
    where the price is unknown.
    """

    message: AssistantMessage
    calls: tuple[PlannedCall, ...]
    usage: Usage
    model: str
    stop: TurnReason | None = None
    closing: str | None = None
    cost: Money | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOver:
    """The model is not called for a turn, which ends for `reason`; the person reads `closing`. Nothing failed."""

    reason: TurnReason
    closing: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded:
    """A run has its result."""

    result: Result


class Sent(StrEnum):
    """What a channel says of a delivery."""

    SENT = "sent"
    REJECTED = "rejected"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """A delivery was tried and will not be tried again under this row."""

    outcome: Sent
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """Try again after `delay` seconds; the place in the lane is kept."""

    delay: float
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dead:
    """Give up for good: the job becomes a dead letter, its turn ends with `closing` (empty: the usual words)."""

    reason: TurnReason
    error: str
    closing: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """Nothing is left to commit: a transaction on the way already ended, parked or lost the job."""


Outcome: TypeAlias = LlmStep | TurnOver | RunEnded | Delivered | Retry | Dead | Settled
