"""What commands print: JSON for programs, columns for people."""

import json
import math
import re
import sys
import time
from collections.abc import Iterable, Mapping, Sequence

from ias.cli.visible import cells, is_plain, tame

NOT_PLAIN = re.compile(r"[^\x20-\x7e\n]")
MINUTE, HOUR, DAY = 60, 3600, 86400


def say(line: str = "") -> None:
    """Print one line."""
    sys.stdout.write(line + "\n")


def say_aside(line: str) -> None:
    """Print one line beside the result: on stderr."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def say_json(value: object, *, indent: int | None = 2) -> None:
    """Print a value as JSON; what does not show as itself on a terminal is escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=str)
    say(NOT_PLAIN.sub(lambda match: match[0] if is_plain(match[0]) else json.dumps(match[0])[1:-1], text))


def say_table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows under heads, in columns as wide as they need to be; the last column is not padded."""
    lines = [tuple(heads), *(tuple(tame(str(cell)).replace("\n", " ") for cell in row) for row in rows)]
    widths = [max(cells(line[at]) for line in lines) for at in range(len(heads))]
    for line in lines:
        padded = [cell + " " * (widths[at] - cells(cell)) for at, cell in enumerate(line[:-1])]
        say("  ".join([*padded, line[-1]]).rstrip())


def say_facts(facts: Mapping[str, object]) -> None:
    """Print names and values, one a line; what is None is left out."""
    shown = {name: value for name, value in facts.items() if value is not None}
    width = max((cells(name) for name in shown), default=0)
    for name, value in shown.items():
        say(f"{name}{' ' * (width - cells(name))}  {tame(str(value))}")


def when(at_ms: int | None) -> str:
    """Give an instant (epoch milliseconds) as local date and time; `-` for none."""
    return "-" if at_ms is None else time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at_ms / 1000))


def span(seconds: float) -> str:
    """Give a span as people say it: `45s`, `12m`, `3h`, `2d`."""
    for unit, letter in ((DAY, "d"), (HOUR, "h"), (MINUTE, "m")):
        if seconds >= 2 * unit or (unit == MINUTE and seconds >= unit):
            return f"{int(seconds // unit)}{letter}"
    return f"{max(0, int(seconds))}s"


def left(until_ms: int) -> str:
    """Give how long it is until an instant, rounded up as people count down; `0s` if it is over."""
    seconds = until_ms / 1000 - time.time()
    return span(math.ceil(seconds / MINUTE) * MINUTE if seconds > MINUTE else seconds)


def ago(at_ms: int | None) -> str:
    """Give how long ago an instant was; `-` for none."""
    return "-" if at_ms is None else span(time.time() - at_ms / 1000)
