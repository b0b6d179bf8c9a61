"""Runs: resumed after a claim, their requests journaled before a byte leaves, their effects finished, ended."""

from typing import Literal

from ias.domain.approvals import CanonicalRequest, Judgement, Safety, StepKind, Verdict
from ias.domain.events import ApprovalRequested
from ias.domain.jobs import Job
from ias.domain.tools import Origin, Result
from ias.errors import Code
from ias.store import words
from ias.store.base import LOST, Ids, Lost, Row, Statement, Steps, Terms, first, only, run, transaction
from ias.store.progress import Consume, Ended, GateCall, More, Next, Parked, RunRow, Send, Spawn, StepRow
from ias.store.text import ascii_json
from ias.store.transactions.deliveries import DeliveryKind, Parcel, enqueue_delivery, home_of
from ias.store.transactions.endings import asked_text, settle_run, tell_unknown
from ias.store.transactions.journal import record, record_resolved
from ias.store.transactions.locks import Held, acknowledge, hold, next_number, own
from ias.store.transactions.operations import carry_out

POLICY = "policy"  # what granted a step that no standing rule and no person had to allow


@transaction
def resume_run(ids: Ids, terms: Terms, job: Job) -> Steps[Next]:
    """Say how a claimed run goes on, also after a crash: the first transaction after each claim of a tool job."""
    held = yield from hold(ids, terms, job.conversation_id)
    owned = yield from own(held, job)
    if owned is None:
        return LOST
    row = yield from only("run", id=owned["owner_id"])
    return (yield from _advance(held, job, row))


@transaction
def start_step(
    ids: Ids,
    terms: Terms,
    job: Job,
    *,
    run_id: str,
    no: int,
    judgement: Judgement,
    tool_state: str,
    is_attended: bool,
    used_ms: int,
    line: str | None = None,
    space: str = "",
) -> Steps[Next]:
    """Store the requests of a step and what the gate said of them: carried out, asked about, or the run's end.

    If requests of that number are there already, only they count, not what the tool prints now.

    Args:
        ids: Given by the decorator.
        terms: What the configuration says.
        job: The claimed job.
        run_id: The run.
        no: Number of the step, from 1; 0 is the whole call before its first process.
        judgement: The requests and the verdict; a standing rule must still stand, else a person is asked.
        tool_state: What the tool wants to remember, JSON text.
        is_attended: Whether a person can be asked.
        used_ms: Time that the call has used so far, without the time people take.
        line: What the tool printed, for the record.
        space: Key-value space of `kv_…` operations: the tool's group.
    """
    held = yield from hold(ids, terms, job.conversation_id)
    if (yield from own(held, job)) is None:
        return LOST
    row = yield from only("run", id=run_id)
    if (yield from first("steps_of_request", run_id=run_id, no=no)) is not None:
        return (yield from _advance(held, job, row))
    verdict = yield from _verdict_now(judgement)
    refusal = yield from _refusal(judgement, verdict, row, is_attended=is_attended)
    if refusal is not None:
        return (yield from _settle(held, row, refusal))
    granted_by = (judgement.rule_id or judgement.rule or POLICY) if verdict is Verdict.ALLOW else None
    for item, request in enumerate(judgement.requests):
        first_line = line if item == 0 else None
        yield _put_step(held, run_id, no, item, request, granted_by=granted_by, line=first_line, space=space)
    state = ascii_json(tool_state) or None
    row = yield from only("begin_request", id=run_id, no=no, tool_state=state, used_ms=used_ms)
    if verdict is Verdict.ASK:
        return (yield from _park(held, job, row, judgement))
    return (yield from _start_effect(held, job, row))


@transaction
def consume_approval(ids: Ids, terms: Terms, job: Job, *, run_id: str, no: int) -> Steps[Next]:
    """Use up an approval and commit `sending`, in one; an approval that expired meanwhile ends the run."""
    held = yield from hold(ids, terms, job.conversation_id)
    if (yield from own(held, job)) is None:
        return LOST
    row = yield from only("run", id=run_id)
    approval = yield from first("consume_approval", run_id=run_id, no=no, now=held.at)
    if approval is not None:
        yield run("grant_steps", run_id=run_id, no=no, granted_by=approval["id"])
        return (yield from _start_effect(held, job, row))
    known = yield from only("approval_of_request", run_id=run_id, no=no)
    if known["state"] == "consumed":
        return (yield from _advance(held, job, row))
    for lapsed in (yield run("lapse_unused_approval", run_id=run_id, no=no)):
        yield from record_resolved(held, lapsed, row["turn_id"])
    return (yield from _settle(held, row, words.known_result(Code.APPROVAL_EXPIRED, words.NOT_USED)))


