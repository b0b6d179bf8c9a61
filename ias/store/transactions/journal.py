"""Stored events of a conversation: written in the transaction that makes them true, heard after its COMMIT."""

from ias.domain.events import ApprovalResolved, StreamEvent, event_to_json
from ias.store.base import Row, Steps, only, run, wake
from ias.store.transactions.locks import Held


def record(held: Held, event: StreamEvent) -> Steps[None]:
    """Store an event under the conversation's next event number."""
    seq = (yield from only("next_event", id=held.id))["next_event"]
    body = event_to_json(event)
    yield run(
        "put_event", conversation_id=held.id, seq=seq, turn_id=event.turn_id, name=event.name, body=body, now=held.at
    )
    yield wake(f"conversation:{held.id}")


def record_resolved(held: Held, approval: Row, turn_id: str | None) -> Steps[None]:
    """Store that an approval has its end."""
    event = ApprovalResolved(
        turn_id=turn_id or "",
        approval_id=approval["id"],
        num=approval["num"],
        state=approval["state"],
        decided_by=approval["decided_by"],
    )
    yield from record(held, event)
