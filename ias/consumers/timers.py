"""What happens because time passes: approvals expire, leases are renewed, other processes' writes are noticed."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from structlog.typing import FilteringBoundLogger

from ias.errors import StateError
from ias.store.base import Store, Terms
from ias.store.transactions.approvals import due_approvals, expire_approval
from ias.store.transactions.queue import clamp, heartbeat

LOOK = 0.1  # seconds between looks at the database's version: others' writes are noticed by then, also without a poke
EXPIRY = 1.0  # seconds between looks for approvals that expired
CLAMP = 60.0  # seconds between looks for instants that a clock which went back left too far away


class Watched(Store, Protocol):
    """A store whose writes by other processes can be noticed."""

    async def has_changed(self) -> bool:
        """Say whether another process wrote since the last question."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerConfig:
    """`worker` names this process in leases; `poke` makes the consumers and listeners look again."""

    terms: Terms
    worker: str
    poke: Callable[[], None]


class Timers:
    """Runs the periodic work in tasks of its own until it is cancelled."""

    def __init__(self, store: Watched, config: TimerConfig, error_log: FilteringBoundLogger) -> None:
        self._store = store
        self._config = config
        self._log = error_log

    async def run(self) -> None:
        """Go on for ever; a store that cannot be used now is tried again at the next turn."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._every(LOOK, self._look))
            group.create_task(self._every(EXPIRY, self._expire))
            group.create_task(self._every(self._config.terms.lease_ms / 3000, self._renew))
            group.create_task(self._every(CLAMP, self._clamp))

    async def _every(self, seconds: float, work: "Work") -> None:
        while True:
            await asyncio.sleep(seconds)
            try:
                await work()
            except StateError as error:
                self._log.error("timer_failed", tag="store", text=str(error))

    async def _look(self) -> None:
        if await self._store.has_changed():
            self._config.poke()

    async def _expire(self) -> None:
        for row in await self._store.run(due_approvals()):
            await self._store.run(expire_approval(self._config.terms, row["id"]))

    async def _renew(self) -> None:
        await self._store.run(heartbeat(self._config.worker, self._config.terms.lease_ms))

    async def _clamp(self) -> None:
        await self._store.run(clamp(self._config.terms))


class Work(Protocol):
    """One turn of periodic work."""

    async def __call__(self) -> None:
        """Do it once."""
        ...
