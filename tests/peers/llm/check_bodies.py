"""Validates chat-completions bodies by the types of the official `openai` client; runs where that is installed.

Reads a JSON list of texts from stdin, writes a JSON list of faults to stdout.
"""

import json
import sys
from collections.abc import Iterator
from typing import Any

EXTENSIONS = {"thinking", "reasoning_content", "enable_thinking"}
"""Vendors' fields that the client's types do not know."""


def main() -> None:
    """Check every body."""
    from openai.types.chat import completion_create_params  # noqa: PLC0415 # pyright: ignore[reportMissingImports]
    from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415 - beside openai, in its environment

    adapter = TypeAdapter(completion_create_params.CompletionCreateParamsStreaming)
    faults: list[str] = []
    for text in json.load(sys.stdin):
        body = json.loads(text)
        try:
            known = settle(adapter.validate_python(body, strict=True))
        except ValidationError as error:
            faults.append(str(error))
            continue
        faults.extend(f"unknown field {path}" for path in lost(body, known, ""))
    json.dump(faults, sys.stdout)


def settle(value: Any) -> Any:
    """Walk the value: the client's `Iterable` fields are validated only when somebody iterates them."""
    if isinstance(value, dict):
        return {key: settle(inner) for key, inner in value.items()}
    if isinstance(value, str | int | float | bool | None):
        return value
    return [settle(inner) for inner in value]


def lost(sent: Any, known: Any, path: str) -> Iterator[str]:
    """Name what validation dropped: fields that the types do not have."""
    if isinstance(sent, dict):
        for key, value in sent.items():
            if key in known:
                yield from lost(value, known[key], f"{path}.{key}")
            elif key not in EXTENSIONS:
                yield f"{path}.{key}"
    elif isinstance(sent, list):
        for position, value in enumerate(sent):
            yield from lost(value, known[position], f"{path}[{position}]")


if __name__ == "__main__":
    main()
