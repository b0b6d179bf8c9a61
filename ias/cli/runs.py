"""`ias runs`: what calls did, step by step."""

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from ias.cli.output import ago, say, say_facts, say_json, say_table, span, when
from ias.cli.place import Place, find_place
from ias.cli.request_view import readable
from ias.cli.visible import one_line, tame
from ias.errors import AmbiguousIdError, NotFoundError
from ias.store.base import Row
from ias.store.once import read_once

SHORTEST = 4  # characters of an id that are taken for it
ARGS_SHOWN = 60
LISTED = 30
ERROR_SHOWN = 200
LIMIT_MAX = 1_000_000
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

app = typer.Typer(rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def runs(context: typer.Context) -> None:
    """List calls, or show one."""
    if context.invoked_subcommand is None:
        list_(context)


@app.command("list")
def list_(
    context: typer.Context,
    *,
    conversation: Annotated[str | None, typer.Option(help="Of this conversation alone.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=LIMIT_MAX, help="At most so many.")] = LISTED,
    as_json: AsJson = False,
) -> None:
    """List calls, the newest first."""
    rows = read_once(find_place(context).store, "runs", conversation_id=conversation, limit=limit)
    if as_json:
        say_json([run_json(row) for row in rows])
        return
    say_table(
        ("RUN", "TOOL", "STATE", "CODE", "TOOK", "WHEN", "USER", "ARGUMENTS"),
        [
            (
                row["id"],
                row["tool"],
                row["state"],
                row["code"] or "-",
                _took(row),
                ago(row["created_at"]),
                one_line(row["user_id"], 20),
                one_line(readable(row["args"]), ARGS_SHOWN),
            )
            for row in rows
        ],
    )


@app.command()
def show(
    context: typer.Context,
    ref: Annotated[str, typer.Argument(metavar="ID", help="The call's id, or its beginning.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Show a call: its arguments, each request with its decision, size and time, and the result."""
    place = find_place(context)
    row = find_run(place, ref)
    steps = read_once(place.store, "steps", run_id=row["id"])
    approvals = read_once(place.store, "approvals_of_run", run_id=row["id"])
    waits = [approval for approval in approvals if approval["state"] == "pending"]
    if as_json:
        say_json(run_json(row) | {"steps": [step_json(step) for step in steps]})
        return
    say_facts(
        {
            "run": row["id"],
            "tool": f"{row['tool']}  sha256 {row['tool_hash'][:16]}",
            "conversation": row["conversation_id"],
            "turn": row["turn_id"],
            "state": row["state"],
            "began": when(row["created_at"]),
            "took": _parts_of_time(row, approvals),
            "arguments": readable(row["args"]),
            "waits for": f"A{waits[0]['num']}" if row["state"] == "parked" and waits else None,
        }
    )
    names = {approval["id"]: f"A{approval['num']}, {approval['decided_by']}" for approval in approvals}
    names |= {rule["id"]: f"R{rule['num']} (ias approvals grants)" for rule in read_once(place.store, "all_rules")}
    for step in steps:
        _print_step(step, names)
    if row["result"]:
        result = json.loads(row["result"])
        say(f"result        {row['code']}")
        say(tame(str(result.get("content", ""))))


def find_run(place: Place, ref: str) -> Row:
    """Read the call whose id begins so.

    Raises:
        NotFoundError: There is none.
        AmbiguousIdError: There are several, or the beginning is too short to say.
    """
    start = ref if ref.startswith("r_") else f"r_{ref}"
    if len(start) < SHORTEST + 2:
        raise AmbiguousIdError(f"{ref!r} is too short; write at least {SHORTEST} characters of the id", candidates=())
    rows = read_once(place.store, "run_by_prefix", ref=start)
    if not rows:
        raise NotFoundError(f"there is no call {ref!r}; `ias runs list` shows them")
    if len(rows) > 1:
        ids = tuple(str(row["id"]) for row in rows)
        raise AmbiguousIdError(f"{ref!r} fits several calls; write more of one: {', '.join(ids)}", candidates=ids)
    return rows[0]


def run_json(row: Row) -> dict[str, Any]:
    """Give a call as JSON output has it: arguments and result parsed."""
    result = row["result"]
    return dict(row) | {"args": json.loads(row["args"]), "result": json.loads(result) if result else None}


def step_json(step: Row) -> dict[str, Any]:
    """Give a step as JSON output has it: request and response parsed, without the token of its lease."""
    shown = {name: value for name, value in step.items() if name != "send_token"}
    response = step["response"]
    return shown | {
        "request": json.loads(step["request"]),
        "response": json.loads(response) if response else None,
    }


def _parts_of_time(row: Row, approvals: Sequence[Row]) -> str:
    """Say how long a call took, and what of it was the tool's own work and what the wait for a person."""
    waited = sum(approval["decided_at"] - approval["created_at"] for approval in approvals if approval["decided_at"])
    parts = [_took(row), f"the tool itself {row['used_ms']} ms"]
    if waited:
        parts.append(f"waiting for a person {_duration(waited)}")
    return ", ".join(parts)


def _print_step(step: Row, names: Mapping[str, str]) -> None:
    target = (
        f"{step['method']} {step['host']}{step['path']}"
        if step["kind"] == "http"
        else f"{step['kind']} {step['method']}"
    )
    say(f"step {step['no']}.{step['item']}      {tame(target).rstrip()}")
    facts = {
        "state": step["state"],
        "decided by": names.get(step["granted_by"], step["granted_by"]),
        "request": f"{len(step['request'])} bytes, sha256 {step['digest'][:16]}",
        "answer": _answer(step),
        "took": f"{step['done_at'] - step['sent_at']} ms" if step["sent_at"] and step["done_at"] else None,
    }
    for name, value in facts.items():
        if value is not None:
            say(f"  {name:<12}{tame(str(value))}")


def _answer(step: Row) -> str | None:
    if not step["response"]:
        return None
    response: Mapping[str, Any] = json.loads(step["response"])
    size = f"{len(step['response'])} bytes"
    if "error" in response:
        return f"error {one_line(json.dumps(response['error'], ensure_ascii=False), ERROR_SHOWN)}, {size}"
    return f"status {response['status']}, {size}" if "status" in response else size


def _took(row: Row) -> str:
    if row["ended_at"] is None:
        return "-"
    return _duration(row["ended_at"] - row["created_at"])


def _duration(ms: int) -> str:
    return f"{ms} ms" if ms < 10_000 else span(ms / 1000)
