"""The loop of all three consumers: claim, handle, commit what the handler returned."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from structlog.typing import FilteringBoundLogger

from ias.aio import finish
from ias.domain.jobs import (
    Dead,
    Delivered,
    Job,
    LlmStep,
    Outcome,
    Queue,
    Retry,
    RunEnded,
    Sent,
    Settled,
    TurnOver,
    TurnReason,
)
from ias.errors import StateError
from ias.job_queue import Signal, back_off
from ias.store.base import Store, Terms, Transaction
from ias.store.transactions.deliveries import finish_delivery
from ias.store.transactions.queue import Idle, bury, claim, hand_back, retry_job
from ias.store.transactions.runs import finish_run
from ias.store.transactions.turns import close_turn, finish_llm_step

IDLE_POLL = 15.0  # seconds between looks at an empty queue that nobody announced: a safety net only
TROUBLE_PAUSE = 1.0  # seconds before the store is tried again after it failed


class Handler(Protocol):
    """What a queue does with a job. It returns, it does not enqueue."""

    async def handle(self, job: Job) -> Outcome:
        """Work on a claimed job and say what is to be stored."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerConfig:
    """How a consumer works: `concurrency` jobs at once; `worker` names this process in leases."""

    queue: Queue
    concurrency: int
    worker: str
    terms: Terms
    new_token: Callable[[], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Crashed:
    """A handler or a transaction raised: what it had done before is found by the next claim, as after a crash."""

    error: str


class Consumer:
    """Takes jobs of one queue while it is let, each in a task of one TaskGroup.

    Life cycle: `run` claims until `stop` is set, then waits for what is in flight; cancelling it gives the leases of
    unfinished jobs back without counting the attempt.
    """

    def __init__(self, store: Store, handler: Handler, config: ConsumerConfig, error_log: FilteringBoundLogger) -> None:
        self._store = store
        self._handler = handler
        self._config = config
        self._log = error_log
        self.signal = Signal()
        self._slots = asyncio.Semaphore(config.concurrency)
        self._in_flight: dict[Job, asyncio.Task[None]] = {}
        self._interrupted: set[Job] = set()

    def new_token(self) -> str:
        """Draw the proof of a lease."""
        return self._config.new_token()

    def interrupt(self, owner_id: str) -> None:
        """Stop working for a turn or run that was stopped meanwhile; its rows are settled already."""
        for job, task in self._in_flight.items():
            if job.owner_id == owner_id:
                self._interrupted.add(job)
                task.cancel()

    async def run(self, stop: asyncio.Event) -> None:
        """Take jobs until `stop` is set, then finish those in flight."""
        async with asyncio.TaskGroup() as group:
            while not stop.is_set():
                await self._slots.acquire()
                job = None if stop.is_set() else await self._claim()
                if job is None:
                    self._slots.release()
                    continue
                task = group.create_task(self.work(job))
                self._in_flight[job] = task
                task.add_done_callback(lambda _, job=job: self._done(job))

    def _done(self, job: Job) -> None:
        del self._in_flight[job]
        self._interrupted.discard(job)
        self._slots.release()

    async def _claim(self) -> Job | None:
        """Claim a job, or wait until there may be one and give None."""
        seen = self.signal.count
        config = self._config
        claiming = claim(config.queue, config.worker, self.new_token(), config.terms.lease_ms)
        try:
            found = await self._store.run(claiming)
            if not isinstance(found, Idle):
                return found
            wait = min(IDLE_POLL, found.due_ms / 1000)
        except StateError as error:
            self._log.error("claim_failed", tag="store", queue=config.queue, text=str(error))
            wait = TROUBLE_PAUSE
        except asyncio.CancelledError:
            await finish(self._undo(claiming))
            raise
        await self.signal.wait_beyond(seen, seconds=wait)
        return None

    async def _undo(self, claiming: Transaction[Job | Idle]) -> None:
        """Give back what a claim took whose answer nobody waits for any more; run again, it says what that was."""
        with suppress(StateError):
            found = await self._store.run(claiming)
            if not isinstance(found, Idle):
                await self._give_back(found)

    async def work(self, job: Job) -> None:
        """Work on a claimed job and commit its outcome; a cancelled one goes back with its attempt not counted."""
        try:
            outcome = await self._outcome(job)
            await self._commit(job, outcome)
        except asyncio.CancelledError:
            if job not in self._interrupted:
                await finish(self._give_back(job))
            raise

    async def _outcome(self, job: Job) -> Outcome | Crashed:
        if job.attempts > job.max_attempts:
            return Dead(reason=TurnReason.DEAD, error=f"given up after {job.max_attempts} attempts")
        try:
            return await self._handler.handle(job)
        except Exception as error:  # noqa: BLE001 - a bug in one job must not end the queue
            self._log.exception("handler_failed", tag=f"{job.queue}-handler", job=job.id, text=repr(error))
            return Crashed(error=f"{type(error).__name__}: {error}")

    async def _commit(self, job: Job, outcome: Outcome | Crashed) -> None:
        try:
            await self._store_outcome(job, outcome)
        except Exception as error:  # noqa: BLE001 - an outcome that cannot be stored must not end the queue
            self._log.exception("outcome_refused", tag="store", job=job.id, text=repr(error))
            await self._store_outcome(job, Crashed(error=f"{type(error).__name__}: {error}"))

    async def _store_outcome(self, job: Job, outcome: Outcome | Crashed) -> None:
        transaction = self._transaction(job, outcome)
        while transaction is not None:
            try:
                await self._store.run(transaction)
            except StateError as error:
                self._log.error("commit_failed", tag="store", job=job.id, text=str(error))
                await asyncio.sleep(TROUBLE_PAUSE)
            else:
                return

    def _transaction(self, job: Job, outcome: Outcome | Crashed) -> Transaction[object] | None:
        terms = self._config.terms
        match outcome:
            case LlmStep():
                return finish_llm_step(terms, job, outcome)
            case TurnOver():
                return close_turn(terms, job, outcome)
            case RunEnded():
                return finish_run(terms, job, outcome.result)
            case Delivered():
                return finish_delivery(terms, job, outcome)
            case Retry():
                return self._retry(job, outcome)
            case Dead():
                return bury(terms, job, outcome)
            case Crashed():
                return self._again(job, back_off(job.attempts), outcome.error)
            case Settled():
                return None

    def _retry(self, job: Job, outcome: Retry) -> Transaction[object]:
        if job.queue is not Queue.SEND:
            return self._again(job, outcome.delay, outcome.error)
        is_last = job.attempts >= job.max_attempts
        told = Delivered(outcome=Sent.REJECTED, error=outcome.error) if is_last else outcome
        return finish_delivery(self._config.terms, job, told)

    def _again(self, job: Job, delay: float, error: str) -> Transaction[object]:
        if job.attempts >= job.max_attempts:
            return bury(self._config.terms, job, Dead(reason=TurnReason.DEAD, error=error))
        return retry_job(job, int(delay * 1000), error)

    async def _give_back(self, job: Job) -> None:
        try:
            await self._store.run(hand_back(job))
        except StateError as error:
            self._log.error("hand_back_failed", tag="store", job=job.id, text=str(error))
