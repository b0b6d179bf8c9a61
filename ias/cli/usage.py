"""`ias usage`: tokens and cost of the model, by day, user, conversation or model."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from ias.cli.output import say, say_json, say_table
from ias.cli.place import find_place
from ias.cli.visible import one_line
from ias.store.once import read_once
from ias.usage import DAYS, DAYS_MAX, By, Used, first_day, report, sum_up, total

LISTED = 30
NAME_SHOWN = 40  # characters of a user or model


def usage(
    context: typer.Context,
    *,
    by: Annotated[By, typer.Option(help="What is summed up.")] = By.DAY,
    days: Annotated[int, typer.Option(min=1, max=DAYS_MAX, help="The last days in UTC, today included.")] = DAYS,
    user: Annotated[str | None, typer.Option(help="Of this user alone.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000_000, help="At most so many lines.")] = LISTED,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show how many tokens the model used, how many came from its cache, and what that cost."""
    since = first_day(datetime.now(UTC), days)
    rows = read_once(find_place(context).store, "usage", by=by, since=since, user_id=user)
    if as_json:
        say_json(report(rows, by=by, since=since, limit=limit))
        return
    sums = sum_up(rows, by)
    say_table(
        (by.upper(), "CALLS", "INPUT", "CACHED", "OUTPUT", "REASONING", "COST"),
        [*(_line(one_line(used.of, NAME_SHOWN), used) for used in sums[:limit]), _line("all", total(sums))],
    )
    if len(sums) > limit:
        say(f"{len(sums) - limit} more lines; `--limit` shows them")


def _line(name: str, used: Used) -> tuple[str, ...]:
    share = used.cache_share
    return (
        name,
        f"{used.calls:,}",
        f"{used.input:,}",
        "-" if share is None else f"{share:.0%}",
        f"{used.output:,}",
        f"{used.reasoning:,}",
        _cost(used),
    )


def _cost(used: Used) -> str:
    parts = [str(cost) for cost in used.costs]
    if used.unpriced:
        parts.append("unknown" if not parts else f"unknown ({used.unpriced:,} of {used.calls:,} calls)")
    return " + ".join(parts) or "-"
