"""Turns: a message comes in, a model step is stored, a turn is cancelled."""

from datetime import UTC, datetime
from typing import Literal

from ias.domain.events import AssistantTextDelta, Notice, ToolExecutionStarted, TurnComplete
from ias.domain.jobs import Job, LlmStep, PlannedCall, TurnOver, TurnReason
from ias.domain.messages import AssistantMessage, UserMessage
from ias.domain.tools import Result
from ias.errors import Code, NotFoundError, TooDeepError
from ias.store import words
from ias.store.base import LOST, Ids, Lost, Row, Steps, Terms, first, only, run, transaction
from ias.store.results import Command, CommandKind, Submitted
from ias.store.text import ascii_json
from ias.store.transactions.deliveries import DeliveryKind, Parcel, enqueue_delivery, home_of, notify
from ias.store.transactions.endings import answer_call, asked_text, end_turn, pack_result, say, stop_turn
from ias.store.transactions.journal import record
from ias.store.transactions.locks import Held, acknowledge, hold, now, put_llm_job, put_tool_job

RETRY_AFTER = 5  # seconds: a turn that waits for nobody is over by then


@transaction
def submit_message(
    ids: Ids,
    terms: Terms,
    *,
    channel: str,
    address: str,
    user_id: str,
    text: str,
    source_id: str | None = None,
    turn_id: str | None = None,
    command: Command | None = None,
) -> Steps[Submitted]:
    """Store a message as a turn of the conversation at its address; one that is known already is answered as before.

    `source_id` is the channel's own id of the message, unique at its address; `turn_id` is given where the caller wants
    to know it before; `command` is done at once, in this transaction, and passes any depth.

    Raises:
        TooDeepError: Too many messages wait; nothing was stored.
    """
    wanted = turn_id or ids.new("t")
    before = yield from _known(wanted, channel, address, source_id)
    if before is not None:
        return before
    at = yield from now()
    conversation = yield from only(
        "open_conversation", id=ids.new("c"), user_id=user_id, channel=channel, address=address, now=at
    )
    held = Held(ids=ids, terms=terms, conversation=conversation, at=at)
    before = yield from _known(wanted, channel, address, source_id)
    if before is not None:
        return before
    active = yield from first("active_turn", conversation_id=held.id)
    if command is None:
        yield from _check_depth(held)
    seq = (yield from only("next_seq", id=held.id))["next_seq"]
    is_over = command is not None
    yield run(
        "put_turn",
        id=wanted,
        conversation_id=held.id,
        seq=seq,
        kind="command" if is_over else "chat",
        channel=channel,
        address=address,
        source_id=source_id,
        state="ended" if is_over else "llm" if active is None else "queued",
        reason=TurnReason.COMMAND if is_over else None,
        next_pos=2 if is_over else 1,
        event_cursor=held.conversation["next_event"],
        now=held.at,
        ended_at=held.at if is_over else None,
    )
    yield from say(held, wanted, 0, UserMessage(text=text))
    if command is not None:
        yield from _obey(held, wanted, active, command, text)
    elif active is None:
        yield from put_llm_job(held, wanted)
    else:
        yield from _tell_queued(held, wanted, active, text)
    return Submitted(
        conversation_id=held.id, turn_id=wanted, cursor=held.conversation["next_event"], is_duplicate=False
    )


@transaction
def cancel_turn(ids: Ids, terms: Terms, turn_id: str) -> Steps[Literal["cancelled", "already ended"]]:
    """Stop a turn: its open calls get `cancelled`, its approvals end, the next turn starts.

    Raises:
        NotFoundError: There is no such turn.
    """
    row = yield from first("turn", id=turn_id)
    if row is None:
        raise NotFoundError(f"there is no turn {turn_id!r}")
    held = yield from hold(ids, terms, row["conversation_id"])
    turn = yield from only("turn", id=turn_id)
    if turn["state"] == "ended":
        return "already ended"
    yield from stop_turn(held, turn, TurnReason.CANCELLED)
    return "cancelled"


