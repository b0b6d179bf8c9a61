"""Prices and budget as config.yaml says them, and what is refused before the daemon starts."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from ias.config.load import Config, load_config
from ias.daemon.spending import spending_of
from ias.domain.messages import Usage
from ias.domain.money import Money
from ias.errors import ConfigError
from ias.providers.offline import OfflineProvider
from ias.spending import Budget
from tests.cycle.script import ScriptedModel

AT = datetime(2026, 12, 1, 12, tzinfo=UTC)
USAGE = Usage(input=1000, output=100, cached=500)
OWN = """prices:
    m:1: {input: 0.1, cached: 0.02, output: 2, currency: EUR}
    n: {input: 3, output: 4, currency: CNY}"""


def config_of(home: Path, llm: str) -> Config:
    (home / "config.yaml").write_text(f"llm:\n  {llm}\n", "utf-8")
    return load_config(home, {})


def test_prices_of_the_configuration_are_exact_and_cached_input_costs_as_input_unless_it_says_so(
    tmp_path: Path,
) -> None:
    spending = spending_of(config_of(tmp_path, OWN), ScriptedModel())

    assert spending.prices.cost(USAGE, "m:1", at=AT) == Money(micros=50 + 10 + 200, currency="EUR")
    assert spending.prices.cost(USAGE, "n", at=AT) == Money(micros=3000 + 400, currency="CNY")


def test_without_a_word_there_is_no_budget_and_no_price_but_the_built_in_ones(tmp_path: Path) -> None:
    spending = spending_of(load_config(tmp_path, {}), ScriptedModel())

    assert spending.budget == Budget()
    assert spending.prices.cost(USAGE, "deepseek-flash", at=AT) is None


def test_the_budget_is_in_the_currency_it_names(tmp_path: Path) -> None:
    llm = OWN + "\n  model: m:1\n  budget: {tokens_per_day: 5000, money_per_day: 0.29, currency: EUR}"
    spending = spending_of(config_of(tmp_path, llm), ScriptedModel())

    assert spending.budget == Budget(tokens=5000, money=Money(micros=290_000, currency="EUR"))


@pytest.mark.parametrize("model", ["unknown", "m:1"])
def test_a_budget_of_money_that_cannot_be_kept_is_refused(tmp_path: Path, model: str) -> None:
    config = config_of(tmp_path, f"{OWN}\n  model: {model}\n  budget:\n    money_per_day: 5")

    with pytest.raises(ConfigError) as caught:
        spending_of(config, ScriptedModel())
    assert str(caught.value).removeprefix(f"{config.file}:7: ") == (
        f"llm.budget.money_per_day cannot be kept: what {model!r} costs in CNY is not known; "
        "write it under llm.prices, or set tokens_per_day instead"
    )


def test_without_a_model_any_budget_can_be_kept(tmp_path: Path) -> None:
    config = config_of(tmp_path, "budget: {money_per_day: 1, currency: USD}")

    assert spending_of(config, OfflineProvider()).budget == Budget(money=Money(micros=1_000_000, currency="USD"))
