"""The queues: claims, leases, retries, dead letters, recovery; and the cursors of channels."""

from dataclasses import dataclass
from typing import Literal

from ias.domain.events import Error
from ias.domain.jobs import Dead, Job, Queue
from ias.errors import Code, NotFoundError
from ias.store import words
from ias.store.base import LOST, MAX_DELAY_MS, Ids, Lost, Row, Steps, Terms, first, only, run, transaction, wake
from ias.store.text import clean
from ias.store.transactions.deliveries import bury_delivery, repeat_delivery
from ias.store.transactions.endings import asked_text, end_turn, settle_run
from ias.store.transactions.journal import record
from ias.store.transactions.locks import hold, now, own
from ias.store.transactions.turns import requeue_turn

NEVER_MS = 86_400_000  # what an empty queue answers: longer than anybody waits


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Idle:
    """No job is due; the next one is in `due_ms` milliseconds, a day at most."""

    due_ms: int


@transaction
def claim(ids: Ids, queue: Queue, worker: str, token: str, lease_ms: int) -> Steps[Job | Idle]:
    """Take the first job of a queue that is due, and count the attempt; where there is none, say when to look again.

    `token` must be new for each claim and not be guessed: it is the proof of the lease.
    """
    at = yield from now()
    row = yield from first("claimed_job", token=token)
    if row is None:
        row = yield from first("claim", queue=queue, token=token, worker=worker, lease_until=at + lease_ms, now=at)
    if row is not None:
        return _job(row)
    run_at = (yield from only("next_run_at", queue=queue))["run_at"]
    return Idle(due_ms=NEVER_MS if run_at is None else max(0, run_at - at))


@transaction
def claim_owned(ids: Ids, owner_id: str, worker: str, token: str, lease_ms: int) -> Steps[Job | None]:
    """Take the ready job of one owner, for a process that works on nothing else; None if it has none now."""
    at = yield from now()
    rows = yield run("claim_owned", owner_id=owner_id, worker=worker, token=token, lease_until=at + lease_ms)
    return _job(rows[0]) if rows else None


@transaction
def retry_job(ids: Ids, job: Job, delay_ms: int, error: str) -> Steps[Literal["ready"] | Lost]:
    """Put a claimed job back, due after `delay_ms` (at most 10 minutes); the attempt stays counted."""
    held = yield from hold(ids, Terms(), job.conversation_id)
    if (yield from own(held, job)) is None:
        return LOST
    run_at = held.at + min(max(delay_ms, 0), MAX_DELAY_MS)
    yield run("put_job_back", id=job.id, run_at=run_at, last_error=clean(error))
    yield wake(job.queue)
    return "ready"


@transaction
def bury(ids: Ids, terms: Terms, job: Job, dead: Dead) -> Steps[Literal["dead"] | Lost]:
    """Make a claimed job a dead letter; what waited for its owner goes on with an error."""
    held = yield from hold(ids, terms, job.conversation_id)
    owned = yield from own(held, job)
    if owned is None:
        return LOST
    error = clean(dead.error)
    yield run("bury_job", id=job.id, last_error=error)
    turn_id = yield from _turn_of(owned)
    yield from record(held, Error(turn_id=turn_id or "", text=error))
    match owned["queue"]:
        case Queue.LLM:
            turn = yield from only("turn", id=owned["owner_id"])
            usual = words.closing(dead.reason, (yield from asked_text(turn["id"])), turn["llm_steps"])
            yield from end_turn(held, turn, dead.reason, dead.closing or usual)
        case Queue.TOOL:
            row = yield from only("run", id=owned["owner_id"])
            yield from settle_run(held, row, words.known_result(Code.KILLED, f"{words.KILLED}: {error}"))
        case _:
            delivery = yield from only("delivery_by_id", id=owned["owner_id"])
            yield from bury_delivery(held, delivery, error)
    return "dead"


@transaction
def hand_back(ids: Ids, job: Job) -> Steps[bool]:
    """Give a claimed job back without counting the attempt: at drain, between steps."""
    rows = yield run("hand_back_job", id=job.id, token=job.lease_token)
    if rows:
        yield wake(job.queue)
    return bool(rows)


