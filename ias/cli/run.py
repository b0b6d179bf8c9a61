"""`ias run`: one tool, called from the command line, with an option for each parameter that its spec declares."""

import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from ias.cli import words
from ias.cli.asking import Choice, Question, ask, decide, question_of
from ias.cli.client import CALL_TIMEOUT, Daemon
from ias.cli.exits import DONE, USAGE, UsageError, complain, exit_code
from ias.cli.options import help_lines, read_options
from ias.cli.output import say, say_aside, say_json
from ias.cli.place import OPERATOR, Place, find_place, program
from ias.cli.specs import configuration, find_spec
from ias.cli.visible import tame
from ias.domain.approvals import Scope
from ias.domain.messages import JsonObject
from ias.domain.tools import ToolSpec
from ias.errors import Code, DaemonNotRunningError
from ias.store.base import Row
from ias.toolspec.arguments import validate_args

CONTEXT: dict[str, object] = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}
LOOK_AGAIN = 0.2  # seconds between two looks at a run that waits for a person elsewhere


def run(
    context: typer.Context,
    words_: Annotated[list[str] | None, typer.Argument(metavar="NAME [--PARAMETER VALUE]...")] = None,
) -> None:
    """Call one tool.

    The options of `run` itself are read with the tool's, since they may stand before and after its name.
    """
    asked = read_options(words_ or [])
    if asked.name is None:
        _show_help(None)
        raise typer.Exit(DONE if asked.is_help else USAGE)
    place = find_place(context)
    spec = find_spec(configuration(place.home), asked.name)
    if asked.is_help:
        _show_help(spec)
        raise typer.Exit(DONE)
    args = validate_args(spec.parameters, asked.args_for(spec.parameters))
    outcome = call(place, spec, args, user_id=asked.user or OPERATOR, approve_once=asked.approves_once)
    if asked.as_json:
        say_json(outcome)
    else:
        _show(outcome)
    raise typer.Exit(exit_code(str(outcome["code"])))


def call(place: Place, spec: ToolSpec, args: JsonObject, *, user_id: str, approve_once: bool) -> Mapping[str, Any]:
    """Call a tool through the daemon, or alone while none runs.

    Returns:
        `{run, state: "done", code, content, data?}`.

    Raises:
        StateLockedError: A daemon holds the folder but does not answer.
    """
    with Daemon(place.socket) as daemon:
        if _is_up(daemon):
            return _call_daemon(daemon, place, spec.name, args, user_id=user_id, approve_once=approve_once)
    from ias.daemon.once import call_once  # all that runs a call, without a daemon around it

    return call_once(
        configuration(place.home),
        tool=spec.name,
        args=args,
        user_id=user_id,
        ask=lambda row: _ask_alone(place.home, row, approve_once=approve_once),
    )


def _call_daemon(
    daemon: Daemon, place: Place, name: str, args: JsonObject, *, user_id: str, approve_once: bool
) -> Mapping[str, Any]:
    body = {"args": args, "user_id": user_id, "channel": "cli", "wait": True}
    state = daemon.post(f"/api/tools/{name}/call", body, timeout=CALL_TIMEOUT)
    asked: set[str] = set()
    while state["state"] != "done":
        approval = state.get("approval")
        if approval is not None and approval["id"] not in asked:
            asked.add(approval["id"])
            _ask(daemon, _question(place.home, approval), approve_once=approve_once)
        time.sleep(LOOK_AGAIN)
        state = _state(daemon, state["run"])
    return state


def _is_up(daemon: Daemon) -> bool:
    """Find out before the call is sent: one that was sent and not answered must not be made again."""
    try:
        daemon.get("/healthz")
    except DaemonNotRunningError:
        return False
    return True


def _state(daemon: Daemon, run_id: str) -> Mapping[str, Any]:
    """Look at a run as `call` answers: done with its result, or parked with its approval."""
    row = daemon.get(f"/api/runs/{run_id}")
    if row["state"] == "done":
        return {"run": run_id, "state": "done", "code": row["code"], **json.loads(row["result"])}
    if row["state"] == "parked":
        waiting = [other for other in daemon.get("/api/approvals?state=pending") if other["run_id"] == run_id]
        return {"run": run_id, "state": "parked", "approval": waiting[0] if waiting else None}
    return {"run": run_id, "state": row["state"]}


def _question(home: Path, approval: Mapping[str, Any]) -> Question:
    return question_of(
        home,
        num=approval["num"],
        tool=approval["tool"],
        digest=approval["digest"],
        request=json.dumps(approval["request"]),
        expires_at=approval["expires_at"],
    )


def _ask(daemon: Daemon, question: Question, *, approve_once: bool) -> None:
    question.show()
    if approve_once:
        decide(daemon, question, Choice.ONCE)
    elif sys.stdin.isatty():
        decide(daemon, question, ask(question))
    else:
        say_aside(words.ELSEWHERE(ref=question.ref, ias=program()))


def _ask_alone(home: Path, row: Row, *, approve_once: bool) -> Scope | None:
    """Ask while no daemon runs: the scope of a yes, None for a no."""
    question = question_of(
        home,
        num=row["num"],
        tool=row["tool"],
        digest=row["digest"],
        request=row["request"],
        expires_at=row["expires_at"],
    )
    question.show()
    if approve_once:
        return Scope.ONCE
    if not sys.stdin.isatty():
        raise UsageError(f"{question.ref} needs a person's approval; add --approve once, or start the daemon")
    choice = ask(question)
    return None if choice is Choice.NO else Scope(choice)


def _show(outcome: Mapping[str, Any]) -> None:
    if outcome["code"] == Code.OK:
        say(tame(str(outcome["content"])))
    else:
        complain(f"{outcome['code']}: {outcome['content']}")


def _show_help(spec: ToolSpec | None) -> None:
    for line in help_lines(spec):
        say(line)
