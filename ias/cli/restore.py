"""`ias restore`: a backup in the place of the state, while no daemon runs."""

from pathlib import Path
from typing import Annotated

import typer

from ias.cli.output import say, say_json
from ias.cli.place import find_place, program
from ias.store.lock import StateLock


def restore(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A file that `ias backup` made; it stays as it is.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Put a backup in the place of the state, which is kept beside it; stop the daemon first."""
    from ias.store.restore import restore as put_in_place

    place = find_place(context)
    source = Path.cwd() / file.expanduser()
    with StateLock(place.store.parent):
        kept = put_in_place(source, place.store)
    if as_json:
        say_json({"file": str(source), "store": str(place.store), "kept": None if kept is None else str(kept)})
        return
    say(f"{place.store} is now what {source} held")
    if kept is not None:
        say(f"what was there before is kept: {kept}")
    say(f"next: {program()} serve; what waited when the backup was made goes on then (see: {program()} queue)")
