"""Sums of usage rows, and a day's budget judged by them."""

from datetime import UTC, datetime

import pytest

from ias.domain.money import Money
from ias.spending import Budget
from ias.store.base import Row
from ias.usage import By, Used, first_day, report, sum_up, total


def row(of: str, currency: str | None, cost: int | None, *, calls: int = 1, tokens: int = 10) -> Row:
    return {
        "of": of,
        "currency": currency,
        "cost": cost,
        "calls": calls,
        "tokens_in": tokens,
        "tokens_out": 2,
        "tokens_cached": 4,
        "tokens_reasoning": 1,
    }


ROWS = (row("a", None, None, calls=3), row("a", "CNY", 5), row("a", "USD", 7), row("b", "CNY", 1, tokens=1000))


def test_rows_of_each_currency_become_one_sum_and_unknown_costs_stay_apart() -> None:
    a, b = sum_up(ROWS, By.DAY)[::-1]

    assert a == Used(
        of="a",
        calls=5,
        input=30,
        cached=12,
        output=6,
        reasoning=3,
        costs=(Money(micros=5, currency="CNY"), Money(micros=7, currency="USD")),
        unpriced=3,
    )
    assert b.costs == (Money(micros=1, currency="CNY"),)


def test_days_come_latest_first_and_others_by_their_tokens() -> None:
    assert [used.of for used in sum_up(ROWS, By.DAY)] == ["b", "a"]
    assert [used.of for used in sum_up([row("a", None, None), row("b", None, None), *ROWS], By.USER)] == ["b", "a"]


def test_the_total_is_of_everything_also_of_what_is_not_shown() -> None:
    shown = report(ROWS, by=By.MODEL, since="2026-12-01", limit=1)

    assert shown == {
        "by": "model",
        "since": "2026-12-01",
        "usage": [
            {
                "model": "b",
                "calls": 1,
                "input_tokens": 1000,
                "cached_tokens": 4,
                "cache_hit_share": 0.004,
                "output_tokens": 2,
                "reasoning_tokens": 1,
                "cost": [{"amount": "0.000001", "currency": "CNY", "micros": 1}],
                "calls_of_unknown_cost": 0,
            }
        ],
        "total": {
            "calls": 6,
            "input_tokens": 1030,
            "cached_tokens": 16,
            "cache_hit_share": 0.0155,
            "output_tokens": 8,
            "reasoning_tokens": 4,
            "cost": [
                {"amount": "0.000006", "currency": "CNY", "micros": 6},
                {"amount": "0.000007", "currency": "USD", "micros": 7},
            ],
            "calls_of_unknown_cost": 3,
        },
    }


def test_a_cost_that_is_wholly_unknown_is_null_and_no_calls_cost_nothing() -> None:
    unknown = report([row("m", None, None)], by=By.MODEL, since="", limit=9)["total"]
    nothing = report([], by=By.MODEL, since="", limit=9)["total"]

    assert isinstance(unknown, dict)
    assert isinstance(nothing, dict)
    assert (unknown["cost"], unknown["calls_of_unknown_cost"]) == (None, 1)
    assert (nothing["cost"], nothing["cache_hit_share"]) == ([], None)
    assert total(()) == Used()


def test_days_are_those_of_utc_and_today_is_one_of_them() -> None:
    late = datetime.fromisoformat("2026-12-02T07:59:00+08:00")

    assert (first_day(late, 1), first_day(late, 2)) == ("2026-12-01", "2026-11-30")
    assert first_day(datetime(2026, 12, 2, tzinfo=UTC), 1) == "2026-12-02"


@pytest.mark.parametrize(
    ("budget", "limit"),
    [
        (Budget(), None),
        (Budget(tokens=301), None),
        (Budget(tokens=300), "300 tokens"),
        (Budget(money=Money(micros=41, currency="CNY")), None),
        (Budget(money=Money(micros=40, currency="CNY")), "0.00004 CNY"),
        (Budget(money=Money(micros=40, currency="EUR")), None),
        (Budget(tokens=10, money=Money(micros=1, currency="CNY")), "10 tokens"),
    ],
)
def test_a_budget_is_used_up_when_the_days_rows_reach_it(budget: Budget, limit: str | None) -> None:
    rows: list[Row] = [
        {"currency": None, "tokens": 100, "cost": None},
        {"currency": "CNY", "tokens": 150, "cost": 40},
        {"currency": "USD", "tokens": 50, "cost": 90},
    ]

    assert budget.used_up(rows) == limit
    assert budget.used_up([]) is None
