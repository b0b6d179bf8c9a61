"""`ias config check` finds what `ias serve` would refuse, with line and what to write instead."""

import json
from pathlib import Path

import pytest
import yaml

from tests.cli.homes import ias


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("llm:\n  provider: gpt\n", ["2: llm.provider is 'gpt': use one of auto, "]),
        ("llm:\n  provider: openai\n  model: m\n", ["2: openai needs an API key: set OPENAI_API_KEY"]),
        ("llm:\n  provider: openai_compatible\n", ["1: llm.model is not set"]),
        ("llm: {provider: openai_compatible, model: m}\n", ["1: llm.base_url is not set"]),
        ("llm:\n  model: m\n  api_key: ${MY_KEY}\n", ["3: llm.api_key needs ${MY_KEY}, which is not set"]),
        ("tools:\n  dirs: [tulz]\n", ["2: tools.dirs[0]: there is no folder '", "beside config.yaml are tools"]),
        ("sandbox: {level: ns}\n", ["1: sandbox.level 'ns' is not in this version"]),
        ("store: {url: 'postgres://x/y'}\n", ["1: store.url must be an address like sqlite:data/ias.db"]),
        ("api: {port: abc}\n", ["1: api.port must be a whole number, not abc", "write one like `port: 8787`"]),
        (
            "llm: {provider: gpt}\nsandbox: {level: ns}\n",
            ["2: sandbox.level 'ns' is not in this version", "config.yaml:1: llm.provider is 'gpt'"],
        ),
    ],
)
def test_what_serve_would_refuse_is_found_by_the_check(tmp_path: Path, text: str, told: list[str]) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "config.yaml").write_text(text)

    for command in (["config", "check"], ["doctor"]):
        done = ias(tmp_path, *command)
        said = done.err if command[0] == "config" else done.out
        assert done.code == (78 if command[0] == "config" else 1)
        assert f"{tmp_path}/config.yaml:{told[0]}" in said
        assert all(part in said for part in told[1:])


def test_a_home_without_a_configuration_and_the_shipped_one_are_right(tmp_path: Path) -> None:
    assert ias(tmp_path, "config", "check").code == 0
    ias(tmp_path, "init", ".")
    assert ias(tmp_path, "config", "check").out == f"{tmp_path}/config.yaml is right\n"


def test_what_is_shown_is_a_configuration_that_means_the_same(tmp_path: Path) -> None:
    ias(tmp_path, "init", ".")
    before = ias(tmp_path, "config", "show")
    (tmp_path / "config.yaml").write_text(before.out)

    assert "timeout: 600\n" in before.out
    assert yaml.safe_load(before.out)["approvals"]["rules"][0]["method"] == ["POST"]
    assert ias(tmp_path, "config", "check").code == 0
    assert ias(tmp_path, "config", "show") == before
    assert json.loads(ias(tmp_path, "config", "show", "--json").out)["llm"]["timeout"] == 600
