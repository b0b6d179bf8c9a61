"""Drives the map tool step by step with given answers, and as a real process."""

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

Message = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tools" / "amap"
RECORDED = Path(__file__).parent / "recorded"
KEYED = ("AMAP_KEY",)
KEYLESS: tuple[str, ...] = ()
MAX_STEPS = 8  # the default of a spec's `limits`


def module(name: str) -> Any:
    """Import a module of the tool's folder, as the interpreter does that runs its program."""
    sys.path.insert(0, str(FOLDER))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(FOLDER))


def recorded(name: str) -> Any:
    """Return a recorded body."""
    return json.loads((RECORDED / name).read_text("utf-8"))


def serve(command: str, envelope: Message) -> Message:
    """Serve one step; what crosses the border goes through JSON."""
    arguments, sys.argv = sys.argv, ["amap.py", command]
    try:
        return json.loads(json.dumps(module("amap").main(json.loads(json.dumps(envelope)))))
    finally:
        sys.argv = arguments


def ask(
    command: str, params: Message, *answers: Any, secrets: tuple[str, ...] = KEYED
) -> tuple[list[Message], Message]:
    """Serve a whole call: the body `answers[n]` goes to step n, a list of bodies to a batch of that many requests.

    Returns:
        All requests in order, and the result.
    """
    envelope: Message = {"params": params, "approved": True, "step": 0, "secrets": list(secrets)}
    requests: list[Message] = []
    for step in range(1, MAX_STEPS + 1):
        message = serve(command, envelope)
        if message["type"] == "result":
            assert len(answers) == step - 1, f"{len(answers) - step + 1} answers were not asked for"
            return requests, message
        state = message.pop("state")
        envelope = {"params": params, "approved": True, "step": step, "secrets": list(secrets), "state": state}
        body = answers[step - 1]
        if message["type"] == "batch":
            assert len(message["requests"]) == len(body)
            requests += message["requests"]
            envelope["responses"] = [_response(one) for one in body]
        else:
            requests.append(message)
            envelope["response"] = _response(body)
    raise AssertionError(f"no result after {MAX_STEPS} steps")


def error(command: str, params: Message, secrets: tuple[str, ...] = KEYED) -> str:
    """Return the text of a call that fails before it asks for anything."""
    requests, result = ask(command, params, secrets=secrets)
    assert (requests, result.get("is_error")) == ([], True)
    return str(result["content"])


def run_process(command: str, line: str) -> tuple[int, str, str]:
    """Run the program as the daemon does; returns its exit code, stdout and stderr."""
    program = [sys.executable, "-E", "-s", str(FOLDER / "amap.py"), command]
    done = subprocess.run(program, input=line.encode(), capture_output=True, timeout=20, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def _response(body: Any) -> Message:
    text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
    return {"status": 200, "headers": {"content-type": "application/json"}, "body": text}
