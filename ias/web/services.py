"""What the routes are given: the parts of the daemon that a request may use."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from fastapi import Request

from ias.bus import Bus
from ias.domain.messages import JsonObject
from ias.intake import Intake
from ias.registry import ToolRegistry
from ias.store.base import Store, Terms


class Tools(Protocol):
    """The tools as they are now."""

    @property
    def registry(self) -> ToolRegistry:
        """Give all tools that are loaded."""
        ...

    async def reload(self) -> JsonObject:
        """Scan the folders again and say what was added, changed, removed and rejected."""
        ...

    def listing(self) -> list[JsonObject]:
        """Give each tool's name, description, parameters, risk, hosts and hash."""
        ...


@dataclass(slots=True)
class Health:
    """What `/readyz` says: `is_ready` once everything runs, `is_draining` from the first signal on."""

    is_ready: bool = False
    is_draining: bool = False
    facts: JsonObject = field(default_factory=lambda: {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The parts; `poke` makes the daemon look at the store again."""

    store: Store
    intake: Intake
    bus: Bus
    tools: Tools
    terms: Terms
    health: Health
    token: str
    poke: Callable[[], None]


def services(request: Request) -> Services:
    """Give the services of the app that a request belongs to."""
    found = request.app.state.services
    if not isinstance(found, Services):
        raise TypeError("the app was made without services")
    return found
