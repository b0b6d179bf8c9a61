"""Validates request bodies by the types of a vendor's official client; runs where the clients are installed.

Takes the client's name, reads a JSON list of texts from stdin, writes a JSON list of faults to stdout.
"""

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

EXTENSIONS = {
    "openai": {"thinking", "reasoning_content", "enable_thinking"},
    "anthropic": set[str](),
    # The server's own types have them (api/types.go), its client's do not yet.
    "ollama": {"id", "tool_call_id"},
}
"""Vendors' fields that the clients' types do not know."""


def main(client: str) -> None:
    """Check every body."""
    from pydantic import ValidationError  # noqa: PLC0415 - beside the clients, in their environment

    check = {"openai": openai_check, "anthropic": anthropic_check, "ollama": ollama_check}[client]()
    faults: list[str] = []
    for text in json.load(sys.stdin):
        body = json.loads(text)
        try:
            known = settle(check(body))
        except ValidationError as error:
            faults.append(str(error))
            continue
        faults.extend(f"unknown field {path}" for path in lost(body, known, "", EXTENSIONS[client]))
    json.dump(faults, sys.stdout)


def openai_check() -> Callable[[Any], Any]:
    """Make the check of chat-completions bodies."""
    from openai.types.chat import completion_create_params  # noqa: PLC0415 # pyright: ignore[reportMissingImports]
    from pydantic import TypeAdapter  # noqa: PLC0415 - beside openai, in its environment

    adapter = TypeAdapter(completion_create_params.CompletionCreateParamsStreaming)
    return lambda body: adapter.validate_python(body, strict=True)


def anthropic_check() -> Callable[[Any], Any]:
    """Make the check of Messages bodies."""
    from anthropic.types import message_create_params  # noqa: PLC0415 # pyright: ignore[reportMissingImports]
    from pydantic import TypeAdapter  # noqa: PLC0415 - beside anthropic, in its environment

    adapter = TypeAdapter(message_create_params.MessageCreateParamsStreaming)
    return lambda body: adapter.validate_python(body, strict=True)


def ollama_check() -> Callable[[Any], Any]:
    """Make the check of Ollama's own chat bodies; its request takes any mapping as a message, so each is checked."""
    from ollama import _types  # noqa: PLC0415 # pyright: ignore[reportMissingImports]

    def check(body: Any) -> Any:
        messages = [_types.Message.model_validate(message) for message in body["messages"]]
        known = _types.ChatRequest.model_validate(body).model_dump(exclude_unset=True)
        return {**known, "messages": [message.model_dump(exclude_unset=True) for message in messages]}

    return check


def settle(value: Any) -> Any:
    """Walk the value: the client's `Iterable` fields are validated only when somebody iterates them."""
    if isinstance(value, dict):
        return {key: settle(inner) for key, inner in value.items()}
    if isinstance(value, str | int | float | bool | None):
        return value
    return [settle(inner) for inner in value]


def lost(sent: Any, known: Any, path: str, extensions: set[str]) -> Iterator[str]:
    """Name what validation dropped: fields that the types do not have."""
    if isinstance(sent, dict):
        for key, value in sent.items():
            if key in known:
                yield from lost(value, known[key], f"{path}.{key}", extensions)
            elif key not in extensions:
                yield f"{path}.{key}"
    elif isinstance(sent, list):
        for position, value in enumerate(sent):
            yield from lost(value, known[position], f"{path}[{position}]", extensions)


if __name__ == "__main__":
    main(sys.argv[1])
