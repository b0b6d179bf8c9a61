"""What a call costs: by model and hour, the operator's word first, and unknown where nobody stated a price."""

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ias.domain.messages import Usage
from ias.domain.money import Money
from ias.prices import DEEPSEEK_HOURS, PRICES, USD, PriceList, Tariff, price

OFF_PEAK = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)  # a Tuesday, 20:00 in Beijing
PEAK = datetime(2026, 12, 1, 2, 0, tzinfo=UTC)  # the same day, 10:00
USAGE = Usage(input=1000, output=100, cached=600, reasoning=40)
DEEPSEEK = PriceList(provider="deepseek")


@pytest.mark.parametrize(
    ("model", "at", "currency", "micros"),
    [
        ("deepseek-flash", OFF_PEAK, "CNY", 400 * 1 + 12 + 400),
        ("deepseek-flash", PEAK, "CNY", 400 * 2 + 24 + 800),
        ("deepseek-v4-flash", OFF_PEAK, "CNY", 812),
        ("deepseek-v4-pro", OFF_PEAK, "CNY", 1800 + 90 + 1350),
        ("deepseek-flash", OFF_PEAK, "USD", 60 + 2 + 60),
        ("deepseek-v4-pro", PEAK, "USD", 951),
    ],
)
def test_a_call_costs_what_the_list_says_for_its_hour(model: str, at: datetime, currency: str, micros: int) -> None:
    prices = PriceList(provider="deepseek", currency=currency)

    assert prices.cost(USAGE, model, at=at) == Money(micros=micros, currency=currency)


@pytest.mark.parametrize(
    ("at", "is_peak"),
    [
        ("2026-12-01T09:00:00+08:00", True),
        ("2026-12-01T08:59:59+08:00", False),
        ("2026-12-01T11:59:59+08:00", True),
        ("2026-12-01T12:00:00+08:00", False),
        ("2026-12-01T14:00:00+08:00", True),
        ("2026-12-01T18:00:00+08:00", False),
        ("2026-12-05T10:00:00+08:00", False),  # a Saturday
        ("2026-10-10T10:00:00+08:00", False),  # a Saturday on which people work
        ("2026-10-01T10:00:00+08:00", False),  # National Day
        ("2026-10-08T10:00:00+08:00", True),
        ("2026-11-30T20:00:00-05:00", True),  # Tuesday morning in Beijing, Monday evening elsewhere
        ("2026-12-04T22:00:00-05:00", False),  # Saturday there already
    ],
)
def test_peak_hours_are_those_of_working_days_in_beijing(at: str, *, is_peak: bool) -> None:
    assert (datetime.fromisoformat(at) in DEEPSEEK_HOURS) is is_peak


def test_the_operators_price_goes_before_the_built_in_one() -> None:
    own = Tariff(currency="EUR", price=price("2", "2", "3"))
    prices = PriceList(provider="deepseek", own={"deepseek-flash": own})

    assert prices.cost(USAGE, "deepseek-flash", at=PEAK) == Money(micros=2300, currency="EUR")


def test_the_name_in_the_answer_counts_before_the_name_that_was_asked_for() -> None:
    flash, pro = "deepseek-flash", "deepseek-v4-pro"

    assert DEEPSEEK.tariff(pro, flash) == DEEPSEEK.tariff(pro)
    assert DEEPSEEK.tariff("deepseek-flash-of-a-new-date", flash) == DEEPSEEK.tariff(flash)
    own = replace(DEEPSEEK, own={flash: Tariff(currency=USD, price=price("1", "1", "1"))})
    assert own.tariff("deepseek-flash-of-a-new-date", flash) == own.own[flash]


@pytest.mark.parametrize(
    ("provider", "model"), [("deepseek", "deepseek-v9"), ("openai", "gpt-5"), ("openai_compatible", "deepseek-flash")]
)
def test_a_price_that_nobody_stated_is_unknown_and_not_nothing(provider: str, model: str) -> None:
    assert PriceList(provider=provider).cost(USAGE, model, at=OFF_PEAK) is None


def test_a_call_whose_tokens_nobody_counted_has_an_unknown_cost() -> None:
    assert DEEPSEEK.cost(Usage(), "deepseek-flash", at=OFF_PEAK) is None


def test_a_model_without_a_price_in_the_currency_is_priced_in_the_one_that_it_has() -> None:
    prices = PriceList(provider="deepseek", currency="EUR")

    assert prices.cost(USAGE, "deepseek-flash", at=OFF_PEAK) == Money(micros=812, currency="CNY")


def test_without_a_model_nothing_is_owed() -> None:
    prices = PriceList(provider="offline", currency="USD")

    assert prices.cost(Usage(), "offline", at=OFF_PEAK) == Money(micros=0, currency="USD")


def test_more_cached_tokens_than_tokens_do_not_make_a_call_cheaper_than_all_cached() -> None:
    odd = Usage(input=10, output=0, cached=5000)

    assert DEEPSEEK.cost(odd, "deepseek-flash", at=OFF_PEAK) == Money(micros=1, currency="CNY")


def test_every_built_in_tariff_with_peak_prices_has_its_hours_and_none_is_cheaper_then() -> None:
    tariffs = [tariff for models in PRICES.values() for found in models.values() for tariff in found]

    assert tariffs
    for tariff in tariffs:
        assert (tariff.peak is None) == (tariff.hours is None)
        assert tariff.peak is None or tariff.peak.output >= tariff.price.output
        assert tariff.price.cached <= tariff.price.input


@given(
    tokens=st.tuples(*[st.integers(0, 10**7)] * 3),
    millionths=st.tuples(*[st.integers(0, 10**8)] * 3),
)
def test_a_cost_is_the_exact_sum_rounded_up(tokens: tuple[int, int, int], millionths: tuple[int, int, int]) -> None:
    plain, cached, output = tokens
    a, b, c = (Decimal(part).scaleb(-6) for part in millionths)
    exact = plain * a + cached * b + output * c

    cost = price(str(a), str(b), str(c)).of(Usage(input=plain + cached, cached=cached, output=output))

    assert exact <= cost < exact + 1


@pytest.mark.parametrize(
    ("micros", "shown"), [(0, "0 CNY"), (1, "0.000001 CNY"), (2_100_000, "2.1 CNY"), (100_000_000, "100 CNY")]
)
def test_an_amount_is_shown_with_all_its_digits(micros: int, shown: str) -> None:
    assert str(Money(micros=micros, currency="CNY")) == shown
