"""Routes of approvals: what waits, one in full, the decision."""

import json
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from ias.domain.approvals import Scope
from ias.domain.messages import JsonObject, JsonValue
from ias.errors import NotFoundError
from ias.store.base import Row
from ias.store.transactions.approvals import decide_approval
from ias.web.problems import problem
from ias.web.services import Services, services

router = APIRouter(prefix="/api/approvals", tags=["approvals"])
Given = Annotated[Services, Depends(services)]
State = Literal["pending", "approved", "consumed", "denied", "expired", "cancelled", "all"]


class NewDecision(BaseModel):
    """A decision; with `digest` it counts only for exactly the bytes that were shown."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    decision: Literal["approve", "deny"]
    scope: Scope = Scope.ONCE
    digest: str | None = None
    reason: str | None = None
    by: str = "api"
    via: str = Field(default="api", pattern="^(api|cli|web)$")


@router.get("", response_model=None)
async def list_approvals(
    given: Given, state: State = "pending", limit: Annotated[int, Query(ge=1, le=500)] = 100
) -> list[JsonObject]:
    """List approvals, those that wait first."""
    return [as_json(row) for row in await given.store.read("approvals", state=state, limit=limit)]


@router.get("/{ref}", response_model=None)
async def show_approval(ref: str, given: Given) -> JsonObject:
    """Give one approval with its request in full."""
    return as_json(await _approval(given, ref))


@router.post("/{ref}/decision", response_model=None)
async def decide(ref: str, new: NewDecision, given: Given) -> JsonObject | JSONResponse:
    """Decide; the first answer wins, a later one is told who won (409)."""
    approval = await _approval(given, ref)
    decision = await given.store.run(
        decide_approval(
            given.terms,
            ref=approval["id"],
            approve=new.decision == "approve",
            scope=new.scope,
            by=new.by,
            via=new.via,
            reason=new.reason,
            digest=new.digest,
        )
    )
    if not decision.won:
        winner = {"state": decision.state, "decided_by": decision.decided_by}
        return problem(409, f"A{approval['num']} is {decision.state} already", winner=winner)
    rules: list[JsonValue] = [f"R{number}" for number in decision.rules]
    shown = as_json(decision.approval)
    shown["rules"] = rules
    return shown


def as_json(row: Row) -> JsonObject:
    """Give an approval as the API shows it."""
    return dict(row) | {"ref": f"A{row['num']}", "request": json.loads(row["request"])}


async def _approval(given: Services, ref: str) -> Row:
    rows = await given.store.read("approval", ref=ref)
    if not rows:
        raise NotFoundError(f"there is no approval {ref!r}")
    return rows[0]
