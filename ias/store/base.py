"""What transactions are made of: statements, wake-ups, ids that stay the same, and the store that runs them.

A transaction is a generator without I/O. It yields named statements and is given their rows, decides, yields more, and
returns a value; a backend only drives it. It may be driven more than once (a lost answer to COMMIT, a failed group):
`Ids` gives the same ids each time, and transactions are written so that the second run finds what the first one did.
"""

import os
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeAlias, TypeVar

from ias.domain.approvals import Safety

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
P = ParamSpec("P")

Row: TypeAlias = Mapping[str, Any]  # one row by column name; a column holds text, an integer or nothing, each its own

ID_BITS = 80  # enough that two daemons never draw the same one
APPROVAL_BITS = 128  # an approval's id stands in links: it must not be guessed
ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"  # base32, lower case: can be read aloud and typed
MAX_DELAY_MS = 600_000  # longest wait of a job before it is tried again; a clock that went back is noticed by it


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of `store/sql` under its name, with its parameters."""

    name: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Wake:
    """A topic that somebody may wait for, told after COMMIT.

    `llm`, `tool`, `send`: there is a job; `conversation:<id>`: there is an event; `stopped:<id>`: a turn or run is over
    while somebody may be working on it.
    """

    topic: str


Steps: TypeAlias = Generator[Statement | Wake, list[Row], T]


def run(name: str, /, **params: Any) -> Statement:
    """Make the statement of that name; a transaction yields it and is given the rows."""
    return Statement(name, params)


def wake(topic: str) -> Wake:
    """Make a wake-up; a transaction yields it, listeners hear it after COMMIT."""
    return Wake(topic)


def first(name: str, /, **params: Any) -> Steps[Row | None]:
    """Run a statement and give its first row, or None."""
    rows = yield Statement(name, params)
    return rows[0] if rows else None


def only(name: str, /, **params: Any) -> Steps[Row]:
    """Run a statement that must give a row.

    Raises:
        LookupError: If it gives none: the model of the states is broken.
    """
    rows = yield Statement(name, params)
    if not rows:
        raise LookupError(f"statement {name!r} found no row for {params!r}")
    return rows[0]


class Ids:
    """The ids of one transaction: drawn at their first use, the same ones when it runs again."""

    def __init__(self, random_bytes: Callable[[int], bytes] = os.urandom) -> None:
        self._random_bytes = random_bytes
        self._drawn: dict[str, list[str]] = {}
        self._used: dict[str, int] = {}

    def new(self, kind: str) -> str:
        """Give the next id of a kind.

        Args:
            kind: `c t r j d a u m` for conversation, turn, run, job, delivery, approval, rule, memory.
        """
        drawn, at = self._drawn.setdefault(kind, []), self._used.get(kind, 0)
        if at == len(drawn):
            drawn.append(f"{kind}_{self._letters(APPROVAL_BITS if kind == 'a' else ID_BITS)}")
        self._used[kind] = at + 1
        return drawn[at]

    def rewind(self) -> None:
        """Begin again with the first id of each kind."""
        self._used.clear()

    def _letters(self, bits: int) -> str:
        number = int.from_bytes(self._random_bytes(bits // 8), "big")
        return "".join(ALPHABET[number >> shift & 31] for shift in range(0, bits, 5))


class Transaction(Generic[T_co]):
    """A transaction with its arguments, ready to be driven as often as it takes."""

    def __init__(self, name: str, make: Callable[[Ids], Steps[T_co]]) -> None:
        self.name = name
        self._make = make
        self._ids = Ids()

    def steps(self) -> Steps[T_co]:
        """Start from the beginning, with the same ids as before."""
        self._ids.rewind()
        return self._make(self._ids)

    def __repr__(self) -> str:
        return f"<transaction {self.name}>"


def transaction(work: Callable[Concatenate[Ids, P], Steps[T]]) -> Callable[P, Transaction[T]]:
    """Turn a generator function that takes `Ids` first into one that gives a `Transaction`, without that argument."""

    @wraps(work)
    def make(*args: P.args, **kwargs: P.kwargs) -> Transaction[T]:
        return Transaction(work.__name__, lambda ids: work(ids, *args, **kwargs))

    return make


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a delivery goes: a channel and an address in its words."""

    channel: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What the configuration says to transactions; spans in milliseconds.

    `channel_safety` names the channels that remove duplicates (`repeat`); any other is `once`. `approvers` are asked
    instead of the conversation itself; `operator` is told what concerns calls that no conversation shows.
    """

    approval_timeout_ms: int = 900_000
    lease_ms: int = 60_000
    max_attempts: int = 5
    conversation_depth: int = 50
    depth: int = 5_000
    delivery_age_ms: int = 86_400_000
    channel_safety: Mapping[str, Safety] = field(default_factory=lambda: {})
    approvers: tuple[Address, ...] = ()
    operator: Address = field(default_factory=lambda: Address(channel="operator", address="operator"))

    def safety_of(self, channel: str) -> Safety:
        """Say whether a delivery to that channel may be made twice."""
        return self.channel_safety.get(channel, Safety.ONCE)


class Lost:
    """The answer of a transaction whose job is not ours any more: stop working on it, nothing was written."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Lost)

    def __hash__(self) -> int:
        return hash(Lost)

    def __repr__(self) -> str:
        return "LOST"


LOST = Lost()


class Store(Protocol):
    """The durable state: transactions run one by one, reads beside them.

    `on_commit` is called after each COMMIT, in the event loop, with the topics of the transactions in it.
    """

    on_commit: Callable[[frozenset[str]], None]

    async def run(self, transaction: Transaction[T]) -> T:
        """Run a transaction and give its value after its COMMIT. A cancelled caller does not stop it.

        Raises:
            StateError: The state cannot be used now; nothing was written.
        """
        ...

    async def read(self, name: str, **params: Any) -> list[Row]:
        """Run a reading statement by its name.

        Raises:
            StateError: The state cannot be used now.
        """
        ...

    async def close(self) -> None:
        """Finish what was handed in, then let the database go."""
        ...
