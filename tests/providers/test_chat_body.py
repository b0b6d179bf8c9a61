"""Request bodies, as each vendor wants them."""

import json

import pytest

from ias.domain.messages import AssistantMessage, JsonObject, JsonValue, ToolCall, ToolDef, ToolMessage, UserMessage
from ias.errors import BadRequestError
from ias.providers.chat_body import chat_body
from ias.providers.exchange import encode
from ias.providers.profiles import DEEPSEEK, OLLAMA_COMPATIBLE, OPENAI, QWEN, Profile
from ias.providers.schemas import object_schema
from ias.providers.tool_names import WireNames, names_of
from tests.providers.loopback import request_of

TALK = (
    UserMessage(text="weather?"),
    AssistantMessage(
        reasoning="look it up", calls=(ToolCall(id="call_1", name="weather", arguments='{"city": "北京"}'),)
    ),
    ToolMessage(call_id="call_1", name="weather", text="rain"),
    AssistantMessage(text="It rains."),
    UserMessage(text="thanks"),
)
WEATHER = ToolDef(
    name="weather", description="Weather", parameters={"type": "object", "properties": {"city": {"type": "string"}}}
)


def body_of(profile: Profile, model: str = "m", **changes: object) -> JsonObject:
    fields: dict[str, object] = {"messages": TALK, "tools": (WEATHER,), "system": "be brief", **changes}
    request = request_of("", **fields)
    return json.loads(encode(chat_body(request, profile, model=model, names=names_of(request))))


def test_deepseek_gets_its_whole_body() -> None:
    assert body_of(DEEPSEEK, max_tokens=100) == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "weather?"},
            {
                "role": "assistant",
                "content": "",
                "reasoning_content": "look it up",
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "weather", "arguments": '{"city": "北京"}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "rain"},
            {"role": "assistant", "content": "It rains.", "reasoning_content": ""},
            {"role": "user", "content": "thanks"},
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
        "thinking": {"type": "enabled"},
        "tools": [
            {
                "type": "function",
                "function": {"name": "weather", "description": "Weather", "parameters": WEATHER.parameters},
            }
        ],
        "max_tokens": 100,
    }


def test_without_thinking_no_reasoning_goes_back() -> None:
    body = body_of(DEEPSEEK, thinking=False)
    assert body["thinking"] == {"type": "disabled"}
    assert "reasoning_content" not in json.dumps(body)


@pytest.mark.parametrize(
    ("profile", "fields", "reasoning"),
    [
        (QWEN, {"enable_thinking": True}, ["look it up", None]),
        (OPENAI, {}, [None, None]),
        (OLLAMA_COMPATIBLE, {}, [None, None]),
    ],
)
def test_other_vendors_get_their_own_fields(profile: Profile, fields: JsonObject, reasoning: list[str | None]) -> None:
    body = body_of(profile)
    common = {"model", "messages", "stream", "stream_options", "tools"}
    assert {key: value for key, value in body.items() if key not in common} == fields
    messages = json.loads(json.dumps(body["messages"]))
    assert [m.get("reasoning_content") for m in messages if m["role"] == "assistant"] == reasoning


def test_openai_models_that_reason_take_tools_only_without_reasoning() -> None:
    assert body_of(OPENAI, "gpt-5.4-mini")["reasoning_effort"] == "none"
    assert "reasoning_effort" not in body_of(OPENAI, "gpt-5.4-mini", tools=())
    assert "reasoning_effort" not in body_of(OPENAI, "gpt-4o")
    assert body_of(OPENAI, max_tokens=5)["max_completion_tokens"] == 5


def test_extra_fields_are_laid_over_the_body_but_it_stays_a_stream() -> None:
    body = body_of(DEEPSEEK, extra={"stream": False, "temperature": 0, "thinking": {"type": "disabled"}})
    assert (body["stream"], body["temperature"], body["thinking"]) == (True, 0, {"type": "disabled"})


def test_extra_that_is_no_json_is_refused() -> None:
    with pytest.raises(BadRequestError, match=r"llm\.extra"):
        body_of(DEEPSEEK, extra={"temperature": float("nan")})


def test_lone_surrogates_are_replaced_everywhere() -> None:
    bad = "a\ud800b"
    talk = (
        UserMessage(text=bad),
        AssistantMessage(text=bad, reasoning=bad, calls=(ToolCall(id="1", name=bad, arguments='{"x": "\\ud800"}'),)),
        ToolMessage(call_id="1", name=bad, text=bad),
    )
    body = json.dumps(body_of(DEEPSEEK, messages=talk, system=bad, tools=(ToolDef(name=bad, description=bad),)))
    assert "\\ud800" not in body
    assert body.count("\\ufffd") == 7


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, {"type": "object", "properties": {}}),
        ({}, {"type": "object", "properties": {}}),
        ({"type": "string", "properties": None, "required": None}, {"type": "object", "properties": {}}),
        (
            {"properties": {"a": True, "b": {"default": None, "enum": ["x", None]}}, "required": []},
            {"type": "object", "properties": {"a": {}, "b": {"enum": ["x", None]}}},
        ),
        (
            {"properties": {"properties": {"type": "string"}}, "required": ["properties", 1]},
            {"type": "object", "properties": {"properties": {"type": "string"}}, "required": ["properties"]},
        ),
        ({"properties": {"n": {"maximum": float("inf")}}}, {"type": "object", "properties": {}}),
        (
            {"anyOf": [{"required": None}], "additionalProperties": False, "properties": {"a": {"items": True}}},
            {"type": "object", "additionalProperties": False, "properties": {"a": {"items": {}}}},
        ),
    ],
)
def test_any_schema_becomes_one_of_type_object(given: JsonValue, expected: JsonObject) -> None:
    assert object_schema(given) == expected


def test_a_tool_that_cannot_be_described_does_not_spoil_the_others() -> None:
    circle: dict[str, object] = {}
    circle["properties"] = circle
    broken = ToolDef(name="broken", parameters=circle)  # type: ignore[arg-type]  - no JSON, on purpose
    tools = json.loads(json.dumps(body_of(DEEPSEEK, tools=(broken, WEATHER, WEATHER))["tools"]))
    assert [tool["function"]["name"] for tool in tools] == ["broken", "weather"]
    assert tools[0]["function"]["parameters"] == {"type": "object", "properties": {}}


def test_names_never_meet_on_the_wire() -> None:
    real = ["a.b", "a_b", "a/b", "", "工具", "x" * 70, "x" * 71]
    names = WireNames(real)
    wire = [names.wire(name) for name in real]
    assert len({*wire}) == len(real)
    assert all(
        0 < len(name) <= 64 and name.replace("_", "").replace("-", "").isalnum() and name.isascii() for name in wire
    )
    assert [names.real(name) for name in wire] == real
    assert (names.wire("a_b"), names.real("invented")) == ("a_b", "invented")
