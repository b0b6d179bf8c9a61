"""The calls of one model answer, resolved before any of them is carried out, and the guard against loops."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace

from ias.domain.approvals import canonical
from ias.domain.jobs import PlannedCall
from ias.domain.messages import JsonObject, ToolCall
from ias.domain.tools import Result
from ias.errors import Code, InvalidArgumentsError, ToolError, ToolNotFoundError
from ias.registry import BaseTool, ToolRegistry, result_of

REFUSE_AT = 3  # the third identical call of a turn is answered `repeated_call`
STOP_AT = 5  # the fifth ends the turn
NAMES_SHOWN = 40  # tool names listed to a model that called an unknown one


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The calls of one answer, resolved; `is_loop` says that the turn must end because it repeats itself."""

    calls: tuple[PlannedCall, ...]
    is_loop: bool = False


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
            raise InvalidArgumentsError(f"{call.name!r} was not called: {call.fault}; send the call again")
        call, outer = _find(call, registry)
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


def _find(call: ToolCall, registry: ToolRegistry) -> tuple[ToolCall, BaseTool]:
    """Find the tool that a call names; one that differs in case alone is meant, if there is only one.

    Returns:
        The call under the tool's own name, and the tool.
    """
    wanted = _plain(call.name)
    names = registry.list_tools()
    alike = [call.name] if call.name in names else [name for name in names if _plain(name) == wanted]
    tool = registry.get(alike[0]) if len(alike) == 1 else None
    if tool is None:
        listed = ", ".join(names[:NAMES_SHOWN]) or "none"
        raise ToolNotFoundError(f"there is no tool {call.name!r}; the tools are: {listed}")
    return replace(call, name=alike[0]), tool


def _plain(name: str) -> str:
    """Give a name without what models add to it: blanks, capitals, the namespace of Kimi's and OpenAI's templates."""
    return name.strip().casefold().removeprefix("functions.")


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
    # With the fault: `{}` stands in for whatever was broken, and two different failures are not the same call.
    raw: JsonObject = {"tool": call.name, "raw": call.arguments, "fault": call.fault}
    return hashlib.sha256(canonical(raw).encode("ascii")).hexdigest()


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
