"""What model calls cost: price lists as data with their hours, and the price of one call.

A price that nobody stated is unknown (None), never nothing. Not built in are Anthropic's and OpenAI's, where writing
into the cache has a price of its own and the usage that is kept does not count that apart, and Qwen's, which depend on
region and length of the input.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import ROUND_CEILING, Decimal

from ias.domain.messages import Usage
from ias.domain.money import Money

CNY, USD = "CNY", "USD"


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What 1,000,000 tokens cost, which is also what one token costs in millionths; `cached` is for input."""

    input: Decimal
    cached: Decimal
    output: Decimal

    @property
    def is_free(self) -> bool:
        """Whether no token costs anything."""
        return not (self.input or self.cached or self.output)

    def of(self, usage: Usage) -> int:
        """Price the tokens of one call, in millionths, rounded up: a budget is not outrun by fractions."""
        cached = min(usage.cached, usage.input)
        cost = self.input * (usage.input - cached) + self.cached * cached + self.output * usage.output
        return int(cost.to_integral_value(ROUND_CEILING))


@dataclass(frozen=True, slots=True, kw_only=True)
class PeakHours:
    """When a peak price holds.

    Attributes:
        zone: Whose clock it is.
        weekdays: Days of the week, 0 is Monday.
        spans: From the first time on, up to and without the second.
        holidays: Days that are not peak, whatever their weekday. Those of a year that is not in it count by weekday
            alone: the cost is then an upper bound.
    """

    zone: timezone
    weekdays: frozenset[int]
    spans: tuple[tuple[time, time], ...]
    holidays: frozenset[date] = frozenset()

    def __contains__(self, at: datetime) -> bool:
        """Say whether an instant is in them."""
        here = at.astimezone(self.zone)
        if here.weekday() not in self.weekdays or here.date() in self.holidays:
            return False
        return any(start <= here.time() < end for start, end in self.spans)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tariff:
    """The price of a model in one currency, and where it has peak hours, the price in these."""

    currency: str
    price: Price
    peak: Price | None = None
    hours: PeakHours | None = None

    def at(self, at: datetime) -> Price:
        """Give the price that holds at an instant."""
        return self.peak if self.peak is not None and self.hours is not None and at in self.hours else self.price


def price(input_: str, cached: str, output: str) -> Price:
    """Make a price of 1,000,000 tokens, exact as written."""
    return Price(input=Decimal(input_), cached=Decimal(cached), output=Decimal(output))


def _days(first: date, last: date) -> frozenset[date]:
    return frozenset(first + timedelta(days=day) for day in range((last - first).days + 1))


# The State Council's schedule for 2026, from when DeepSeek first had peak hours on (2026-08-17).
CHINA_HOLIDAYS = _days(date(2026, 9, 25), date(2026, 9, 27)) | _days(date(2026, 10, 1), date(2026, 10, 7))

# api-docs.deepseek.com/quick_start/pricing, 2026-10-17: Monday to Friday but Chinese public holidays, Beijing time.
# Which instant of a call counts is not said: here it is the end of its answer.
DEEPSEEK_HOURS = PeakHours(
    zone=timezone(timedelta(hours=8)),
    weekdays=frozenset(range(5)),
    spans=((time(9), time(12)), (time(14), time(18))),
    holidays=CHINA_HOLIDAYS,
)

# The same page, in Chinese of 2026-10-17 (CNY) and in English of 2026-09-23 (USD); an account pays in one of the two.
DEEPSEEK_FLASH = (
    Tariff(currency=CNY, price=price("1", "0.02", "4"), peak=price("2", "0.04", "8"), hours=DEEPSEEK_HOURS),
    Tariff(
        currency=USD,
        price=price("0.15", "0.003", "0.60"),
        peak=price("0.30", "0.006", "1.20"),
        hours=DEEPSEEK_HOURS,
    ),
)
DEEPSEEK_PRO = (
    Tariff(currency=CNY, price=price("4.5", "0.15", "13.5"), peak=price("9", "0.30", "27"), hours=DEEPSEEK_HOURS),
    Tariff(
        currency=USD,
        price=price("0.66", "0.022", "1.98"),
        peak=price("1.32", "0.044", "3.96"),
        hours=DEEPSEEK_HOURS,
    ),
)
DEEPSEEK = {
    "deepseek-flash": DEEPSEEK_FLASH,
    # Older names, served and billed as Flash (the same page).
    "deepseek-v4-flash": DEEPSEEK_FLASH,
    "deepseek-v4-flash-vision-exp": DEEPSEEK_FLASH,
    "deepseek-v4-pro": DEEPSEEK_PRO,
}
# No model is called, so nothing is owed, in whatever currency.
NOTHING = tuple(Tariff(currency=currency, price=price("0", "0", "0")) for currency in (CNY, USD))

# By provider, as in `llm.provider`: a gateway that serves the same model has prices of its own.
PRICES: Mapping[str, Mapping[str, tuple[Tariff, ...]]] = {
    "deepseek": DEEPSEEK,
    "deepseek_anthropic": DEEPSEEK,
    "offline": {"offline": NOTHING},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceList:
    """The prices that one provider's calls are counted by.

    Attributes:
        provider: As in `llm.provider`.
        currency: Which of a model's built-in tariffs counts; where it has none in this currency, its first does.
        own: The operator's tariffs by model, which go before the built-in ones.
    """

    provider: str = ""
    currency: str = CNY
    own: Mapping[str, Tariff] = field(default_factory=lambda: {})

    def tariff(self, *models: str) -> Tariff | None:
        """Give the tariff of a model; None if it is not known.

        Args:
            models: Its names, the best first: as the answer has it, then as it was asked for.
        """
        for model in models:
            if model in self.own:
                return self.own[model]
        known = PRICES.get(self.provider, {})
        tariffs = next((known[model] for model in models if model in known), ())
        return next((tariff for tariff in tariffs if tariff.currency == self.currency), next(iter(tariffs), None))

    def cost(self, usage: Usage, *models: str, at: datetime) -> Money | None:
        """Price one call.

        Args:
            usage: Its tokens. None at all is a provider that does not count them, not a call that was free.
            models: As for `tariff`.
            at: When its answer ended.

        Returns:
            None where the price or the usage is unknown.
        """
        tariff = self.tariff(*models)
        if tariff is None:
            return None
        holds = tariff.at(at.astimezone(UTC))
        if usage == Usage() and not holds.is_free:
            return None
        return Money(micros=holds.of(usage), currency=tariff.currency)
