"""Routes of tools, runs and the queue."""

import asyncio
import json
from typing import Annotated

import pydantic
from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, ConfigDict, Field

from ias.cycle.plan import call_digest, canonical_args
from ias.domain.messages import JsonObject, JsonValue
from ias.errors import AmbiguousIdError, NotFoundError, ToolNotFoundError
from ias.store.base import Row
from ias.store.transactions.calls import submit_call
from ias.web import approvals
from ias.web.services import Services, services

router = APIRouter(prefix="/api", tags=["tools"])
Given = Annotated[Services, Depends(services)]
WAIT = 660.0  # seconds: a little more than the longest timeout that a tool may have


class NewCall(BaseModel):
    """A call of one tool, outside any conversation with a model."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    args: dict[str, pydantic.JsonValue] = Field(default_factory=lambda: {})
    user_id: str = Field(default="operator", min_length=1, max_length=200)
    channel: str = Field(default="api", pattern="^(api|cli|web)$")
    wait: bool = True


@router.get("/tools", response_model=None)
async def list_tools(given: Given) -> list[JsonObject]:
    """List the tools that are loaded."""
    return given.tools.listing()


@router.post("/tools/reload", response_model=None)
async def reload_tools(given: Given) -> JsonObject:
    """Scan the tool folders again."""
    return await given.tools.reload()


@router.get("/tools/{name}", response_model=None)
async def show_tool(name: str, given: Given) -> JsonObject:
    """Give one tool in full."""
    for tool in given.tools.listing():
        if tool["name"] == name:
            return tool
    raise NotFoundError(f"there is no tool {name!r}")


@router.post("/tools/{name}/call", response_model=None)
async def call_tool(name: str, new: NewCall, given: Given) -> JsonObject:
    """Call a tool behind the gate; the answer comes when it is done, or when a person must decide first."""
    registry = given.tools.registry
    outer = registry.get(name)
    if outer is None:
        raise NotFoundError(f"there is no tool {name!r}")
    registry.check(outer)
    inner, args = outer.target(new.args)
    facts = inner.facts
    stored = await given.store.run(
        submit_call(
            given.terms,
            channel=new.channel,
            address=f"calls:{new.user_id}",
            user_id=new.user_id,
            tool=facts.name,
            tool_hash=facts.sha256,
            args=canonical_args(args),
            digest=call_digest(facts.name, args),
            wire_id="",
        )
    )
    if not new.wait:
        return {"run": stored.run_id, "state": "open", "conversation": stored.conversation_id}
    return await _settled(given, stored.run_id, stored.conversation_id)


@router.get("/runs", response_model=None)
async def list_runs(given: Given, limit: Annotated[int, Query(ge=1, le=1000)] = 50) -> list[JsonObject]:
    """List calls, the newest first."""
    return [dict(row) for row in await given.store.read("runs", limit=limit)]


@router.get("/runs/{ref}", response_model=None)
async def show_run(ref: str, given: Given) -> JsonObject:
    """Give one call and its steps."""
    rows = await given.store.read("run_by_prefix", ref=ref)
    if not rows:
        raise NotFoundError(f"there is no run {ref!r}")
    if len(rows) > 1:
        names = tuple(str(row["id"]) for row in rows)
        raise AmbiguousIdError(f"{ref!r} fits more than one run: {', '.join(names)}", candidates=names)
    steps = await given.store.read("steps", run_id=rows[0]["id"])
    shown: list[JsonValue] = [dict(step) for step in steps]
    return dict(rows[0]) | {"steps": shown}


@router.get("/queue", response_model=None)
async def show_queue(given: Given) -> JsonObject:
    """Give how many jobs wait, run and failed, queue by queue."""
    stats = await given.store.read("queue_stats")
    dead = await given.store.read("dead_jobs")
    queues: list[JsonValue] = [dict(row) for row in stats]
    letters: list[JsonValue] = [dict(row) for row in dead]
    return {"queues": queues, "dead": letters}


async def _settled(given: Services, run_id: str, conversation_id: str) -> JsonObject:
    try:
        async with asyncio.timeout(WAIT):
            with given.bus.subscribe(conversation_id) as events:
                async for event in events:
                    answer = None if event is not None else await _answer(given, run_id)
                    if answer is not None:
                        return answer
    except TimeoutError:
        pass
    return {"run": run_id, "state": "open", "conversation": conversation_id}


async def _answer(given: Services, run_id: str) -> JsonObject | None:
    run = await _run(given, run_id)
    if run["state"] == "done":
        result = json.loads(run["result"])
        return {"run": run_id, "state": "done", "code": run["code"], **result}
    if run["state"] == "parked":
        rows = await given.store.read("approval_of_run", run_id=run_id)
        if rows:
            return {"run": run_id, "state": "parked", "approval": approvals.as_json(rows[0])}
    return None


async def _run(given: Services, run_id: str) -> Row:
    rows = await given.store.read("run", id=run_id)
    if not rows:
        raise ToolNotFoundError(f"there is no run {run_id!r}")
    return rows[0]
