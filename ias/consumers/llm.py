"""The LLM queue's handler: history in, one model step, its calls resolved, out as one `LlmStep`."""

import json
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol

from structlog.contextvars import bound_contextvars
from structlog.typing import FilteringBoundLogger

from ias.bus import Bus, RunningText
from ias.cycle.plan import Plan, plan_calls
from ias.cycle.step import ModelStep
from ias.domain.jobs import Dead, Job, LlmStep, Outcome, Retry, TurnOver, TurnReason
from ias.domain.messages import ChatResponse, FinishReason, Message, ReasoningChunk, TextChunk, message_from_json
from ias.errors import (
    AuthenticationError,
    BalanceError,
    ContextOverflowError,
    EmptyResponseError,
    LlmError,
    RetryableLlmError,
)
from ias.job_queue import back_off
from ias.logs import Logs
from ias.providers.base import retry_delay
from ias.registry import ToolRegistry
from ias.spending import UNMETERED, Spending
from ias.store import words
from ias.store.base import Row, Store

EMPTIES_KEPT = 1_000  # turns whose empty answers are counted at once


class Tools(Protocol):
    """Where the handler gets the tools that a model is given, as they are now."""

    def for_model(self) -> ToolRegistry:
        """Give the registry that the model sees: the two meta-tools, or all tools."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What a model step needs of the store."""

    turn_id: str
    conversation_id: str
    step: int
    messages: tuple[Message, ...]
    digests: tuple[str, ...]
    asked: str


