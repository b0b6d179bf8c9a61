"""Tools on Anthropic's wire and back."""

import pytest

from ias.domain.messages import JsonObject, JsonValue, ToolDef
from ias.providers.anthropic_tools import AnthropicTools
from ias.providers.tool_names import WireNames


def tools_of(*tools: ToolDef) -> AnthropicTools:
    return AnthropicTools(tools, WireNames([tool.name for tool in tools]))


def schema_of(parameters: JsonValue) -> JsonValue:
    tool = tools_of(ToolDef(name="f", parameters=parameters)).offered[0]  # type: ignore[arg-type]  - wrong on purpose
    assert isinstance(tool, dict)
    return tool["input_schema"]


def test_a_tool_has_the_wires_shape_once() -> None:
    city: JsonObject = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tool = ToolDef(name="weather.now", description="Weather", parameters=city)
    tools = tools_of(tool, tool, ToolDef(name="plain"))
    assert tools.offered == [
        {"name": "weather_now_700b5356", "description": "Weather", "input_schema": city},
        {"name": "plain", "description": "", "input_schema": {"type": "object", "properties": {}}},
    ]
    assert tools.names == ("weather_now_700b5356", "plain")


def test_unions_at_the_top_are_folded_into_the_schema() -> None:
    assert schema_of(
        {
            "properties": {"a": {"type": "string"}, "deep": {"anyOf": [{"type": "string"}]}},
            "required": ["a"],
            "anyOf": [{"required": ["b"]}, {"properties": {"a": {}, "b": {"type": "integer"}}}],
            "oneOf": [{"properties": {"c": {}}}],
            "allOf": [{"required": ["a"]}],
        }
    ) == {
        "type": "object",
        "properties": {
            "a": {"type": "string"},
            "deep": {"anyOf": [{"type": "string"}]},
            "b": {"type": "integer"},
            "c": {},
        },
        "required": ["a"],
    }


@pytest.mark.parametrize("parameters", [None, {}, {"type": "string"}, {"properties": None, "required": None}, 3])
def test_any_schema_becomes_one_of_type_object(parameters: JsonValue) -> None:
    assert schema_of(parameters) == {"type": "object", "properties": {}}


def test_properties_with_refused_names_travel_under_others() -> None:
    parameters: JsonObject = {
        "type": "object",
        "properties": {"$top": {"type": "integer"}, "x" * 70: {}, "ok.y-z": {}},
        "required": ["$top", "ok.y-z"],
    }
    tool = ToolDef(name="f", parameters=parameters)
    tools = tools_of(tool)
    schema = schema_of(parameters)
    assert isinstance(schema, dict)
    top, long, fine = map(str, schema["properties"])  # type: ignore[misc]  - an object
    assert (fine, schema["required"]) == ("ok.y-z", [top, "ok.y-z"])
    assert max(len(top), len(long)) <= 64
    assert "$" not in top
    assert tools.real_arguments("f", f'{{"{top}": 1, "{long}": "é", "free": 2}}') == (
        '{"$top": 1, "' + "x" * 70 + '": "é", "free": 2}'
    )
    assert tools.real_arguments("g", '{"a":1}') == '{"a":1}'
    assert tools.taken() == (tool,)
