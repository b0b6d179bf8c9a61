"""Calls that belong to no turn (API, MCP, command line), and the end of a single call."""

from typing import Literal

from ias.domain.events import ToolExecutionStarted
from ias.errors import Code, NotFoundError, TooDeepError
from ias.store import words
from ias.store.base import Ids, Steps, Terms, first, only, run, transaction, wake
from ias.store.results import Submitted
from ias.store.text import ascii_json
from ias.store.transactions.endings import settle_run
from ias.store.transactions.journal import record
from ias.store.transactions.locks import Held, hold, now, put_tool_job

RETRY_AFTER = 5  # seconds: most calls are over by then


@transaction
def submit_call(
    ids: Ids,
    terms: Terms,
    *,
    channel: str,
    address: str,
    user_id: str,
    tool: str,
    tool_hash: str,
    args: str,
    digest: str,
    wire_id: str,
    run_id: str | None = None,
) -> Steps[Submitted]:
    """Store a call with its job; one whose `run_id` is known already is answered as before.

    `args` is the JSON text of the checked arguments, `digest` that of tool and arguments, `wire_id` the caller's id.

    Raises:
        TooDeepError: Too many calls wait; nothing was stored.
    """
    wanted = run_id or ids.new("r")
    known = yield from first("run", id=wanted)
    if known is not None:
        return Submitted(
            conversation_id=known["conversation_id"], run_id=wanted, cursor=known["event_cursor"], is_duplicate=True
        )
    at = yield from now()
    conversation = yield from only(
        "open_conversation", id=ids.new("c"), user_id=user_id, channel=channel, address=address, now=at
    )
    held = Held(ids=ids, terms=terms, conversation=conversation, at=at)
    waiting = (yield from only("count_open_calls"))["n"]
    if waiting >= terms.depth:
        raise TooDeepError(f"{waiting} calls wait already; try again later", retry_after=RETRY_AFTER)
    yield run(
        "put_run",
        id=wanted,
        conversation_id=held.id,
        turn_id=None,
        pos=None,
        wire_id=wire_id,
        wire_name=tool,
        tool=tool,
        tool_hash=tool_hash,
        args=ascii_json(args),
        digest=digest,
        state="open",
        code=None,
        result=None,
        event_cursor=conversation["next_event"],
        now=at,
        ended_at=None,
    )
    yield from put_tool_job(held, wanted)
    yield from record(held, ToolExecutionStarted(run_id=wanted, call_id=wire_id, tool_name=tool, input=args))
    return Submitted(conversation_id=held.id, run_id=wanted, cursor=conversation["next_event"], is_duplicate=False)


@transaction
def cancel_run(ids: Ids, terms: Terms, run_id: str) -> Steps[Literal["cancelled", "already ended"]]:
    """Stop one call; its siblings and its turn go on.

    Raises:
        NotFoundError: There is no such run.
    """
    known = yield from first("run", id=run_id)
    if known is None:
        raise NotFoundError(f"there is no run {run_id!r}")
    held = yield from hold(ids, terms, known["conversation_id"])
    row = yield from only("run", id=run_id)
    if row["state"] == "done":
        return "already ended"
    yield from settle_run(held, row, words.known_result(Code.CANCELLED, words.CANCELLED))
    yield wake(f"stopped:{run_id}")
    return "cancelled"
