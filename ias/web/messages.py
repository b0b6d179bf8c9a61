"""Routes of conversations: a message in, its events out, what was said, stop."""

import json
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from ias.domain.messages import JsonObject
from ias.errors import NotFoundError
from ias.intake import Incoming
from ias.store.base import Row
from ias.store.transactions.turns import cancel_turn
from ias.web.events import EventStream
from ias.web.services import Services, services

router = APIRouter(prefix="/api", tags=["conversations"])
Given = Annotated[Services, Depends(services)]
Name = Annotated[str, Field(min_length=1, max_length=200)]  # a bounded text is also looked at: no lone surrogates
EVENT_MAX = 2**63 - 1  # what a store can compare with


class NewMessage(BaseModel):
    """A message to post; without `conversation` it goes to the open one of `channel` and `address` (the user's)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    user_id: Name
    text: str
    conversation: Name | None = None
    channel: str = Field(default="api", pattern="^(api|cli|web)$")
    address: Name | None = None
    source_id: Name | None = None


class Accepted(BaseModel):
    """Where a message went; follow the conversation's events after `cursor`."""

    conversation: str
    message: str
    turn: str
    cursor: int
    duplicate: bool


@router.post("/messages", status_code=202)
async def post_message(new: NewMessage, given: Given) -> Accepted:
    """Store a message and say where its answer will come; a known `source_id` gives the first answer again."""
    channel, address = new.channel, new.address or new.user_id
    if new.conversation is not None:
        row = await _conversation(given, new.conversation)
        channel, address = row["channel"], row["address"]
    stored = await given.intake.submit(
        Incoming(channel=channel, address=address, user_id=new.user_id, text=new.text, source_id=new.source_id)
    )
    return Accepted(
        conversation=stored.conversation_id,
        message=f"{stored.turn_id}.0",
        turn=stored.turn_id,
        cursor=stored.cursor,
        duplicate=stored.is_duplicate,
    )


@router.get("/conversations", response_model=None)
async def list_conversations(given: Given, limit: Annotated[int, Query(ge=1, le=500)] = 50) -> list[JsonObject]:
    """List conversations, the newest first."""
    return [dict(row) for row in await given.store.read("conversations", limit=limit)]


@router.get("/conversations/{conversation_id}/messages", response_model=None)
async def list_messages(conversation_id: str, given: Given) -> list[JsonObject]:
    """Give all messages of a conversation in order."""
    await _conversation(given, conversation_id)
    rows = await given.store.read("messages", conversation_id=conversation_id)
    return [dict(row) | {"content": json.loads(row["content"])} for row in rows]


@router.get("/conversations/{conversation_id}/events", response_model=None)
async def stream_events(
    conversation_id: str,
    given: Given,
    after: Annotated[int, Query(ge=0, le=EVENT_MAX)] = 0,
    last_event_id: Annotated[int | None, Header(ge=0, le=EVENT_MAX)] = None,
) -> StreamingResponse:
    """Stream events after a number: stored ones first, then what happens."""
    await _conversation(given, conversation_id)
    stream = EventStream(given.store, given.bus, conversation_id, after if last_event_id is None else last_event_id)
    return StreamingResponse(
        stream.lines(), media_type="text/event-stream", headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    )


@router.post("/conversations/{conversation_id}/cancel", response_model=None)
async def cancel(conversation_id: str, given: Given) -> JsonObject:
    """Stop the turn that is going on; each of its open calls gets the result `cancelled`."""
    await _conversation(given, conversation_id)
    rows = await given.store.read("active_turn", conversation_id=conversation_id)
    if not rows:
        return {"cancelled": False, "detail": "nothing is going on"}
    await given.store.run(cancel_turn(given.terms, rows[0]["id"]))
    return {"cancelled": True, "turn": rows[0]["id"]}


@router.post("/turns/{turn_id}/cancel", response_model=None)
async def cancel_one(turn_id: str, given: Given, *, only_queued: bool = False) -> JsonObject:
    """Stop one turn, also one that waits behind others; with `only_queued` one that has begun goes on."""
    rows = await given.store.read("turn", id=turn_id)
    if not rows:
        raise NotFoundError(f"there is no turn {turn_id!r}")
    if only_queued and rows[0]["state"] != "queued":
        return {"cancelled": False, "detail": "it is not waiting any more"}
    outcome = await given.store.run(cancel_turn(given.terms, turn_id))
    if outcome == "already ended":
        return {"cancelled": False, "detail": "it is over already"}
    return {"cancelled": True, "turn": turn_id}


async def _conversation(given: Services, conversation_id: str) -> Row:
    rows = await given.store.read("conversation", id=conversation_id)
    if not rows:
        raise NotFoundError(f"there is no conversation {conversation_id!r}")
    return rows[0]
