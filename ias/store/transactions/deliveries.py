"""Deliveries: put into their lane, sent at most once per claim, ended, repeated once where nobody knows."""

import json
from dataclasses import dataclass
from enum import StrEnum

from ias.domain.approvals import Safety
from ias.domain.events import Notice
from ias.domain.jobs import Delivered, Job, Queue, Retry, Sent
from ias.store import words
from ias.store.base import (
    LOST,
    MAX_DELAY_MS,
    Address,
    Ids,
    Lost,
    Row,
    Steps,
    Terms,
    first,
    only,
    run,
    transaction,
    wake,
)
from ias.store.text import clean, pack
from ias.store.transactions.journal import record
from ias.store.transactions.locks import Held, acknowledge, hold, own, put_job

CUT_OFF = "cut off while sending"
NOT_NEEDED = "no longer needed"
TOO_OLD = "too old"


class DeliveryKind(StrEnum):
    """What a delivery is to the person."""

    REPLY = "reply"
    NOTICE = "notice"
    APPROVAL = "approval"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """A delivery to be put into its lane; `about` is the approval that it asks about."""

    to: Address
    kind: DeliveryKind
    text: str
    about: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SendNow:
    """`sending` is committed: deliver this row now, once; its `body` is the text as a JSON string."""

    delivery: Row


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryEnded:
    """Nothing is to be sent: too old, no longer needed, or cut off with an unknown outcome."""

    why: str


STATES = {Sent.SENT: "sent", Sent.REJECTED: "failed", Sent.UNKNOWN: "unknown"}


def enqueue_delivery(held: Held, parcel: Parcel) -> Steps[None]:
    """Put a delivery at the end of its lane."""
    seq = (yield from only("next_delivery", id=held.id))["next_delivery"]
    yield from _put(held, parcel, seq=seq, repeat=0)


def notify(held: Held, turn_id: str | None, text: str) -> Steps[None]:
    """Tell the person something; the operator, where it is about a call that belongs to no turn."""
    to = home_of(held) if turn_id is not None else held.terms.operator
    yield from enqueue_delivery(held, Parcel(to=to, kind=DeliveryKind.NOTICE, text=text))
    yield from record(held, Notice(turn_id=turn_id or "", text=text))


def home_of(held: Held) -> Address:
    """Give the place where the conversation is held."""
    return Address(channel=held.conversation["channel"], address=held.conversation["address"])


def next_delivery(held: Held, lane: str) -> Steps[None]:
    """Give a lane the job for its first open delivery, unless it has a job."""
    live = yield from first("live_job", queue=Queue.SEND, lane=lane)
    if live is not None:
        return
    row = yield from first("first_open_delivery", lane=lane)
    if row is not None:
        yield from put_job(held, Queue.SEND, lane, row["id"])


def repeat_delivery(held: Held, old: Row) -> Steps[None]:
    """Put the same text once more at its old place: same key, marked where it may have arrived unnoticed."""
    text = json.loads(old["body"])
    if old["state"] == "unknown" and old["safety"] == Safety.ONCE:
        text += words.MAY_REPEAT.to(text)
    last = (yield from only("last_repeat", conversation_id=old["conversation_id"], seq=old["seq"]))["n"]
    to = Address(channel=old["channel"], address=old["address"])
    parcel = Parcel(to=to, kind=DeliveryKind(old["kind"]), text=text, about=old["about"])
    yield from _put(held, parcel, seq=old["seq"], repeat=last + 1)


@transaction
def start_delivery(ids: Ids, terms: Terms, job: Job) -> Steps[SendNow | DeliveryEnded | Lost]:
    """Commit `sending` before the first byte leaves, or end a delivery that must not be sent (any more).

    One that is found `sending` under another token was cut off: it is sent again only where that is safe.
    """
    held = yield from hold(ids, terms, job.conversation_id)
    owned = yield from own(held, job)
    if owned is None:
        return LOST
    delivery = yield from only("delivery_by_id", id=owned["owner_id"])
    ended = yield from _obstacle(delivery, job.lease_token, held.at)
    if ended is not None:
        state, why = ended
        yield from _end(held, job, delivery, state, why)
        return DeliveryEnded(why=why)
    return SendNow(delivery=(yield from only("send_delivery", id=delivery["id"], token=job.lease_token)))


