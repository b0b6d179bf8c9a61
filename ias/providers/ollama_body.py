"""The body of a request to Ollama's own chat API, built from messages in no provider's words."""

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
from ias.providers.readings import mapping, plain_object
from ias.providers.tool_names import WireNames, offer


def ollama_body(request: MessageRequest, profile: Profile, *, model: str, names: WireNames) -> JsonObject:
    """Build the body; `request.extra` is laid over it as it is, but for `stream`, since only streams are read.

    The fields of its `options` (`num_ctx` above all: Ollama cuts what is longer, and says nothing) go beside those that
    are set here.
    """
    echo = profile.echo if request.thinking else Echo.NEVER
    messages: list[JsonValue] = [{"role": "system", "content": request.system}] if request.system else []
    messages += [_message(message, names, echo) for message in repair(request.messages)]
    body: JsonObject = {"model": model, "messages": messages}
    body.update(profile.body)
    body.update(profile.thinking(model, is_on=request.thinking))
    if request.tools:
        body["tools"] = offer(request.tools, names)
    options: JsonObject = {} if request.max_tokens is None else {"num_predict": request.max_tokens}
    body.update(request.extra)
    options.update(mapping(request.extra.get("options")))
    if options:
        body["options"] = options
    body["stream"] = True
    return body


def _message(message: Message, names: WireNames, echo: Echo) -> JsonObject:
    match message:
        case UserMessage():
            return {"role": "user", "content": message.text}
        case ToolMessage():
            # github.com/ollama/ollama api/types.go: older versions know a result by `tool_name`, newer by its id too.
            name, identity = names.wire(message.name), message.call_id
            return {"role": "tool", "tool_name": name, "tool_call_id": identity, "content": message.text}
        case AssistantMessage():
            return _assistant(message, names, echo)


def _assistant(message: AssistantMessage, names: WireNames, echo: Echo) -> JsonObject:
    body: JsonObject = {"role": "assistant", "content": message.text}
    if echo is not Echo.NEVER and message.reasoning:
        body["thinking"] = message.reasoning
    if message.calls:
        body["tool_calls"] = [
            {
                "id": call.id,
                "function": {"name": names.wire(call.name), "arguments": plain_object(call.arguments)},
            }
            for call in message.calls
        ]
    return body
