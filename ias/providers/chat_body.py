"""The body of a chat-completions request, built from messages in no provider's words."""

import json

from ias.domain.messages import (
    AssistantMessage,
    JsonObject,
    JsonValue,
    Message,
    MessageRequest,
    ToolMessage,
    UserMessage,
    replace_surrogates,
)
from ias.errors import BadRequestError
from ias.providers.history import repair
from ias.providers.profiles import Echo, Profile
from ias.providers.tool_names import WireNames, offer

REASONING_FIELD = "reasoning_content"


def names_of(request: MessageRequest) -> WireNames:
    """Give the names on the wire: of the tools that are offered, and of those that the history speaks of."""
    used = [
        call.name for message in request.messages if isinstance(message, AssistantMessage) for call in message.calls
    ]
    return WireNames([tool.name for tool in request.tools] + used)


def chat_body(request: MessageRequest, profile: Profile, *, model: str, names: WireNames) -> JsonObject:
    """Build the body; `request.extra` is laid over it as it is, but for `stream`, since only streams are read.

    `tool_choice` is not sent: DeepSeek's thinking mode refuses all but `auto` and `none`, Ollama all.
    """
    echo = profile.echo if request.thinking else Echo.NEVER
    messages: list[JsonValue] = [{"role": "system", "content": request.system}] if request.system else []
    messages += [_message(message, names, echo) for message in repair(request.messages)]
    body: JsonObject = {"model": model, "messages": messages, "stream": True, "stream_options": {"include_usage": True}}
    body.update(profile.thinking_on if request.thinking else profile.thinking_off)
    if request.tools:
        body["tools"] = offer(request.tools, names)
        for rule in profile.with_tools:
            body.update(rule.body if rule.pattern.match(model) else {})
    if request.max_tokens is not None:
        body[profile.max_tokens_field] = request.max_tokens
    body.update(request.extra)
    body["stream"] = True
    return body


def encode(body: JsonObject) -> str:
    """Give the body's text, without lone surrogates, which every provider refuses.

    Raises:
        BadRequestError: `llm.extra` holds what JSON cannot say.
    """
    try:
        return replace_surrogates(json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")))
    except (ValueError, TypeError, RecursionError) as error:
        raise BadRequestError(f"the request cannot be written as JSON ({error}): check llm.extra") from error


def _message(message: Message, names: WireNames, echo: Echo) -> JsonObject:
    match message:
        case UserMessage():
            return {"role": "user", "content": message.text}
        case ToolMessage():
            return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
        case AssistantMessage():
            return _assistant(message, names, echo)


def _assistant(message: AssistantMessage, names: WireNames, echo: Echo) -> JsonObject:
    """Give one assistant message; `content` is `""` and never null, which some refuse (req_llm#966)."""
    body: JsonObject = {"role": "assistant", "content": message.text}
    if echo is Echo.ALWAYS or (echo is Echo.PRESENT and message.reasoning):
        body[REASONING_FIELD] = message.reasoning or ""
    if message.calls:
        body["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": names.wire(call.name), "arguments": call.arguments},
            }
            for call in message.calls
        ]
    return body
