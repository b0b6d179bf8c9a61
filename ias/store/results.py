"""What transactions answer."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from ias.domain.approvals import Safety, StepKind
from ias.store.base import Lost, Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitted:
    """A message or call is stored; `turn_id` or `run_id` is what it became.

    `cursor` is the number of the conversation's last event before it. `is_duplicate` says that it was stored before.
    """

    conversation_id: str
    turn_id: str = ""
    run_id: str = ""
    cursor: int
    is_duplicate: bool


class CommandKind(StrEnum):
    """What a command in a chat does to the conversation."""

    CANCEL = "cancel"
    NEW = "new"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A message that is a command; `answer` is told to the person (None: the usual words for cancel and new)."""

    kind: CommandKind
    answer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """A run as stored: `args` and `tool_state` are JSON, `no` is its last request (0: none), `used_ms` its own time."""

    id: str
    conversation_id: str
    turn_id: str | None
    user_id: str
    origin: str
    wire_id: str
    tool: str
    tool_hash: str
    args: str
    digest: str
    state: str
    no: int
    tool_state: str | None
    used_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRow:
    """A step as stored; `request` are the bytes to carry out, `response` is a JSON text once it is done."""

    run_id: str
    no: int
    item: int
    kind: StepKind
    request: str
    digest: str
    safety: Safety
    state: str
    line: str | None
    idem_key: str | None
    granted_by: str | None
    response: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GateCall:
    """Nothing was asked yet: let the gate judge the whole call."""

    run: RunRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Consume:
    """The request was approved: check that it is still not forbidden, then consume the approval."""

    run: RunRow
    steps: tuple[StepRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Send:
    """`sending` is committed: carry these items out now, once."""

    run: RunRow
    steps: tuple[StepRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spawn:
    """All items of request `run.no` have their answer: give them to the tool."""

    run: RunRow
    steps: tuple[StepRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class More:
    """Other items of the request are still out; whoever finishes the last one is told how to go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parked:
    """The run waits for a person; the job is gone."""

    num: int
    approval_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The run has its result, with this code; the job is gone."""

    code: str


Next: TypeAlias = GateCall | Consume | Send | Spawn | More | Parked | Ended | Lost


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """How a decision went: `won` says that the approval's end is the one asked for, by that person.

    `state` and `decided_by` are the approval's own, whoever came first. `rules` are the numbers of the rules it made.
    """

    state: str
    decided_by: str | None
    won: bool
    approval: Row
    rules: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SendNow:
    """`sending` is committed: deliver this row now, once; its `body` is the text as a JSON string."""

    delivery: Row


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryEnded:
    """Nothing is to be sent: too old, no longer needed, or cut off with an unknown outcome."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """What a start found and settled."""

    epoch: int
    leases: int
    steps_repeat: int
    steps_once: int
    deliveries_repeat: int
    deliveries_once: int
    approvals_pending: int
    approvals_approved: int
    approvals_expired: int
    turns_queued: int
    dead_letters: int
