"""The route of usage and cost."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query

from ias.domain.messages import JsonObject
from ias.usage import DAYS, DAYS_MAX, By, first_day, report
from ias.web.services import Services, services

router = APIRouter(prefix="/api/usage", tags=["usage"])
Given = Annotated[Services, Depends(services)]


@router.get("", response_model=None)
async def show_usage(
    given: Given,
    by: By = By.DAY,
    days: Annotated[int, Query(ge=1, le=DAYS_MAX)] = DAYS,
    user_id: str | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> JsonObject:
    """Sum up tokens and cost of the last days (in UTC, today included) by day, user, conversation or model."""
    since = first_day(datetime.now(UTC), days)
    rows = await given.store.read("usage", by=by, since=since, user_id=user_id)
    return report(rows, by=by, since=since, limit=limit)
