"""Messages to and from a model, in no provider's words."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self, TypeAlias, cast

JsonValue: TypeAlias = "str | int | float | bool | list[JsonValue] | dict[str, JsonValue] | None"
JsonObject: TypeAlias = dict[str, JsonValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDef:
    """A tool as the model sees it, in no provider's words; `parameters` is a JSON Schema of type object.

    Example:
        ```python
        tool = ToolDef(name="get_weather", description="Current weather", parameters={"type": "object"})
        assert ToolDef.from_json(tool.to_json()) == tool
        ```
    """

    name: str
    description: str | None = None
    parameters: JsonObject = field(default_factory=lambda: {"type": "object", "properties": {}})

    def to_json(self) -> JsonObject:
        """Give it as a JSON object; a description that is not there is left out."""
        body: JsonObject = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return body if self.description is not None else {"name": self.name, "parameters": self.parameters}

    @classmethod
    def from_json(cls, body: JsonObject) -> Self:
        """Read what `to_json` gave; other fields, like a vendor's `strict`, are ignored.

        Args:
            body: The object, parsed.

        Raises:
            ValueError: The name is missing, or a field has the wrong type.
        """
        name, description = body.get("name"), body.get("description")
        parameters = body.get("parameters", {"type": "object", "properties": {}})
        if not isinstance(name, str) or not name:
            raise ValueError(f"a tool's name must be text, not {name!r}")
        if not isinstance(description, str | None) or not isinstance(parameters, dict):
            # A ValueError, as for text that is no JSON: there is one way in which an object is not what it should be.
            raise ValueError(  # noqa: TRY004 - the reason above
                f"the tool {name!r} needs a text as description and an object as parameters"
            )
        return cls(name=name, description=description, parameters=parameters)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A model's wish to call a tool.

    `arguments` is always the text of one JSON object. Where the model wrote something else, it is `{}` and `fault`
    says what was wrong with it and where.
    """

    id: str
    name: str
    arguments: str
    fault: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessage:
    """What a person wrote, or words of `ias` itself that the model should read as such."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantMessage:
    """One model answer, verbatim; `reasoning` None means the provider sent none, `""` that it sent an empty one.

    `blocks` is what its provider wants back byte for byte (signed reasoning, results of its own tools). The adapter
    that made it is the only reader; it names itself inside, since to any other provider the content is an error.
    """

    text: str = ""
    reasoning: str | None = None
    calls: tuple[ToolCall, ...] = ()
    blocks: JsonObject | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolMessage:
    """The result of one call, as text for the model."""

    call_id: str
    name: str
    text: str
    is_error: bool = False


Message: TypeAlias = UserMessage | AssistantMessage | ToolMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRequest:
    """One model call. `extra` goes into the provider's body as it is: the way out for vendor fields.

    Example:
        ```python
        request = MessageRequest(model="m", messages=(), tools=registry.definitions(), extra={"seed": 7})
        assert MessageRequest.from_json(request.to_json()) == request
        ```
    """

    model: str
    messages: tuple[Message, ...]
    system: str | None = None
    tools: tuple[ToolDef, ...] = ()
    max_tokens: int | None = None
    thinking: bool = True
    extra: Mapping[str, JsonValue] = field(default_factory=lambda: {})

    def to_json(self) -> str:
        """Give it as the text of one JSON object, ASCII only."""
        messages: list[JsonValue] = [
            {"role": role_of(message), **json.loads(message_to_json(message))} for message in self.messages
        ]
        body: JsonObject = {
            "model": self.model,
            "system": self.system,
            "messages": messages,
            "tools": [tool.to_json() for tool in self.tools],
            "max_tokens": self.max_tokens,
            "thinking": self.thinking,
            "extra": dict(self.extra),
        }
        return json.dumps(body, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` gave.

        Args:
            text: The JSON text.

        Raises:
            ValueError: It is no JSON, or not such an object.
        """
        try:
            body = json.loads(text)
            return cls(
                model=body["model"],
                system=body["system"],
                messages=tuple(message_from_json(one.pop("role"), json.dumps(one)) for one in body["messages"]),
                tools=tuple(ToolDef.from_json(one) for one in body["tools"]),
                max_tokens=body["max_tokens"],
                thinking=body["thinking"],
                extra=body["extra"],
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"this is no message request: {type(error).__name__}: {error}") from error