@transaction
def finish_effect(
    ids: Ids,
    terms: Terms,
    job: Job,
    *,
    run_id: str,
    no: int,
    item: int,
    outcome: Literal["done", "unknown"],
    response: str,
) -> Steps[Next]:
    """Store the answer to one item; the last one of its step is told how the run goes on.

    `response` is a JSON text. `unknown` is for an effect that may not be repeated and failed after its first byte.
    """
    held = yield from hold(ids, terms, job.conversation_id)
    at = {"run_id": run_id, "no": no, "item": item}
    text = ascii_json(response)
    if (yield from own(held, job)) is None:
        yield run("keep_late_response", **at, response=text, token=job.lease_token)
        return LOST
    row = yield from only("run", id=run_id)
    moved = yield run("finish_sent_step", **at, state=outcome, response=text, now=held.at)
    if moved and outcome == "unknown":
        yield from tell_unknown(held, row, moved)
    yield run("forget_attempts", id=job.id)
    if (yield from first("steps_still_out", run_id=run_id, no=no)) is not None:
        return More()
    return (yield from _advance(held, job, row))


@transaction
def finish_run(ids: Ids, terms: Terms, job: Job, result: Result) -> Steps[str | Lost]:
    """End a run with its result; the last missing result of a turn starts the model again. Gives the stored code."""
    held = yield from hold(ids, terms, job.conversation_id)
    owned = yield from acknowledge(job)
    if owned is None:
        return LOST
    row = yield from only("run", id=owned["owner_id"])
    return (yield from settle_run(held, row, result)).code


def _advance(held: Held, job: Job, row: Row) -> Steps[Next]:
    """Say what the rows of the last request ask for."""
    steps = yield run("steps_of_request", run_id=row["id"], no=row["no"])
    facts = run_row(held, row)
    if not steps:
        return GateCall(run=facts)
    if any(_is_cut_off(step, job.lease_token) for step in steps):
        return (yield from _settle(held, row, words.known_result(Code.OUTCOME_UNKNOWN, words.CUT_OFF)))
    states = {step["state"] for step in steps}
    if "unknown" in states:
        return (yield from _settle(held, row, words.known_result(Code.OUTCOME_UNKNOWN, words.NO_ANSWER)))
    if "prepared" in states:
        return Consume(run=facts, steps=_step_rows(steps))
    if "sending" in states:
        yield run("resend_steps", run_id=row["id"], no=row["no"], token=job.lease_token)
        return Send(run=facts, steps=_step_rows([step for step in steps if step["state"] == "sending"]))
    return Spawn(run=facts, steps=_step_rows(steps))


def _is_cut_off(step: Row, token: str) -> bool:
    """Say whether an effect that may not be repeated was under way under another claim."""
    return step["state"] == "sending" and step["safety"] == Safety.ONCE and step["send_token"] != token


def _settle(held: Held, row: Row, result: Result) -> Steps[Ended]:
    stored = yield from settle_run(held, row, result)
    return Ended(code=stored.code)


def _verdict_now(judgement: Judgement) -> Steps[Verdict]:
    """Ask a person where the standing rule that allowed it was revoked since."""
    if judgement.verdict is Verdict.ALLOW and judgement.rule_id is not None:
        standing = yield from first("standing_rule", id=judgement.rule_id)
        return Verdict.ASK if standing is None else Verdict.ALLOW
    return judgement.verdict


def _refusal(judgement: Judgement, verdict: Verdict, row: Row, *, is_attended: bool) -> Steps[Result | None]:
    """Give the result of a request that is neither carried out nor asked about."""
    if verdict is Verdict.FORBID:
        return words.known_result(Code(judgement.code), judgement.reason or words.FORBIDDEN)
    if verdict is not Verdict.ASK:
        return None
    if not is_attended:
        return words.known_result(Code.APPROVAL_DENIED, words.UNATTENDED)
    if row["turn_id"] is not None and (yield from only("turn", id=row["turn_id"]))["lapsed"]:
        return words.known_result(Code.APPROVAL_EXPIRED, words.LAPSED)
    return None


