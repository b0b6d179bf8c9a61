"""`ias serve`: the daemon, in the foreground."""

from pathlib import Path
from typing import Annotated

import typer

from ias.cli.exits import UsageError
from ias.cli.output import say_aside
from ias.cli.place import home_of, program
from ias.cli.specs import configuration
from ias.domain.jobs import Queue


def serve(
    context: typer.Context,
    *,
    roles: Annotated[str, typer.Option(help="Which queues this daemon works on.")] = ",".join(Queue),
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="The API's port; 0 takes a free one.")] = None,
    socket: Annotated[Path | None, typer.Option(help="The Unix socket; other commands find it by IAS_SOCKET.")] = None,
) -> None:
    """Run the daemon until Ctrl-C or SIGTERM."""
    chosen = _roles(roles)
    home = home_of(context)
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    config = configuration(home)
    if not any(config.path(folder).is_dir() for folder in config.settings.tools.dirs):
        say_aside(f"there are no tools in {home}; `{program()} init {home}` brings some")
    from ias.daemon.serve import ServeOptions, serve  # the web server and all else that only a daemon needs

    raise typer.Exit(serve(config, ServeOptions(roles=chosen, port=port, socket=socket)))


def _roles(text: str) -> frozenset[Queue]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    try:
        chosen = frozenset(Queue(name) for name in names)
    except ValueError as error:
        raise UsageError(f"--roles {text!r} names no queue; write one or more of {', '.join(Queue)}") from error
    if not chosen:
        raise UsageError(f"--roles is empty; write one or more of {', '.join(Queue)}")
    return chosen
