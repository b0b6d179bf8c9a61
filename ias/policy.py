"""The approval policy: a pure function from a request and the rules to a verdict and the rule that decided."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from ias.domain.approvals import RequestView, StandingRule, StepKind, Verdict
from ias.domain.tools import Risk, ToolFacts, ToolType

READING = frozenset({"GET", "HEAD"})


class Level(StrEnum):
    """What is asked about where no rule speaks: nothing, writing requests, new hosts too, all; or all is forbidden."""

    NEVER = "never"
    WRITES = "writes"
    HOSTS = "hosts"
    ALL = "all"
    FORBID = "forbid"


class WrittenRule(Protocol):
    """A rule of config.yaml."""

    @property
    def verdict(self) -> Verdict:
        """What it says."""
        ...

    @property
    def label(self) -> str:
        """How people find it: its place in the file."""
        ...

    def fits(self, view: RequestView) -> bool:
        """Say whether it speaks about a request."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The verdict and what decided it; `rule_id` is set where a standing rule did."""

    verdict: Verdict
    rule: str
    rule_id: str | None = None


def decide(
    view: RequestView,
    facts: ToolFacts,
    *,
    written: Sequence[WrittenRule],
    standing: Sequence[StandingRule],
    level: Level,
    is_new_host: bool,
) -> Decision:
    """Judge one request: a forbid rule, an ask rule, an allow rule or a standing one, else the level of the risk.

    Args:
        view: The request.
        facts: The tool that asks.
        written: The rules of config.yaml, all of them.
        standing: The rules that approvals left and nobody revoked.
        level: The level for the tool's risk.
        is_new_host: Whether no request of this conversation went to that host before.
    """
    fitting = {rule.verdict: rule for rule in reversed(written) if rule.fits(view)}
    for verdict in (Verdict.FORBID, Verdict.ASK, Verdict.ALLOW):
        if verdict in fitting:
            return Decision(verdict=verdict, rule=fitting[verdict].label)
        if verdict is Verdict.ALLOW:
            for rule in standing:
                if stands_for(rule, view, facts):
                    return Decision(verdict=verdict, rule=f"R{rule.num}", rule_id=rule.id)
    return _by_level(view, facts, level, is_new_host=is_new_host)


def stands_for(rule: StandingRule, view: RequestView, facts: ToolFacts) -> bool:
    """Say whether a standing rule speaks about exactly this: the same tool and version, the same request."""
    return (rule.tool, rule.tool_hash, rule.method, rule.host, rule.path) == (
        facts.name,
        facts.sha256,
        view.method,
        view.place,
        view.path,
    )


def _by_level(view: RequestView, facts: ToolFacts, level: Level, *, is_new_host: bool) -> Decision:
    rule = f"approvals.{facts.risk}: {level}"
    if level is Level.FORBID:
        return Decision(verdict=Verdict.FORBID, rule=rule)
    asks = level is not Level.NEVER and _is_asked(view, facts, level, is_new_host=is_new_host)
    return Decision(verdict=Verdict.ASK if asks else Verdict.ALLOW, rule=rule)


def _is_asked(view: RequestView, facts: ToolFacts, level: Level, *, is_new_host: bool) -> bool:
    match view.kind:
        case StepKind.HTTP:
            return level is Level.ALL or view.method not in READING or (level is Level.HOSTS and is_new_host)
        case StepKind.DB:
            return level is Level.ALL or view.deletes
        case StepKind.START | StepKind.CALL:
            return is_asked_whole(facts)


def is_asked_whole(facts: ToolFacts) -> bool:
    """Say whether a call of this tool is asked about before it begins, and not request by request."""
    return facts.type is ToolType.MCP or (facts.type is ToolType.LOCAL and facts.risk is not Risk.LOW)
