"""Stores that fail as disks and power cuts do, over a real one."""

from typing import Any, TypeVar

from ias.errors import DiskFullError
from ias.store.base import Row, Store, Transaction

T = TypeVar("T")


class PowerCutError(BaseException):
    """The process is gone: no handler of errors may hold it up."""


class _Wrapped:
    """Passes everything on to a real store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.on_commit = store.on_commit

    async def read(self, name: str, **params: Any) -> list[Row]:
        return await self._store.read(name, **params)

    async def close(self) -> None:
        await self._store.close()


class FailingStore(_Wrapped):
    """A store whose transactions of one name fail, as often as said, before they reach the database."""

    def __init__(self, store: Store, name: str, times: int) -> None:
        super().__init__(store)
        self._name = name
        self.left = times

    async def run(self, transaction: Transaction[T]) -> T:
        if transaction.name == self._name and self.left:
            self.left -= 1
            raise DiskFullError("no space is left for the database; free some, nothing was stored")
        return await self._store.run(transaction)


class CuttingStore(_Wrapped):
    """A store under which the power goes: after `left` transactions, before or after the next one's COMMIT."""

    def __init__(self, store: Store, left: int, *, is_after_commit: bool) -> None:
        super().__init__(store)
        self.left = left
        self._is_after_commit = is_after_commit

    async def run(self, transaction: Transaction[T]) -> T:
        if self.left == 0 and not self._is_after_commit:
            raise PowerCutError
        value = await self._store.run(transaction)
        if self.left == 0:
            raise PowerCutError
        self.left -= 1
        return value
