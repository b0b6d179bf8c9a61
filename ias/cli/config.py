"""`ias config`: whether the configuration is right, what it is with all defaults, and its schema."""

from typing import Annotated, cast

import typer

from ias.cli.output import say, say_json
from ias.cli.place import home_of
from ias.cli.soundness import check_sound
from ias.cli.specs import configuration
from ias.cli.visible import tame

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

WIDTH = 120  # columns

app = typer.Typer(rich_markup_mode=None)


@app.callback()
def config() -> None:
    """Check and show the configuration."""


@app.command()
def check(context: typer.Context, *, as_json: AsJson = False) -> None:
    """Check config.yaml and what `ias serve` would make of it: exit 78 with file, line and key if it is wrong."""
    found = configuration(home_of(context))
    check_sound(found)
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
    say(f"# {found.file}; durations in seconds, sizes in bytes")
    say(tame(_as_yaml(shown)).rstrip())


@app.command()
def schema() -> None:
    """Print the JSON Schema of config.yaml, for editors."""
    from ias.toolspec.schemas import schema_text, schemas

    say(schema_text(schemas()["config.schema.json"]).rstrip())


def _as_yaml(value: object) -> str:
    import yaml

    class Dumper(yaml.SafeDumper):
        """Writes everything out: the project's YAML has no aliases."""

        def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - the library's signature
            return True

    text = yaml.dump(
        _plain(value), Dumper=Dumper, sort_keys=False, allow_unicode=True, default_flow_style=None, width=WIDTH
    )
    return str(text)


def _plain(value: object) -> object:
    """Write whole numbers without a fraction, as people do."""
    match value:
        case float() if value.is_integer():
            return int(value)
        case dict():
            return {key: _plain(item) for key, item in cast("dict[str, object]", value).items()}
        case list():
            return [_plain(item) for item in cast("list[object]", value)]
        case _:
            return value
