"""The step machine of a call: ask the tool, let the gate judge, carry out what was granted, ask again.

`Runner.advance` takes a claimed tool job as far as it goes. It may stop at any instruction: what is stored says how to
go on, and a worker that lost its lease finds `Lost` at its next transaction and stops. Life of a call:

```
resume ─► GateCall ─► Spawn ─► (tool's line) ─► judge ─► Send ─► Spawn ─► … ─► RunEnded
                        ▲                         └─ ASK: Parked … decision ─► Consume ─► Send
```
"""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from structlog.contextvars import bound_contextvars

from ias.domain.approvals import Grant, StepKind
from ias.domain.jobs import Job, Outcome, RunEnded, Settled
from ias.domain.messages import JsonObject
from ias.domain.tools import Answer, Asks, CallContext, Origin, Result, StepInput
from ias.errors import Code, StateError, ToolError, ToolTimeoutError
from ias.gate import Gate
from ias.logs import Logs
from ias.registry import BaseTool, ToolRegistry
from ias.runtime.failures import NotSentError, UnknownOutcomeError
from ias.runtime.http_service import HttpService
from ias.store.base import Lost, Store, Terms
from ias.store.progress import Consume, Ended, GateCall, More, Next, Parked, RunRow, Send, Spawn, StepRow
from ias.store.transactions.runs import consume_approval, finish_effect, resume_run, start_step

TROUBLE_PAUSE = 1.0  # seconds before the store is tried again after it failed
TAGGED = {Code.SPAWN_FAILED: "spawn", Code.TIMEOUT: "timeout", Code.DB_FAILED: "db", Code.HOST_NOT_ALLOWED: "http"}


class Toolbox(Protocol):
    """Where the runner finds a tool in the version that a run began with."""

    def find(self, name: str, sha256: str) -> BaseTool:
        """Give the tool.

        Raises:
            ToolNotFoundError: If it, or that version of it, is gone.
        """
        ...


@dataclass(slots=True)
class Progress:
    """What is known of a run while one worker advances it; `spent` are seconds of the call's own time."""

    job: Job
    tool: BaseTool
    context: CallContext
    args: JsonObject
    spent: float


