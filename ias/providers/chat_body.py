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
)
from ias.providers.history import repair
from ias.providers.profiles import Echo, Profile, Window
from ias.providers.tool_names import WireNames, offer

REASONING_FIELD = "reasoning_content"
WIDE_TOKENS = 1.0  # tokens of a character beyond ASCII, at most, for the tokenizers in use
ASCII_TOKENS = 0.4  # of any other; DeepSeek says 0.3, code and numbers take more
LEAST_ANSWER = 1_024  # tokens that are asked for even where none seem left: the estimate is high, the provider knows


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
    limit = answer_limit(request, profile.window(model), body)
    if limit is not None:
        body[profile.max_tokens_field] = limit
    body.update(request.extra)
    body["stream"] = True
    return body


def answer_limit(request: MessageRequest, window: Window | None, body: JsonObject) -> int | None:
    """Give the limit of the answer that may be sent: one that does not fit beside the request is a 400 (zed#57718).

    Args:
        request: Asks for a limit, or for none.
        window: What the model can hold; None where that is not known.
        body: What is sent, to estimate what it takes of the window.
    """
    if request.max_tokens is None or window is None:
        return request.max_tokens
    text = json.dumps([body.get("messages"), body.get("tools")], ensure_ascii=False, default=str)
    wide = len(text) - len(text.encode("ascii", "ignore"))
    room = window.context - int(wide * WIDE_TOKENS + (len(text) - wide) * ASCII_TOKENS)
    return max(min(request.max_tokens, window.output, room), min(LEAST_ANSWER, request.max_tokens))


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
