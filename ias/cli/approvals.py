"""`ias approvals`: what waits, one in full, decisions, and the standing rules that they left."""

import sys
import time
from typing import Annotated

import typer

from ias.cli import words
from ias.cli.approve import AsJson, Full, Ref, approval_json, approve, deny, find_approval, show_request
from ias.cli.output import ago, left, say, say_aside, say_json, say_table, when
from ias.cli.place import Place, find_place, login_name
from ias.cli.request_view import summary
from ias.cli.visible import one_line
from ias.store.base import Row
from ias.store.once import read_once, run_once

LOOK_AGAIN = 1.0  # seconds between two looks while watching
SUMMARY_SHOWN = 100  # characters of a request in a list

app = typer.Typer(rich_markup_mode=None, no_args_is_help=False)
app.command("approve")(approve)
app.command("deny")(deny)
State = Annotated[
    str, typer.Option(help="pending, approved, consumed, denied, expired, cancelled or all.", metavar="STATE")
]


@app.callback(invoke_without_command=True)
def approvals(
    context: typer.Context,
    *,
    watch: Annotated[bool, typer.Option("--watch", help="Go on showing what comes, until Ctrl-C.")] = False,
) -> None:
    """List what waits; with --watch go on showing what comes."""
    if context.invoked_subcommand is not None:
        return
    place = find_place(context)
    if watch:
        _watch(place)
    else:
        _print(_read(place, "pending"))


@app.command("list")
def list_(context: typer.Context, *, state: State = "pending", as_json: AsJson = False) -> None:
    """List requests, the newest first."""
    rows = _read(find_place(context), state)
    if as_json:
        say_json([approval_json(row) for row in rows])
    else:
        _print(rows)


@app.command()
def show(context: typer.Context, ref: Ref, *, full: Full = False, as_json: AsJson = False) -> None:
    """Show a request as it would be sent."""
    place = find_place(context)
    row = find_approval(place, ref)
    if as_json:
        say_json(approval_json(row))
    else:
        show_request(row, place, full=full)


@app.command()
def grants(context: typer.Context, *, as_json: AsJson = False) -> None:
    """List standing rules: what is not asked about any more."""
    rows = read_once(find_place(context).store, "rules")
    if as_json:
        say_json([dict(row) | {"ref": f"R{row['num']}"} for row in rows])
        return
    say_table(
        ("RULE", "TOOL", "VERSION", "ALLOWS", "WHERE", "BY", "SINCE"),
        [
            (
                f"R{row['num']}",
                row["tool"],
                row["tool_hash"][:8],
                " ".join(part for part in (row["method"], row["host"] + row["path"]) if part),
                row["conversation_id"] or "always",
                row["created_by"],
                when(row["created_at"]),
            )
            for row in rows
        ],
    )


@app.command()
def revoke(
    context: typer.Context,
    ref: Annotated[str, typer.Argument(metavar="RULE", help="The rule: R3.")],
    *,
    as_json: AsJson = False,
) -> None:
    """End a standing rule: it is asked again from now on."""
    from ias.store.transactions.approvals import revoke_rule

    place = find_place(context)
    row = run_once(place.store, revoke_rule(ref, login_name()))
    place.poke()
    if as_json:
        say_json(dict(row) | {"ref": f"R{row['num']}"})
    else:
        say(words.REVOKED(ref=f"R{row['num']}"))


def _read(place: Place, state: str) -> list[Row]:
    return read_once(place.store, "approvals", state=state)


def _print(rows: list[Row]) -> None:
    if not rows:
        say_aside(words.NOTHING_WAITS())
        return
    say_table(("ID", "STATE", "TOOL", "USER", "ASKED", "EXPIRES", "REQUEST"), [_cells(row) for row in rows])


def _cells(row: Row) -> tuple[object, ...]:
    items = approval_json(row)["request"]
    return (
        f"A{row['num']}",
        row["state"],
        row["tool"],
        one_line(row["user_id"], 20),
        ago(row["created_at"]),
        left(row["expires_at"]) if row["state"] == "pending" else "-",
        one_line(summary(items), SUMMARY_SHOWN),
    )


def _watch(place: Place) -> None:
    """Print each request once when it comes, and once more when it is settled."""
    seen: dict[str, str] = {}
    while True:
        for row in reversed(_read(place, "all")):
            if seen.get(row["id"]) != row["state"] and (row["state"] == "pending" or row["id"] in seen):
                seen[row["id"]] = row["state"]
                say("  ".join(str(cell) for cell in _cells(row)))
        sys.stdout.flush()
        time.sleep(LOOK_AGAIN)