class Runner:
    """Advances runs; the only place that starts programs and carries out what tools ask for."""

    def __init__(
        self,
        store: Store,
        gate: Gate,
        toolbox: Toolbox,
        http: HttpService,
        terms: Terms,
        logs: Logs,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._gate = gate
        self._toolbox = toolbox
        self._http = http
        self._terms = terms
        self._logs = logs
        self._clock = clock

    async def advance(self, job: Job) -> Outcome:
        """Take the run that owns the job as far as it goes.

        Returns:
            `RunEnded` with the result to store, or `Settled` where a transaction already parked, ended or lost it.
        """
        step = await self._store.run(resume_run(self._terms, job))
        if not isinstance(step, GateCall | Consume | Send | Spawn):
            return Settled()
        with bound_contextvars(turn_id=step.run.turn_id):
            try:
                return await self._loop(self._begin(job, step.run), step)
            except ToolError as error:
                self._log_failure(error)
                return RunEnded(result=Result(content=str(error), code=error.code))

    def _begin(self, job: Job, run: RunRow) -> Progress:
        tool = self._toolbox.find(run.tool, run.tool_hash)
        context = CallContext(
            user_id=run.user_id, conversation_id=run.conversation_id, call_id=run.id, origin=Origin(run.origin)
        )
        return Progress(job=job, tool=tool, context=context, args=json.loads(run.args), spent=run.used_ms / 1000)

    async def _loop(self, progress: Progress, step: Next) -> Outcome:
        while True:
            match step:
                case GateCall():
                    after = await self._gate_call(progress, step.run)
                case Spawn():
                    after = await self._spawn(progress, step.run, step.steps)
                case Consume():
                    after = await self._consume(progress, step.run, step.steps)
                case Send():
                    after = await self._send(progress, step.run, step.steps)
                case Parked() | Ended() | Lost() | More():
                    return Settled()
            if isinstance(after, Result):
                return RunEnded(result=after)
            step = after

    async def _gate_call(self, progress: Progress, run: RunRow) -> Next | Result:
        judgement = await self._gate.judge_call(progress.tool.facts, progress.args, progress.context)
        if judgement is None:
            return Spawn(run=run, steps=())
        return await self._store.run(
            start_step(
                self._terms,
                progress.job,
                run_id=run.id,
                no=0,
                judgement=judgement,
                tool_state="",
                is_attended=progress.context.origin.is_attended,
                used_ms=round(progress.spent * 1000),
                space=progress.tool.facts.group,
            )
        )

    async def _spawn(self, progress: Progress, run: RunRow, steps: tuple[StepRow, ...]) -> Next | Result:
        facts = progress.tool.facts
        given = _step_input(run, steps, seconds=facts.timeout - progress.spent)
        if given.step >= facts.max_steps:
            raise ToolError(f"the tool was not done after {facts.max_steps} steps", code=Code.TOO_MANY_STEPS)
        if given.seconds <= 0:
            raise ToolTimeoutError(f"the call took longer than {facts.timeout:g} s")
        began = self._clock()
        message = await progress.tool.begin(progress.args, progress.context).step(given)
        progress.spent += self._clock() - began
        if isinstance(message, Result):
            return message
        return await self._start(progress, run, message, given)

    async def _start(self, progress: Progress, run: RunRow, asks: Asks, given: StepInput) -> Next:
        judgement = await self._gate.judge(asks.asks, progress.tool.facts, progress.context)
        self._logs.msg.info("tool_asks", tag="tool", text=f"{progress.tool.name}: {judgement.verdict} {_summary(asks)}")
        return await self._store.run(
            start_step(
                self._terms,
                progress.job,
                run_id=run.id,
                no=given.step + 1,
                judgement=judgement,
                tool_state=json.dumps({"state": asks.state, "is_batch": asks.is_batch}),
                is_attended=progress.context.origin.is_attended,
                used_ms=round(progress.spent * 1000),
                space=progress.tool.facts.group,
            )
        )

    async def _consume(self, progress: Progress, run: RunRow, steps: tuple[StepRow, ...]) -> Next:
        for step in steps:
            self._grant(progress, step, granted_by="approval")
        return await self._store.run(consume_approval(self._terms, progress.job, run_id=run.id, no=run.no))

    async def _send(self, progress: Progress, run: RunRow, steps: tuple[StepRow, ...]) -> Next:
        began = self._clock()
        grants = [self._grant(progress, step, granted_by=step.granted_by or "") for step in steps]
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(self._carry_out(progress, run, step, grant))
                for step, grant in zip(steps, grants, strict=True)
            ]
        answers = [task.result() for task in tasks]
        progress.spent += self._clock() - began
        return next((answer for answer in answers if not isinstance(answer, More)), More())

    async def _carry_out(self, progress: Progress, run: RunRow, step: StepRow, grant: Grant) -> Next:
        outcome, response = "done", ""
        try:
            response = json.dumps(await self._effect(progress, grant))
        except (UnknownOutcomeError, TimeoutError) as error:
            outcome, response = "unknown", _failed(Code.OUTCOME_UNKNOWN, str(error))
            self._logs.error.error("outcome_unknown", tag=step.kind, text=str(error))
        except NotSentError as error:
            response = _failed(error.code, str(error))
            self._logs.error.error("request_failed", tag=step.kind, code=error.code, text=str(error))
        finish = finish_effect(
            self._terms, progress.job, run_id=run.id, no=step.no, item=step.item, outcome=outcome, response=response
        )
        while True:
            try:
                return await self._store.run(finish)
            except StateError as error:  # what happened outside is known here alone: it must not be lost
                self._logs.error.error("answer_not_stored", tag="store", text=str(error))
                await asyncio.sleep(TROUBLE_PAUSE)

    def _grant(self, progress: Progress, step: StepRow, *, granted_by: str) -> Grant:
        facts = progress.tool.facts
        return self._gate.grant(step.kind, step.request, facts, granted_by=granted_by, safety=step.safety)

    async def _effect(self, progress: Progress, grant: Grant) -> JsonObject:
        if grant.kind is StepKind.HTTP:
            return await self._http.send(grant)
        alone = ToolRegistry()  # its `invoke` makes an error of whatever a stranger's code raises
        alone.register(progress.tool)
        async with asyncio.timeout(progress.tool.facts.timeout - progress.spent):
            done = await alone.invoke(progress.tool.name, json.loads(json.loads(grant.text)["args"]))
        if done.error is not None:
            return {"error": {"code": done.error.code, "message": str(done.error)}}
        try:
            return {"value": json.loads(json.dumps(done.output, allow_nan=False))}
        except (TypeError, ValueError) as error:
            message = f"the tool {progress.tool.name!r} gave something that is no JSON: {error}"
            return {"error": {"code": Code.TOOL_FAILED, "message": message}}

    def _log_failure(self, error: ToolError) -> None:
        tag = TAGGED.get(error.code, "tool")
        self._logs.error.error("call_failed", tag=tag, code=error.code, text=str(error))


def _step_input(run: RunRow, steps: tuple[StepRow, ...], *, seconds: float) -> StepInput:
    if not steps or steps[0].kind is StepKind.START:
        return StepInput(seconds=seconds)
    kept = json.loads(run.tool_state or "{}")
    answers = tuple(Answer(kind=step.kind, body=json.loads(step.response or "{}")) for step in steps)
    return StepInput(
        step=run.no, answers=answers, state=kept.get("state"), is_batch=kept.get("is_batch", False), seconds=seconds
    )


def _failed(code: Code, message: str) -> str:
    return json.dumps({"error": {"code": code, "message": message}})


def _summary(asks: Asks) -> str:
    return "; ".join(ask.desc or type(ask).__name__ for ask in asks.asks)