class FinishReason(StrEnum):
    """Why the model stopped; anything else that a provider says is an error."""

    STOP = "stop"
    LENGTH = "length"
    TOOL_CALLS = "tool_calls"
    CONTENT_FILTER = "content_filter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one model call; `cached` is part of `input` (by the provider's cache), `reasoning` of `output`."""

    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatResponse:
    """A whole model answer, the last item of a provider's stream.

    Example:
        ```python
        answer = await cycle.submit_with_tools("Is it raining in Oslo?", registry)
        print(answer.message.text, answer.stop_reason, answer.usage.output)
        ```
    """

    message: AssistantMessage
    stop_reason: FinishReason
    usage: Usage
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TextChunk:
    """A piece of the answer's text as it arrives."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningChunk:
    """A piece of the model's reasoning as it arrives."""

    text: str


StreamItem: TypeAlias = TextChunk | ReasoningChunk | ChatResponse


def replace_surrogates(text: str) -> str:
    """Replace lone surrogates by U+FFFD: databases, logs and providers refuse them (DeepSeek answers 400)."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def role_of(message: Message) -> str:
    """Give a message's role: `user`, `assistant` or `tool`."""
    match message:
        case UserMessage():
            return "user"
        case AssistantMessage():
            return "assistant"
        case ToolMessage():
            return "tool"


def shorten(text: str, *, limit_bytes: int) -> str:
    """Cut a long text in its middle, four fifths of the limit from its head and one from its tail, and say so.

    Args:
        text: Any text.
        limit_bytes: Longest text in UTF-8 that is left as it is; the mark comes on top where it is cut.
    """
    whole = text.encode("utf-8", "surrogatepass")
    if len(whole) <= limit_bytes:
        return text
    head, tail = whole[: limit_bytes * 4 // 5], whole[len(whole) - limit_bytes // 5 :]
    gone = len(whole) - len(head) - len(tail)
    mark = f"\n[… {gone} of {len(whole)} bytes left out here; `ias runs show` has all of it …]\n"
    return head.decode("utf-8", "ignore") + mark + tail.decode("utf-8", "ignore")


def message_to_json(message: Message) -> str:
    """Give a message's stored form: one JSON object, ASCII only."""
    match message:
        case UserMessage():
            body: JsonObject = {"text": message.text}
        case AssistantMessage():
            calls: list[JsonValue] = [
                {"id": call.id, "name": call.name, "arguments": call.arguments, "fault": call.fault}
                for call in message.calls
            ]
            body = {"text": message.text, "reasoning": message.reasoning, "calls": calls}
            if message.blocks is not None:
                body["blocks"] = message.blocks
        case ToolMessage():
            body = {
                "call_id": message.call_id,
                "name": message.name,
                "text": message.text,
                "is_error": message.is_error,
            }
    return json.dumps(body, separators=(",", ":"))


def message_from_json(role: str, text: str) -> Message:
    """Read a stored message back.

    Args:
        role: `user`, `assistant` or `tool`.
        text: What `message_to_json` gave.

    Raises:
        ValueError: For another role.
    """
    body = json.loads(text)
    match role:
        case "user":
            return UserMessage(text=body["text"])
        case "assistant":
            calls = cast("list[dict[str, str]]", body["calls"])
            return AssistantMessage(
                text=body["text"],
                reasoning=body["reasoning"],
                calls=tuple(ToolCall(**call) for call in calls),
                blocks=body.get("blocks"),
            )
        case "tool":
            return ToolMessage(**body)
        case _:
            raise ValueError(f"no message has the role {role!r}")
