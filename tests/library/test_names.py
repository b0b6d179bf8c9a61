"""The library's names: found lazily, listed, documented, each with an example that runs."""

import inspect
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ias
from ias.errors import Code, PermissionDeniedError
from tests.library.tools import Weather, put_player

BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
EVENTS = {
    "ApprovalRequested",
    "ApprovalResolved",
    "AssistantTextDelta",
    "Error",
    "Event",
    "Notice",
    "ReasoningDelta",
    "ToolExecutionCompleted",
    "ToolExecutionStarted",
    "TurnComplete",
}
NAMES = EVENTS | {
    "BaseTool",
    "ChatResponse",
    "CycleConfig",
    "LlmCycle",
    "LlmError",
    "MessageRequest",
    "Permission",
    "PermissionChecker",
    "PermissionConfig",
    "ToolDef",
    "ToolError",
    "ToolInvocation",
    "ToolRegistry",
    "load_tools",
}
# What these examples end with, and by design.
ENDINGS: dict[str, type[Exception]] = {"ToolError": ias.ToolError, "PermissionChecker": PermissionDeniedError}


def methods(kind: type) -> Iterator[tuple[str, Any]]:
    """Give the public methods that a class of ias defines, and its own constructor's class."""
    for name, member in inspect.getmembers(kind, inspect.isfunction):
        if not name.startswith("_") and member.__module__.startswith("ias"):
            yield f"{kind.__name__}.{name}", member


def public() -> dict[str, Any]:
    """Give all that is public: the names, and the methods of those that are classes."""
    found = {name: getattr(ias, name) for name in ias.__all__}
    for name in ias.__all__:
        if inspect.isclass(found[name]):
            found |= dict(methods(found[name]))
    return found


def test_the_names_are_those_of_the_interface() -> None:
    assert set(ias.__all__) == NAMES
    assert {name for name in NAMES if getattr(ias, name).__name__ != name} == set()


def test_all_names_are_listed_before_they_are_used() -> None:
    program = "import ias; print(' '.join(name for name in dir(ias) if not name.startswith('_')))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=True)

    assert set(done.stdout.split()) == NAMES


def test_importing_ias_imports_nothing_else() -> None:
    program = (
        "import sys, ias; print(*(name for name in sys.modules if name.startswith(('ias.', 'pydantic', 'httpx'))))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=True)

    assert done.stdout.split() == []


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("LlmCicle", "module 'ias' has no attribute 'LlmCicle'; did you mean LlmCycle?"),
        ("zzzz", "module 'ias' has no attribute 'zzzz'"),
        ("McpClient", "module 'ias' has no attribute 'McpClient'"),
    ],
)
def test_a_wrong_name_is_told_with_near_ones(wrong: str, message: str) -> None:
    with pytest.raises(AttributeError) as error:
        getattr(ias, wrong)

    assert str(error.value) == message


def test_every_public_name_has_a_docstring_that_names_its_arguments() -> None:
    faults: list[str] = []
    for name, member in public().items():
        doc = inspect.getdoc(member) or ""
        arguments = (
            [] if inspect.isclass(member) else [arg for arg in inspect.signature(member).parameters if arg != "self"]
        )
        missing = [arg for arg in arguments if not re.search(rf"^\s+{arg}: ", doc, re.MULTILINE)]
        if not doc or missing:
            faults.append(f"{name}: {missing or 'no docstring'}")

    assert faults == []


def test_every_public_name_has_an_example() -> None:
    without = {
        name for name in NAMES - EVENTS | {"Event"} if not BLOCK.search(inspect.getdoc(getattr(ias, name)) or "")
    }

    assert without == set()


@pytest.mark.parametrize(
    "name", sorted(name for name, member in public().items() if BLOCK.search(member.__doc__ or ""))
)
async def test_the_example_of_a_docstring_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_player(tmp_path / "tools")
    monkeypatch.chdir(tmp_path)  # for `load_tools("tools")`
    monkeypatch.delenv("DEEPSEEK_API_KEY", raising=False)
    registry = ias.ToolRegistry()
    registry.register(Weather())
    names: dict[str, Any] = {each: getattr(ias, each) for each in NAMES}
    names |= {"registry": registry, "cycle": ias.LlmCycle("offline"), "Code": Code, "Weather": Weather}
    example = BLOCK.findall(inspect.getdoc(public()[name]) or "")[0]
    body = textwrap.indent(textwrap.dedent(example), "    ")
    exec(f"async def example(registry=registry, cycle=cycle, Weather=Weather):\n{body}", names)  # noqa: S102 - our own

    if name in ENDINGS:
        with pytest.raises(ENDINGS[name]):
            await names["example"]()
    else:
        await names["example"]()
