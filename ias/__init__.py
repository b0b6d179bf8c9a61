"""A tool-orchestration daemon: tools ask, the daemon decides, a person approves, the daemon acts.

Programs that embed `ias` find its library here: `from ias import BaseTool, LlmCycle, ToolRegistry`. Each name is
imported when it is first used, so that nobody pays for the rest; docs/library.md describes them all.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ias.cycle.loop import LlmCycle
    from ias.cycle.step import CycleConfig
    from ias.domain.events import (
        ApprovalRequested,
        ApprovalResolved,
        AssistantTextDelta,
        Error,
        Event,
        Notice,
        ReasoningDelta,
        ToolExecutionCompleted,
        ToolExecutionStarted,
        TurnComplete,
    )
    from ias.domain.messages import ChatResponse, MessageRequest, ToolDef
    from ias.domain.tools import Permission, ToolInvocation
    from ias.errors import LlmError, ToolError
    from ias.hosting.loading import load_tools
    from ias.permissions import PermissionChecker, PermissionConfig
    from ias.registry import BaseTool, ToolRegistry

__all__ = [
    "ApprovalRequested",
    "ApprovalResolved",
    "AssistantTextDelta",
    "BaseTool",
    "ChatResponse",
    "CycleConfig",
    "Error",
    "Event",
    "LlmCycle",
    "LlmError",
    "MessageRequest",
    "Notice",
    "Permission",
    "PermissionChecker",
    "PermissionConfig",
    "ReasoningDelta",
    "ToolDef",
    "ToolError",
    "ToolExecutionCompleted",
    "ToolExecutionStarted",
    "ToolInvocation",
    "ToolRegistry",
    "TurnComplete",
    "load_tools",
]

if not TYPE_CHECKING:  # a type checker would take any name for one that is there
    HOMES = {
        "ias.cycle.loop": ("LlmCycle",),
        "ias.cycle.step": ("CycleConfig",),
        "ias.domain.events": (
            *("ApprovalRequested", "ApprovalResolved", "AssistantTextDelta", "Error", "Event", "Notice"),
            *("ReasoningDelta", "ToolExecutionCompleted", "ToolExecutionStarted", "TurnComplete"),
        ),
        "ias.domain.messages": ("ChatResponse", "MessageRequest", "ToolDef"),
        "ias.domain.tools": ("Permission", "ToolInvocation"),
        "ias.errors": ("LlmError", "ToolError"),
        "ias.hosting.loading": ("load_tools",),
        "ias.permissions": ("PermissionChecker", "PermissionConfig"),
        "ias.registry": ("BaseTool", "ToolRegistry"),
    }

    def __getattr__(name):
        """Import the module that defines a public name, and keep the name."""
        for home, names in HOMES.items():
            if name in names:
                return globals().setdefault(name, getattr(import_module(home), name))
        from difflib import get_close_matches  # noqa: PLC0415 - a tenth of the start of `ias approve`

        near = () if name.startswith("_") else get_close_matches(name, __all__)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise AttributeError(f"module 'ias' has no attribute {name!r}{hint}")

    def __dir__():
        """List the public names, used before or not."""
        return sorted({*globals(), *__all__} - {"HOMES", "TYPE_CHECKING", "import_module"})
