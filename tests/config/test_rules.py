"""Approval rules: what fits, and examples that prove it."""

from typing import Any

import pytest

from ias.config.rules import Rule, check_examples, read_example
from ias.domain.approvals import RequestView, StepKind, Verdict

HTTP = RequestView(tool="web_search", kind=StepKind.HTTP, method="POST", host="api.a.com", path="/v1/search")
DB = RequestView(tool="memory_delete", kind=StepKind.DB, method="delete_memory", deletes=True)
CALL = RequestView(tool="shell_run", kind=StepKind.CALL, path="0f")
START = RequestView(tool="shell_run", kind=StepKind.START, path="0f")


def fits(view: RequestView, verdict: Verdict = Verdict.ALLOW, **conditions: Any) -> bool:
    return Rule(verdict=verdict, **conditions).fits(view)


@pytest.mark.parametrize(
    "conditions",
    [
        {"tool": "web_search"},
        {"tool": "web_*"},
        {"tool": "*"},
        {"methods": ("GET", "POST")},
        {"host": "api.a.com"},
        {"host": "*.a.com"},
        {"host": "*"},
        {"path": "/v1/search"},
        {"path": "/v1/*"},
        {"path": "/**"},
        {"path": "/v?/search"},
        {"tool": "web_search", "methods": ("POST",), "host": "api.a.com", "path": "/v1/search"},
    ],
)
def test_a_rule_fits_a_request_that_meets_all_conditions(conditions: dict[str, Any]) -> None:
    assert fits(HTTP, **conditions)


@pytest.mark.parametrize(
    "conditions",
    [
        {"tool": "web"},
        {"tool": "WEB_SEARCH"},
        {"methods": ("GET",)},
        {"host": "a.com"},
        {"host": "*.b.com"},
        {"path": "/v1"},
        {"path": "/*"},
        {"path": "/v1/search/"},
        {"path": "/v1/searc[h]"},
        {"operation": "*"},
        {"tool": "web_search", "methods": ("POST",), "host": "api.a.com", "path": "/v2/*"},
    ],
)
def test_one_condition_that_is_not_met_is_enough(conditions: dict[str, Any]) -> None:
    assert not fits(HTTP, **conditions)


def test_operations_are_for_db_and_tools_for_everything() -> None:
    assert fits(DB, operation="delete_*")
    assert fits(DB, tool="memory_delete")
    assert not fits(DB, operation="kv_delete")
    assert not fits(DB, methods=("POST",))
    assert not fits(DB, host="*")
    for view in (CALL, START):
        assert fits(view, tool="shell_*")
        assert not fits(view, tool="shell_*", operation="*")
        assert not fits(view, tool="shell_*", path="/**")


@pytest.mark.parametrize(
    "path",
    [
        "/v1/../admin",
        "/v1/%2e%2e/admin",
        "/v1/..%2fadmin",
        "/v1/%252e%252e/admin",
        "/v1/..\\admin",
        "//admin",
        "/./admin",
    ],
)
def test_a_disguised_path_is_judged_on_the_safe_side(path: str) -> None:
    view = RequestView(tool="t", kind=StepKind.HTTP, method="GET", host="a.com", path=path)

    assert not fits(view, Verdict.ALLOW, path="/v1/**")
    assert fits(view, Verdict.FORBID, path="/admin")
    assert fits(view, Verdict.ASK, path="/admin")


def test_a_plain_encoded_path_still_fits_an_allow_rule() -> None:
    view = RequestView(tool="t", kind=StepKind.HTTP, method="GET", host="a.com", path="/v1/%E5%8C%97%E4%BA%AC")

    assert fits(view, Verdict.ALLOW, path="/v1/*")


@pytest.mark.parametrize(
    ("text", "view"),
    [
        ("post https://A.com/x?q=1", RequestView(tool="t", kind=StepKind.HTTP, method="POST", host="a.com", path="/x")),
        ("web GET https://a.com", RequestView(tool="web", kind=StepKind.HTTP, method="GET", host="a.com", path="/")),
        ("kv_delete", RequestView(tool="t", kind=StepKind.DB, method="kv_delete")),
        ("mem kv_delete", RequestView(tool="mem", kind=StepKind.DB, method="kv_delete")),
        ("call", RequestView(tool="t", kind=StepKind.CALL)),
        ("sh call", RequestView(tool="sh", kind=StepKind.CALL)),
    ],
)  # fmt: skip
def test_examples_are_read(text: str, view: RequestView) -> None:
    assert read_example(text, tool="t") == view


@pytest.mark.parametrize(
    "text", ["", "https://a.com", "a b c", "tool GET https://a.com extra", "a b GET https://a.com"]
)
def test_what_is_no_example_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"must be '\[TOOL\] METHOD URL', '\[TOOL\] OPERATION' or '\[TOOL\] call'"):
        read_example(text, tool=None)


def test_an_example_with_a_bad_address_is_refused() -> None:
    with pytest.raises(ValueError, match=r"the URL 'ftp://a\.com' must begin with https:// or http://"):
        read_example("GET ftp://a.com", tool=None)


def test_examples_prove_a_rule_or_refuse_it() -> None:
    rule = Rule(verdict=Verdict.ALLOW, tool="web_*", methods=("POST",), host="a.com", path="/x/*")

    check_examples(rule, match=("POST https://a.com/x/1",), not_match=("POST https://a.com/x/1/2", "call", "kv_get"))
    with pytest.raises(ValueError, match=r"^the rule does not fit its match example 'GET https://a\.com/x/1'"):
        check_examples(rule, match=("GET https://a.com/x/1",), not_match=())
    with pytest.raises(ValueError, match=r"^the rule fits its not_match example 'web_a POST https://a\.com/x/1'"):
        check_examples(rule, match=(), not_match=("web_a POST https://a.com/x/1",))
