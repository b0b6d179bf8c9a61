"""Drives the web tools step by step against a table of answers, and as real processes."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from ias.domain.tools import Asks, HttpAsk
from ias.domain.urls import any_matches, parse_url
from ias.runtime.protocol import parse_line

Message = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]
RECORDED = Path(__file__).parent / "recorded"
REFUSED: Message = {"error": {"code": "http_failed", "message": "connection refused"}}
MAX_STEPS = 12


def module(name: str, folder: str) -> Any:
    """Import a module of a tool's folder, as the interpreter does that runs its program."""
    path = str(ROOT / "tools" / folder)
    sys.path.insert(0, path)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(path)


def body(name: str, *, status: int = 200) -> Message:
    """Make the host's answer out of a recorded body."""
    return {"status": status, "headers": {}, "body": (RECORDED / name).read_text("utf-8")}


def serve(tool: str, envelope: Message) -> Message:
    """Serve one step; what crosses the border goes through JSON, and the host accepts it."""
    line = json.dumps(module(tool, tool).main(json.loads(json.dumps(envelope))))
    said = parse_line(line.encode())
    if isinstance(said, Asks):
        spec = next((ROOT / "tools" / tool / "specs").glob("*.tool.yaml"))
        declared = tuple(yaml.safe_load(spec.read_text("utf-8"))["hosts"])
        hosts = [parse_url(ask.url).host for ask in said.asks if isinstance(ask, HttpAsk)]
        assert [host for host in hosts if not any_matches(host, declared)] == []
    return json.loads(line)


def drive(
    tool: str, params: Message, answers: dict[str, Message], *, secrets: tuple[str, ...] = ()
) -> tuple[list[Message], Message]:
    """Serve a whole call; `answers` holds the host's answer by the host's name or the whole address.

    Returns:
        All requests in order, and the result.
    """
    envelope: Message = {"params": params, "approved": True, "step": 0, "secrets": list(secrets)}
    requests: list[Message] = []
    for step in range(1, MAX_STEPS + 1):
        message = serve(tool, envelope)
        if message["type"] == "result":
            return requests, message
        state = message.pop("state")
        requests.append(message)
        answer = answers.get(message["url"]) or answers.get(urlsplit(message["url"]).netloc) or REFUSED
        envelope = {**envelope, "step": step, "response": answer, "state": state}
    raise AssertionError(f"no result after {MAX_STEPS} steps")


def run_process(tool: str, line: str, **variables: str) -> tuple[int, str, str]:
    """Run the program as the daemon does; returns its exit code, stdout and stderr."""
    program = [sys.executable, "-E", "-s", str(ROOT / "tools" / tool / f"{tool}.py")]
    environ = {"PATH": os.environ["PATH"], "LANG": "C", **variables}
    done = subprocess.run(program, input=line, capture_output=True, text=True, timeout=20, env=environ, check=False)
    return done.returncode, done.stdout, done.stderr