@transaction
def finish_delivery(ids: Ids, terms: Terms, job: Job, outcome: Delivered | Retry) -> Steps[str | Lost]:
    """Store how sending went.

    Returns:
        The delivery's state: `sent`, `failed`, `unknown`, or `prepared` where it is tried again.
    """
    held = yield from hold(ids, terms, job.conversation_id)
    owned = yield from own(held, job)
    if owned is None:
        return LOST
    delivery = yield from only("delivery_by_id", id=owned["owner_id"])
    if isinstance(outcome, Retry):
        error, run_at = clean(outcome.error), held.at + min(int(outcome.delay * 1000), MAX_DELAY_MS)
        yield run("put_delivery_back", id=delivery["id"], last_error=error)
        yield run("put_job_back", id=job.id, run_at=run_at, last_error=error)
        yield wake(Queue.SEND)
        return "prepared"
    state = STATES[outcome.outcome]
    yield from _end(held, job, delivery, state, clean(outcome.error or outcome.outcome))
    return state


def bury_delivery(held: Held, delivery: Row, error: str) -> Steps[None]:
    """End the delivery of a job that became a dead letter."""
    state = "unknown" if delivery["state"] == "sending" else "failed"
    yield run("end_delivery", id=delivery["id"], state=state, last_error=error, now=held.at)
    yield from next_delivery(held, delivery["lane"])


def _put(held: Held, parcel: Parcel, *, seq: int, repeat: int) -> Steps[None]:
    lane = f"{held.id}|{parcel.to.channel}|{parcel.to.address}"
    yield run(
        "put_delivery",
        id=held.ids.new("d"),
        conversation_id=held.id,
        lane=lane,
        channel=parcel.to.channel,
        address=parcel.to.address,
        seq=seq,
        repeat=repeat,
        kind=parcel.kind,
        about=parcel.about,
        body=pack(parcel.text),
        safety=held.terms.safety_of(parcel.to.channel),
        expires_at=held.at + held.terms.delivery_age_ms,
        now=held.at,
    )
    yield from next_delivery(held, lane)


def _obstacle(delivery: Row, token: str, at: int) -> Steps[tuple[str, str] | None]:
    """Say why a delivery must not be sent now, and the state that it ends in."""
    is_out = delivery["state"] == "sending"
    if is_out and delivery["safety"] == Safety.ONCE and delivery["send_token"] != token:
        return "unknown", CUT_OFF
    given_up = "unknown" if is_out else "failed"
    if delivery["about"] is not None and delivery["send_token"] != token:
        approval = yield from only("approval_by_id", id=delivery["about"])
        if approval["state"] != "pending":
            return given_up, NOT_NEEDED
    if delivery["expires_at"] <= at:
        return given_up, TOO_OLD
    return None


def _end(held: Held, job: Job, delivery: Row, state: str, why: str) -> Steps[None]:
    yield run("end_delivery", id=delivery["id"], state=state, last_error=why, now=held.at)
    is_first_doubt = state == "unknown" and delivery["repeat"] == 0 and delivery["kind"] != DeliveryKind.NOTICE
    is_repeated = is_first_doubt and delivery["expires_at"] > held.at and why != NOT_NEEDED
    if state == "sent" or is_repeated or why == NOT_NEEDED:
        yield from acknowledge(job)
    else:
        yield run("bury_job", id=job.id, last_error=why)
    if is_repeated:
        yield from repeat_delivery(held, {**delivery, "state": state})
    yield from next_delivery(held, delivery["lane"])
