"""How a run goes on: the rows that a worker needs, and what it is to do next."""

from dataclasses import dataclass
from typing import TypeAlias

from ias.domain.approvals import Safety, StepKind
from ias.store.base import Lost


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
