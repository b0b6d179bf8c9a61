"""The loaded tools as the routes see them, and the watch that reloads them when a file changes."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from ias.daemon.parts import Parts
from ias.daemon.watching import follow
from ias.domain.messages import JsonObject
from ias.registry import ToolRegistry
from ias.runtime.program import ProgramTool
from ias.runtime.toolbox import Loaded, as_json

SETTLE_MS = 300  # a burst of file events (an editor's save, a copied folder) is one reload


class LoadedTools:
    """Reloads and lists the tools."""

    def __init__(self, parts: Parts) -> None:
        self._toolbox = parts.toolbox
        self._logs = parts.logs
        self._dirs = [parts.config.path(folder) for folder in parts.config.settings.tools.dirs]
        self._is_watched = parts.config.settings.tools.watch
        self._stop = asyncio.Event()

    @property
    def registry(self) -> ToolRegistry:
        """Give all tools that are loaded."""
        return self._toolbox.registry

    async def reload(self) -> JsonObject:
        """Scan the folders again and say what was added, changed, removed and rejected."""
        return as_json(await self._toolbox.load())

    def listing(self) -> list[JsonObject]:
        """Give each tool as the API and the CLI show it."""
        return [_tool_json(tool) for tool in self.registry if isinstance(tool, ProgramTool)]

    async def watch(self) -> None:
        """Reload whenever a file in a tool folder changes, until cancelled."""
        folders = [folder for folder in self._dirs if folder.is_dir()]
        if not self._is_watched or not folders:
            return
        async with asyncio.TaskGroup() as group:
            group.create_task(self._follow(folders))
            group.create_task(self._catch_up())

    async def _follow(self, folders: list[Path]) -> None:
        # A compiled module, off the path to ready; its stop event has no type.
        from watchfiles import awatch  # noqa: PLC0415  # pyright: ignore[reportUnknownVariableType]

        def changes() -> AsyncIterator[object]:
            return awatch(*folders, debounce=SETTLE_MS, recursive=True, stop_event=self._stop)

        await follow(changes, self._load, self._complain)

    async def _load(self) -> None:
        self._report(await self._toolbox.load())

    def _complain(self, reason: str) -> None:
        text = f"tools are not watched: {reason}; `ias tools reload` loads them meanwhile"
        self._logs.ops.warning("tools_not_watched", text=text)

    async def _catch_up(self) -> None:
        """Find what changed between the first load and the moment from which changes are followed.

        It runs after `_follow` has come to its first wait, so nothing falls between the two.
        """
        if await self._toolbox.is_stale():
            await self._load()

    def _report(self, loaded: Loaded) -> None:
        changes = loaded.changes
        for word, names in (("added", changes.added), ("changed", changes.changed), ("removed", changes.removed)):
            if names:
                self._logs.ops.info("tools_reloaded", text=f"tools {word}: {', '.join(names)}")
        for problem in loaded.rejected:
            self._logs.ops.warning("tool_rejected", text=str(problem))


def _tool_json(tool: ProgramTool) -> JsonObject:
    spec, facts = tool.spec, tool.facts
    return {
        "name": tool.name,
        "desc": tool.description,
        "group": spec.group,
        "type": facts.type,
        "risk": facts.risk,
        "parameters": tool.parameters,
        "hosts": list(facts.hosts),
        "secrets": list(facts.secrets),
        "permissions": [str(permission) for permission in facts.permissions],
        "timeout": facts.timeout,
        "sha256": facts.sha256,
        "examples": [{"ask": example.ask, "params": dict(example.params)} for example in spec.examples],
    }
