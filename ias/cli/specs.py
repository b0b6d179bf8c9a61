"""The tools of a home as their specs say, for commands that work without the daemon."""

import os
from pathlib import Path

from ias.config.load import Config, load_config
from ias.domain.tools import ToolSpec
from ias.errors import IasError, NotFoundError
from ias.toolspec.problems import Problem
from ias.toolspec.scanning import Scan, scan

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
    faulty = [problem for problem in scanned.rejected if problem.file.name == f"{name}.tool.yaml"]
    if faulty:
        raise NotFoundError(f"the spec of {name!r} was rejected; {faulty[0]}")
    near = difflib.get_close_matches(name, [spec.name for spec in scanned.specs], n=3)
    hint = f"did you mean {', '.join(near)}?" if near else "`ias tools list` shows what there is"
    raise NotFoundError(f"there is no tool {name!r}; {hint}")


def risk_of(home: Path, name: str) -> str:
    """Give the risk that a tool's spec states now, in words for a person."""
    try:
        return str(find_spec(configuration(home), name).risk)
    except IasError:
        return UNKNOWN


def problem_json(problem: Problem) -> dict[str, object]:
    """Give a problem as JSON output has it."""
    return {
        "file": str(problem.file),
        "line": problem.line,
        "field": problem.field,
        "message": problem.message,
        "fix": problem.fix,
    }
