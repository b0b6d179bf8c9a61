"""`ias doctor`: looks at everything that a daemon needs, and says what to do about what is wrong."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from ias.cli import checks
from ias.cli.checks import Finding, Verdict
from ias.cli.exits import DONE, FAILED
from ias.cli.output import say, say_json
from ias.cli.place import home_of, place_at
from ias.cli.soundness import check_sound
from ias.cli.specs import configuration
from ias.cli.visible import tame
from ias.errors import ConfigError

MARKS = {Verdict.GOOD: "ok   ", Verdict.NOTE: "note ", Verdict.WRONG: "WRONG"}


def doctor(
    context: typer.Context,
    *,
    online: Annotated[bool, typer.Option("--online", help="Also reach for the model and the tools' hosts.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Look for what is wrong; exit 1 if something is. Nothing leaves this machine without --online."""
    findings = list(_look(home_of(context), is_online=online))
    is_well = all(finding.verdict is not Verdict.WRONG for finding in findings)
    if as_json:
        say_json(
            {
                "ok": is_well,
                "checks": [
                    {"name": each.name, "verdict": each.verdict, "text": each.text, "todo": each.todo or None}
                    for each in findings
                ],
            }
        )
    else:
        for each in findings:
            say(f"{MARKS[each.verdict]}  {each.name:<10} {tame(each.text)}")
            if each.todo:
                say(f"       {'':<10} {tame(each.todo)}")
    raise typer.Exit(DONE if is_well else FAILED)


def _look(home: Path, *, is_online: bool) -> Iterator[Finding]:
    yield from checks.machine()
    try:
        config = configuration(home)
        place = place_at(home)
        check_sound(config)
    except ConfigError as error:
        what, _, todo = str(error).partition("; ")
        yield Finding("config", Verdict.WRONG, what, todo)
        return
    file = "is right" if config.file.is_file() else "is not there: every key has its default"
    yield Finding("config", Verdict.GOOD, f"{config.file} {file}")
    yield from checks.state(config, place)
    yield from checks.disk(place)
    yield from checks.tools(config)
    yield checks.model(config)
    yield from checks.secrets(config)
    yield checks.sandbox(config)
    yield checks.daemon(place)
    yield checks.clock()
    if is_online:
        yield from checks.reach(config)
