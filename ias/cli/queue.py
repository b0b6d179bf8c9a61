"""`ias queue`: jobs that wait, jobs that failed for good, and what to do about these."""

from typing import Annotated

import typer

from ias.cli.exits import FAILED, fail
from ias.cli.output import ago, say, say_aside, say_json, say_table
from ias.cli.place import Place, find_place
from ias.cli.visible import one_line
from ias.errors import AmbiguousIdError, NotFoundError
from ias.store.base import Row
from ias.store.once import read_once, run_once

ERROR_SHOWN = 100
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
JobId = Annotated[str, typer.Argument(metavar="ID", help="The dead letter's id, or its beginning.")]
OUTCOMES = {
    "closed": "its conversation is over; send the message again in a new one",
    "refused": "a tool's call cannot be made again: it was answered; ask for it anew",
}

app = typer.Typer(rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def queue(context: typer.Context) -> None:
    """Show how many jobs wait, run and failed."""
    if context.invoked_subcommand is None:
        _stats(find_place(context), as_json=False)


@app.command()
def stats(context: typer.Context, *, as_json: AsJson = False) -> None:
    """Show how many jobs wait, run and failed, queue by queue."""
    _stats(find_place(context), as_json=as_json)


@app.command()
def dead(context: typer.Context, *, as_json: AsJson = False) -> None:
    """List dead letters: jobs that were given up."""
    rows = read_once(find_place(context).store, "dead_jobs")
    if as_json:
        say_json([job_json(row) for row in rows])
        return
    say_table(
        ("JOB", "QUEUE", "TRIES", "AGE", "CONVERSATION", "ERROR"),
        [
            (
                row["id"],
                row["queue"],
                row["attempts"],
                ago(row["created_at"]),
                row["conversation_id"],
                one_line(row["last_error"] or "-", ERROR_SHOWN),
            )
            for row in rows
        ],
    )


@app.command()
def retry(context: typer.Context, ref: JobId) -> None:
    """Try a dead letter again: a message as a new turn, a delivery as a repeat."""
    from ias.store.transactions.queue import queue_retry

    place = find_place(context)
    job = find_dead(place, ref)
    outcome = run_once(place.store, queue_retry(place.terms, job["id"]))
    if outcome != "again":
        raise fail(f"{job['id']} was not tried again; {OUTCOMES[outcome]}", FAILED)
    say(f"{job['id']} is tried again")
    if not place.poke():
        say_aside("the daemon is not running: it does so when it is started")


@app.command()
def drop(context: typer.Context, ref: JobId) -> None:
    """Forget a dead letter."""
    from ias.store.transactions.queue import queue_drop

    place = find_place(context)
    job = find_dead(place, ref)
    run_once(place.store, queue_drop(job["id"]))
    say(f"{job['id']} is forgotten")


def find_dead(place: Place, ref: str) -> Row:
    """Read the dead letter whose id begins so.

    Raises:
        NotFoundError: There is none.
        AmbiguousIdError: There are several.
    """
    rows = read_once(place.store, "dead_job_by_prefix", ref=ref if ref.startswith("j_") else f"j_{ref}")
    if not rows:
        raise NotFoundError(f"there is no dead letter {ref!r}; `ias queue dead` lists them")
    if len(rows) > 1:
        ids = tuple(str(row["id"]) for row in rows)
        raise AmbiguousIdError(f"{ref!r} fits several; write more of one: {', '.join(ids)}", candidates=ids)
    return rows[0]


def job_json(row: Row) -> dict[str, object]:
    """Give a job as JSON output has it, without the token of its lease."""
    return {name: value for name, value in row.items() if name != "lease_token"}


def _stats(place: Place, *, as_json: bool) -> None:
    rows = read_once(place.store, "queue_stats")
    counts = read_once(place.store, "pending_counts")[0]
    if as_json:
        say_json({"queues": [dict(row) for row in rows], "open": dict(counts)})
        return
    say_table(
        ("QUEUE", "STATE", "JOBS", "TRIES"), [(row["queue"], row["state"], row["n"], row["attempts"]) for row in rows]
    )
    say(", ".join(f"{name.replace('_', ' ')} {count}" for name, count in counts.items()))
