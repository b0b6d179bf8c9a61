"""Field faults that a request brings upon itself, by their row in docs/providers.md: names, schemas, limits."""

import json
import re
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ias.domain.messages import JsonObject, JsonValue, ToolDef, UserMessage
from ias.providers.chat_body import LEAST_ANSWER, chat_body
from ias.providers.exchange import encode
from ias.providers.profiles import DEEPSEEK, OPENAI, OPENAI_COMPATIBLE, Profile
from ias.providers.schemas import KEYWORDS, SCHEMA_LISTS, SCHEMA_MAPS, SUB_SCHEMAS, object_schema
from ias.providers.tool_names import names_of
from tests.providers.loopback import delta, frames, request_of, streaming, take

EMPTY: JsonObject = {"type": "object", "properties": {}}


def body_of(profile: Profile, model: str = "m", **changes: Any) -> dict[str, Any]:  # JSON, read back
    request = request_of(**changes)
    return json.loads(encode(chat_body(request, profile, model=model, names=names_of(request))))


@given(st.lists(st.one_of(st.text(max_size=90), st.sampled_from(["a.b", "a_b", "a:b", "x" * 65])), max_size=6))
def test_row_32_every_name_is_sendable_and_finds_its_way_back(real: list[str]) -> None:
    request = request_of(tools=tuple(ToolDef(name=name) for name in real))
    names = names_of(request)
    body = chat_body(request, DEEPSEEK, model="m", names=names)
    tools: Any = body.get("tools", [])
    wire = [tool["function"]["name"] for tool in tools]
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in wire)
    assert [names.real(name) for name in wire] == list(dict.fromkeys(real))


async def test_row_32_a_call_comes_back_under_the_tools_own_name() -> None:
    tool = ToolDef(name="files.read:" + "x" * 80)
    wire = body_of(DEEPSEEK, tools=(tool,))["tools"][0]["function"]["name"]
    call = {"index": 0, "id": "a", "function": {"name": wire, "arguments": "{}"}}
    taken, _ = await take(streaming(frames(delta("tool_calls", tool_calls=[call]))), request_of(tools=(tool,)))
    assert [made.name for made in taken.response.message.calls] == [tool.name]


