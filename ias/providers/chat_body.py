"""The body of a chat-completions request, built from messages in no provider's words."""

from ias.domain.messages import (
    AssistantMessage,
    JsonObject,
    JsonValue,
    Message,
    MessageRequest,
    ToolMessage,
    UserMessage,
)
from ias.providers.history import repair
from ias.providers.profiles import Echo, Profile
from ias.providers.tool_names import WireNames, offer

REASONING_FIELD = "reasoning_content"


def chat_body(request: MessageRequest, profile: Profile, *, model: str, names: WireNames) -> JsonObject:
    """Build the body; `request.extra` is laid over it as it is, but for `stream`, since only streams are read.

    `tool_choice` is not sent: DeepSeek's thinking mode refuses all but `auto` and `none`, Ollama all.
    """
    echo = profile.echo if request.thinking else Echo.NEVER
    messages: list[JsonValue] = [{"role": "system", "content": request.system}] if request.system else []
    messages += [_message(message, names, echo) for message in repair(request.messages)]
    body: JsonObject = {"model": model, "messages": messages, "stream": True, "stream_options": {"include_usage": True}}
    body.update(profile.body)
    body.update(profile.thinking(model, is_on=request.thinking))
    if request.tools:
        body["tools"] = offer(request.tools, names)
        for rule in profile.with_tools:
            body.update(rule.body if rule.pattern.match(model) else {})
    if request.max_tokens is not None:
        body[profile.max_tokens_field] = request.max_tokens
    body.update(request.extra)
    body["stream"] = True
    return body


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
