"""`ias init`: a home to begin with. What is there already stays as it is."""

import shutil
from pathlib import Path
from typing import Annotated

import typer

import ias
from ias.cli.output import say
from ias.cli.place import home_of, program

PACKAGE = Path(ias.__file__).parent
SOURCES = (PACKAGE / "shipped", PACKAGE.parent)  # an installed package, a checkout
COPIED = ("config.yaml", "tools", "specs")
OWNER_ONLY = 0o700
CONFIG = """\
# Every key is optional; `ias config show` prints all of them with their values.
# llm: {api_key: "${DEEPSEEK_API_KEY}"}
"""


def init(
    context: typer.Context,
    folder: Annotated[Path | None, typer.Argument(metavar="[DIR]", help="Where; else the usual home.")] = None,
) -> None:
    """Make a home: config.yaml, tools, specs, logs."""
    home = Path.cwd() / folder.expanduser() if folder is not None else home_of(context)
    home.mkdir(mode=OWNER_ONLY, parents=True, exist_ok=True)
    source = next((place for place in SOURCES if (place / "tools").is_dir()), None)
    for name in COPIED:
        say(f"{_copy(source, home, name)}  {home / name}")
    logs = home / "logs"
    is_new = not logs.exists()
    logs.mkdir(mode=OWNER_ONLY, exist_ok=True)
    say(f"{'made' if is_new else 'kept'}  {logs}")
    say(f"next: {program()} --home {home} serve")


def _copy(source: Path | None, home: Path, name: str) -> str:
    target = home / name
    if target.exists():
        return "kept"
    origin = None if source is None else source / name
    if origin is not None and origin.is_dir():
        shutil.copytree(origin, target, ignore=shutil.ignore_patterns("__pycache__"))
    elif origin is not None and origin.is_file():
        shutil.copyfile(origin, target)
    elif name == "config.yaml":
        target.write_text(CONFIG, encoding="utf-8")
    else:
        target.mkdir(mode=OWNER_ONLY)
    return "made"
