"""Tools made in Python, for tests of what calls them."""

import asyncio
from collections.abc import Awaitable, Callable

from ias.domain.messages import JsonObject, JsonValue
from ias.domain.tools import Example, Permission
from ias.registry import BaseTool

CITY: JsonObject = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "a city"}, "days": {"type": "integer", "minimum": 1}},
    "required": ["city"],
}


class PythonTool(BaseTool):
    """A tool of one function."""

    def __init__(
        self,
        name: str,
        work: Callable[[JsonObject], Awaitable[JsonValue]],
        *,
        description: str = "does something",
        parameters: JsonObject | None = None,
        permissions: tuple[Permission, ...] = (),
        keywords: tuple[str, ...] = (),
        examples: tuple[Example, ...] = (),
    ) -> None:
        self._name = name
        self._work = work
        self._description = description
        self._parameters = parameters or {"type": "object", "properties": {}}
        self._permissions = permissions
        self._keywords = keywords
        self._examples = examples

    @property
    def name(self) -> str:
        return self._name

    @property
    def description(self) -> str:
        return self._description

    @property
    def parameters(self) -> JsonObject:
        return self._parameters

    @property
    def keywords(self) -> tuple[str, ...]:
        return self._keywords

    @property
    def examples(self) -> tuple[Example, ...]:
        return self._examples

    def required_permissions(self) -> tuple[Permission, ...]:
        return self._permissions

    async def execute(self, args: JsonObject) -> JsonValue:
        return await self._work(args)


async def echo(args: JsonObject) -> JsonValue:
    """Give the arguments back."""
    return dict(args)


def meeting(size: int) -> Callable[[JsonObject], Awaitable[JsonValue]]:
    """Make work that ends when `size` calls of it are under way at once."""
    barrier = asyncio.Barrier(size)

    async def work(args: JsonObject) -> JsonValue:
        async with asyncio.timeout(5):
            await barrier.wait()
        return args["n"]

    return work