@transaction
def finish_llm_step(ids: Ids, terms: Terms, job: Job, step: LlmStep) -> Steps[TurnReason | Literal["calls"] | Lost]:
    """Store a model answer: its message, its calls as runs with jobs or results, or the turn's end.

    Returns:
        Why the turn ended, `calls` where it goes on, or LOST (the tokens are counted all the same).
    """
    held = yield from hold(ids, terms, job.conversation_id)
    owned = yield from acknowledge(job)
    yield from _count_usage(held, job, step, None if owned is None else owned["owner_id"])
    if owned is None:
        return LOST
    turn = yield from only("turn", id=owned["owner_id"])
    pos, llm_steps = turn["next_pos"], turn["llm_steps"] + 1
    yield from say(held, turn["id"], pos, step.message)
    yield run("count_llm_step", id=turn["id"], llm_steps=llm_steps, next_pos=pos + 1 + len(step.calls))
    yield from _record_text(held, turn, llm_steps, job.attempts, step.message)
    if not step.calls:
        reason = step.stop or TurnReason.REPLY
        yield from end_turn(held, turn, reason, step.closing)
        return reason
    waiting = yield from _put_calls(held, turn, step)
    if step.stop is not None:
        asked = yield from asked_text(turn["id"])
        closing = step.closing or words.closing(step.stop, asked, llm_steps)
        yield from end_turn(held, turn, step.stop, closing)
        return step.stop
    complete = TurnComplete(turn_id=turn["id"], step=llm_steps, reason="tool_calls")
    yield from record(held, complete)
    if waiting:
        yield run("turn_waits_for_tools", id=turn["id"])
    else:
        yield from put_llm_job(held, turn["id"])
    return "calls"


@transaction
def close_turn(ids: Ids, terms: Terms, job: Job, over: TurnOver) -> Steps[TurnReason | Lost]:
    """End a turn that its model job says is over, without an answer of the model and without a dead letter."""
    held = yield from hold(ids, terms, job.conversation_id)
    owned = yield from acknowledge(job)
    if owned is None:
        return LOST
    turn = yield from only("turn", id=owned["owner_id"])
    yield from end_turn(held, turn, over.reason, over.closing)
    return over.reason


def requeue_turn(held: Held, old_turn_id: str) -> Steps[str]:
    """Put the message of a turn that died at the end of the conversation, as a new turn; gives its id."""
    text = yield from asked_text(old_turn_id)
    active = yield from first("active_turn", conversation_id=held.id)
    seq = (yield from only("next_seq", id=held.id))["next_seq"]
    turn_id = held.ids.new("t")
    yield run(
        "put_turn",
        id=turn_id,
        conversation_id=held.id,
        seq=seq,
        kind="chat",
        channel=held.conversation["channel"],
        address=held.conversation["address"],
        source_id=None,
        state="llm" if active is None else "queued",
        reason=None,
        next_pos=1,
        event_cursor=held.conversation["next_event"],
        now=held.at,
        ended_at=None,
    )
    yield from say(held, turn_id, 0, UserMessage(text=text))
    if active is None:
        yield from put_llm_job(held, turn_id)
    return turn_id


def _known(turn_id: str, channel: str, address: str, source_id: str | None) -> Steps[Submitted | None]:
    row = None
    if source_id is not None:
        row = yield from first("turn_of_source", channel=channel, address=address, source_id=source_id)
    if row is None:
        row = yield from first("turn", id=turn_id)
    if row is None:
        return None
    return Submitted(
        conversation_id=row["conversation_id"], turn_id=row["id"], cursor=row["event_cursor"], is_duplicate=True
    )


def _check_depth(held: Held) -> Steps[None]:
    waiting = (yield from only("count_queued_turns", conversation_id=held.id))["n"]
    if waiting >= held.terms.conversation_depth:
        raise TooDeepError(
            f"{waiting} messages of this conversation wait already; try again later", retry_after=RETRY_AFTER
        )
    total = (yield from only("count_open_turns"))["n"]
    if total >= held.terms.depth:
        raise TooDeepError(f"{total} messages wait already; try again later", retry_after=RETRY_AFTER)


def _tell_queued(held: Held, turn_id: str, active: Row, text: str) -> Steps[None]:
    approval = yield from first("waiting_approval", turn_id=active["id"])
    if approval is not None:
        notice = words.QUEUED.to(text, num=approval["num"])
        yield from notify(held, turn_id, notice)


