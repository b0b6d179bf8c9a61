"""What the operator lets the model cost a day, and whether that is used up: judged by the stored rows alone."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from ias.domain.messages import ChatResponse
from ias.domain.money import Money
from ias.prices import PriceList
from ias.store.base import Row, Store
from ias.store.connection import Clock, epoch_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What all model calls of a day may use together; a day is one in UTC, like those that usage rows name.

    Attributes:
        tokens: Input and output; None for no limit.
        money: In the currency of the price list that is used; None for no limit.
    """

    tokens: int | None = None
    money: Money | None = None

    def used_up(self, rows: Sequence[Row]) -> str | None:
        """Name the limit that a day's usage has reached, as a person reads it; None for none.

        Args:
            rows: Of the reading statement `usage_of_day`. Costs that are unknown, or in another currency, do not count.
        """
        tokens = sum(row["tokens"] for row in rows)
        if self.tokens is not None and tokens >= self.tokens:
            return f"{self.tokens:,} tokens"
        money = self.money
        if money is not None:
            micros = sum(row["cost"] or 0 for row in rows if row["currency"] == money.currency)
            if micros >= money.micros:
                return str(money)
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhausted:
    """A budget that is used up: which limit, when there is a new one, and how long that is from now."""

    limit: str
    resumes_at: datetime
    wait: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """Prices calls, and says before a call whether there is something left for it.

    A call that has begun is let finish, so a day may go over its budget by the calls that are made at once.

    Attributes:
        prices: What calls are priced by.
        budget: The limits.
        clock: The store's clock: it decides the day of a usage row.
    """

    prices: PriceList = field(default_factory=PriceList)
    budget: Budget = field(default_factory=Budget)
    clock: Clock = epoch_ms

    def cost(self, answer: ChatResponse, asked_for: str) -> Money | None:
        """Price an answer that has just ended; None if its price is unknown.

        Args:
            answer: It names the model as the provider does.
            asked_for: The model as the request named it.
        """
        return self.prices.cost(answer.usage, answer.model, asked_for, at=self._now())

    async def exhausted(self, store: Store) -> Exhausted | None:
        """Say whether today's budget is used up; None while the model may be called.

        Raises:
            StateError: The store cannot be read.
        """
        if self.budget == Budget():
            return None
        now = self._now()
        limit = self.budget.used_up(await store.read("usage_of_day", day=now.date().isoformat()))
        if limit is None:
            return None
        resumes_at = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
        return Exhausted(limit=limit, resumes_at=resumes_at, wait=resumes_at - now)

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self.clock() / 1000, UTC)


UNMETERED = Spending()  # no prices, no limits
