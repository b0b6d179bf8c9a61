"""A store whose invariants are looked at after every transaction, and short ways to bring it into a state."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from ias.domain.approvals import CanonicalRequest, Judgement, Safety, StepKind, Verdict, canonical, digest_of
from ias.domain.jobs import Job, LlmStep, PlannedCall, Queue
from ias.domain.messages import AssistantMessage, ToolCall, Usage
from ias.domain.tools import Result
from ias.store.base import Row, Store, Terms, Transaction
from ias.store.progress import Next, Parked, Send
from ias.store.results import Command, Submitted
from ias.store.transactions.queue import Idle, claim
from ias.store.transactions.runs import finish_effect, resume_run, start_step
from ias.store.transactions.turns import finish_llm_step, submit_message
from tests.store.invariants import INVARIANTS, JOURNAL

T = TypeVar("T")
START = 1_700_000_000_000  # epoch ms at which a test's clock stands first


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.at = START

    def __call__(self) -> int:
        return self.at

    def move(self, milliseconds: int) -> None:
        self.at += milliseconds


class Inspector(Protocol):
    """Looks into a backend's tables beside the store."""

    def __call__(self, sql: str, params: Mapping[str, Any] | None = None) -> list[Row]: ...


@dataclass(slots=True, kw_only=True)
class World:
    """A store under test: `look` reads its tables, `topics` are what it woke."""

    store: Store
    clock: Clock
    look: Inspector
    terms: Terms = field(default_factory=lambda: Terms(channel_safety={"web": Safety.REPEAT}))
    topics: set[str] = field(default_factory=set[str])
    tokens: int = 0

    async def run(self, transaction: Transaction[T]) -> T:
        """Run a transaction, then look whether all invariants hold."""
        value = await self.store.run(transaction)
        self.check()
        return value

    def check(self) -> None:
        """Assert every invariant."""
        broken = {name: rows for name, sql in (INVARIANTS | JOURNAL).items() if (rows := self.look(sql))}
        assert broken == {}

    def one(self, sql: str, **params: Any) -> Row:
        """Give the only row of a query."""
        rows = self.look(sql, params)
        assert len(rows) == 1, rows
        return rows[0]

    async def submit(
        self, text: str = "hi", *, channel: str = "chat", source_id: str | None = None, command: Command | None = None
    ) -> Submitted:
        """Let a user of that channel say something."""
        return await self.run(
            submit_message(
                self.terms,
                channel=channel,
                address="ann",
                user_id="ann",
                text=text,
                source_id=source_id,
                command=command,
            )
        )

    async def claim(self, queue: Queue) -> Job:
        """Claim a job that must be there."""
        job = await self.try_claim(queue)
        assert job is not None, f"no {queue} job is due"
        return job

    async def try_claim(self, queue: Queue) -> Job | None:
        self.tokens += 1
        found = await self.run(claim(queue, "worker", f"token-{self.tokens}", self.terms.lease_ms))
        return None if isinstance(found, Idle) else found

    async def idle(self, queue: Queue) -> int:
        """Give the milliseconds until a job of a queue is due; none is now."""
        found = await self.run(claim(queue, "worker", "idle", self.terms.lease_ms))
        assert isinstance(found, Idle)
        return found.due_ms

    async def answer(self, job: Job, text: str = "ok", *, calls: int = 0, known: Result | None = None) -> Any:
        """Let the model answer with a text and so many calls."""
        return await self.run(finish_llm_step(self.terms, job, llm_step(text, calls=calls, known=known)))

    async def begin_run(self) -> tuple[Job, Next]:
        """Let a message become a turn with one call, and claim that call."""
        await self.submit()
        await self.answer(await self.claim(Queue.LLM), calls=1)
        return await self.resume()

    async def resume(self) -> tuple[Job, Next]:
        """Claim the next tool job and ask how its run goes on."""
        job = await self.claim(Queue.TOOL)
        return job, await self.run(resume_run(self.terms, job))

    async def ask(self, job: Job, *requests: CanonicalRequest, verdict: Verdict = Verdict.ALLOW, **more: Any) -> Next:
        """Let the claimed run want something that the gate judged so."""
        return await self.run(self.asking(job, *requests, verdict=verdict, **more))

    def asking(
        self,
        job: Job,
        *requests: CanonicalRequest,
        verdict: Verdict = Verdict.ALLOW,
        no: int = 1,
        rule_id: str | None = None,
        is_attended: bool = True,
    ) -> Transaction[Next]:
        judgement = Judgement(
            verdict=verdict,
            requests=requests,
            digest=digest_of(tuple(request.text for request in requests)),
            rule="low: writes",
            rule_id=rule_id,
        )
        return start_step(
            self.terms,
            job,
            run_id=job.owner_id,
            no=no,
            judgement=judgement,
            tool_state='{"state":"é"}',
            is_attended=is_attended,
            used_ms=7,
        )

    async def finish_all(self, job: Job, send: Next, response: str = '{"status":200}') -> Next:
        """Carry out what `Send` says, item by item; gives what comes next."""
        assert isinstance(send, Send)
        after: Next = send
        for step in send.steps:
            after = await self.run(
                finish_effect(
                    self.terms,
                    job,
                    run_id=step.run_id,
                    no=step.no,
                    item=step.item,
                    outcome="done",
                    response=response,
                )
            )
        return after

    async def park(self, *requests: CanonicalRequest) -> tuple[Job, str]:
        """Bring a run to where it waits for a person; gives its job and the approval's short name."""
        job, _ = await self.begin_run()
        parked = await self.ask(job, *(requests or (post(),)), verdict=Verdict.ASK)
        assert isinstance(parked, Parked)
        return job, f"A{parked.num}"

    def events(self, conversation_id: str) -> list[str]:
        """Give the names of a conversation's events in order."""
        rows = self.look("SELECT name FROM event WHERE conversation_id = :c ORDER BY seq", {"c": conversation_id})
        return [row["name"] for row in rows]

    def state(self, table: str) -> list[Any]:
        """Give the states of a table's rows, the oldest first."""
        return [row["state"] for row in self.look(f"SELECT state FROM {table} ORDER BY rowid")]  # noqa: S608 - a table's name, from the tests


