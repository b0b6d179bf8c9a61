"""Random schedules over the transactions, with everything that can go wrong between them.

The daemon dies between any two statements, around COMMIT and around effects; answers to COMMIT are lost; people answer
twice, late or not at all; the clock jumps. The world outside keeps a ledger.
"""

import random
import sqlite3
from collections import Counter
from collections.abc import Callable, Generator
from typing import Any, TypeAlias, TypeVar

from ias.domain.approvals import CanonicalRequest, Judgement, Safety, Scope, Verdict, digest_of
from ias.domain.jobs import Dead, Delivered, Job, Queue, Retry, Sent, TurnOver, TurnReason
from ias.domain.tools import Result
from ias.errors import IasError
from ias.store.base import Lost, Row, Terms, Transaction, Wake
from ias.store.connection import BACKEND, row_of
from ias.store.migrate import migrate
from ias.store.progress import Consume, GateCall, Next, Send, Spawn
from ias.store.results import Command, CommandKind, Decision
from ias.store.statements import load_statements
from ias.store.transactions.approvals import decide_approval, due_approvals, expire_approval, revoke_rule
from ias.store.transactions.calls import cancel_run, submit_call
from ias.store.transactions.deliveries import SendNow, finish_delivery, start_delivery
from ias.store.transactions.queue import (
    Idle,
    bury,
    claim,
    clamp,
    hand_back,
    queue_drop,
    queue_retry,
    recover_at_start,
    retry_job,
)
from ias.store.transactions.runs import consume_approval, finish_effect, finish_run, resume_run, start_step
from ias.store.transactions.turns import cancel_turn, close_turn, finish_llm_step, submit_message
from tests.store.invariants import INVARIANTS, triggers
from tests.store.outside import Outside
from tests.store.world import START, db, get, llm_step, post

T = TypeVar("T")
Deed: TypeAlias = Callable[[], Any]
Work: TypeAlias = Generator[Transaction[Any] | Deed | None, Any, None]

