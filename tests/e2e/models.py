"""Answers of an OpenAI-compatible model, written down in advance and served by the loopback server in turn."""

import json
import threading
from collections.abc import Iterable
from typing import Any

from tests.loopback import Loopback, Reply, Seen

PATH = "/v1/chat/completions"


def call(name: str, args: object, *, at: int = 0) -> dict[str, Any]:
    """Give one tool call as it is streamed; `args` that are text go out as they are."""
    text = args if isinstance(args, str) else json.dumps(args)
    return {"index": at, "id": f"call_{name}_{at}", "type": "function", "function": {"name": name, "arguments": text}}


def capability(name: str, args: object, *, at: int = 0) -> dict[str, Any]:
    """Give a call of a tool through the meta-tool."""
    return call("call_capability", {"name": name, "prompt": json.dumps(args)}, at=at)


def stream(
    *deltas: dict[str, Any], finish: str = "stop", is_cut: bool = False, usage: dict[str, Any] | None = None
) -> Reply:
    """Give a streamed answer; a cut one lacks its end."""
    chunks = [{"id": "x", "model": "scripted", "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    end = {
        "id": "x",
        "model": "scripted",
        "choices": [{"index": 0, "delta": {}, "finish_reason": finish}],
        "usage": usage or {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
    }
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in (chunks if is_cut else [*chunks, end])]
    return Reply(
        body="".join([*lines, "" if is_cut else "data: [DONE]\n\n"]).encode(), content_type="text/event-stream"
    )


def says(text: str) -> Reply:
    """Give a plain answer."""
    return stream({"role": "assistant", "content": text})


def refuses(status: int, message: str, **headers: str) -> Reply:
    """Give an error."""
    return Reply(status=status, body=json.dumps({"error": {"message": message}}).encode(), headers=headers)


class Script:
    """Serves the replies in turn; keeps the requests' bodies."""

    def __init__(self, replies: Iterable[Reply]) -> None:
        self._replies = iter(replies)
        self._lock = threading.Lock()
        self.bodies: list[dict[str, Any]] = []

    def __call__(self, seen: Seen) -> Reply:
        """Answer one request."""
        with self._lock:
            self.bodies.append(json.loads(seen.body))
            return next(self._replies, refuses(400, "the script is over"))


def serve(script: Script) -> Loopback:
    """Give the server; its origin is the `llm.base_url`."""
    return Loopback({("127.0.0.1", PATH): script})


def llm_config(origin: str) -> dict[str, Any]:
    """Give the configuration that makes the daemon use it."""
    return {
        "llm": {"provider": "openai_compatible", "base_url": f"{origin}/v1", "model": "scripted", "api_key": "sk-x"}
    }
