"""Plays the host for a tool: drives it against given answers, in this process or as one process a step."""

import importlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
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


def recorded_body(name: str) -> Any:
    """Return a recorded body, parsed."""
    return json.loads((RECORDED / name).read_text("utf-8"))


def no_answer(code: str = "http_failed", message: str = "connection refused") -> Message:
    """Make the host's answer for a request that nothing came back to."""
    return {"error": {"code": code, "message": message}}


@cache
def _specs() -> dict[str, Message]:
    """Read the spec of every shipped tool, by the tool's name."""
    found: dict[str, Message] = {}
    for path in sorted((ROOT / "tools").glob("*/specs/*.tool.yaml")):
        fields = yaml.safe_load(path.read_text("utf-8"))
        found[fields["name"]] = {**fields, "folder": path.parent.parent}
    return found


def spec(name: str) -> Message:
    """Return the spec of a tool, found by the tool's name."""
    return dict(_specs()[name])


def specs_of(folder: str) -> list[Message]:
    """Return the specs of the tools of one folder, in the order of their files."""
    return [dict(fields) for fields in _specs().values() if fields["folder"].name == folder]


def module(folder: str, name: str) -> Any:
    """Import a module of a tool's folder, as the interpreter does that runs its program."""
    with _standing_in(ROOT / "tools" / folder / f"{name}.py", None, {}):
        return importlib.import_module(name)


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
    table = list(answers.items()) if isinstance(answers, Mapping) else list(answers)

    def find(asked: list[Message]) -> list[Message]:
        return [_find(table, request) for request in asked]

    return _play(spec(name), params, find, secrets=secrets, env=env or {}, as_process=as_process)


def play_in_order(
    name: str, params: Message, *bodies: Any, secrets: Sequence[str] | None = None
) -> tuple[list[Message], Message]:
    """Serve a whole call of a tool: body n goes to step n, a list of bodies to a batch of that many requests.

    Args:
        name: The tool's name.
        params: The call's arguments.
        bodies: Texts, or what is sent as JSON. The call must ask for each of them.
        secrets: Names of the secrets that have a value; all of the tool's, where none are given.

    Returns:
        All requests in order, and the result.
    """
    left = list(bodies)

    def take(asked: list[Message]) -> list[Message]:
        assert left, f"no answer for {asked}"
        body = left.pop(0)
        given = [body] if len(asked) == 1 else body
        assert len(given) == len(asked)
        return [answer(one) for one in given]

    tool = spec(name)
    names = tool.get("secrets", ()) if secrets is None else secrets
    played = _play(tool, params, take, secrets=names, env={}, as_process=False)
    assert left == [], f"{len(left)} answers were not asked for"
    return list(played.requests), played.result


def play_by_host(
    name: str, params: Message, answers: Mapping[str, Message], *, secrets: Sequence[str] = ()
) -> tuple[list[Message], Message]:
    """Serve a whole call of a tool; each request is answered by its whole address or its host, others are refused.

    Returns:
        All requests in order, and the result.
    """

    def find(asked: list[Message]) -> list[Message]:
        urls = [request["url"] for request in asked]
        return [answers.get(url) or answers.get(urlsplit(url).netloc) or no_answer() for url in urls]

    played = _play(spec(name), params, find, secrets=secrets, env={}, as_process=False)
    return list(played.requests), played.result


def refusal(name: str, params: Message, secrets: Sequence[str] | None = None) -> str:
    """Return the text of a call that fails before it asks for anything."""
    requests, result = play_in_order(name, params, secrets=secrets)
    assert (requests, result.get("is_error")) == ([], True)
    return str(result["content"])


def _play(
    tool: Message,
    params: Message,
    answer_to: Callable[[list[Message]], list[Message]],
    *,
    secrets: Sequence[str],
    env: Mapping[str, str],
    as_process: bool,
) -> Played:
    run = run_step if as_process else serve_step
    envelope: Message = {"params": params, "approved": True, "user_id": "u", "call_id": "c_1", "secrets": [*secrets]}
    requests: list[Message] = []
    batches: list[int] = []
    given: Message = {}
    most = tool.get("limits", {}).get("max_steps", MAX_STEPS)
    for step in range(most):
        message = run(tool, {**envelope, "step": step, **given}, env)
        check(tool, message, secrets)
        if message["type"] == "result":
            return Played(requests=tuple(requests), batches=tuple(batches), result=message)
        state = message.pop("state", None)
        asked = message["requests"] if message["type"] == "batch" else [message]
        requests += asked
        batches.append(len(asked))
        found = answer_to(asked)
        kind = {"batch": "responses", "db": "db_response"}.get(message["type"], "response")
        given = {kind: found if message["type"] == "batch" else found[0]}
        if state is not None:
            given["state"] = state
    raise AssertionError(f"no result after {most} steps: {[request.get('url') for request in requests]}")


def serve(name: str, envelope: Message, env: Mapping[str, str] | None = None, *, command: str | None = None) -> Message:
    """Serve one step of a tool, or of another command of its program, and check its message as the daemon does."""
    tool = spec(name) if command is None else {**spec(name), "command": command}
    message = serve_step(tool, envelope, env or {})
    secrets = envelope.get("secrets")
    check(tool, message, secrets if isinstance(secrets, list) else ())
    return message


def serve_step(tool: Message, envelope: Message, env: Mapping[str, str]) -> Message:
    """Serve one step with the program's `main`; what crosses the border goes through JSON."""
    program = tool["folder"] / tool["path"]
    _check_env(tool, env)
    with _standing_in(program, tool.get("command"), dict.fromkeys(tool.get("env", ()), "") | dict(env)):
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
    _check_env(tool, env)
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
    assert [host for host in hosts if not any_matches(host, tuple(tool.get("hosts", ())))] == []
    placeholders = set(PLACEHOLDER.findall(json.dumps(message)))
    assert placeholders <= set(tool.get("secrets", ())) & set(secrets)


def _check_env(tool: Message, env: Mapping[str, str]) -> None:
    """Make sure that a test gives the tool no variable that the daemon would not pass."""
    assert set(env) <= {"TZ", "LANG", *tool.get("env", ())}


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
    """Give `main` the import path, arguments, time zone and variables that its process would have; "" unsets one."""
    arguments, path = sys.argv, list(sys.path)
    variables = {name: os.environ.pop(name, "") for name in ("TZ", *env)}
    sys.argv = [str(program), *([command] if command else [])]
    sys.path.insert(0, str(program.parent))
    _set(env)
    try:
        yield
    finally:
        sys.argv, sys.path[:] = arguments, path
        _set(variables)


def _set(variables: Mapping[str, str]) -> None:
    """Set variables of this process, or unset those that are empty, and take the time zone over."""
    for name, value in variables.items():
        os.environ.pop(name, None)
        if value:
            os.environ[name] = value
    time.tzset()