@pytest.mark.parametrize(
    ("given_schema", "expected"),
    [
        (None, EMPTY),
        ({}, EMPTY),
        ({"type": None, "properties": None, "required": None}, EMPTY),
        ({"type": "string"}, EMPTY),
        ({"properties": {"a": None}, "required": []}, {"type": "object", "properties": {"a": {}}}),
        ({"properties": {}, "required": ["a", "a", 1]}, EMPTY | {"required": ["a"]}),
        (
            {"oneOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"properties": {"b": {}}}]},
            {"type": "object", "properties": {"a": {"type": "string"}, "b": {}}},
        ),
        (
            {"$ref": "#/$defs/A", "$defs": {"A": {"properties": {"a": {"$ref": "#/$defs/B"}}}, "B": {}}},
            {
                "type": "object",
                "properties": {"a": {"$ref": "#/$defs/B"}},
                "$defs": {"A": {"properties": {"a": {"$ref": "#/$defs/B"}}}, "B": {}},
            },
        ),
    ],
)
def test_row_33_any_schema_becomes_one_of_type_object(given_schema: JsonValue, expected: JsonObject) -> None:
    assert object_schema(given_schema) == expected


@pytest.mark.parametrize(
    ("given_schema", "expected"),
    [
        ({"type": "int"}, {"type": "integer"}),
        ({"type": ["STRING", "any"]}, {"type": ["string"]}),
        ({"type": "any"}, {}),
        ({"type": "array"}, {"type": "array", "items": {}}),
        ({"type": ["array", "null"], "items": [{}]}, {"type": ["array", "null"], "items": {}}),
        ({"enum": []}, {}),
        ({"enum": [1, 1, "1"]}, {"enum": [1, "1"]}),
        ({"minimum": "3", "exclusiveMinimum": True}, {}),
        ({"maxLength": -1, "multipleOf": 0, "uniqueItems": "yes"}, {}),
        ({"pattern": "["}, {}),
        ({"description": 7, "title": []}, {}),
        ({"$ref": "#/$defs/none"}, {}),
        ({"$ref": "https://x/y"}, {}),
    ],
)
def test_row_33_a_keyword_that_would_be_refused_is_left_out(given_schema: JsonObject, expected: JsonObject) -> None:
    schema = object_schema({"properties": {"a": given_schema}})
    assert schema == {"type": "object", "properties": {"a": expected}}


def test_row_33_a_sound_schema_goes_as_it_is() -> None:
    sound: JsonObject = {
        "type": "object",
        "properties": {
            "city": {
                "type": "string",
                "description": "a city",
                "minLength": 1,
                "pattern": "^[a-z]+$",
                "examples": ["oslo"],
            },
            "days": {"type": "integer", "minimum": 1, "maximum": 15, "default": 3},
            "kind": {"enum": ["a", None], "anyOf": [{"type": "string"}, {"type": "null"}]},
            "tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}, "uniqueItems": True},
        },
        "required": ["city"],
        "additionalProperties": False,
        "$defs": {"tag": {"type": "string"}},
    }
    assert object_schema(sound) == sound


KEYS = ["$defs", "a", "b", *KEYWORDS, *SUB_SCHEMAS, *SCHEMA_LISTS, *SCHEMA_MAPS, "$ref", "default", "const"]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.floats()
    | st.sampled_from(["", "a", "int", "array", "#/$defs/a", "["]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@settings(deadline=None)
@given(JSON)
def test_row_33_any_json_becomes_a_schema_that_the_metaschema_takes(schema: JsonValue) -> None:
    tools = body_of(DEEPSEEK, tools=(ToolDef(name="odd", parameters=schema), ToolDef(name="even")))["tools"]  # type: ignore[arg-type]  - any JSON, on purpose
    assert [tool["function"]["name"] for tool in tools] == ["odd", "even"]
    odd = tools[0]["function"]["parameters"]
    assert (odd["type"], isinstance(odd["properties"], dict)) == ("object", True)
    jsonschema.Draft202012Validator.check_schema(odd)


@pytest.mark.parametrize(
    ("model", "is_off"),
    [
        ("gpt-5.4", True),
        ("gpt-5.4-mini-2026-03-05", True),
        ("gpt-5.6", True),
        ("gpt-5.10", True),
        ("gpt-6", True),
        ("gpt-12", True),
        ("openai/gpt-5.6", True),
        ("ft:gpt-6:team::id", True),
        ("gpt-5", False),
        ("gpt-5.1", False),
        ("gpt-5-mini", False),
        ("gpt-4o", False),
        ("gpt-4.1", False),
        ("gpt-3.5-turbo", False),
        ("gpt-35-turbo", False),
        ("o4-mini", False),
    ],
)
def test_row_36_newer_openai_models_are_offered_tools_without_reasoning(model: str, is_off: bool) -> None:
    with_tools = body_of(OPENAI, model, tools=(ToolDef(name="f"),))
    assert with_tools.get("reasoning_effort") == ("none" if is_off else None)
    assert "reasoning_effort" not in body_of(OPENAI, model)
    own = body_of(OPENAI, model, tools=(ToolDef(name="f"),), extra={"reasoning_effort": "low"})
    assert own["reasoning_effort"] == "low"


@pytest.mark.parametrize(
    ("profile", "model", "characters", "asked", "sent"),
    [
        (DEEPSEEK, "deepseek-flash", 10, 8_000, 8_000),
        (DEEPSEEK, "deepseek-flash", 10, 900_000, 393_216),
        (DEEPSEEK, "deepseek-v4-pro", 2_500_000, 100_000, 48_536),
        (DEEPSEEK, "deepseek-flash", 4_000_000, 100_000, LEAST_ANSWER),
        (DEEPSEEK, "deepseek-flash", 4_000_000, 50, 50),
        (DEEPSEEK, "deepseek-flash", 10, None, None),
        (OPENAI, "gpt-4o-mini", 10, 100_000, 16_384),
        (OPENAI, "gpt-3.5-turbo", 37_500, 4_000, 1_345),
        (OPENAI, "some-new-model", 10, 900_000, 900_000),
        (OPENAI_COMPATIBLE, "deepseek-flash", 10, 900_000, 900_000),
    ],
)
def test_row_38_the_limit_of_an_answer_fits_beside_the_request(
    profile: Profile, model: str, characters: int, asked: int | None, sent: int | None
) -> None:
    body = body_of(profile, model, messages=(UserMessage(text="x" * characters),), max_tokens=asked)
    assert body.get(profile.max_tokens_field) == pytest.approx(sent, abs=30)


async def test_row_38_an_answer_that_ends_at_the_limit_that_was_sent_was_cut() -> None:
    call = {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}
    chunk: JsonObject = {**delta("tool_calls", tool_calls=[call]), "usage": {"completion_tokens": 393_216}}
    taken, _ = await take(streaming(frames(chunk)), request_of(max_tokens=900_000))
    assert taken.response.message.calls == ()
