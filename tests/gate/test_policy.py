"""The policy: rules before levels, the strictest first, standing rules as wide as what was approved and no wider."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ias.domain.approvals import RequestView, StandingRule, StepKind, Verdict
from ias.domain.tools import Risk, ToolFacts, ToolType
from ias.policy import Decision, Level, WrittenRule, decide, is_asked_whole, stands_for
from tests.gate.asks import FACTS, VIEW, rule, standing

READ = replace(VIEW, method="GET")
DB_READ = RequestView(tool="orders", kind=StepKind.DB, method="kv_get")
DB_DELETE = RequestView(tool="orders", kind=StepKind.DB, method="kv_delete", deletes=True)
START = RequestView(tool="orders", kind=StepKind.START, path="d" * 64)
CALL = replace(START, kind=StepKind.CALL)


def verdict(
    view: RequestView,
    *,
    facts: ToolFacts = FACTS,
    level: Level = Level.WRITES,
    is_new_host: bool = False,
    written: tuple[WrittenRule, ...] = (),
    standing: tuple[StandingRule, ...] = (),
) -> Decision:
    return decide(view, facts, written=written, standing=standing, level=level, is_new_host=is_new_host)


@pytest.mark.parametrize(
    ("level", "view", "is_new_host", "expected"),
    [
        (Level.NEVER, VIEW, True, "allow"),
        (Level.NEVER, DB_DELETE, False, "allow"),
        (Level.WRITES, READ, True, "allow"),
        (Level.WRITES, replace(VIEW, method="HEAD"), True, "allow"),
        (Level.WRITES, VIEW, False, "ask"),
        (Level.WRITES, replace(VIEW, method="PUT"), False, "ask"),
        (Level.WRITES, replace(VIEW, method="DELETE"), False, "ask"),
        (Level.WRITES, replace(VIEW, method="OPTIONS"), False, "ask"),
        (Level.WRITES, DB_READ, False, "allow"),
        (Level.WRITES, DB_DELETE, False, "ask"),
        (Level.HOSTS, READ, False, "allow"),
        (Level.HOSTS, READ, True, "ask"),
        (Level.HOSTS, VIEW, False, "ask"),
        (Level.HOSTS, DB_READ, True, "allow"),
        (Level.HOSTS, DB_DELETE, False, "ask"),
        (Level.ALL, READ, False, "ask"),
        (Level.ALL, DB_READ, False, "ask"),
        (Level.FORBID, READ, False, "forbid"),
        (Level.FORBID, DB_READ, False, "forbid"),
        (Level.FORBID, START, False, "forbid"),
        (Level.FORBID, CALL, False, "forbid"),
    ],
)
def test_a_level_decides_where_no_rule_speaks(
    level: Level, view: RequestView, is_new_host: bool, expected: str
) -> None:
    assert verdict(view, level=level, is_new_host=is_new_host) == Decision(
        verdict=Verdict(expected), rule=f"approvals.low: {level}"
    )


@pytest.mark.parametrize("view", [START, CALL])
@pytest.mark.parametrize(
    ("kind", "risk", "is_whole"),
    [
        (ToolType.LOCAL, Risk.LOW, False),
        (ToolType.LOCAL, Risk.MEDIUM, True),
        (ToolType.LOCAL, Risk.HIGH, True),
        (ToolType.MCP, Risk.LOW, True),
        (ToolType.HTTP, Risk.HIGH, False),
        (ToolType.DB, Risk.HIGH, False),
        (ToolType.PYTHON, Risk.HIGH, False),
    ],
)
def test_a_whole_call_is_asked_about_only_for_local_tools_above_low_and_mcp(
    view: RequestView, kind: ToolType, risk: Risk, is_whole: bool
) -> None:
    facts = replace(FACTS, type=kind, risk=risk)
    assert is_asked_whole(facts) is is_whole
    assert verdict(view, facts=facts, level=Level.HOSTS).verdict is (Verdict.ASK if is_whole else Verdict.ALLOW)
    assert verdict(view, facts=facts, level=Level.NEVER).verdict is Verdict.ALLOW


@pytest.mark.parametrize(
    ("verdicts", "has_standing", "expected"),
    [
        (("forbid", "ask", "allow"), True, ("forbid", "rules[forbid]", None)),
        (("ask", "allow"), True, ("ask", "rules[ask]", None)),
        (("allow",), True, ("allow", "rules[allow]", None)),
        ((), True, ("allow", "R3", "u_1")),
        ((), False, ("ask", "approvals.low: writes", None)),
        (("allow",), False, ("allow", "rules[allow]", None)),
        (("forbid",), False, ("forbid", "rules[forbid]", None)),
    ],
)
def test_rules_come_before_levels_in_their_order(
    verdicts: tuple[str, ...], has_standing: bool, expected: tuple[str, str, str | None]
) -> None:
    written = tuple(rule(Verdict(word)) for word in reversed(verdicts))
    found = verdict(VIEW, written=written, standing=(standing(),) if has_standing else ())
    assert (found.verdict, found.rule, found.rule_id) == expected


def test_a_standing_rule_goes_before_a_level_that_forbids_but_not_before_a_rule_that_asks() -> None:
    assert verdict(VIEW, level=Level.FORBID, standing=(standing(),)).verdict is Verdict.ALLOW
    assert verdict(VIEW, written=(rule(Verdict.ASK),), standing=(standing(),)).verdict is Verdict.ASK


def test_the_first_of_several_fitting_rules_is_named() -> None:
    written = (rule(Verdict.ASK, "first", tool="o*"), rule(Verdict.ASK, "second"), rule(Verdict.ASK, "x", tool="none"))
    assert verdict(VIEW, written=written).rule == "first"


@pytest.mark.parametrize(
    "change",
    [
        {"tool": "order"},
        {"tool_hash": "b" * 64},
        {"method": "PUT"},
        {"host": "api.example.com.evil.example"},
        {"host": "example.com"},
        {"path": "/v1/orders/"},
        {"path": "/v1/orders/7"},
        {"path": "/v1/Orders"},
    ],
)
def test_a_standing_rule_covers_nothing_but_what_was_approved(change: dict[str, Any]) -> None:
    assert stands_for(standing(), VIEW, FACTS)
    assert not stands_for(standing(**change), VIEW, FACTS)
    assert verdict(VIEW, standing=(standing(**change),)).verdict is Verdict.ASK


@pytest.mark.parametrize("elsewhere", [{"scheme": "http", "port": 80}, {"port": 8443}, {"scheme": "http", "port": 443}])
def test_a_standing_rule_covers_neither_another_port_nor_an_open_wire(elsewhere: dict[str, Any]) -> None:
    view = replace(VIEW, **elsewhere)
    assert verdict(view, standing=(standing(),)).verdict is Verdict.ASK
    there = standing(host=view.place)
    assert verdict(view, standing=(there,)).verdict is Verdict.ALLOW
    assert verdict(VIEW, standing=(there,)).verdict is Verdict.ASK


def test_a_standing_rule_on_a_call_covers_other_arguments_never() -> None:
    local = replace(FACTS, type=ToolType.LOCAL, risk=Risk.MEDIUM)
    given_once = standing(method="", host="", path=START.path)
    assert verdict(START, facts=local, standing=(given_once,)).verdict is Verdict.ALLOW
    other = replace(START, path="e" * 64)
    assert verdict(other, facts=local, standing=(given_once,)).verdict is Verdict.ASK


def test_a_standing_rule_on_an_operation_covers_that_operation_alone() -> None:
    given_once = standing(method="kv_delete", host="", path="")
    assert verdict(DB_DELETE, standing=(given_once,)).verdict is Verdict.ALLOW
    other = replace(DB_DELETE, method="delete_memory")
    assert verdict(other, standing=(given_once,)).verdict is Verdict.ASK


PATTERNS = st.sampled_from([None, "orders", "o*", "other", "**"])
WRITTEN = st.builds(
    rule,
    st.sampled_from(list(Verdict)),
    tool=PATTERNS,
    methods=st.sampled_from([(), ("POST",), ("GET",), ("GET", "POST")]),
    host=st.sampled_from([None, "*", "api.example.com", "*.example.com", "other.example"]),
    path=st.sampled_from([None, "/v1/*", "/v1/orders", "/v2/**"]),
    operation=st.sampled_from([None, "kv_*", "kv_delete"]),
)
VIEWS = st.sampled_from([VIEW, READ, DB_READ, DB_DELETE, START, CALL])
ORDER = [Verdict.ALLOW, Verdict.ASK, Verdict.FORBID]


@given(
    view=VIEWS,
    written=st.lists(WRITTEN, max_size=6),
    has_standing=st.booleans(),
    level=st.sampled_from(list(Level)),
    is_new_host=st.booleans(),
)
def test_the_strictest_fitting_rule_wins_whatever_else_is_written(
    view: RequestView, written: list[Any], has_standing: bool, level: Level, is_new_host: bool
) -> None:
    found = decide(
        view,
        FACTS,
        written=written,
        standing=(standing(),) if has_standing else (),
        level=level,
        is_new_host=is_new_host,
    )
    fitting = [one.verdict for one in written if one.fits(view)]
    if fitting:
        assert found.verdict is max(fitting, key=ORDER.index)
    elif has_standing and view == VIEW:
        assert (found.verdict, found.rule_id) == (Verdict.ALLOW, "u_1")
    else:
        assert found.rule == f"approvals.low: {level}"


@given(
    view=VIEWS,
    before=st.lists(WRITTEN, max_size=5),
    after=st.lists(WRITTEN, max_size=5),
    level=st.sampled_from(list(Level)),
)
def test_a_rule_that_forbids_cannot_be_outvoted(
    view: RequestView, before: list[Any], after: list[Any], level: Level
) -> None:
    written = [*before, rule(Verdict.FORBID, "no", tool="orders"), *after]
    found = decide(view, FACTS, written=written, standing=(standing(),), level=level, is_new_host=False)
    assert found.verdict is Verdict.FORBID
