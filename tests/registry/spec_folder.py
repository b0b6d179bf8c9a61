"""A project with a tools folder, for tests that write specs."""

from pathlib import Path

from ias.toolspec.scanning import Scan, scan

GOOD = """\
name: greet
desc: Say hello
type: local
path: greet.py
"""


def write_spec(project: Path, text: str | bytes, *, folder: str = "greet", name: str = "greet") -> Path:
    """Write a spec beside a program `greet.py`, and give the spec's file."""
    specs = project / "tools" / folder / "specs"
    specs.mkdir(parents=True, exist_ok=True)
    (specs.parent / "greet.py").write_text("print()\n")
    file = specs / f"{name}.tool.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def scan_project(project: Path) -> Scan:
    """Scan the project's one tools folder."""
    return scan([project / "tools"], project=project)


def told(project: Path, text: str | bytes) -> list[str]:
    """Give what is wrong with a spec as `LINE field: message; fix`."""
    write_spec(project, text)
    return [
        f"{problem.line} {problem.field}: {problem.message}" + (f"; {problem.fix}" if problem.fix else "")
        for problem in scan_project(project).rejected
    ]
