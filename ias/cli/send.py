"""`ias send`: a message in, no waiting."""

from typing import Annotated

import typer

from ias.cli import words
from ias.cli.client import Daemon
from ias.cli.output import say, say_json
from ias.cli.place import OPERATOR, find_place


def send(
    context: typer.Context,
    text: Annotated[list[str], typer.Argument(help="The message.")],
    *,
    user: Annotated[str, typer.Option(help="Who sends it.")] = OPERATOR,
    conversation: Annotated[str | None, typer.Option(help="Into this conversation.")] = None,
    source_id: Annotated[
        str | None, typer.Option(help="An id of yours: sent twice under the same one, it counts once.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Post a message without waiting for its answer."""
    body = {
        "user_id": user,
        "text": " ".join(text),
        "conversation": conversation,
        "channel": "cli",
        "source_id": source_id,
    }
    with Daemon(find_place(context).socket) as daemon:
        posted = daemon.post("/api/messages", body)
    if as_json:
        say_json(posted)
    else:
        say(f"{words.POSTED()} {posted['conversation']} {posted['turn']}")
