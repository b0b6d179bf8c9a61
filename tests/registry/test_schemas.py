"""The schemas in `specs/`: current, true for what is shipped, and of one mind with what really reads the files."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from ias.domain.approvals import StepKind
from ias.domain.messages import JsonObject, JsonValue
from ias.domain.tools import Answer, StepInput
from ias.errors import ToolError
from ias.runtime.protocol import BATCH_MAX, METHODS, envelope, parse_line
from ias.toolspec.schemas import schema_text, schemas

PROJECT = Path(__file__).resolve().parents[2]
SPECS = sorted(PROJECT.glob("tools/*/specs/*.tool.yaml"))
VALIDATORS = {name: Draft202012Validator(schema) for name, schema in schemas().items()}


def is_valid(name: str, value: Any) -> bool:
    return VALIDATORS[name].is_valid(value)


def is_read(message: object) -> bool:
    try:
        parse_line(json.dumps(message).encode())
    except ToolError:
        return False
    return True


@pytest.mark.parametrize("name", sorted(schemas()))
def test_the_schema_in_the_repository_is_current_and_sound(name: str) -> None:
    """`python -m ias.toolspec.schemas` writes them anew."""
    Draft202012Validator.check_schema(schemas()[name])

    assert (PROJECT / "specs" / name).read_text("utf-8") == schema_text(schemas()[name])


@pytest.mark.parametrize("file", SPECS, ids=lambda file: f"{file.parent.parent.name}-{file.name}")
def test_every_shipped_spec_fits_its_schema_and_names_it_for_editors(file: Path) -> None:
    text = file.read_text("utf-8")

    assert [error.message for error in VALIDATORS["tool.schema.json"].iter_errors(yaml.safe_load(text))] == []
    assert text.splitlines()[0] == "# yaml-language-server: $schema=../../../specs/tool.schema.json"


def test_the_shipped_config_fits_its_schema_and_names_it_for_editors() -> None:
    text = (PROJECT / "config.yaml").read_text("utf-8")

    assert [error.message for error in VALIDATORS["config.schema.json"].iter_errors(yaml.safe_load(text))] == []
    assert text.splitlines()[0] == "# yaml-language-server: $schema=specs/config.schema.json"


@pytest.mark.parametrize(
    "change",
    [
        {"name": "Bad"},
        {"extra": 1},
        {"type": "mcp"},
        {"timeout_secs": 601},
        {"permissions": ["netwrok"]},
        {"params": [{"name": "a", "type": "int"}]},
        {"limits": {"warm": "no"}},
    ],
)
def test_the_spec_schema_refuses_what_the_loader_refuses(change: JsonObject) -> None:
    good: JsonObject = {"name": "a", "desc": "d", "type": "local", "path": "a.py"}

    assert is_valid("tool.schema.json", good)
    assert not is_valid("tool.schema.json", good | change)


HTTP: dict[str, object] = {"type": "http", "method": "GET", "url": "https://a.com"}
DB: dict[str, object] = {"type": "db", "operation": "kv_get"}
MESSAGES: list[tuple[object, bool]] = [
    (HTTP, True),
    (
        HTTP | {"method": "get", "query": {"a": [1, None], "b": True}, "headers": {"X": "y"}, "body": "", "state": [1]},
        True,
    ),
    (HTTP | {"json": {"a": 1}, "body": None, "desc": None}, True),
    (HTTP | {"json": {"a": 1}, "body": "b"}, False),
    (HTTP | {"method": "FETCH"}, False),
    (HTTP | {"query": {"a": {"b": 1}}}, False),
    (HTTP | {"query": []}, False),
    (HTTP | {"body": {}}, False),
    (HTTP | {"timeout": 3}, False),
    ({"type": "http", "method": "GET"}, False),
    (DB | {"params": {"key": "a"}, "desc": "d", "state": None}, True),
    (DB | {"operation": "DROP TABLE"}, False),
    (DB | {"params": []}, False),
    ({"type": "batch", "requests": [HTTP, DB], "state": 1}, True),
    ({"type": "batch", "requests": []}, False),
    ({"type": "batch", "requests": [HTTP | {"state": 1}]}, False),
    ({"type": "batch", "requests": [{"type": "result", "content": ""}]}, False),
    ({"type": "batch", "requests": [HTTP] * BATCH_MAX}, True),
    ({"type": "batch", "requests": [HTTP] * (BATCH_MAX + 1)}, False),
    ({"type": "result", "content": "", "data": [1], "is_error": True}, True),
    ({"type": "result", "content": 1}, False),
    ({"type": "result", "content": "", "is_error": "no"}, False),
    ({"type": "result"}, False),
    ({"type": "shell", "content": ""}, False),
    ({"content": "x"}, False),
    ([], False),
    (None, False),
    *(((HTTP | {"method": method}), True) for method in METHODS),
]


@pytest.mark.parametrize(("message", "is_good"), MESSAGES)
def test_the_message_schema_and_the_reader_of_messages_agree(message: object, is_good: bool) -> None:
    assert (is_valid("message.schema.json", message), is_read(message)) == (is_good, is_good)


VALUES: st.SearchStrategy[JsonValue] = (
    st.none()
    | st.booleans()
    | st.integers(0, 3)
    | st.sampled_from(["", "GET", "kv_get", "https://a.com"])
    | st.just({})
)


@given(
    kind=st.sampled_from(["http", "db", "batch", "result", "other"]),
    fields=st.dictionaries(
        st.sampled_from(
            ["method", "url", "query", "body", "json", "desc", "operation", "params", "content", "is_error"]
        ),
        VALUES,
        max_size=6,
    ),
)
def test_the_message_schema_and_the_reader_agree_on_any_message(kind: str, fields: JsonObject) -> None:
    message: JsonObject = {"type": kind} | fields

    assert is_valid("message.schema.json", message) == is_read(message)


@pytest.mark.parametrize(
    "given_step",
    [
        StepInput(),
        StepInput(step=1, answers=(Answer(kind=StepKind.HTTP, body={"status": 200, "headers": {}, "body": "x"}),)),
        StepInput(
            step=1, answers=(Answer(kind=StepKind.HTTP, body={"error": {"code": "c", "message": "m"}}),), state=[1]
        ),
        StepInput(step=1, answers=(Answer(kind=StepKind.DB, body={"rows": [{"a": 1}]}),)),
        StepInput(step=1, answers=(Answer(kind=StepKind.DB, body={"changed": 1}),)),
        StepInput(
            step=2,
            is_batch=True,
            answers=(
                Answer(kind=StepKind.HTTP, body={"status": 200, "headers": {"a": "b"}, "body_base64": "AA=="}),
                Answer(kind=StepKind.DB, body={"rows": []}),
            ),
        ),
    ],
)
def test_what_the_host_writes_fits_the_envelope_schema(given_step: StepInput) -> None:
    line = envelope({"location": "北京"}, given_step, user_id="u", call_id="c", secrets=("KEY",))

    assert [error.message for error in VALIDATORS["envelope.schema.json"].iter_errors(json.loads(line))] == []


@pytest.mark.parametrize("change", [{"approved": False}, {"step": -1}, {"response": {"status": 200}}, {"extra": 1}])
def test_the_envelope_schema_refuses_what_the_host_never_writes(change: JsonObject) -> None:
    good = json.loads(envelope({}, StepInput(), user_id="u", call_id="c"))

    assert not is_valid("envelope.schema.json", good | change)
