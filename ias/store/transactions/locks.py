"""What every transaction begins with: the conversation's lock, the time, the job that must still be ours."""

from dataclasses import dataclass

from ias.domain.jobs import Job, Queue
from ias.store.base import Ids, Row, Steps, Terms, first, only, run, wake


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What a transaction has once it holds the lock: ids to give, the terms, the locked conversation, the time (ms)."""

    ids: Ids
    terms: Terms
    conversation: Row
    at: int

    @property
    def id(self) -> str:
        """Give the conversation's id."""
        return self.conversation["id"]


def hold(ids: Ids, terms: Terms, conversation_id: str) -> Steps[Held]:
    """Take the one lock, the conversation's row, then read the clock; whatever is decided on is read after it."""
    conversation = yield from only("lock_conversation", id=conversation_id)
    return Held(ids=ids, terms=terms, conversation=conversation, at=(yield from now()))


def now() -> Steps[int]:
    """Read the clock: epoch milliseconds. Once a transaction, after the lock."""
    return (yield from only("now"))["now"]


def own(held: Held, job: Job) -> Steps[Row | None]:
    """Renew the lease of a job if its token is still ours; None means that the job is lost."""
    until = held.at + held.terms.lease_ms
    return (yield from first("own_job", id=job.id, token=job.lease_token, lease_until=until))


def acknowledge(job: Job) -> Steps[Row | None]:
    """Delete a job whose work is done, if its token is still ours."""
    return (yield from first("ack_job", id=job.id, token=job.lease_token))


def put_job(held: Held, queue: Queue, lane: str, owner_id: str) -> Steps[None]:
    """Give an owner its job, ready at once."""
    yield run(
        "put_job",
        id=held.ids.new("j"),
        queue=queue,
        lane=lane,
        conversation_id=held.id,
        owner_id=owner_id,
        max_attempts=held.terms.max_attempts,
        now=held.at,
    )
    yield wake(queue)


def put_llm_job(held: Held, turn_id: str) -> Steps[None]:
    """Let the model be called for a turn; the lane is the conversation, so there is one such job at most."""
    yield from put_job(held, Queue.LLM, held.id, turn_id)


def put_tool_job(held: Held, run_id: str) -> Steps[None]:
    """Let a run be advanced; each run is its own lane, siblings run side by side."""
    yield from put_job(held, Queue.TOOL, run_id, run_id)


def next_number(key: str) -> Steps[int]:
    """Take the next short number (`approval_no`, `rule_no`); the last lock that a transaction takes."""
    return (yield from only("next_number", key=key))["num"]
