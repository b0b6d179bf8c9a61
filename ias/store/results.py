"""What is handed to and answered by transactions that take messages, calls and decisions."""

from dataclasses import dataclass
from enum import StrEnum

from ias.store.base import Row


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
class Decision:
    """How a decision went: `won` says that the approval's end is the one asked for, by that person.

    `state` and `decided_by` are the approval's own, whoever came first. `rules` are the numbers of the rules it made.
    """

    state: str
    decided_by: str | None
    won: bool
    approval: Row
    rules: tuple[int, ...] = ()
