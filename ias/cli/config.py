"""`ias config`: whether the configuration is right, what it is with all defaults, and its schema."""

import json
from typing import Annotated

import typer

from ias.cli.output import say, say_json
from ias.cli.place import home_of
from ias.cli.specs import configuration
from ias.cli.visible import tame

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

app = typer.Typer(rich_markup_mode=None)


@app.callback()
def config() -> None:
    """Check and show the configuration."""


@app.command()
def check(context: typer.Context, *, as_json: AsJson = False) -> None:
    """Check config.yaml: exit 78 with file, line and key if it is wrong."""
    found = configuration(home_of(context))
    is_there = found.file.is_file()
    if as_json:
        say_json({"file": str(found.file), "exists": is_there, "ok": True})
    else:
        say(f"{found.file} is right" if is_there else f"there is no {found.file}: every key has its default")


@app.command()
def show(context: typer.Context, *, as_json: AsJson = False) -> None:
    """Show every key with its value; secrets are masked."""
    found = configuration(home_of(context))
    shown = found.shown()
    if as_json:
        say_json(shown)
        return
    say(f"# {found.file}")
    for section, value in shown.items():
        if not isinstance(value, dict) or not value:
            say(tame(f"{section}: {_written(value)}"))
            continue
        say(f"{section}:")
        for key, item in value.items():
            say(tame(f"  {key}: {_written(item)}"))


@app.command()
def schema() -> None:
    """Print the JSON Schema of config.yaml, for editors."""
    from ias.toolspec.schemas import schema_text, schemas

    say(schema_text(schemas()["config.schema.json"]).rstrip())


def _written(value: object) -> str:
    """Give a value in one line of YAML (JSON is YAML); plain words stand without quotes."""
    if isinstance(value, str) and value.replace("_", "").replace("-", "").replace("/", "").replace(".", "").isalpha():
        return value
    return json.dumps(value, ensure_ascii=False)
