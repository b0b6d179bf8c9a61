"""The options of `ias run`: its own before and after the name, the tool's after it."""

from typing import Any

import pytest

from ias.cli.exits import UsageError
from ias.cli.options import read_options

PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "location": {"type": "string"},
        "days": {"type": "integer"},
        "is_long": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "user": {"type": "string"},
    },
}


@pytest.mark.parametrize(
    ("words", "args"),
    [
        (["t"], {}),
        (["t", "--location", "北京", "--days=3"], {"location": "北京", "days": "3"}),
        (["t", "--is-long"], {"is_long": True}),
        (["t", "--no-is-long"], {"is_long": False}),
        (["t", "--is-long", "false"], {"is_long": "false"}),
        (["t", "--tags", "a", "--tags", "b"], {"tags": ["a", "b"]}),
        (["t", "--tags", '["a"]'], {"tags": '["a"]'}),
        (["t", "--days", "-3"], {"days": "-3"}),
        (["t", "--location", "x", "--location", "y"], {"location": "y"}),
        (["t", "--args", '{"location": "a", "days": 2}', "--days", "3"], {"location": "a", "days": "3"}),
        (["--user", "bob", "t", "--user", "eve"], {"user": "eve"}),
    ],
)
def test_options_become_arguments(words: list[str], args: dict[str, object]) -> None:
    assert read_options(words).args_for(PARAMETERS) == args


def test_options_of_run_itself_stand_before_or_after_the_name() -> None:
    before = read_options(["--json", "--approve", "once", "--user", "bob", "t"])
    after = read_options(["t", "--json", "--approve", "once", "--location", "x"])

    assert after.args_for(PARAMETERS) == {"location": "x"}
    assert (before.as_json, before.approves_once, before.user) == (True, True, "bob")
    assert (after.as_json, after.approves_once, after.user) == (True, True, None)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["t", "--nope", "1"], "t has no option --nope"),
        (["t", "--location"], "--location needs a value"),
        (["t", "more"], "'more' is one word too many"),
        (["--days", "3", "t"], "--days is not an option of `ias run`"),
        (["t", "--args", "{"], "--args is no JSON"),
        (["t", "--args", "[]"], "--args must be one JSON object"),
        (["t", "--json", "--args"], "t has no option --args"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_to_do(words: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("`", ".")):
        read_options(words).args_for(PARAMETERS)


def test_approve_takes_once_alone() -> None:
    with pytest.raises(UsageError, match="--approve 'always' is not possible here"):
        _ = read_options(["--approve", "always", "t"]).approves_once
