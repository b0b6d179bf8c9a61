"""One model step, the loop guard, and `LlmCycle`: the in-memory tool loop for programs that embed `ias`."""

import hashlib
import json
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field

from ias.domain.approvals import canonical
from ias.domain.events import (
    AssistantTextDelta,
    ReasoningDelta,
    StreamEvent,
    ToolExecutionCompleted,
    ToolExecutionStarted,
    TurnComplete,
)
from ias.domain.jobs import PlannedCall
from ias.domain.messages import (
    ChatResponse,
    JsonObject,
    JsonValue,
    Message,
    MessageRequest,
    ReasoningChunk,
    StreamItem,
    TextChunk,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from ias.domain.tools import Result, ToolInvocation
from ias.errors import Code, InvalidArgumentsError, MaxTurnsError, ToolError, ToolNotFoundError
from ias.providers.base import Provider
from ias.registry import ToolRegistry, result_of

REFUSE_AT = 3  # the third identical call of a turn is answered `repeated_call`
STOP_AT = 5  # the fifth ends the turn
TURN_ENDED = Result(content="the turn ended before this call was carried out", code=Code.TURN_ENDED)
NAMES_SHOWN = 40  # tool names listed to a model that called an unknown one


@dataclass(frozen=True, slots=True, kw_only=True)
class CycleConfig:
    """How model steps are made: `max_turns` counts steps of one turn, `max_tokens` None leaves it to the provider."""

    model: str
    system: str | None = None
    max_turns: int = 10
    max_tokens: int | None = None
    thinking: bool = True
    extra: Mapping[str, JsonValue] = field(default_factory=lambda: {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The calls of one answer, resolved; `is_loop` says that the turn must end because it repeats itself."""

    calls: tuple[PlannedCall, ...]
    is_loop: bool = False


class ModelStep:
    """Calls the model once: the same code for the daemon's queue and for `LlmCycle`.

    Args:
        provider: The wire to the model.
        config: What is the same in each request.
    """

    def __init__(self, provider: Provider, config: CycleConfig) -> None:
        self._provider = provider
        self.config = config

    def stream(self, messages: tuple[Message, ...], registry: ToolRegistry) -> AsyncGenerator[StreamItem, None]:
        """Send the messages and give the answer's pieces as they arrive, the whole `ChatResponse` last.

        Raises:
            LlmError: While iterating, retryable or not, as the provider said; nothing of the answer counts then.
        """
        request = MessageRequest(
            model=self.config.model,
            system=self.config.system,
            messages=messages,
            tools=registry.definitions(),
            max_tokens=self.config.max_tokens,
            thinking=self.config.thinking,
            extra=self.config.extra,
        )
        return self._provider.stream(request)


async def plan_calls(calls: tuple[ToolCall, ...], registry: ToolRegistry, *, earlier: Iterable[str]) -> Plan:
    """Resolve the calls of one answer: inner tools, checked arguments, or results that are known without a process.

    Args:
        calls: As the model made them.
        registry: The tools the model was given.
        earlier: Digests of the calls made before in this turn, with repetitions.
    """
    counts: dict[str, int] = {}
    for digest in earlier:
        counts[digest] = counts.get(digest, 0) + 1
    planned: list[PlannedCall] = []
    is_loop = False
    for call in calls:
        plan = await _plan(call, registry)
        counts[plan.digest] = counts.get(plan.digest, 0) + 1
        if counts[plan.digest] >= STOP_AT:
            is_loop = True
        if counts[plan.digest] >= REFUSE_AT:
            plan = _refuse_repeated(plan)
        planned.append(plan)
    return Plan(calls=tuple(planned), is_loop=is_loop)


async def _plan(call: ToolCall, registry: ToolRegistry) -> PlannedCall:
    try:
        if call.fault is not None:
            raise InvalidArgumentsError(
                f"the arguments of {call.name!r} are no JSON object: {call.fault}; send the call again"
            )
        outer = registry.get(call.name)
        if outer is None:
            names = ", ".join(registry.list_tools()[:NAMES_SHOWN])
            raise ToolNotFoundError(f"there is no tool {call.name!r}; the tools are: {names}")
        registry.check(outer)
        args: JsonObject = json.loads(call.arguments)
        if outer.answers_at_once:
            found = await outer.execute(args)
            return _known(call, result_of(found), digest=call_digest(call.name, args))
        inner, inner_args = outer.target(args)
        registry.check(inner)
        facts = inner.facts
        text = canonical_args(inner_args)
        return PlannedCall(
            call=call, tool=facts.name, tool_hash=facts.sha256, args=text, digest=call_digest(facts.name, inner_args)
        )
    except ToolError as error:
        return _known(call, Result(content=str(error), code=error.code), digest=_raw_digest(call))


def canonical_args(args: JsonObject) -> str:
    """Give the one text of a call's arguments (floats allowed: it is never digested field by field).

    Raises:
        InvalidArgumentsError: They hold a number that JSON has not.
    """
    try:
        return json.dumps(args, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    except ValueError as error:
        raise InvalidArgumentsError("the arguments hold NaN or infinity, which JSON has not; use a number") from error


def call_digest(tool: str, args: JsonObject) -> str:
    """Give what makes two calls the same: SHA-256 over the tool's name and its arguments."""
    return hashlib.sha256(canonical({"tool": tool, "args": canonical_args(args)}).encode("ascii")).hexdigest()


def _raw_digest(call: ToolCall) -> str:
    return hashlib.sha256(canonical({"tool": call.name, "raw": call.arguments}).encode("ascii")).hexdigest()


def _known(call: ToolCall, result: Result, *, digest: str) -> PlannedCall:
    return PlannedCall(call=call, tool=call.name, tool_hash="", args=call.arguments, digest=digest, known=result)


def _refuse_repeated(plan: PlannedCall) -> PlannedCall:
    words = "this exact call was made before in this turn: use its result, change the arguments, or answer the person"
    return PlannedCall(
        call=plan.call,
        tool=plan.tool,
        tool_hash=plan.tool_hash,
        args=plan.args,
        digest=plan.digest,
        known=Result(content=words, code=Code.REPEATED_CALL),
    )


class LlmCycle:
    """A conversation with a model that may call tools, kept in memory.

    The daemon's queue drives the same `ModelStep` and `plan_calls`; here the calls run at once, side by side, through
    `ToolRegistry.invoke_all`. A failed call goes back to the model as text and does not end the loop.

    Example:
        ```python
        cycle = LlmCycle(provider, CycleConfig(model="deepseek-flash"))
        answer = await cycle.submit_with_tools("What time is it in Tokyo?", registry)
        print(answer.message.text)
        ```
    """

    def __init__(self, provider: Provider, config: CycleConfig) -> None:
        self._step = ModelStep(provider, config)
        self._messages: list[Message] = []

    def messages(self) -> tuple[Message, ...]:
        """Give the whole trace so far: user, assistant and tool messages in order."""
        return tuple(self._messages)

    async def submit_with_tools(self, prompt: str, registry: ToolRegistry) -> ChatResponse:
        """Send a prompt and run the tools that the model calls until it answers.

        Raises:
            MaxTurnsError: After `max_turns` model steps without a final answer, or five times the same call.
            LlmError: What the provider said.
        """
        answer: ChatResponse | None = None
        async with aclosing(self._loop(prompt, registry)) as items:
            async for item in items:
                if isinstance(item, ChatResponse):
                    answer = item
        if answer is None:
            raise AssertionError("the loop ended without an answer")
        return answer

    async def submit_stream_with_tools(self, prompt: str, registry: ToolRegistry) -> AsyncGenerator[StreamEvent, None]:
        """Do the same as `submit_with_tools`, giving events as they happen.

        The order of a step with calls: text and reasoning, `ToolExecutionStarted` for each call,
        `TurnComplete{tool_calls}`, `ToolExecutionCompleted` for each call.

        Raises:
            MaxTurnsError: After `max_turns` model steps without a final answer, or five times the same call.
            LlmError: What the provider said.
        """
        async with aclosing(self._loop(prompt, registry)) as items:
            async for item in items:
                if not isinstance(item, ChatResponse):
                    yield item

    async def _loop(self, prompt: str, registry: ToolRegistry) -> AsyncGenerator[StreamEvent | ChatResponse, None]:
        self._messages.append(UserMessage(text=prompt))
        earlier: list[str] = []
        for step in range(1, self._step.config.max_turns + 1):
            answer: ChatResponse | None = None
            async with aclosing(self._ask(step, registry)) as items:
                async for item in items:
                    if isinstance(item, ChatResponse):
                        answer = item
                    else:
                        yield item
            if answer is None:
                raise AssertionError("the provider ended its stream without a response")
            self._messages.append(answer.message)
            if not answer.message.calls:
                yield TurnComplete(step=step, reason=answer.stop_reason)
                yield answer
                return
            plan = await plan_calls(answer.message.calls, registry, earlier=earlier)
            earlier.extend(call.digest for call in plan.calls)
            for call in plan.calls:
                yield _started(call, step)
            yield TurnComplete(step=step, reason="tool_calls")
            results = [TURN_ENDED] * len(plan.calls) if plan.is_loop else await _invoke(plan.calls, registry)
            self._messages.extend(
                tool_message(call.call, result) for call, result in zip(plan.calls, results, strict=True)
            )
            for call, result in zip(plan.calls, results, strict=True):
                yield _completed(call, result, step)
            if plan.is_loop:
                raise MaxTurnsError(f"the model made the same call {STOP_AT} times; ask in another way")
        raise MaxTurnsError(f"no final answer after {self._step.config.max_turns} model steps")

    async def _ask(
        self, step: int, registry: ToolRegistry
    ) -> AsyncGenerator[AssistantTextDelta | ReasoningDelta | ChatResponse, None]:
        said = thought = 0
        async with aclosing(self._step.stream(tuple(self._messages), registry)) as stream:
            async for item in stream:
                match item:
                    case TextChunk():
                        yield AssistantTextDelta(step=step, text=item.text, offset=said)
                        said += len(item.text)
                    case ReasoningChunk():
                        yield ReasoningDelta(step=step, text=item.text, offset=thought)
                        thought += len(item.text)
                    case ChatResponse():
                        yield item


async def _invoke(calls: tuple[PlannedCall, ...], registry: ToolRegistry) -> list[Result]:
    open_calls = [_invocable(call, registry) for call in calls if call.known is None]
    done = iter(await registry.invoke_all(open_calls))
    return [call.known if call.known is not None else _result_of(next(done)) for call in calls]


def _invocable(call: PlannedCall, registry: ToolRegistry) -> tuple[str, JsonObject]:
    """Give a call as the registry knows it: a tool behind another one is reached through that one."""
    if registry.get(call.tool) is None:
        return call.call.name, json.loads(call.call.arguments)
    return call.tool, json.loads(call.args)


def _result_of(invocation: ToolInvocation) -> Result:
    if invocation.error is not None:
        return Result(content=str(invocation.error), code=invocation.error.code)
    return result_of(invocation.output)


def tool_message(call: ToolCall, result: Result) -> ToolMessage:
    """Give the message that answers a call."""
    text = f"error {result.code}: {result.content}" if result.is_error else result.content
    return ToolMessage(call_id=call.id, name=call.name, text=text, is_error=result.is_error)


def _started(call: PlannedCall, step: int) -> ToolExecutionStarted:
    return ToolExecutionStarted(step=step, run_id="", call_id=call.call.id, tool_name=call.tool, input=call.args)


def _completed(call: PlannedCall, result: Result, step: int) -> ToolExecutionCompleted:
    return ToolExecutionCompleted(
        step=step,
        run_id="",
        call_id=call.call.id,
        tool_name=call.tool,
        output=result.content,
        code=result.code,
        is_error=result.is_error,
    )