@transaction
def heartbeat(ids: Ids, worker: str, lease_ms: int) -> Steps[int]:
    """Renew all leases of a process; gives how many."""
    at = yield from now()
    return len((yield run("renew_leases", worker=worker, lease_until=at + lease_ms)))


@transaction
def sweep(ids: Ids) -> Steps[int]:
    """Free the jobs whose lease ended: for stores that several daemons share; gives how many."""
    at = yield from now()
    rows = yield run("sweep_leases", now=at)
    if rows:
        yield from _wake_all()
    return len(rows)


@transaction
def clamp(ids: Ids, terms: Terms) -> Steps[int]:
    """Bring instants back that are further away than their longest span: the clock went back; gives how many."""
    at = yield from now()
    spans = {
        "clamp_run_at": MAX_DELAY_MS,
        "clamp_leases": terms.lease_ms,
        "clamp_approvals": terms.approval_timeout_ms,
        "clamp_deliveries": terms.delivery_age_ms,
    }
    count = 0
    for name, span in spans.items():
        count += len((yield run(name, far=at + span)))
    return count


@transaction
def recover_at_start(ids: Ids) -> Steps[Recovered]:
    """Void all leases: for the process that just took the folder's lock, nobody else can be at work.

    What was cut off is settled later by `resume_run` and `start_delivery`, as after any lost lease.
    """
    at = yield from now()
    epoch = yield from only("next_number", key="epoch")
    leases = yield run("void_leases")
    found = yield from only("found_at_start", now=at)
    yield from _wake_all()
    return Recovered(epoch=epoch["num"], leases=len(leases), **found)


@transaction
def queue_retry(ids: Ids, terms: Terms, job_id: str) -> Steps[Literal["again", "closed", "refused"]]:
    """Try a dead letter again: its message as a new turn at the end, its delivery as a repeat at its old place.

    Returns:
        `again`; `closed` where the conversation is over, `refused` for a tool's job (its call was answered).

    Raises:
        NotFoundError: There is no such dead letter.
    """
    known = yield from first("job_by_id", id=job_id)
    if known is None or known["state"] != "dead":
        raise NotFoundError(f"there is no dead letter {job_id!r}; `ias queue dead` lists them")
    held = yield from hold(ids, terms, known["conversation_id"])
    if known["queue"] == Queue.TOOL:
        return "refused"
    if known["queue"] == Queue.LLM and held.conversation["closed_at"] is not None:
        return "closed"
    job = yield from first("drop_dead_job", id=job_id)
    if job is None:
        raise NotFoundError(f"the dead letter {job_id!r} was dealt with meanwhile")
    if job["queue"] == Queue.SEND:
        yield from repeat_delivery(held, (yield from only("delivery_by_id", id=job["owner_id"])))
    else:
        yield from requeue_turn(held, job["owner_id"])
    return "again"


@transaction
def queue_drop(ids: Ids, job_id: str) -> Steps[None]:
    """Forget a dead letter.

    Raises:
        NotFoundError: There is no such dead letter.
    """
    known = yield from first("job_by_id", id=job_id)
    if known is None or known["state"] != "dead":
        raise NotFoundError(f"there is no dead letter {job_id!r}; `ias queue dead` lists them")
    yield from hold(ids, Terms(), known["conversation_id"])
    job = yield from first("drop_dead_job", id=job_id)
    if job is not None and job["queue"] == Queue.SEND:
        yield run("drop_delivery", id=job["owner_id"])


@transaction
def set_cursor(ids: Ids, channel: str, value: str) -> Steps[None]:
    """Remember how far a channel was read; after its messages were stored, never before."""
    yield run("put_meta", key=f"cursor:{channel}", value=clean(value))


def _job(row: Row) -> Job:
    return Job(
        id=row["id"],
        queue=Queue(row["queue"]),
        lane=row["lane"],
        conversation_id=row["conversation_id"],
        owner_id=row["owner_id"],
        attempts=row["attempts"],
        max_attempts=row["max_attempts"],
        lease_token=row["lease_token"],
    )


def _turn_of(job: Row) -> Steps[str | None]:
    if job["queue"] == Queue.LLM:
        return job["owner_id"]
    if job["queue"] == Queue.TOOL:
        return (yield from only("run", id=job["owner_id"]))["turn_id"]
    return None


def _wake_all() -> Steps[None]:
    for queue in Queue:
        yield wake(queue)
