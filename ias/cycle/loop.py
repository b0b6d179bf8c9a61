"""`LlmCycle`: the tool loop in memory, for programs that embed `ias`."""

import asyncio
import itertools
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Self, cast

from ias.cycle.execution import Execution
from ias.cycle.plan import STOP_AT, Plan, plan_calls
from ias.cycle.step import CycleConfig, ModelStep
from ias.domain.events import AssistantTextDelta, ReasoningDelta, StreamEvent, TurnComplete
from ias.domain.messages import (
    ChatResponse,
    Message,
    ReasoningChunk,
    TextChunk,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from ias.domain.tools import Result
from ias.errors import Code, EmptyResponseError, LlmError, MaxTurnsError, RetryableLlmError
from ias.providers.base import Provider, retry_delay
from ias.providers.choose import AUTO, LlmSettings, is_offline, open_client, open_provider
from ias.registry import ToolRegistry
from ias.store.words import told

if TYPE_CHECKING:
    from types import AsyncGeneratorType

    import httpx

    from ias.hosting.host import Approver, Host

    Turn = AsyncGeneratorType[StreamEvent | ChatResponse, None]

TURN_ENDED = Result(content="the turn ended before this call was carried out", code=Code.TURN_ENDED)


class LlmCycle:
    """A conversation with a model that may call tools, kept in memory.

    The daemon's queue drives the same `ModelStep` and `plan_calls`. Calls of one answer run side by side: tools in
    Python through `ToolRegistry.invoke_all`, dropped-in tools through the daemon's runner and gate, over a store that
    is made at the first such call. A failed call goes back to the model as text and does not end the loop. A provider's
    retryable error is tried again, `config.max_attempts` times in all.

    Close it, or use it with `async with`, where it has a provider by name or calls dropped-in tools.

    Args:
        provider: A provider's name, one of `PROFILES`, like `deepseek`; or `offline`; or `auto`: DeepSeek where
            DEEPSEEK_API_KEY is set, else offline. Or an object with the methods of `Provider`.
        config: How steps are made.
        approver: Awaited for each request of a dropped-in tool that a person must decide on; a yes holds for that
            request alone. Without it the answer is no.

    Raises:
        ConfigError: The provider's name is unknown, or its model, address or key is missing.

    Example:
        ```python
        async with LlmCycle("auto", CycleConfig(system="Be brief.")) as cycle:
            answer = await cycle.submit_with_tools("What time is it in Tokyo?", registry)
            print(answer.message.text)
        ```
    """

    def __init__(
        self,
        provider: Provider | str = AUTO,
        config: CycleConfig | None = None,
        *,
        approver: "Approver | None" = None,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.config = config or CycleConfig()
        self._provider = provider
        self._approver = approver
        self._pause = pause
        self._client: httpx.AsyncClient | None = None
        self._model: ModelStep | None = self._open_model()
        self._host: Host | None = None
        self._messages: list[Message] = []
        self._turn: Turn | None = None

    async def __aenter__(self) -> Self:
        """Give the cycle itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        await self.close()

    async def close(self) -> None:
        """Let connections, programs and the store of dropped-in tools go; the trace stays. May be called twice."""
        host, self._host = self._host, None
        client, self._client = self._client, None
        self._model = None
        if host is not None:
            await host.close()
        if client is not None:
            await client.aclose()

    def messages(self) -> tuple[Message, ...]:
        """Give the whole trace so far: user, assistant and tool messages in order; each call has its result."""
        return tuple(self._messages)

    async def submit_with_tools(self, prompt: str, registry: ToolRegistry) -> ChatResponse:
        """Send a prompt and run the tools that the model calls until it answers.

        Args:
            prompt: What the person says.
            registry: The tools that the model may call.

        Returns:
            The answer that ends the turn.

        Raises:
            MaxTurnsError: After `max_turns` model steps without a final answer, or five times the same call.
            LlmError: What the provider said; or a prompt is under way already.
            StateError: The store of dropped-in tools cannot be used.

        Example:
            ```python
            answer = await cycle.submit_with_tools("Is it raining in Oslo?", registry)
            ```
        """
        answer: ChatResponse | None = None
        async with aclosing(self._begin(prompt, registry)) as items:
            async for item in items:
                if isinstance(item, ChatResponse):
                    answer = item
        if answer is None:
            raise AssertionError("the loop ended without an answer")
        return answer

    async def submit_stream_with_tools(self, prompt: str, registry: ToolRegistry) -> AsyncGenerator[StreamEvent, None]:
        """Do the same as `submit_with_tools`, giving events as they happen.

        The order of a step with calls: text and reasoning, `ToolExecutionStarted` for each call,
        `TurnComplete{tool_calls}`, then `ToolExecutionCompleted` for each call as it ends, with `ApprovalRequested` and
        `ApprovalResolved` before it where a person was asked. Any other `TurnComplete` is the last event. A delta with
        a new `attempt` replaces the text of the attempt before. The next prompt ends a stream that was left open.

        Args:
            prompt: What the person says.
            registry: The tools that the model may call.

        Raises:
            MaxTurnsError: After `max_turns` model steps without a final answer, or five times the same call.
            LlmError: What the provider said; or a prompt is under way already.
            StateError: The store of dropped-in tools cannot be used.

        Example:
            ```python
            async for event in cycle.submit_stream_with_tools("Is it raining in Oslo?", registry):
                if isinstance(event, AssistantTextDelta):
                    print(event.text, end="")
            ```
        """
        async with aclosing(self._begin(prompt, registry)) as items:
            async for item in items:
                if not isinstance(item, ChatResponse):
                    yield item

    def _begin(self, prompt: str, registry: ToolRegistry) -> "Turn":
        before = self._turn
        if before is not None and before.ag_running:
            raise LlmError("a prompt is under way already; wait for its answer, or use another LlmCycle")
        self._turn = cast("Turn", self._loop(prompt, registry, before))
        return self._turn

    async def _loop(
        self, prompt: str, registry: ToolRegistry, before: "Turn | None"
    ) -> AsyncGenerator[StreamEvent | ChatResponse, None]:
        if before is not None:
            await before.aclose()  # a stream that was left open: its calls get their results before the next prompt
        self._messages.append(UserMessage(text=prompt))
        earlier: list[str] = []
        for step in range(1, self.config.max_turns + 1):
            answer: ChatResponse | None = None
            async with aclosing(self._ask(step, registry)) as items:
                async for item in items:
                    if isinstance(item, ChatResponse):
                        answer = item
                    else:
                        yield item
            if answer is None:
                raise AssertionError("the provider ended its stream without a response")
            if not answer.message.calls:
                self._messages.append(answer.message)
                yield TurnComplete(step=step, reason=answer.stop_reason)
                yield answer
                return
            plan = await plan_calls(answer.message.calls, registry, earlier=earlier)
            earlier.extend(call.digest for call in plan.calls)
            async with aclosing(self._carry_out(answer, plan, registry, step)) as events:
                async for event in events:
                    yield event
            if plan.is_loop:
                raise MaxTurnsError(f"the model made the same call {STOP_AT} times; ask in another way")
        raise MaxTurnsError(f"no final answer after {self.config.max_turns} model steps")

    async def _ask(
        self, step: int, registry: ToolRegistry
    ) -> AsyncGenerator[AssistantTextDelta | ReasoningDelta | ChatResponse, None]:
        empties = 0
        for attempt in itertools.count(1):
            try:
                async with aclosing(self._ask_once(step, attempt, registry, empties)) as items:
                    async for item in items:
                        yield item
            except RetryableLlmError as error:
                empties += isinstance(error, EmptyResponseError)
                delay = retry_delay(error, attempt)
                if delay is None or attempt >= self.config.max_attempts:
                    raise
                await self._pause(delay)
            else:
                return

    async def _ask_once(
        self, step: int, attempt: int, registry: ToolRegistry, empties: int
    ) -> AsyncGenerator[AssistantTextDelta | ReasoningDelta | ChatResponse, None]:
        if self._model is None:
            self._model = self._open_model()
        said = thought = 0
        async with aclosing(self._model.stream(tuple(self._messages), registry, empties=empties)) as stream:
            async for item in stream:
                match item:
                    case TextChunk():
                        yield AssistantTextDelta(step=step, text=item.text, attempt=attempt, offset=said)
                        said += len(item.text)
                    case ReasoningChunk():
                        yield ReasoningDelta(step=step, text=item.text, attempt=attempt, offset=thought)
                        thought += len(item.text)
                    case ChatResponse():
                        yield item

    async def _carry_out(
        self, answer: ChatResponse, plan: Plan, registry: ToolRegistry, step: int
    ) -> AsyncGenerator[StreamEvent, None]:
        execution = Execution(plan.calls, registry, step=step, host=self._open_host)
        try:
            for event in execution.started():
                yield event
            yield TurnComplete(step=step, reason="tool_calls")
            if plan.is_loop:
                for event in execution.end(TURN_ENDED):
                    yield event
                return
            async with aclosing(execution.run()) as events:
                async for event in events:
                    yield event
        finally:  # also where the stream was left: a call without a result would spoil the next request
            self._messages.append(answer.message)
            self._messages.extend(
                tool_message(call.call, result) for call, result in zip(plan.calls, execution.results(), strict=True)
            )

    def _open_model(self) -> ModelStep:
        provider = self._provider
        if isinstance(provider, str):
            settings = LlmSettings(
                provider=provider,
                model=self.config.model or None,
                base_url=self.config.base_url,
                api_key=self.config.api_key,
                timeout=self.config.timeout,
                idle_timeout=self.config.idle_timeout,
            )
            if not is_offline(settings, os.environ):
                self._client = open_client()
            provider = open_provider(settings, env=os.environ, client=self._client, tap=lambda _kind, _text: None)
        return ModelStep(provider, replace(self.config, model=self.config.model or provider.model))

    def _open_host(self) -> "Host":
        if self._host is None:
            from ias.hosting.host import Host  # noqa: PLC0415 - store, gate and runner cost a Python tool's user 0.2 s

            self._host = Host(self._approver, state=self.config.state, approval_timeout=self.config.approval_timeout)
        return self._host


def tool_message(call: ToolCall, result: Result) -> ToolMessage:
    """Give the message that answers a call."""
    return ToolMessage(call_id=call.id, name=call.name, text=told(result), is_error=result.is_error)
