"""`ias backup`: a copy of the state, made while the daemon runs."""

from pathlib import Path
from typing import Annotated

import typer

from ias.cli.output import say, say_json
from ias.cli.place import find_place, program
from ias.errors import NotFoundError


def backup(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="The new file; it must not be there yet.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Copy the state into a file while the daemon runs."""
    from ias.store.backup import backup as copy

    place = find_place(context)
    if not place.store.exists():
        raise NotFoundError(f"there is no store at {str(place.store)!r}; `ias serve` makes one")
    target = Path.cwd() / file.expanduser()
    copy(place.store, target)
    size = target.stat().st_size
    if as_json:
        say_json({"file": str(target), "bytes": size})
    else:
        say(f"{target}: {size} bytes")
        say(f"to go back to it: stop the daemon, then {program()} restore {target}")