TERMS = Terms(max_attempts=4, conversation_depth=4, channel_safety={"web": Safety.REPEAT})
DEAD = Dead(reason=TurnReason.DEAD, error="given up", closing="given up")
OVER = TurnOver(reason=TurnReason.BUDGET, closing="no more today")
JUMPS = (TERMS.approval_timeout_ms // 2, TERMS.approval_timeout_ms + 1, -600_000)
BROKEN = " UNION ALL ".join(
    f"SELECT '{name.replace(chr(39), chr(39) * 2)}' AS name WHERE EXISTS ({sql})" for name, sql in INVARIANTS.items()
)


class CrashError(Exception):
    """The process died."""


def template() -> sqlite3.Connection:
    """Make an empty database with triggers."""
    database = sqlite3.connect(":memory:", isolation_level=None)
    database.row_factory = row_of
    migrate(database)
    database.executescript(triggers())
    return database


class Schedule:
    """One random history; `run` plays it to its end and asserts what must hold."""

    def __init__(self, seed: int, empty: sqlite3.Connection) -> None:
        self.random = random.Random(seed)  # noqa: S311 - a schedule that can be played again
        self.database = sqlite3.connect(":memory:", isolation_level=None, cached_statements=512)
        empty.backup(self.database)
        self.database.row_factory = row_of
        self.now, self.tokens, self.has_faults = START, 0, True
        self.crash_rate = self.random.choice([0.0, 0.02, 0.06])
        self.lost_rate = self.random.choice([0.0, 0.05, 0.2])
        self.outside = Outside(self.database, self.random)
        self.seen: Counter[str] = Counter()
        self.workers: list[tuple[Work, list[Any]]] = []

    # ------------------------------------------------------------------------------------------------- store
    def rows(self, sql: str, *params: Any) -> list[Row]:
        return self.database.execute(sql, params).fetchall()

    def commit(self, transaction: Transaction[T], *, may_crash: bool = True) -> T:
        """Run a transaction; the process may die before any statement of it or right after its COMMIT."""
        dies = may_crash and self.has_faults and self.random.random() < self.crash_rate
        statements_left = self.random.randint(0, 30) if dies else -1
        before = self.database.total_changes
        self.database.execute("BEGIN")
        try:
            value = self._drive(transaction, statements_left)
        except BaseException:
            self.database.execute("ROLLBACK")
            raise
        self.database.execute("COMMIT")
        self.seen[f"{transaction.name} {type(value).__name__}"] += 1
        if self.database.total_changes != before:
            broken = self.rows(BROKEN)
            assert broken == [], f"after {transaction.name}: {broken}"
        if dies:
            raise CrashError
        return value

    def _drive(self, transaction: Transaction[T], statements_left: int) -> T:
        statements, steps = load_statements(BACKEND), transaction.steps()
        try:
            asked = next(steps)
            while True:
                if statements_left == 0:
                    raise CrashError
                statements_left -= 1
                rows: list[Row] = [{"now": self.now}]
                if isinstance(asked, Wake):
                    rows = []
                elif asked.name != "now":
                    rows = self.database.execute(statements[asked.name], asked.params).fetchall()
                asked = steps.send(rows)
        except StopIteration as end:
            return end.value

    def twice(self, transaction: Transaction[T]) -> T:
        """Run a transaction, and again where the answer to its COMMIT was lost: it must say the same."""
        first = self.commit(transaction)
        if self.has_faults and self.random.random() < self.lost_rate:
            self.seen["answer lost"] += 1
            again = self.commit(transaction)
            assert isinstance(again, Lost) or type(again) is type(first), (transaction.name, first, again)
            return again
        return first

    # ----------------------------------------------------------------------------------------------- workers
    def token(self) -> str:
        self.tokens += 1
        return f"token-{self.tokens}"

    def claimed(self, queue: Queue) -> Generator[Any, Any, Job]:
        while True:
            job = yield claim(queue, "daemon", self.token(), TERMS.lease_ms)
            if isinstance(job, Idle):
                yield None
            elif job.attempts > job.max_attempts:
                yield bury(TERMS, job, DEAD)
            else:
                return job

    def model(self) -> Work:
        while True:
            job = yield from self.claimed(Queue.LLM)
            yield lambda job=job: self.outside.check_history(job)
            luck = self.random.random() if self.has_faults else 1.0
            if luck < 0.06:
                yield retry_job(job, self.random.choice([1_000, 30_000]), "429")
            elif luck < 0.09:
                yield bury(TERMS, job, DEAD)
            elif luck < 0.12:
                yield close_turn(TERMS, job, OVER)
            else:
                calls = self.random.choice([0, 0, 1, 1, 2, 3])
                known = Result(content="refused") if self.random.random() < 0.1 else None
                stop = TurnReason.LOOP if calls and self.random.random() < 0.1 else None
                yield finish_llm_step(TERMS, job, llm_step("text", calls=calls, known=known, stop=stop))

    def tool(self) -> Work:
        while True:
            job = yield from self.claimed(Queue.TOOL)
            after: Next = yield resume_run(TERMS, job)
            while isinstance(after, GateCall | Spawn | Consume | Send):
                if self.has_faults and self.random.random() < 0.02:
                    yield hand_back(job)
                    break
                if isinstance(after, Consume):
                    after = yield consume_approval(TERMS, job, run_id=job.owner_id, no=after.run.no)
                elif isinstance(after, Send):
                    after = yield from self.send(job, after)
                elif after.run.no >= 3 or self.random.random() < 0.4:
                    yield finish_run(TERMS, job, Result(content="done"))
                    break
                else:
                    after = yield self.wish(job, after.run.no + 1)

    def send(self, job: Job, send: Send) -> Generator[Any, Any, Next]:
        after: Next = send
        for step in send.steps:
            fate = yield lambda step=step: self.outside.act(step)
            is_doubtful = fate == "cut" and step.safety is Safety.ONCE
            after = yield finish_effect(
                TERMS,
                job,
                run_id=step.run_id,
                no=step.no,
                item=step.item,
                outcome="unknown" if is_doubtful else "done",
                response='{"error":{}}' if fate == "cut" else '{"status":200}',
            )
            if isinstance(after, Lost):
                break
        return after

    def wish(self, job: Job, no: int) -> Transaction[Next]:
        kinds = self.random.choices(["post", "get", "db"], k=self.random.choice([1, 1, 2]))
        path = f"/{self.token()}"
        made: dict[str, Callable[[], CanonicalRequest]] = {
            "post": lambda: post(path),
            "get": lambda: get(path),
            "db": lambda: db("save_memory", body=path),
        }
        requests = tuple(made[kind]() for kind in kinds)
        rule = self.random.choice([None, *self.rows("SELECT id FROM rule")])
        judgement = Judgement(
            verdict=self.random.choice([Verdict.ALLOW, Verdict.ALLOW, Verdict.ASK, Verdict.ASK, Verdict.FORBID]),
            requests=requests,
            digest=digest_of(tuple(request.text for request in requests)),
            rule="policy",
            rule_id=None if rule is None else rule["id"],
        )
        attended = self.random.random() < 0.95
        return start_step(
            TERMS,
            job,
            run_id=job.owner_id,
            no=no,
            judgement=judgement,
            tool_state="null",
            is_attended=attended,
            used_ms=1,
        )

    def sender(self) -> Work:
        while True:
            job = yield from self.claimed(Queue.SEND)
            begun = yield start_delivery(TERMS, job)
            if not isinstance(begun, SendNow):
                continue
            fate = yield lambda begun=begun: self.outside.deliver(begun.delivery)
            if fate == "cut" and begun.delivery["safety"] == Safety.REPEAT:
                yield finish_delivery(TERMS, job, Retry(delay=2.0, error="timeout"))
            else:
                outcome = {"ok": Sent.SENT, "cut": Sent.UNKNOWN, "no": Sent.REJECTED}[fate]
                yield finish_delivery(TERMS, job, Delivered(outcome=outcome))

    def keeper(self) -> Work:
        while True:
            for row in (yield due_approvals()):
                yield expire_approval(TERMS, row["id"])
            yield clamp(TERMS)
            yield None

    def person(self) -> None:
        """Let somebody do something, from another process; that process may die too."""
        acts = [*[self.say] * 3, *[self.decide] * 4, self.cancel, self.call, self.operate]
        try:
            self.random.choice(acts)()
        except (CrashError, IasError) as error:
            self.seen[type(error).__name__] += 1

    def say(self) -> None:
        channel, source = self.random.choice(["chat", "web"]), self.random.choice([None, *"abcdefghijklmnop"])
        kind = self.random.choice([None] * 8 + list(CommandKind))
        command = None if kind is None else Command(kind=kind, answer=None if kind != "other" else "well")
        known = self.outside.sources.get((channel, source or ""))
        stored = self.twice(
            submit_message(
                TERMS,
                channel=channel,
                address="ann",
                user_id="ann",
                text="hi",
                source_id=source,
                command=command if known is None else None,
            )
        )
        assert known in (None, stored.turn_id)
        if source is not None:
            self.outside.sources[channel, source] = stored.turn_id
        self.outside.acknowledged[stored.turn_id] = channel

    def decide(self) -> None:
        found = self.rows("SELECT num FROM approval ORDER BY state = 'pending' DESC, num DESC LIMIT 3")
        if not found:
            return
        num, who, is_yes = self.random.choice(found)["num"], self.random.choice("pq"), self.random.random() < 0.7
        scope = self.random.choice(list(Scope))
        decision: Decision = self.twice(
            decide_approval(TERMS, ref=f"A{num}", approve=is_yes, by=who, via="cli", scope=scope)
        )
        if decision.won:
            assert self.outside.decisions.setdefault(num, (who, is_yes)) == (who, is_yes), "two answers won"

    def cancel(self) -> None:
        turns, runs = self.rows("SELECT id FROM turn"), self.rows("SELECT id FROM run")
        if runs and self.random.random() < 0.4:
            self.twice(cancel_run(TERMS, self.random.choice(runs[-4:])["id"]))
        elif turns:
            self.twice(cancel_turn(TERMS, self.random.choice(turns[-4:])["id"]))

    def call(self) -> None:
        self.twice(
            submit_call(
                TERMS,
                channel="mcp",
                address="m",
                user_id="m",
                tool="t",
                tool_hash="h",
                args="{}",
                digest="d",
                wire_id="w",
            )
        )

    def operate(self) -> None:
        dead, rules = self.rows("SELECT id FROM job WHERE state = 'dead'"), self.rows("SELECT num FROM rule")
        if dead:
            job_id = self.random.choice(dead)["id"]
            self.commit(queue_retry(TERMS, job_id) if self.random.random() < 0.7 else queue_drop(job_id))
        elif rules:
            self.commit(revoke_rule(f"R{self.random.choice(rules)['num']}", "op"))

    # ------------------------------------------------------------------------------------------------ course
    def start(self) -> None:
        """Start the daemon: it alone claims, so all leases are void."""
        self.commit(recover_at_start(), may_crash=False)
        makers = [self.model, self.model, self.tool, self.tool, self.tool, self.sender, self.sender, self.keeper]
        self.workers = [(make(), [None]) for make in makers]

    def advance(self) -> None:
        """Let one worker go one step; if the process dies in it, all of them are gone."""
        work, given = self.random.choice(self.workers)
        try:
            wish = work.send(given[0])
            given[0] = None
            if isinstance(wish, Transaction):
                given[0] = self.twice(wish)
            elif wish is not None:
                self.maybe_die()
                given[0] = wish()
                self.maybe_die()
        except CrashError:
            self.seen["process died"] += 1
            self.workers = []

    def maybe_die(self) -> None:
        if self.has_faults and self.random.random() < self.crash_rate:
            raise CrashError

    def run(self, ticks: int = 220) -> None:
        """Play the schedule, then let everything come to rest, then compare with the ledger."""
        for _ in range(ticks):
            self.now += self.random.choice([1, 100, 1_000])
            luck = self.random.random()
            if luck < 0.01:
                self.now += self.random.choice(
                    [TERMS.approval_timeout_ms // 2, TERMS.approval_timeout_ms + 1, -600_000]
                )
            if luck < 0.2:
                self.person()
            if not self.workers:
                self.start()
            self.advance()
        self.settle()
        self.outside.compare()
        self.database.close()

    def settle(self) -> None:
        self.has_faults = self.outside.has_faults = False
        for tick in range(30_000):
            if not self.workers:
                self.start()
            self.advance()
            self.now += 3_000
            if tick % 25 == 0 and self.is_at_rest():
                return
        left = self.rows("SELECT queue, state, attempts, owner_id FROM job")
        raise AssertionError(f"it does not come to rest: {left}")

    def is_at_rest(self) -> bool:
        live = """SELECT 1 AS x FROM job WHERE state <> 'dead' UNION ALL SELECT 1 FROM turn WHERE state <> 'ended'
            UNION ALL SELECT 1 FROM approval WHERE state IN ('pending', 'approved')"""
        return self.rows(live) == []
