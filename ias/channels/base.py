"""What a channel is: a way for messages to come in and for deliveries to go out."""

from dataclasses import dataclass
from typing import Protocol

from ias.domain.approvals import Safety
from ias.domain.jobs import Delivered, Retry


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """A delivery as a channel sees it: `key` is the same in every repeat, `kind` reply, notice or approval."""

    conversation_id: str
    address: str
    kind: str
    text: str
    key: str


class Channel(Protocol):
    """A way in and out; `safety` says whether it removes duplicates by a parcel's key."""

    name: str
    safety: Safety

    async def send(self, parcel: Parcel) -> Delivered | Retry:
        """Deliver a parcel and say how it went; `Delivered(UNKNOWN)` where nobody can know."""
        ...