def _obey(held: Held, turn_id: str, active: Row | None, command: Command, text: str) -> Steps[None]:
    """Do what a command says, in the transaction that stores it."""
    asked = text if active is None else text + (yield from asked_text(active["id"]))
    usual = ""
    if command.kind is CommandKind.CANCEL:
        usual = (words.NOTHING_TO_CANCEL if active is None else words.STOPPED).to(asked)
        if active is not None:
            yield from stop_turn(held, active, TurnReason.CANCELLED)
    elif command.kind is CommandKind.NEW:
        usual = words.NEW_CONVERSATION.to(asked)
        for queued in (yield run("queued_turns", conversation_id=held.id)):
            yield from stop_turn(held, queued, TurnReason.NEW)
        if active is not None:
            yield from stop_turn(held, active, TurnReason.NEW)
        yield run("close_conversation", id=held.id, now=held.at)
    answer = usual if command.answer is None else command.answer
    yield from say(held, turn_id, 1, AssistantMessage(text=answer))
    parcel = Parcel(to=home_of(held), kind=DeliveryKind.NOTICE, text=answer)
    yield from enqueue_delivery(held, parcel)
    yield from record(held, Notice(turn_id=turn_id, text=answer))
    yield from record(held, TurnComplete(turn_id=turn_id, reason=TurnReason.COMMAND))


def _count_usage(held: Held, job: Job, step: LlmStep, turn_id: str | None) -> Steps[None]:
    yield run(
        "put_usage",
        id=f"{job.id}:{job.lease_token}",
        conversation_id=held.id,
        turn_id=turn_id,
        user_id=held.conversation["user_id"],
        day=datetime.fromtimestamp(held.at / 1000, UTC).date().isoformat(),
        model=step.model,
        tokens_in=step.usage.input,
        tokens_out=step.usage.output,
        tokens_cached=step.usage.cached,
        tokens_reasoning=step.usage.reasoning,
        cost=None if step.cost is None else step.cost.micros,
        currency=None if step.cost is None else step.cost.currency,
        now=held.at,
    )


def _record_text(held: Held, turn: Row, llm_steps: int, attempt: int, message: AssistantMessage) -> Steps[None]:
    if message.text:
        delta = AssistantTextDelta(turn_id=turn["id"], step=llm_steps, attempt=attempt, text=message.text)
        yield from record(held, delta)


def _put_calls(held: Held, turn: Row, step: LlmStep) -> Steps[bool]:
    """Make each call of an answer a run at its place; says whether one of them must be worked on."""
    waiting = False
    for item, planned in enumerate(step.calls):
        result = planned.known
        if step.stop is not None:
            result = words.known_result(Code.TURN_ENDED, words.TURN_ENDED)
        run_id = yield from _put_call(held, turn, planned, turn["next_pos"] + 1 + item, result)
        if result is None:
            waiting = True
            yield from put_tool_job(held, run_id)
    return waiting


def _put_call(held: Held, turn: Row, planned: PlannedCall, pos: int, result: Result | None) -> Steps[str]:
    """Store one call as a run; one whose result is known is over at once."""
    row: Row = {
        "id": held.ids.new("r"),
        "conversation_id": held.id,
        "turn_id": turn["id"],
        "pos": pos,
        "wire_id": planned.call.id,
        "wire_name": planned.call.name,
        "tool": planned.tool,
        "tool_hash": planned.tool_hash,
        "args": ascii_json(planned.args),
        "digest": planned.digest,
        "state": "open" if result is None else "done",
        "code": None if result is None else result.code,
        "result": None if result is None else pack_result(result),
        "event_cursor": held.conversation["next_event"],
        "ended_at": None if result is None else held.at,
    }
    yield run("put_run", **row, now=held.at)
    started = ToolExecutionStarted(
        turn_id=turn["id"],
        step=turn["llm_steps"] + 1,
        run_id=row["id"],
        call_id=planned.call.id,
        tool_name=planned.tool,
        input=planned.args,
    )
    yield from record(held, started)
    if result is not None:
        yield from answer_call(held, row, result)
    return row["id"]