def llm_step(text: str = "ok", *, calls: int = 0, known: Result | None = None, **more: Any) -> LlmStep:
    """Make a model answer with so many calls."""
    planned = tuple(
        PlannedCall(
            call=ToolCall(id=f"call_{item}", name="call_capability", arguments="{}"),
            tool="weather_now",
            tool_hash="hash",
            args='{"location":"北京"}',
            digest="args-digest",
            known=known,
        )
        for item in range(calls)
    )
    message = AssistantMessage(text=text, reasoning="why", calls=tuple(call.call for call in planned))
    usage = Usage(input=10, output=5, cached=4, reasoning=3)
    return LlmStep(message=message, calls=planned, usage=usage, model="m", **more)


def http(method: str, *, safety: Safety, path: str = "/v1/orders") -> CanonicalRequest:
    """Make an http request as the gate writes it."""
    text = canonical({"v": 1, "kind": "http", "method": method, "host": "api.example.com", "path": path})
    return CanonicalRequest(
        kind=StepKind.HTTP,
        text=text,
        digest=digest_of((text,)),
        safety=safety,
        method=method,
        host="api.example.com",
        path=path,
    )


def post(path: str = "/v1/orders") -> CanonicalRequest:
    """Make a request that must not be repeated."""
    return http("POST", safety=Safety.ONCE, path=path)


def get(path: str = "/v1/orders") -> CanonicalRequest:
    """Make a request that may be repeated."""
    return http("GET", safety=Safety.REPEAT, path=path)


def db(operation: str, **params: Any) -> CanonicalRequest:
    """Make a database request."""
    text = canonical({"v": 1, "kind": "db", "operation": operation, "params": json.dumps(params)})
    return CanonicalRequest(
        kind=StepKind.DB, text=text, digest=digest_of((text,)), safety=Safety.ONCE, method=operation
    )


def start() -> CanonicalRequest:
    """Make the request to start a program at all."""
    text = canonical({"v": 1, "kind": "start", "args": "{}"})
    return CanonicalRequest(kind=StepKind.START, text=text, digest=digest_of((text,)), safety=Safety.ONCE)
