"""Approvals: decided once, expired, and the standing rules that a yes may leave."""

import re
from typing import Literal

from ias.domain.approvals import Scope
from ias.errors import Code, NotFoundError
from ias.store import words
from ias.store.base import Ids, Row, Steps, Terms, first, only, run, transaction
from ias.store.results import Decision
from ias.store.text import clean
from ias.store.transactions.endings import settle_run
from ias.store.transactions.journal import record_resolved
from ias.store.transactions.locks import Held, hold, next_number, now, put_tool_job

SHORT = re.compile(r"[AaRr]?([0-9]{1,15})")
DIGEST_CHARS = 4  # shortest beginning of a digest that is taken for it
SAID_YES, SAID_NO = ("approved", "consumed"), ("denied",)


@transaction
def decide_approval(
    ids: Ids,
    terms: Terms,
    *,
    ref: str,
    approve: bool,
    by: str,
    via: str,
    scope: Scope = Scope.ONCE,
    reason: str | None = None,
    digest: str | None = None,
) -> Steps[Decision]:
    """Answer a question; the first answer wins, and a later one is told who won.

    A yes frees the run, with standing rules for its requests if the scope is wider than once; a no ends it. Neither
    needs a worker.

    Args:
        ids: Given by the decorator.
        terms: What the configuration says.
        ref: `A12`, `12` or the approval's id.
        approve: Yes or no.
        by: Who decides.
        via: Through what: `cli`, `api`, a channel.
        scope: How far a yes reaches.
        reason: Why, told to the model where it is a no.
        digest: What the person saw: the digest or at least its first 4 characters.

    Raises:
        NotFoundError: There is no such approval, or it has another digest.
    """
    known = yield from _approval(ref)
    if digest is not None and (len(digest) < DIGEST_CHARS or not known["digest"].startswith(digest)):
        raise NotFoundError(f"A{known['num']} is not about {digest!r}: look at what it asks for, then decide")
    held = yield from hold(ids, terms, known["conversation_id"])
    approval = yield from only("approval_by_id", id=known["id"])
    if approval["state"] == "pending" and approval["expires_at"] <= held.at:
        return _decision((yield from _expire(held, approval)), won=False)
    if approval["state"] != "pending":
        same = approval["state"] in (SAID_YES if approve else SAID_NO) and approval["decided_by"] == clean(by)
        return _decision(approval, won=same)
    row = yield from only("run", id=approval["run_id"])
    if row["turn_id"] is not None:
        yield run("set_lapsed", id=row["turn_id"], lapsed=0)
    said: Row = {
        "id": approval["id"],
        "decided_by": clean(by),
        "decided_via": clean(via),
        "reason": None if reason is None else clean(reason),
        "now": held.at,
    }
    if approve:
        return (yield from _approve(held, row, said, scope))
    denied = yield from only("deny", **said)
    yield from record_resolved(held, denied, row["turn_id"])
    yield from settle_run(held, row, words.known_result(Code.APPROVAL_DENIED, words.denied(reason)))
    return _decision(denied, won=True)


@transaction
def due_approvals(ids: Ids) -> Steps[list[Row]]:
    """Give pending approvals whose time is over (`id`), the oldest first, at most 100."""
    at = yield from now()
    return (yield run("due_approvals", now=at))


@transaction
def expire_approval(ids: Ids, terms: Terms, approval_id: str) -> Steps[Literal["expired", "no"]]:
    """End a question that nobody answered in time; the run ends, and its turn asks no more until somebody answers."""
    known = yield from only("approval_by_id", id=approval_id)
    held = yield from hold(ids, terms, known["conversation_id"])
    approval = yield from only("approval_by_id", id=approval_id)
    if approval["state"] != "pending" or approval["expires_at"] > held.at:
        return "no"
    yield from _expire(held, approval)
    return "expired"


@transaction
def revoke_rule(ids: Ids, ref: str, by: str) -> Steps[Row]:
    """End a standing rule; what it allowed before stays done. Gives the rule's row.

    Raises:
        NotFoundError: There is no such rule.
    """
    match = SHORT.fullmatch(ref)
    known = yield from first("rule_by_id", id=ref) if match is None else first("rule_by_num", num=int(match[1]))
    if known is None or ref[:1] in "Aa":
        raise NotFoundError(f"there is no standing rule {ref!r}; `ias approvals grants` lists them")
    at = yield from now()
    revoked = yield from first("revoke_rule", id=known["id"], revoked_by=clean(by), now=at)
    return revoked or known


def _approval(ref: str) -> Steps[Row]:
    match = SHORT.fullmatch(ref)
    is_rule = ref[:1] in ("R", "r")
    row = yield from first("approval_by_id", id=ref) if match is None else first("approval_by_num", num=int(match[1]))
    if row is None or is_rule:
        raise NotFoundError(f"there is no approval {ref!r}; `ias approvals list` shows what waits")
    return row


def _approve(held: Held, row: Row, said: Row, scope: Scope) -> Steps[Decision]:
    until = held.at + held.terms.approval_timeout_ms
    approved = yield from only("approve", **said, scope=scope, expires_at=until)
    rules = () if scope is Scope.ONCE else (yield from _put_rules(held, row, approved, scope))
    yield run("unpark_run", id=row["id"])
    yield from put_tool_job(held, row["id"])
    yield from record_resolved(held, approved, row["turn_id"])
    return _decision(approved, won=True, rules=rules)


def _put_rules(held: Held, row: Row, approval: Row, scope: Scope) -> Steps[tuple[int, ...]]:
    """Make one standing rule for each different request of the step, exactly as wide as that request."""
    steps = yield run("steps_of_request", run_id=row["id"], no=approval["no"])
    wishes = {(step["method"], step["host"], step["path"] or _whole(step, row)): None for step in steps}
    numbers: list[int] = []
    for method, host, path in wishes:
        num = yield from next_number("rule_no")
        numbers.append(num)
        yield run(
            "put_rule",
            id=held.ids.new("u"),
            num=num,
            conversation_id=held.id if scope is Scope.CONVERSATION else None,
            user_id=held.conversation["user_id"],
            tool=row["tool"],
            tool_hash=row["tool_hash"],
            method=method,
            host=host,
            path=path,
            approval_id=approval["id"],
            created_by=approval["decided_by"],
            now=held.at,
        )
    return tuple(numbers)


def _whole(step: Row, row: Row) -> str:
    """Give what a rule on a whole call is about where the request names no path: the digest of its arguments."""
    return row["digest"] if step["kind"] in ("call", "start") else ""


def _expire(held: Held, approval: Row) -> Steps[Row]:
    lapsed = yield from only("lapse_approval", id=approval["id"], now=held.at)
    row = yield from only("run", id=approval["run_id"])
    if row["turn_id"] is not None:
        yield run("set_lapsed", id=row["turn_id"], lapsed=1)
    yield from record_resolved(held, lapsed, row["turn_id"])
    yield from settle_run(held, row, words.known_result(Code.APPROVAL_EXPIRED, words.EXPIRED))
    return lapsed


def _decision(approval: Row, *, won: bool, rules: tuple[int, ...] = ()) -> Decision:
    return Decision(state=approval["state"], decided_by=approval["decided_by"], won=won, approval=approval, rules=rules)
