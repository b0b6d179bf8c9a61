"""Tool definitions in no provider's words: their JSON form, and that nothing of one vendor is in it."""

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ias import MessageRequest, ToolDef
from ias.domain.messages import AssistantMessage, JsonObject, ToolCall, ToolMessage, UserMessage

WEATHER = ToolDef(name="get_weather", description="天气", parameters={"type": "object", "properties": {"a": {}}})
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=3)
TOOLS = st.builds(ToolDef, name=st.text(min_size=1), description=st.none() | st.text(), parameters=OBJECTS)


def test_a_definition_has_three_fields_and_no_strict() -> None:
    assert [field.name for field in fields(ToolDef)] == ["name", "description", "parameters"]
    with pytest.raises(TypeError, match="strict"):
        ToolDef(name="a", strict=True)  # pyright: ignore[reportCallIssue] - the mistake is the subject


def test_a_description_that_is_not_there_is_left_out() -> None:
    assert ToolDef(name="a", parameters={}).to_json() == {"name": "a", "parameters": {}}
    assert ToolDef.from_json({"name": "a"}) == ToolDef(name="a")


def test_a_vendors_field_is_ignored_when_a_definition_is_read() -> None:
    assert ToolDef.from_json(WEATHER.to_json() | {"strict": True}) == WEATHER


@given(TOOLS)
def test_a_definition_comes_back_from_its_json(tool: ToolDef) -> None:
    assert ToolDef.from_json(tool.to_json()) == tool


@given(tools=st.lists(TOOLS, max_size=3).map(tuple), extra=OBJECTS, thinking=st.booleans())
def test_a_request_comes_back_from_its_json(tools: tuple[ToolDef, ...], extra: JsonObject, *, thinking: bool) -> None:
    request = MessageRequest(
        model="m",
        system="be brief",
        messages=(
            UserMessage(text="天气?"),
            AssistantMessage(reasoning="", calls=(ToolCall(id="1", name="get_weather", arguments="{}", fault="cut"),)),
            ToolMessage(call_id="1", name="get_weather", text="no", is_error=True),
        ),
        tools=tools,
        max_tokens=5,
        thinking=thinking,
        extra=extra,
    )

    assert MessageRequest.from_json(request.to_json()) == request


def test_the_json_of_a_request_holds_strict_only_where_extra_does() -> None:
    request = MessageRequest(model="m", messages=(), tools=(WEATHER,))

    assert "strict" not in request.to_json()
    assert '"strict"' in MessageRequest(model="m", messages=(), extra={"strict": True}).to_json()


@pytest.mark.parametrize("text", ["", "[]", "3", "{}", '{"model": "m"}', '{"model": "m", "messages": [{}]}', "null"])
def test_what_is_no_request_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        MessageRequest.from_json(text)


@pytest.mark.parametrize("body", [{}, {"name": 3}, {"name": ""}, {"name": "a", "parameters": []}])
def test_what_is_no_definition_is_a_value_error(body: JsonObject) -> None:
    with pytest.raises(ValueError, match="tool"):
        ToolDef.from_json(body)
