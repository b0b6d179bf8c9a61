"""The tools that are loaded: scanned, snapshotted, registered, and kept for runs that began with an older version."""

import asyncio
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ias.domain.messages import JsonObject
from ias.domain.tools import ToolSpec
from ias.errors import ToolError, ToolNotFoundError
from ias.registry import BaseTool, Changes, ToolRegistry
from ias.runtime.descendants import sweep
from ias.runtime.program import ProgramTool, Room
from ias.runtime.snapshot import SnapshotError, prune, take
from ias.toolspec.problems import Problem
from ias.toolspec.scanning import fingerprint, scan


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What a scan gave."""

    changes: Changes
    rejected: tuple[Problem, ...]


class Toolbox:
    """Holds the registry of all tools, and old versions while runs may still need them."""

    def __init__(
        self,
        registry: ToolRegistry,
        *,
        dirs: Sequence[Path],
        project: Path,
        snapshots: Path,
        room: Room,
    ) -> None:
        self.registry = registry
        self.rejected: tuple[Problem, ...] = ()
        self._dirs = tuple(dirs)
        self._project = project
        self._snapshots = snapshots
        self._room = room
        self._versions: dict[tuple[str, str], BaseTool] = {}
        self._loading = asyncio.Lock()
        self._mark = ""

    async def load(self) -> Loaded:
        """Scan the folders and put what is there in the registry; one bad spec or folder never hides another."""
        async with self._loading:
            self._mark = await asyncio.to_thread(fingerprint, self._dirs)
            tools, rejected = await asyncio.to_thread(self._scan)
            self.rejected = rejected
            for tool in tools:
                self._versions[tool.name, tool.facts.sha256] = tool
            return Loaded(changes=self.registry.replace_all(tools), rejected=rejected)

    async def is_stale(self) -> bool:
        """Say whether a file changed since the last load began."""
        return await asyncio.to_thread(fingerprint, self._dirs) != self._mark

    def clear(self) -> None:
        """Remove what an earlier process left: programs still running, private folders, snapshots of tools now gone.

        Blocks; call it after the first load and before any call begins.
        """
        calls = self._room.calls
        sweep({str(calls)})
        for folder in calls.iterdir() if calls.is_dir() else ():
            shutil.rmtree(folder, ignore_errors=True)
        programs = (tool for tool in self.registry if isinstance(tool, ProgramTool))
        prune(self._snapshots, {tool.snapshot.sha256 for tool in programs})

    def find(self, name: str, sha256: str) -> BaseTool:
        """Give a tool in the version that a run began with.

        Raises:
            ToolNotFoundError: If it was removed, or that version is not known any more.
        """
        if self.registry.get(name) is None:
            raise ToolNotFoundError(f"the tool {name!r} was removed")
        tool = self._versions.get((name, sha256))
        if tool is None:
            raise ToolNotFoundError(f"the tool {name!r} was changed since this call began; call it again")
        return tool

    def _scan(self) -> tuple[list[ProgramTool], tuple[Problem, ...]]:
        found = scan(self._dirs, project=self._project, withheld=self._room.withheld)
        tools: list[ProgramTool] = []
        rejected = list(found.rejected)
        for spec in found.specs:
            try:
                tools.append(self._tool(spec))
            except (ToolError, SnapshotError) as error:
                rejected.append(Problem(file=spec.file, line=1, field="path", message=str(error)))
        return tools, tuple(rejected)

    def _tool(self, spec: ToolSpec) -> ProgramTool:
        snapshot = take(spec.folder, self._snapshots)
        return ProgramTool(spec, spec.file.read_bytes(), snapshot, self._room)


def as_json(loaded: Loaded) -> JsonObject:
    """Give what a reload did as the API and the CLI show it."""
    return {
        "added": list(loaded.changes.added),
        "changed": list(loaded.changes.changed),
        "removed": list(loaded.changes.removed),
        "rejected": [problem_json(problem) for problem in loaded.rejected],
    }


def problem_json(problem: Problem) -> JsonObject:
    """Give one rejected spec."""
    return {
        "file": str(problem.file),
        "line": problem.line,
        "field": problem.field,
        "message": problem.message,
        "fix": problem.fix,
    }
