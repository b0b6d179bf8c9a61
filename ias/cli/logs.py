"""`ias logs`: the three files, filtered, followed over their rotation."""

import json
import os
import sys
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from io import TextIOWrapper
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from ias.cli.exits import UsageError
from ias.cli.output import say
from ias.cli.place import Place, find_place, program
from ias.cli.specs import configuration
from ias.cli.visible import tame
from ias.config.units import seconds
from ias.errors import NotFoundError, StateError
from ias.store.once import read_once

NAMES = ("msg", "raw", "error")
LOOK_AGAIN = 0.3  # seconds between two looks at a file that is followed
ID_SHOWN = 10  # characters of an id in a line of text


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which lines are shown: not older than `since`, of one of these conversations (None: of all)."""

    since: datetime | None
    conversations: frozenset[str] | None

    def fits(self, line: str) -> bool:
        """Say whether a line is shown; one that cannot be read is."""
        at, conversation = _facts_of(line)
        if self.since is not None and at is not None and at < self.since:
            return False
        return self.conversations is None or conversation[:ID_SHOWN] in self.conversations


def logs(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="[msg|raw|error]", help="Which log.")] = "msg",
    *,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what comes, until Ctrl-C.")] = False,
    user: Annotated[str | None, typer.Option(help="Only conversations of this user.")] = None,
    since: Annotated[str | None, typer.Option(help="Only what is not older, like 10m, 2h or 1d.")] = None,
    lines: Annotated[int, typer.Option("--lines", "-n", min=0, help="At most so many; 0 for all.")] = 200,
) -> None:
    """Read and follow the logs."""
    if name not in NAMES:
        raise UsageError(f"there is no log {name!r}; there are {', '.join(NAMES)}")
    place = find_place(context)
    config = configuration(place.home)
    file = config.path(config.settings.logs.dir) / f"{name}.log"
    wanted = Filter(since=_since(since), conversations=None if user is None else _conversations(place, user))
    if not file.exists() and not follow:
        raise NotFoundError(_why_missing(file, is_raw_kept=config.settings.logs.raw))
    opened = _open(file)
    aside = _set_aside(file, config.settings.logs.keep) if since is not None else ()
    past = (line for line in chain(aside, _whole_lines(opened)) if wanted.fits(line))
    for line in deque(past, maxlen=lines or None):
        say(tame(line))
    sys.stdout.flush()
    if follow:
        for line in _coming(file, opened):
            if wanted.fits(line):
                say(tame(line))
                sys.stdout.flush()


def _why_missing(file: Path, *, is_raw_kept: bool) -> str:
    """Say why there is no such log: not every one begins with the daemon."""
    match file.stem:
        case "error":
            why = "nothing went wrong so far"
        case "raw" if not is_raw_kept:
            why = "logs.raw is false in config.yaml"
        case "raw":
            why = "it begins with the first request to a real model, and the offline rules are none"
        case _:
            why = f"it begins with the first message; `{program()} serve` runs the daemon"
    return f"there is no {file} yet; {why}"


def _since(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.now(UTC) - timedelta(seconds=seconds(text))
    except ValueError as error:
        raise UsageError(f"--since {text!r} is no span; write it like 10m, 2h or 1d") from error


def _conversations(place: Place, user: str) -> frozenset[str]:
    try:
        rows = read_once(place.store, "conversations", user_id=user)
    except StateError:
        rows = []
    if not rows:
        raise NotFoundError(f"no conversation of {user!r} is known; `ias logs` without --user shows all")
    return frozenset(str(row["id"])[:ID_SHOWN] for row in rows)


def _set_aside(file: Path, keep: int) -> Iterator[str]:
    """Give the lines of the files that were set aside, the oldest first."""
    for number in range(keep, 0, -1):
        part = file.with_name(f"{file.name}.{number}")
        if part.exists():
            with part.open(encoding="utf-8", errors="replace") as opened:
                for line in opened:
                    yield line.rstrip("\n")


def _coming(file: Path, opened: TextIOWrapper | None) -> Iterator[str]:
    """Give lines as they are written; a file that was set aside is read to its end, then its follower."""
    while True:
        yield from _whole_lines(opened)
        if opened is not None and _is_replaced(opened, file):
            yield from _whole_lines(opened)
            opened.close()
            opened = None
        if opened is None:
            opened = _open(file)
            if opened is not None:
                continue
        time.sleep(LOOK_AGAIN)


def _open(file: Path) -> TextIOWrapper | None:
    try:
        return file.open(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None


def _whole_lines(opened: TextIOWrapper | None) -> Iterator[str]:
    """Give the lines from here on; one that is not whole yet is left for later."""
    while opened is not None:
        at = opened.tell()
        line = opened.readline()
        if not line.endswith("\n"):
            opened.seek(at)
            return
        yield line.rstrip("\n")


def _is_replaced(opened: TextIOWrapper, file: Path) -> bool:
    try:
        return os.fstat(opened.fileno()).st_ino != file.stat().st_ino
    except FileNotFoundError:
        return True


def _facts_of(line: str) -> tuple[datetime | None, str]:
    """Read time and conversation of a line of text or JSON."""
    try:
        if line.startswith("{"):
            body: dict[str, Any] = json.loads(line)
            return datetime.fromisoformat(body["time"]), str(body.get("conversation_id") or "-")
        head, _, rest = line.partition("] ")
        return datetime.fromisoformat(head.split(" ", 1)[0]), rest.split(" ", 1)[0]
    except (ValueError, KeyError):
        return None, "-"
