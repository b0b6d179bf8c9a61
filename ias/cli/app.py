"""The command line's root: one module a noun, imported only when its command is called."""

import importlib
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Annotated

import typer

from ias.cli.exits import FAILED, INTERRUPTED, report


@dataclass(frozen=True, slots=True)
class Entry:
    """A command: the module in `ias.cli`, and the function in it; no function means a group, the module's `app`."""

    module: str
    help: str
    function: str | None = None


COMMANDS = {
    "init": Entry("init", "Make a home: config.yaml, tools, specs, logs.", "init"),
    "serve": Entry("serve", "Run the daemon.", "serve"),
    "chat": Entry("chat", "Talk in the terminal, or ask one question.", "chat"),
    "send": Entry("send", "Post a message without waiting for its answer.", "send"),
    "run": Entry("run", "Call one tool, with an option for each of its parameters.", "run"),
    "approve": Entry("approve", "Show a waiting request and approve it.", "approve"),
    "deny": Entry("approve", "Deny a waiting request.", "deny"),
    "approvals": Entry("approvals", "Requests that wait for a person, and standing rules."),
    "tools": Entry("tools", "List, show, check, make and test tools."),
    "runs": Entry("runs", "What calls did, step by step."),
    "queue": Entry("queue", "Waiting and failed jobs."),
    "usage": Entry("usage", "What the model used, and what it cost.", "usage"),
    "logs": Entry("logs", "Read and follow the logs.", "logs"),
    "permissions": Entry("permissions", "Which rule decides, and why."),
    "config": Entry("config", "Check and show the configuration."),
    "doctor": Entry("doctor", "Look for what is wrong.", "doctor"),
    "backup": Entry("backup", "Copy the state into a file while the daemon runs.", "backup"),
    "restore": Entry("restore", "Put a backup in the place of the state.", "restore"),
}
HOME_HELP = "The home folder; else IAS_HOME, else the current folder if it has a config.yaml, else ~/.ias."


def run(args: Sequence[str]) -> int:
    """Run one command.

    Args:
        args: The words after `ias`.

    Returns:
        The exit code: 0 done, 1 failed, 2 wrong use, 3 denied or expired, 4 not found, 5 no daemon, 78 configuration.
    """
    _open_streams()
    _use_any_terminal()
    words = _home_first(list(args) or ["--help"])
    if words[0] == "--version":
        sys.stdout.write(f"ias {metadata.version('ias')}\n")
        return 0
    try:
        code = build(_command_of(words))(words, prog_name="ias", standalone_mode=False)
        sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except (
        BrokenPipeError
    ):  # the reader went away, as in `ias logs | head`; Python must not complain about it at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return FAILED
    except Exception as error:
        reported = report(error)
        if reported is None:
            raise
        return reported
    return code if isinstance(code, int) else 0


def build(name: str | None) -> typer.Typer:
    """Make the program with the one command that is called, or with all of them, by their help alone.

    Args:
        name: The command; None for help, and for words that are no command.
    """
    app = typer.Typer(
        name="ias",
        help="A daemon that runs tools behind a gate: tools ask, a person approves, the daemon acts.",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=False,
    )

    @app.callback()
    def root(
        context: typer.Context,
        home: Annotated[Path | None, typer.Option("--home", help=HOME_HELP)] = None,
        *,
        version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    ) -> None:
        del version  # answered before anything is built
        context.obj = home

    if name is not None:
        _add(app, name, COMMANDS[name])
    else:
        for other, entry in COMMANDS.items():
            app.command(other, help=entry.help)(_nothing)
    return app


def _add(app: typer.Typer, name: str, entry: Entry) -> None:
    module = importlib.import_module(f"ias.cli.{entry.module}")
    if entry.function is None:
        app.add_typer(module.app, name=name, help=entry.help)
        return
    function: Callable[..., object] = getattr(module, entry.function)
    settings: dict[str, object] = getattr(module, "CONTEXT", {})
    app.command(name, help=entry.help, context_settings=settings)(function)


def _nothing() -> None:
    """Stand for a command in the list of all commands."""


def _command_of(words: Sequence[str]) -> str | None:
    rest = iter(words)
    for word in rest:
        if word == "--home":
            next(rest, None)
        elif not word.startswith("-"):
            return word if word in COMMANDS else None
        elif not word.startswith("--home="):
            return None
    return None


def _home_first(words: list[str]) -> list[str]:
    """Let `--home X` stand anywhere before `--`: after the command it reads better."""
    end = words.index("--") if "--" in words else len(words)
    for at, word in enumerate(words[:end]):
        if word == "--home" and at + 1 < end:
            return [*words[at : at + 2], *words[:at], *words[at + 2 :]]
        if word.startswith("--home="):
            return [word, *words[:at], *words[at + 1 :]]
    return words


def _open_streams() -> None:
    """Give a closed stdout or stderr (`ias … >&-`) a place to write to, before another file takes its number."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def _use_any_terminal() -> None:
    """Print what a terminal's encoding lacks as escapes, not as an error."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
