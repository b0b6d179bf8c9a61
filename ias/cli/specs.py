"""The tools of a home as their specs say, for commands that work without the daemon."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from ias.cli.place import program
from ias.cli.visible import one_line
from ias.cli.words import is_chinese
from ias.config.load import Config, load_config
from ias.domain.tools import ToolSpec
from ias.errors import IasError, NotFoundError
from ias.toolspec.problems import Problem
from ias.toolspec.scanning import Scan, scan

DESC_SHOWN = 160  # characters of a description beside a request
SLASH = re.compile(r"\s*/\s+")
HAN = re.compile("[\u4e00-\u9fff]")
NAME = re.compile(r"^name:\s*[\"']?([^\s\"'#]+)", re.MULTILINE)
UNKNOWN = "not known: there is no such spec now"


def configuration(home: Path) -> Config:
    """Read and check the whole configuration of a home.

    Raises:
        ConfigError: It is wrong.
    """
    return load_config(home, os.environ)


def scan_home(config: Config) -> Scan:
    """Read all specs of a home, as the daemon does."""
    dirs = [config.path(folder) for folder in config.settings.tools.dirs]
    return scan(dirs, project=config.home, withheld=config.credential_names() - set(config.settings.secrets))


def find_spec(config: Config, name: str) -> ToolSpec:
    """Give the spec of a tool.

    Raises:
        NotFoundError: There is none, or its spec was rejected; near names are given.
    """
    import difflib

    scanned = scan_home(config)
    for spec in scanned.specs:
        if spec.name == name:
            return spec
    faulty = [problem for problem in scanned.rejected if _is_of(problem.file, name)]
    if faulty:
        raise NotFoundError(
            f"the spec of {name!r} was rejected; {faulty[0]}\n     `{program()} tools check` shows all that is wrong"
        )
    near = difflib.get_close_matches(name, [spec.name for spec in scanned.specs], n=3)
    hint = f"did you mean {', '.join(near)}?" if near else "`ias tools list` shows what there is"
    raise NotFoundError(f"there is no tool {name!r}; {hint}")


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a tool's spec says of it now, in one line each, for the person who decides."""

    risk: str
    what: str | None


def about(home: Path, tool: str) -> About:
    """Say what a tool is, by its spec as it is now."""
    try:
        spec = find_spec(configuration(home), tool)
    except IasError:
        return About(risk=UNKNOWN, what=None)
    return About(risk=str(spec.risk), what=one_line(in_our_language(spec.desc), DESC_SHOWN))


def in_our_language(desc: str) -> str:
    """Give the half of a description like `掷骰子 / Roll a die` that is in the terminal's language; others whole."""
    halves = [half.strip() for half in SLASH.split(desc.strip())]
    chinese = [bool(HAN.search(half)) for half in halves]
    if sorted(chinese) != [False, True]:
        return desc
    return halves[chinese.index(is_chinese())]


def problem_json(problem: Problem) -> dict[str, object]:
    """Give a problem as JSON output has it."""
    return {
        "file": str(problem.file),
        "line": problem.line,
        "field": problem.field,
        "message": problem.message,
        "fix": problem.fix,
    }


def _is_of(file: Path, name: str) -> bool:
    """Say whether a spec that cannot be used is that tool's: by its file, or by the name that it seems to state."""
    if file.name == f"{name}.tool.yaml":
        return True
    try:
        text = file.read_text("utf-8", "replace")
    except OSError:
        return False
    return any(match[1] == name for match in NAME.finditer(text))
