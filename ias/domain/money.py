"""Amounts of money, exact."""

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Money:
    """An amount in millionths of its currency (an ISO 4217 code, like CNY): what a token costs is less than a cent."""

    micros: int
    currency: str

    @property
    def amount(self) -> str:
        """Give the amount as people write it, all its digits and no more: `0.0021`."""
        return format(Decimal(self.micros).scaleb(-6).normalize(), "f")

    def __str__(self) -> str:
        return f"{self.amount} {self.currency}"
