"""Loads the dropped-in tools of a folder for programs that embed `ias`."""

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ias.errors import ToolError
from ias.hosting.host import LoadedTool, Surroundings
from ias.registry import BaseTool
from ias.runtime.http_service import HttpSettings
from ias.runtime.secrets import Secrets
from ias.runtime.snapshot import SnapshotError, prune, take
from ias.toolspec.scanning import scan


class Snapshots:
    """A temporary folder for the snapshots of loaded tools, gone with the last tool that needs it."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="ias-tools-"))
        weakref.finalize(self, _discard, self.folder)


def load_tools(
    folder: str | Path,
    *,
    secrets: Mapping[str, Sequence[str]] | None = None,
    env: Mapping[str, str] | None = None,
    http: HttpSettings | None = None,
    on_rejected: Callable[[str], None] | None = None,
) -> list[BaseTool]:
    """Load the dropped-in tools of a folder: every `NAME/specs/*.tool.yaml` below it. Blocks while it reads.

    What was loaded is what runs: the tools are copied, so a later change of the folder changes nothing.

    Args:
        folder: Holds a folder for each tool.
        secrets: For each secret that tools may use the host patterns that it may be sent to, like
            `{"QWEATHER_KEY": ["*.qweatherapi.com"]}`; values come from `env`.
        env: Variables, of which a tool gets those that its spec names; the process's own by default.
        http: Bounds of the requests that tools ask for.
        on_rejected: Told of each problem of a tool that cannot be used; the others are loaded. Without it such a
            problem is an error.

    Returns:
        The tools, for `ToolRegistry.register_all`.

    Raises:
        ToolError: The folder is missing, or a tool cannot be used and there is no `on_rejected`.

    Example:
        ```python
        registry = ToolRegistry()
        registry.register_all(load_tools("tools"))
        ```
    """
    top = Path(folder).resolve()
    _check_folder(top)
    surroundings = _surroundings(secrets or {}, os.environ if env is None else env, http or HttpSettings())
    tools, problems = _load(top, surroundings)
    if problems and on_rejected is None:
        raise ToolError("some tools cannot be used; mend them, or give on_rejected:\n" + "\n".join(problems))
    if on_rejected is not None:
        for problem in problems:
            on_rejected(problem)
    return tools


def _check_folder(top: Path) -> None:
    if not top.is_dir():
        raise ToolError(f"there is no folder {str(top)!r} to load tools from")
    if (top / "specs").is_dir():
        raise ToolError(f"{str(top)!r} is the folder of one tool; give the folder above it: {str(top.parent)!r}")


def _surroundings(secrets: Mapping[str, Sequence[str]], env: Mapping[str, str], http: HttpSettings) -> Surroundings:
    variables = dict(env)
    hosts = {name: tuple(patterns) for name, patterns in secrets.items()}
    return Surroundings(secrets=Secrets(hosts, variables), secret_hosts=hosts, variables=variables, http=http)


def _load(top: Path, surroundings: Surroundings) -> tuple[list[BaseTool], list[str]]:
    found = scan((top,), project=top.parent)
    problems = [f"{problem.file}:{problem.line}: {problem.field}: {problem.message}" for problem in found.rejected]
    tools: list[BaseTool] = []
    snapshots = Snapshots()
    for spec in found.specs:
        try:
            snapshot = take(spec.folder, snapshots.folder)
            tools.append(LoadedTool(spec, spec.file.read_bytes(), snapshot, surroundings, keep=snapshots))
        except (ToolError, SnapshotError) as error:
            problems.append(f"{spec.file}:1: path: {error}")
    return tools, problems


def _discard(folder: Path) -> None:
    prune(folder, ())
    shutil.rmtree(folder, ignore_errors=True)
