"""The config.yaml of the project: every key, at its default, but for what the shipped tools need."""

from dataclasses import replace
from pathlib import Path

import pytest

from ias.config.load import load_config
from ias.config.settings import Settings
from ias.domain.approvals import RequestView, StepKind, Verdict
from ias.domain.messages import JsonObject, JsonValue
from ias.domain.urls import any_matches
from ias.toolspec.scanning import scan

PROJECT = Path(__file__).resolve().parents[2]
CONFIG = load_config(PROJECT, {})
SEARCHES = [
    ("api.bochaai.com", "/v1/web-search"),
    ("open.bigmodel.cn", "/api/paas/v4/web_search"),
    ("api.tavily.com", "/search"),
    ("google.serper.dev", "/search"),
]


def keys(tree: JsonValue, above: str = "") -> set[str]:
    if not isinstance(tree, dict):
        return {above}
    return {above, *(key for name, item in tree.items() for key in keys(item, f"{above}.{name}"))}


def test_every_key_is_in_the_file_with_its_default() -> None:
    defaults: JsonObject = Settings().model_dump(mode="json")
    written = CONFIG.document.value
    shown = CONFIG.settings.model_dump(mode="json")

    assert keys(defaults) - keys(written) == set()
    assert {name for name, value in shown.items() if value != defaults[name]} == {"approvals", "secrets"}
    assert shown["approvals"] | {"rules": []} == defaults["approvals"]


@pytest.mark.parametrize(("host", "path"), SEARCHES)
def test_a_search_by_post_is_allowed_for_the_search_tool_alone(host: str, path: str) -> None:
    view = RequestView(tool="web_search", kind=StepKind.HTTP, method="POST", host=host, path=path)

    def verdicts(**change: str) -> list[Verdict]:
        return [rule.verdict for rule in CONFIG.rules if rule.fits(replace(view, **change))]

    assert verdicts() == [Verdict.ALLOW]
    assert verdicts(tool="fetch_page") == verdicts(method="PUT") == verdicts(path=path + "/x") == []


def test_every_secret_of_a_shipped_tool_may_go_where_the_tool_may() -> None:
    homeless = [
        f"{spec.name}: {name}"
        for spec in scan([PROJECT / "tools"], project=PROJECT).specs
        for name in spec.secrets
        if not any(
            host == named or any_matches(host.removeprefix("*."), (named,))
            for host in CONFIG.secret_hosts.get(name, ())
            for named in spec.hosts
        )
    ]

    assert homeless == []


def test_no_shipped_spec_is_rejected() -> None:
    assert [str(problem) for problem in scan([PROJECT / "tools"], project=PROJECT).rejected] == []
