"""The calls of one model step, carried out side by side in the program that embeds `ias`."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ias.aio import beside
from ias.domain.events import StreamEvent, ToolExecutionCompleted, ToolExecutionStarted
from ias.domain.jobs import PlannedCall
from ias.domain.messages import JsonObject
from ias.domain.tools import Result, ToolInvocation, ToolType
from ias.errors import Code
from ias.registry import BaseTool, ToolRegistry, result_of
from ias.store.base import Ids

if TYPE_CHECKING:
    from ias.hosting.host import Host

CANCELLED = Result(content="the call was stopped before it ended", code=Code.CANCELLED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One call with what it needs: `tool` is set where the gate stands before it, `run_id` names that run."""

    call: PlannedCall
    tool: BaseTool | None
    run_id: str


class Execution:
    """Carries out calls: tools in Python through the registry, any other through the gate of a host.

    Args:
        calls: Resolved by `plan_calls`.
        registry: The tools that the model was given.
        step: Number of the model step, for the events.
        host: Gives what carries out calls behind the gate; asked only where there is such a call.
    """

    def __init__(
        self, calls: tuple[PlannedCall, ...], registry: ToolRegistry, *, step: int, host: "Callable[[], Host]"
    ) -> None:
        self._places = tuple(_place(call, registry) for call in calls)
        self._results: list[Result | None] = [None] * len(calls)
        self._registry = registry
        self._step = step
        self._host = host
        self._events: asyncio.Queue[StreamEvent | None] = asyncio.Queue()

    def started(self) -> list[StreamEvent]:
        """Give the event of each call that says that it begins."""
        return [
            ToolExecutionStarted(
                step=self._step,
                run_id=place.run_id,
                call_id=place.call.call.id,
                tool_name=place.call.tool,
                input=place.call.args,
            )
            for place in self._places
        ]

    def results(self) -> list[Result]:
        """Give the result of each call, in their order; a call without one was stopped."""
        return [result or CANCELLED for result in self._results]

    def end(self, result: Result) -> list[StreamEvent]:
        """Give all calls the same result without carrying them out."""
        return [self._completed(number, result) for number in range(len(self._places))]

    async def run(self) -> AsyncGenerator[StreamEvent, None]:
        """Carry the calls out and give what happens as it happens.

        Raises:
            Exception: What the approver raised.
        """
        if len(self._places) == 1 and self._places[0].tool is None:  # nothing runs beside it, and nobody is asked
            yield await self._run_one(0, self._places[0])
            return
        async with beside(self._run_all()):
            while (event := await self._events.get()) is not None:
                yield event

    async def _run_all(self) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                for number, place in enumerate(self._places):
                    group.create_task(self._run_and_tell(number, place))
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None  # the first is what the caller can act on; it cancelled the others
        finally:
            self._events.put_nowait(None)

    async def _run_and_tell(self, number: int, place: Place) -> None:
        self._events.put_nowait(await self._run_one(number, place))

    async def _run_one(self, number: int, place: Place) -> ToolExecutionCompleted:
        call = place.call
        if call.known is not None:
            result = call.known
        elif place.tool is None:
            (done,) = await self._registry.invoke_all((_invocable(call, self._registry),))
            result = _result_of(done)
        else:
            result = await self._host().call(
                place.tool, call, run_id=place.run_id, checker=self._registry.checker, hear=self._hear
            )
        return self._completed(number, result)

    def _hear(self, event: StreamEvent) -> None:
        self._events.put_nowait(replace(event, step=self._step))

    def _completed(self, number: int, result: Result) -> ToolExecutionCompleted:
        self._results[number] = result
        place = self._places[number]
        return ToolExecutionCompleted(
            step=self._step,
            run_id=place.run_id,
            call_id=place.call.call.id,
            tool_name=place.call.tool,
            output=result.content,
            code=result.code,
            is_error=result.is_error,
        )


def _place(call: PlannedCall, registry: ToolRegistry) -> Place:
    if call.known is None:
        tool = _tool_of(call, registry)
        if tool is not None and tool.facts.type is not ToolType.PYTHON:
            return Place(call=call, tool=tool, run_id=Ids().new("r"))
    return Place(call=call, tool=None, run_id="")


def _tool_of(call: PlannedCall, registry: ToolRegistry) -> BaseTool | None:
    """Find the tool of a resolved call; one that stands behind another is that one's target."""
    tool = registry.get(call.tool)
    outer = registry.get(call.call.name)
    if tool is None and outer is not None:
        tool, _ = outer.target(json.loads(call.call.arguments))
    return tool


def _invocable(call: PlannedCall, registry: ToolRegistry) -> tuple[str, JsonObject]:
    """Give a call as the registry knows it: a tool behind another one is reached through that one."""
    if registry.get(call.tool) is None:
        return call.call.name, json.loads(call.call.arguments)
    return call.tool, json.loads(call.args)


def _result_of(invocation: ToolInvocation) -> Result:
    if invocation.error is not None:
        return Result(content=str(invocation.error), code=invocation.error.code)
    return result_of(invocation.output)
