"""What model calls used, summed up by day, user, conversation or model: the rows of the store as people read them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from ias.domain.messages import JsonObject, JsonValue
from ias.domain.money import Money
from ias.store.base import Row

DAYS = 30  # that are shown unless asked otherwise
DAYS_MAX = 36_500


class By(StrEnum):
    """What usage is summed up by."""

    DAY = "day"
    USER = "user"
    CONVERSATION = "conversation"
    MODEL = "model"


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """The sum of some model calls.

    Attributes:
        of: The day, user, conversation or model; empty for the sum of all.
        calls: How many.
        input: Tokens that were sent.
        cached: Those of them that the provider had in its cache.
        output: Tokens that came back.
        reasoning: Those of them that were reasoning.
        costs: What is known of the cost, at most one amount a currency.
        unpriced: Calls whose cost is unknown; it comes on top of `costs`.
    """

    of: str = ""
    calls: int = 0
    input: int = 0
    cached: int = 0
    output: int = 0
    reasoning: int = 0
    costs: tuple[Money, ...] = ()
    unpriced: int = 0

    @property
    def cache_share(self) -> float | None:
        """Give the part of the input that came from the cache, 0 to 1; None where there was no input."""
        return self.cached / self.input if self.input else None

    def plus(self, other: "Used") -> "Used":
        """Add another sum; what it is of stays."""
        micros = {cost.currency: cost.micros for cost in self.costs}
        for cost in other.costs:
            micros[cost.currency] = micros.get(cost.currency, 0) + cost.micros
        return Used(
            of=self.of,
            calls=self.calls + other.calls,
            input=self.input + other.input,
            cached=self.cached + other.cached,
            output=self.output + other.output,
            reasoning=self.reasoning + other.reasoning,
            costs=tuple(Money(micros=micros[currency], currency=currency) for currency in sorted(micros)),
            unpriced=self.unpriced + other.unpriced,
        )


def first_day(now: datetime, days: int) -> str:
    """Give the first of so many days in UTC, today the last of them, as usage rows write a day."""
    return (now.astimezone(UTC).date() - timedelta(days=days - 1)).isoformat()


def sum_up(rows: Iterable[Row], by: By) -> tuple[Used, ...]:
    """Make one sum of the rows of each day, user, conversation or model.

    Args:
        rows: Of the reading statement `usage`, asked for the same `by`: one for each currency.
        by: What they are summed up by.

    Returns:
        Days with the latest first, anything else with the most tokens first.
    """
    found: dict[str, Used] = {}
    for row in rows:
        found[row["of"]] = found.get(row["of"], Used(of=row["of"])).plus(_used(row))
    if by is By.DAY:
        return tuple(sorted(found.values(), key=lambda used: used.of, reverse=True))
    return tuple(sorted(found.values(), key=lambda used: (-used.input - used.output, used.of)))


def total(sums: Iterable[Used]) -> Used:
    """Add sums up."""
    whole = Used()
    for used in sums:
        whole = whole.plus(used)
    return whole


def report(rows: Iterable[Row], *, by: By, since: str, limit: int) -> JsonObject:
    """Give usage as `ias usage --json` and the API show it.

    Args:
        rows: As for `sum_up`.
        by: What they are summed up by.
        since: The first day that counts.
        limit: Sums that are shown; the total is of all.
    """
    sums = sum_up(rows, by)
    lines: list[JsonValue] = [{by.value: used.of} | _numbers(used) for used in sums[:limit]]
    return {"by": by.value, "since": since, "usage": lines, "total": _numbers(total(sums))}


def _numbers(used: Used) -> JsonObject:
    costs: list[JsonValue] = [
        {"amount": cost.amount, "currency": cost.currency, "micros": cost.micros} for cost in used.costs
    ]
    share = used.cache_share
    return {
        "calls": used.calls,
        "input_tokens": used.input,
        "cached_tokens": used.cached,
        "cache_hit_share": None if share is None else round(share, 4),
        "output_tokens": used.output,
        "reasoning_tokens": used.reasoning,
        "cost": costs if costs or not used.calls else None,
        "calls_of_unknown_cost": used.unpriced,
    }


def _used(row: Row) -> Used:
    currency: str | None = row["currency"]
    costs = () if currency is None else (Money(micros=row["cost"], currency=currency),)
    return Used(
        of=row["of"],
        calls=row["calls"],
        input=row["tokens_in"],
        cached=row["tokens_cached"],
        output=row["tokens_out"],
        reasoning=row["tokens_reasoning"],
        costs=costs,
        unpriced=0 if costs else row["calls"],
    )