class LlmHandler:
    """Makes one model step of a turn; text and reasoning go to the bus as they arrive.

    Args:
        store: Where turns and usage are.
        step: Calls the model.
        tools: What the model is given.
        bus: Where listeners hear the answer as it comes.
        logs: The three logs.
        spending: Prices each answer, and says whether there is something left for another.
    """

    def __init__(
        self, store: Store, step: ModelStep, tools: Tools, bus: Bus, logs: Logs, *, spending: Spending = UNMETERED
    ) -> None:
        self._store = store
        self._step = step
        self._tools = tools
        self._bus = bus
        self._logs = logs
        self._spending = spending
        self._empties: dict[str, int] = {}  # by turn: empty answers in a row, while its step is tried again

    async def handle(self, job: Job) -> Outcome:
        """Call the model once for the turn that owns the job."""
        with bound_contextvars(conversation_id=job.conversation_id, turn_id=job.owner_id):
            talk = await self._load(job)
            over = await self._over_budget(talk)
            if over is not None:
                return over
            heard = self._bus.begin_step(
                job.conversation_id, turn_id=talk.turn_id, step=talk.step, attempt=job.attempts
            )
            try:
                answer = await self._ask(heard, talk)
                self._empties.pop(talk.turn_id, None)
                return await self._outcome(answer, talk)
            except RetryableLlmError as error:
                return self._retry(job, error, talk)
            except LlmError as error:
                return self._reject(error, talk)
            finally:
                self._bus.end_step(heard)

    async def _load(self, job: Job) -> Conversation:
        turn = (await self._store.read("turn", id=job.owner_id))[0]
        rows = await self._store.read("history", conversation_id=job.conversation_id, seq=turn["seq"])
        runs = await self._store.read("runs_of_turn", turn_id=job.owner_id)
        return Conversation(
            turn_id=job.owner_id,
            conversation_id=job.conversation_id,
            step=turn["llm_steps"] + 1,
            messages=tuple(message_from_json(row["role"], row["content"]) for row in rows),
            digests=tuple(row["digest"] for row in runs),
            asked=_asked(rows, job.owner_id),
        )

    async def _over_budget(self, talk: Conversation) -> TurnOver | None:
        spent = await self._spending.exhausted(self._store)
        if spent is None:
            return None
        self._logs.msg.warning("budget_used_up", tag="LLM", text=f"no model call: the day's {spent.limit} are used up")
        closing = words.budget(talk.asked, limit=spent.limit, resumes_at=spent.resumes_at, wait=spent.wait)
        return TurnOver(reason=TurnReason.BUDGET, closing=closing)

    async def _ask(self, heard: RunningText, talk: Conversation) -> ChatResponse:
        answer: ChatResponse | None = None
        empties = self._empties.get(talk.turn_id, 0)
        async with aclosing(self._step.stream(talk.messages, self._tools.for_model(), empties=empties)) as stream:
            async for item in stream:
                match item:
                    case TextChunk():
                        self._bus.add_text(heard, item.text)
                    case ReasoningChunk():
                        self._bus.add_reasoning(heard, item.text)
                    case ChatResponse():
                        answer = item
        if answer is None:
            raise AssertionError("the provider ended its stream without a response")
        return answer

    async def _outcome(self, answer: ChatResponse, talk: Conversation) -> LlmStep:
        plan = await plan_calls(answer.message.calls, self._tools.for_model(), earlier=talk.digests)
        for call in plan.calls:
            self._logs.msg.info("tool_call", tag="LLM", text=f"{call.tool}({_readable(call.args)})")
        if answer.message.text:
            self._logs.msg.info("answer", tag="LLM", text=answer.message.text)
        stop, closing = self._stop(answer, plan, talk)
        return LlmStep(
            message=answer.message,
            calls=plan.calls,
            usage=answer.usage,
            model=answer.model,
            stop=stop,
            closing=closing,
            cost=self._spending.cost(answer, self._step.config.model),
        )

    def _stop(self, answer: ChatResponse, plan: Plan, talk: Conversation) -> tuple[TurnReason | None, str | None]:
        if not plan.calls:
            return None, _words_for_none(answer, talk.asked)
        if plan.is_loop:
            return TurnReason.LOOP, words.loop(talk.asked)
        if talk.step >= self._step.config.max_turns:
            return TurnReason.MAX_TURNS, words.max_turns(talk.asked, self._step.config.max_turns)
        return None, None

    def _retry(self, job: Job, error: RetryableLlmError, talk: Conversation) -> Outcome:
        self._log(self._logs.error, error)
        if isinstance(error, EmptyResponseError):
            self._empties[talk.turn_id] = self._empties.pop(talk.turn_id, 0) + 1
            if len(self._empties) > EMPTIES_KEPT:  # of turns that were stopped meanwhile
                del self._empties[next(iter(self._empties))]
        if job.attempts >= job.max_attempts:
            self._empties.pop(talk.turn_id, None)
            return Dead(
                reason=TurnReason.PROVIDER_ERROR, error=str(error), closing=words.provider_error(talk.asked, str(error))
            )
        delay = retry_delay(error, job.attempts)
        return Retry(delay=back_off(job.attempts) if delay is None else delay, error=f"{type(error).__name__}: {error}")

    def _reject(self, error: LlmError, talk: Conversation) -> Outcome:
        self._log(self._logs.error, error)
        self._empties.pop(talk.turn_id, None)
        text = f"{error}{_advice(error)}"
        return Dead(reason=TurnReason.PROVIDER_ERROR, error=text, closing=words.provider_error(talk.asked, text))

    def _log(self, log: FilteringBoundLogger, error: LlmError) -> None:
        log.error("llm_failed", tag="llm-chat", kind=type(error).__name__, status=error.status, text=str(error))


def _asked(rows: list[Row], turn_id: str) -> str:
    for row in rows:
        if row["turn_id"] == turn_id and row["role"] == "user":
            return json.loads(row["content"])["text"]
    return ""


def _words_for_none(answer: ChatResponse, asked: str) -> str | None:
    """Give the words that stand for an answer without any: the model only thought, or was cut before it spoke."""
    if answer.message.text.strip():
        return None
    if answer.stop_reason is FinishReason.LENGTH:
        return words.cut(asked)
    return words.only_thoughts(asked, answer.message.reasoning or "")


def _readable(args: str) -> str:
    return json.dumps(json.loads(args), ensure_ascii=False)


def _advice(error: LlmError) -> str:
    match error:
        case AuthenticationError():
            return "; check llm.api_key in config.yaml, or DEEPSEEK_API_KEY"
        case BalanceError():
            return "; the account has no balance left"
        case ContextOverflowError():
            return "; the conversation is too long for this model: begin a new one with /new"
        case _:
            return ""
