"""What config.yaml says of prices and budget, as the model's consumer takes it."""

from decimal import ROUND_CEILING, Decimal

from ias.config.load import Config
from ias.config.settings import ModelPrice
from ias.domain.money import Money
from ias.prices import Price, PriceList, Tariff
from ias.providers.base import Provider
from ias.spending import Budget, Spending


def spending_of(config: Config, provider: Provider) -> Spending:
    """Give what prices calls and holds the day's budget.

    Args:
        config: The configuration.
        provider: The one that is called; its name picks the built-in prices.

    Raises:
        ConfigError: There is a budget of money, and what the model costs in its currency is not known.
    """
    llm = config.settings.llm
    prices = PriceList(
        provider=provider.name,
        currency=llm.budget.currency,
        own={model: _tariff(given) for model, given in llm.prices.items()},
    )
    budget = _budget(config)
    model = llm.model or provider.model
    tariff = prices.tariff(model)
    if budget.money is not None and (tariff is None or tariff.currency != budget.money.currency):
        raise config.error(
            "llm.budget.money_per_day",
            f"cannot be kept: what {model!r} costs in {budget.money.currency} is not known; write it under llm.prices, "
            "or set tokens_per_day instead",
        )
    return Spending(prices=prices, budget=budget)


def _budget(config: Config) -> Budget:
    given = config.settings.llm.budget
    money = None
    if given.money_per_day is not None:
        micros = _exact(given.money_per_day).scaleb(6).to_integral_value(ROUND_CEILING)
        money = Money(micros=int(micros), currency=given.currency)
    return Budget(tokens=given.tokens_per_day, money=money)


def _tariff(given: ModelPrice) -> Tariff:
    cached = given.input if given.cached is None else given.cached
    price = Price(input=_exact(given.input), cached=_exact(cached), output=_exact(given.output))
    return Tariff(currency=given.currency, price=price)


def _exact(number: float) -> Decimal:
    """Give a number as it was written, not as the nearest binary fraction."""
    return Decimal(repr(number))