def _put_step(
    held: Held,
    run_id: str,
    no: int,
    item: int,
    request: CanonicalRequest,
    *,
    granted_by: str | None,
    line: str | None,
    space: str,
) -> Statement:
    return run(
        "put_step",
        run_id=run_id,
        no=no,
        item=item,
        kind=request.kind,
        line=None if line is None else ascii_json(line),
        request=request.text,
        digest=request.digest,
        safety=request.safety,
        method=request.method,
        host=request.host,
        path=request.path,
        space=space,
        idem_key=request.idem_key,
        granted_by=granted_by,
        now=held.at,
    )


def _park(held: Held, job: Job, row: Row, judgement: Judgement) -> Steps[Parked]:
    """Make the approval and free the worker: from here on a decision or the expiry goes on."""
    num, approval_id = (yield from next_number("approval_no")), held.ids.new("a")
    expires_at = held.at + held.terms.approval_timeout_ms
    request = "[" + ",".join(item.text for item in judgement.requests) + "]"
    yield run(
        "put_approval",
        id=approval_id,
        num=num,
        conversation_id=held.id,
        run_id=row["id"],
        no=row["no"],
        digest=judgement.digest,
        request=request,
        expires_at=expires_at,
        now=held.at,
    )
    yield run("park_run", id=row["id"])
    yield from acknowledge(job)
    requested = ApprovalRequested(
        turn_id=row["turn_id"] or "",
        approval_id=approval_id,
        num=num,
        run_id=row["id"],
        tool_name=row["tool"],
        digest=judgement.digest,
        request=request,
        expires_at=expires_at,
    )
    yield from record(held, requested)
    asked = yield from asked_text(row["turn_id"])
    texts = tuple(_wish(item) for item in judgement.requests)
    text = words.question(asked, num=num, tool=row["tool"], digest=judgement.digest, requests=texts)
    home = home_of(held) if row["turn_id"] is not None else held.terms.operator
    for to in held.terms.approvers or (home,):
        parcel = Parcel(to=to, kind=DeliveryKind.APPROVAL, text=text, about=approval_id)
        yield from enqueue_delivery(held, parcel)
    return Parked(num=num, approval_id=approval_id)


def _wish(request: CanonicalRequest) -> str:
    if request.kind is StepKind.HTTP:
        return f"{request.method} {request.host}{request.path}\n  {request.text}"
    return request.text


def _start_effect(held: Held, job: Job, row: Row) -> Steps[Next]:
    """Commit `sending` for what goes out, carry out at once what happens inside the store."""
    facts = run_row(held, row)
    for step in (yield run("steps_of_request", run_id=row["id"], no=row["no"])):
        at = {"run_id": step["run_id"], "no": step["no"], "item": step["item"]}
        match step["kind"]:
            case StepKind.START:
                yield run("finish_inner_step", **at, response=None, now=held.at)
            case StepKind.DB:
                response = yield from carry_out(held, row, step)
                yield run("finish_inner_step", **at, response=response, now=held.at)
            case _:
                yield run("send_step", **at, token=job.lease_token, now=held.at)
    steps = yield run("steps_of_request", run_id=row["id"], no=row["no"])
    out = [step for step in steps if step["state"] == "sending"]
    return Send(run=facts, steps=_step_rows(out)) if out else Spawn(run=facts, steps=_step_rows(steps))


def run_row(held: Held, row: Row) -> RunRow:
    """Give a run as workers see it; its origin is that of its conversation's channel."""
    channel = held.conversation["channel"]
    return RunRow(
        id=row["id"],
        conversation_id=row["conversation_id"],
        turn_id=row["turn_id"],
        user_id=held.conversation["user_id"],
        origin=channel if channel in set(Origin) else Origin.CHAT,
        wire_id=row["wire_id"],
        tool=row["tool"],
        tool_hash=row["tool_hash"],
        args=row["args"],
        digest=row["digest"],
        state=row["state"],
        no=row["no"],
        tool_state=row["tool_state"],
        used_ms=row["used_ms"],
    )


def _step_rows(rows: list[Row]) -> tuple[StepRow, ...]:
    return tuple(
        StepRow(
            run_id=row["run_id"],
            no=row["no"],
            item=row["item"],
            kind=StepKind(row["kind"]),
            request=row["request"],
            digest=row["digest"],
            safety=Safety(row["safety"]),
            state=row["state"],
            line=row["line"],
            idem_key=row["idem_key"],
            granted_by=row["granted_by"],
            response=row["response"],
        )
        for row in rows
    )
