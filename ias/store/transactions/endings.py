"""The one way a run ends and the one way a turn ends, whatever the reason, and what follows from it."""

import json

from ias.domain.events import AssistantTextDelta, ToolExecutionCompleted, TurnComplete
from ias.domain.jobs import Queue, TurnReason
from ias.domain.messages import AssistantMessage, Message, ToolMessage, message_to_json
from ias.domain.tools import Result
from ias.errors import Code
from ias.store import words
from ias.store.base import Row, Steps, first, only, run, wake
from ias.store.text import pack
from ias.store.transactions.deliveries import DeliveryKind, Parcel, enqueue_delivery, home_of, notify
from ias.store.transactions.journal import record, record_resolved
from ias.store.transactions.locks import Held, put_llm_job

OPEN_STATES = ("llm", "tools")


def end_run(held: Held, row: Row, result: Result) -> Steps[Result]:
    """End a run: open steps settled honestly, its approval closed, its live job gone, exactly one result.

    Returns:
        The result that was stored: `outcome_unknown` where one of its effects may or may not have happened.
    """
    doubtful = yield run("doubt_open_steps", run_id=row["id"], now=held.at)
    yield run("void_open_steps", run_id=row["id"], now=held.at)
    for approval in (yield run("cancel_approvals", run_id=row["id"])):
        yield from record_resolved(held, approval, row["turn_id"])
    yield run("drop_live_job", queue=Queue.TOOL, lane=row["id"])
    if doubtful:
        yield from tell_unknown(held, row, doubtful)
    unknown = yield run("unknown_steps", run_id=row["id"])
    if unknown:
        text = words.outcome_unknown(result.content, unknown)
        result = Result(content=text, data=result.data, code=Code.OUTCOME_UNKNOWN)
    yield run("end_run", id=row["id"], code=result.code, result=pack_result(result), now=held.at)
    yield from answer_call(held, row, result)
    return result


def answer_call(held: Held, row: Row, result: Result) -> Steps[None]:
    """Write the one result message of a call at its place, and the event that says so."""
    text, step = words.told(result), 0
    if row["turn_id"] is not None:
        step = (yield from only("turn", id=row["turn_id"]))["llm_steps"]
        message = ToolMessage(call_id=row["wire_id"], name=row["wire_name"], text=text, is_error=result.is_error)
        yield from say(held, row["turn_id"], row["pos"], message, run_id=row["id"])
    completed = ToolExecutionCompleted(
        turn_id=row["turn_id"] or "",
        step=step,
        run_id=row["id"],
        call_id=row["wire_id"],
        tool_name=row["tool"],
        output=result.content,
        code=result.code,
        is_error=result.is_error,
    )
    yield from record(held, completed)


def tell_unknown(held: Held, row: Row, steps: list[Row]) -> Steps[None]:
    """Tell the person which items may or may not have happened."""
    asked = yield from asked_text(row["turn_id"])
    items = ", ".join(words.item_label(step) for step in steps)
    text = words.OUTCOME_UNKNOWN.to(asked, items=items, run=row["id"])
    yield from notify(held, row["turn_id"], text)


def fan_in(held: Held, row: Row) -> Steps[None]:
    """Let the model go on if this was the last missing result of its turn."""
    if row["turn_id"] is None:
        return
    left = yield from only("count_open_runs", turn_id=row["turn_id"])
    if left["n"] == 0:
        yield run("start_turn", id=row["turn_id"])
        yield from put_llm_job(held, row["turn_id"])


def settle_run(held: Held, row: Row, result: Result) -> Steps[Result]:
    """End a run and let its turn go on."""
    stored = yield from end_run(held, row, result)
    yield from fan_in(held, row)
    return stored


def end_turn(held: Held, turn: Row, reason: TurnReason, closing: str | None) -> Steps[None]:
    """End a turn: closing words (None: the model's last message is the reply), the reply's delivery, the next turn."""
    if closing is None:
        closing = yield from _model_words(turn)
    else:
        pos = (yield from only("next_pos", id=turn["id"]))["next_pos"] - 1
        yield from say(held, turn["id"], pos, AssistantMessage(text=closing))
        yield from _record_closing(held, turn, closing)
    yield run("end_turn", id=turn["id"], reason=reason, now=held.at)
    steps = (yield from only("turn", id=turn["id"]))["llm_steps"]
    yield from record(held, TurnComplete(turn_id=turn["id"], step=steps, reason=reason))
    parcel = Parcel(to=home_of(held), kind=DeliveryKind.REPLY, text=closing, about=None)
    yield from enqueue_delivery(held, parcel)
    yield from _start_next_turn(held)


def stop_turn(held: Held, turn: Row, reason: TurnReason) -> Steps[None]:
    """End a turn that is not over: every open call gets `cancelled`, the model's job goes, then the turn ends."""
    asked = yield from asked_text(turn["id"])
    if turn["state"] in OPEN_STATES:
        for row in (yield run("open_runs", turn_id=turn["id"])):
            cancelled = words.known_result(Code.CANCELLED, words.CANCELLED)
            yield from end_run(held, row, cancelled)
            yield wake(f"stopped:{row['id']}")
        yield run("drop_live_job", queue=Queue.LLM, lane=held.id)
        yield wake(f"stopped:{turn['id']}")
    phrase = words.DROPPED if (turn["state"], reason) == ("queued", TurnReason.NEW) else words.STOPPED
    yield from end_turn(held, turn, reason, phrase.to(asked))


def asked_text(turn_id: str | None) -> Steps[str]:
    """Give what the person wrote at the turn's beginning; it decides the language of fixed words."""
    if turn_id is None:
        return ""
    row = yield from only("message_at", turn_id=turn_id, pos=0)
    return json.loads(row["content"])["text"]


def say(held: Held, turn_id: str, pos: int, message: Message, *, run_id: str | None = None) -> Steps[None]:
    """Write a message at its place in a turn."""
    match message:
        case AssistantMessage():
            role = "assistant"
        case ToolMessage():
            role = "tool"
        case _:
            role = "user"
    yield run(
        "put_message", turn_id=turn_id, pos=pos, role=role, content=message_to_json(message), run_id=run_id, now=held.at
    )


def pack_result(result: Result) -> str:
    """Give a result's stored form; its code has a column of its own."""
    return pack({"content": result.content, "data": result.data})


def _model_words(turn: Row) -> Steps[str]:
    last = (yield from only("turn", id=turn["id"]))["next_pos"] - 1
    row = yield from only("message_at", turn_id=turn["id"], pos=last)
    return json.loads(row["content"])["text"]


def _record_closing(held: Held, turn: Row, closing: str) -> Steps[None]:
    """Announce words that are not the model's: as a last attempt, so that they replace what streamed before."""
    steps = (yield from only("turn", id=turn["id"]))["llm_steps"]
    delta = AssistantTextDelta(turn_id=turn["id"], step=steps + 1, attempt=held.terms.max_attempts + 1, text=closing)
    yield from record(held, delta)


def _start_next_turn(held: Held) -> Steps[None]:
    if (yield from first("active_turn", conversation_id=held.id)) is not None:
        return
    row = yield from first("next_queued_turn", conversation_id=held.id)
    if row is not None:
        yield run("start_turn", id=row["id"])
        yield from put_llm_job(held, row["id"])
