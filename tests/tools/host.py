"""Plays the host for a tool: drives it against a table of answers, in this process or as one process a step."""

import importlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from ias.domain.tools import Asks, HttpAsk
from ias.domain.urls import any_matches, parse_url
from ias.runtime.protocol import parse_line

Message = dict[str, Any]
Key = tuple[str, str, str]  # method, host, path
Matcher = Key | Callable[[Message], bool]
Answers = Sequence[tuple[Matcher, Message]] | Mapping[Key, Message]

ROOT = Path(__file__).resolve().parents[2]
RECORDED = Path(__file__).parent / "recorded"
MAX_STEPS = 8  # the default of a spec's `limits`
PROCESS_SECONDS = 20
PLACEHOLDER = re.compile(r"\$\{([^}]*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """A whole call: every request in order, a batch's one by one, and the result."""

    requests: tuple[Message, ...]
    batches: tuple[int, ...]  # how many requests each step had
    result: Message

    @property
    def text(self) -> str:
        """The result's content."""
        return str(self.result["content"])


def recorded(name: str, *, status: int = 200) -> Message:
    """Make the host's answer out of a recorded body."""
    return answer((RECORDED / name).read_text("utf-8"), status=status)


def answer(body: object, *, status: int = 200) -> Message:
    """Make the host's answer out of a text or of what is sent as JSON."""
    text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
    return {"status": status, "headers": {"content-type": "application/json"}, "body": text}


def no_answer(code: str = "http_failed", message: str = "connection refused") -> Message:
    """Make the host's answer for a request that nothing came back to."""
    return {"error": {"code": code, "message": message}}


def spec(name: str) -> Message:
    """Return the spec of a tool, found by the tool's name."""
    for path in (ROOT / "tools").glob("*/specs/*.tool.yaml"):
        fields = yaml.safe_load(path.read_text("utf-8"))
        if fields["name"] == name:
            return {**fields, "folder": path.parent.parent}
    raise LookupError(f"no spec has the name {name!r}")


def play(
    name: str,
    params: Message,
    answers: Answers = (),
    *,
    secrets: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    as_process: bool = False,
) -> Played:
    """Serve a whole call of a tool.

    Args:
        name: The tool's name.
        params: The call's arguments.
        answers: What the host answers to a request: `(method, host, path)`, or a predicate on the request, and the
            response, rows or change. The first that fits counts; a request that none fits fails the test.
        secrets: Names of the secrets that have a value.
        env: The tool's variables.
        as_process: Start the program anew for each step, as the daemon does.
    """
    tool = spec(name)
    table = list(answers.items()) if isinstance(answers, Mapping) else list(answers)
    serve = run_step if as_process else serve_step
    envelope: Message = {"params": params, "approved": True, "user_id": "u", "call_id": "c_1", "secrets": [*secrets]}
    requests: list[Message] = []
    batches: list[int] = []
    given: Message = {}
    for step in range(MAX_STEPS):
        message = serve(tool, {**envelope, "step": step, **given}, env or {})
        check(tool, message, secrets)
        if message["type"] == "result":
            return Played(requests=tuple(requests), batches=tuple(batches), result=message)
        asked = message["requests"] if message["type"] == "batch" else [message]
        requests += asked
        batches.append(len(asked))
        found = [_find(table, request) for request in asked]
        kind = {"batch": "responses", "db": "db_response"}.get(message["type"], "response")
        given = {kind: found if message["type"] == "batch" else found[0]}
        if "state" in message:
            given["state"] = message["state"]
    raise AssertionError(f"no result after {MAX_STEPS} steps: {[request.get('url') for request in requests]}")


def serve_step(tool: Message, envelope: Message, env: Mapping[str, str]) -> Message:
    """Serve one step with the program's `main`; what crosses the border goes through JSON."""
    program = tool["folder"] / tool["path"]
    with _standing_in(program, tool.get("command"), env):
        main = importlib.import_module(program.stem).main
        return json.loads(json.dumps(main(json.loads(json.dumps(envelope)))))


def run_step(tool: Message, envelope: Message, env: Mapping[str, str]) -> Message:
    """Serve one step with a real process: one line in, one line out."""
    code, out, err = run_line(tool, json.dumps(envelope) + "\n", env)
    assert (code, err) == (0, "")
    assert out.endswith("\n")
    assert out.count("\n") == 1
    return json.loads(out)


def run_line(tool: Message, line: str, env: Mapping[str, str]) -> tuple[int, str, str]:
    """Start the program with `line` on stdin; returns its exit code, stdout and stderr."""
    command = [tool["command"]] if tool.get("command") else []
    done = subprocess.run(
        [sys.executable, "-E", "-s", str(tool["folder"] / tool["path"]), *command],
        input=line.encode(),
        capture_output=True,
        timeout=PROCESS_SECONDS,
        env={"PATH": os.environ["PATH"], "LANG": "C", **env},
        check=False,
    )
    return done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")


def check(tool: Message, message: Message, secrets: Sequence[str]) -> None:
    """Check a message as the daemon does, and that it asks only for what the spec declares."""
    said = parse_line(json.dumps(message).encode())
    if not isinstance(said, Asks):
        return
    hosts = [parse_url(ask.url).host for ask in said.asks if isinstance(ask, HttpAsk)]
    assert [host for host in hosts if not any_matches(host, tuple(tool["hosts"]))] == []
    placeholders = set(PLACEHOLDER.findall(json.dumps(message)))
    assert placeholders <= set(tool.get("secrets", ())) & set(secrets)


def _find(table: Sequence[tuple[Matcher, Message]], request: Message) -> Message:
    for matcher, found in table:
        if callable(matcher) and matcher(request):
            return found
        if not callable(matcher) and request["type"] == "http":
            method, host, path = matcher
            parts = urlsplit(request["url"])
            if (request["method"], parts.hostname, parts.path) == (method, host, path):
                return found
    raise AssertionError(f"no answer for {request}")


@contextmanager
def _standing_in(program: Path, command: str | None, env: Mapping[str, str]) -> Generator[None]:
    """Give `main` the import path, arguments and variables that its process would have."""
    arguments, path, variables = sys.argv, list(sys.path), dict(os.environ)
    sys.argv = [str(program), *([command] if command else [])]
    sys.path.insert(0, str(program.parent))
    for name in ("TZ", *env):
        os.environ.pop(name, None)
    os.environ.update(env)
    try:
        yield
    finally:
        sys.argv, sys.path[:] = arguments, path
        os.environ.clear()
        os.environ.update(variables)
