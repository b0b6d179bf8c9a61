"""Exit codes, and how a command says on stderr what went wrong: one line, then what to do."""

import sys

import typer

from ias.cli.visible import tame
from ias.errors import (
    AmbiguousIdError,
    Code,
    ConfigError,
    DaemonNotRunningError,
    IasError,
    InvalidArgumentsError,
    NotFoundError,
    PermissionDeniedError,
    ToolNotFoundError,
)

DONE = 0
FAILED = 1
USAGE = 2
DENIED = 3
NOT_FOUND = 4
NO_DAEMON = 5
CONFIG = 78
INTERRUPTED = 130

CODES: tuple[tuple[type[IasError], int], ...] = (
    (ConfigError, CONFIG),
    (DaemonNotRunningError, NO_DAEMON),
    (NotFoundError, NOT_FOUND),
    (ToolNotFoundError, NOT_FOUND),
    (AmbiguousIdError, USAGE),
    (InvalidArgumentsError, USAGE),
    (PermissionDeniedError, DENIED),
)

REFUSED = (Code.PERMISSION_DENIED, Code.APPROVAL_DENIED, Code.APPROVAL_EXPIRED, Code.HOST_NOT_ALLOWED)


class UsageError(IasError):
    """A command was called in a way that it cannot be."""


def exit_code(code: str) -> int:
    """Give the exit code for how a call ended."""
    match code:
        case Code.OK:
            return DONE
        case Code.NOT_FOUND:
            return NOT_FOUND
        case Code.INVALID_ARGUMENTS:
            return USAGE
        case _:
            return DENIED if code in REFUSED else FAILED


def fail(message: str, code: int) -> typer.Exit:
    """Say on stderr what went wrong; raise what this gives."""
    complain(message)
    return typer.Exit(code)


def complain(message: str) -> None:
    """Write one error to stderr: the first sentence as the first line, what to do below it."""
    what, _, todo = tame(message).partition("; ")
    sys.stderr.write(f"ias: {what}\n")
    if todo:
        sys.stderr.write(f"     {todo}\n")


def report(error: Exception) -> int | None:
    """Tell an expected error and give its exit code; None for a defect."""
    if isinstance(error, UsageError):
        complain(str(error))
        return USAGE
    if isinstance(error, IasError):
        complain(str(error))
        return next((code for kind, code in CODES if isinstance(error, kind)), FAILED)
    if isinstance(error, typer.TyperException):
        message = error.format_message()
        if message.startswith("Usage:"):  # a group without a command: its help is the answer
            sys.stderr.write(message + "\n")
            return error.exit_code
        context = getattr(error, "ctx", None)
        path = getattr(context, "command_path", "ias")
        complain(f"{message.rstrip('.')}; `{path} --help` shows how to call it")
        return error.exit_code
    if isinstance(error, OSError):
        complain(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}")
        return FAILED
    return None
