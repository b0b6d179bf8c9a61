"""Tools as Anthropic's Messages API takes them, and the way back."""

import json
import re
from collections.abc import Iterable

from ias.domain.messages import JsonObject, JsonValue, ToolDef
from ias.providers.readings import mapping, plain_object, string
from ias.providers.schemas import object_schema
from ias.providers.tool_names import WireNames

KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
"""What a property may be called; another name is a 400 for the whole request (composio#3500, decocms/studio#6874)."""
UNIONS = ("anyOf", "oneOf", "allOf")
"""Refused at the top of a schema, again for the whole request (claude-code#5973)."""


class AnthropicTools:
    """The tools of one request; a property with a name that is refused travels under another one.

    Args:
        tools: As they are registered.
        names: Their names on the wire.
    """

    def __init__(self, tools: Iterable[ToolDef], names: WireNames) -> None:
        self._names = names
        self._keys: dict[str, dict[str, str]] = {}
        offered: dict[str, JsonValue] = {}
        for tool in tools:
            name = names.wire(tool.name)
            if name not in offered:
                offered[name] = {
                    "name": name,
                    "description": tool.description or "",
                    "input_schema": self._schema(name, tool.parameters),
                }
        self.names = tuple(offered)
        self.offered = list(offered.values())

    def taken(self) -> tuple[ToolDef, ...]:
        """Give the tools that `offered` describes: the way back."""
        return tuple(self._tool(mapping(tool)) for tool in self.offered)

    def real_arguments(self, wire_name: str, text: str) -> str:
        """Give a call's arguments under the properties' own names.

        Args:
            wire_name: The tool's name as the model wrote it.
            text: One JSON object.
        """
        keys = self._keys.get(wire_name)
        sent = plain_object(text) if keys else {}
        if not keys or not sent:
            return text
        return json.dumps({keys.get(key, key): value for key, value in sent.items()}, ensure_ascii=False)

    def _schema(self, name: str, parameters: JsonValue) -> JsonObject:
        schema = _fold(object_schema(parameters))
        properties = mapping(schema["properties"])
        if all(KEY.fullmatch(key) for key in properties):
            return schema
        shapes = WireNames(properties)
        sent = {key: key if KEY.fullmatch(key) else shapes.wire(key) for key in properties}
        self._keys[name] = {shape: key for key, shape in sent.items() if shape != key}
        required = schema.get("required")
        if isinstance(required, list):
            schema["required"] = [sent.get(string(key), key) for key in required]
        return {**schema, "properties": {sent[key]: value for key, value in properties.items()}}

    def _tool(self, tool: JsonObject) -> ToolDef:
        name = string(tool.get("name"))
        keys = self._keys.get(name, {})
        schema = object_schema(tool.get("input_schema"))
        properties = mapping(schema["properties"])
        schema["properties"] = {keys.get(key, key): value for key, value in properties.items()}
        required = schema.get("required")
        if isinstance(required, list):
            schema["required"] = [keys.get(string(key), key) for key in required]
        description = string(tool.get("description")) or None
        return ToolDef(name=self._names.real(name), description=description, parameters=schema)


def _fold(schema: JsonObject) -> JsonObject:
    """Put the branches of a union at the top into the schema itself: all their properties, none of their conditions.

    The tool's own check of its arguments still knows the conditions.
    """
    if not any(key in schema for key in UNIONS):
        return schema
    folded: JsonObject = {key: value for key, value in schema.items() if key not in UNIONS}
    properties = dict(mapping(schema.get("properties")))
    for key in UNIONS:
        branches = schema.get(key)
        for branch in branches if isinstance(branches, list) else []:
            for name, value in mapping(mapping(branch).get("properties")).items():
                properties.setdefault(name, value)
    folded["properties"] = properties
    return folded
