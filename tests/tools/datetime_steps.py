"""Asks the datetime tool at a given instant, and as a real process."""

import importlib
import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "tools" / "datetime"
NOW = datetime(2026, 12, 1, 2, 30, 15, tzinfo=UTC)  # Tuesday 10:30:15 in Beijing

Message = dict[str, Any]


def module(name: str) -> Any:
    """Import a module of the tool's folder, as the interpreter does that runs its program."""
    sys.path.insert(0, str(FOLDER))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(FOLDER))


def serve(now: datetime = NOW, **params: Any) -> Message:
    """Serve one call at an instant; what crosses the border goes through JSON."""
    envelope = json.loads(json.dumps({"params": params, "approved": True, "step": 0}))
    return json.loads(json.dumps(module("datetime_tool").answer(envelope, now)))


def told(now: datetime = NOW, **params: Any) -> str:
    """Return the text of an answer that is no error."""
    message = serve(now, **params)
    assert (message["type"], message.get("is_error", False)) == ("result", False), message
    return str(message["content"])


def error(**params: Any) -> str:
    """Return the text of an answer that is an error."""
    message = serve(**params)
    assert (message["type"], message.get("is_error")) == ("result", True), message
    return str(message["content"])


def run_process(line: str) -> tuple[int, str, str]:
    """Run the program as the daemon does; returns its exit code, stdout and stderr."""
    program = [sys.executable, "-E", "-s", str(FOLDER / "datetime_tool.py")]
    done = subprocess.run(program, input=line.encode(), capture_output=True, timeout=20, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()
