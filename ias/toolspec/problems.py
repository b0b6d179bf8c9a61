"""What is wrong with a tool's spec, for its author."""

from dataclasses import dataclass
from pathlib import Path

from ias.errors import IasError


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing to mend: `line` counts from 1, `field` is like `params[0].type`, `fix` says what to write instead."""

    file: Path
    line: int
    field: str
    message: str
    fix: str = ""

    def __str__(self) -> str:
        """Give it as compilers do: `FILE:LINE: message; fix`."""
        text = f"{self.file}:{self.line}: {self.message}"
        return f"{text}; {self.fix}" if self.fix else text


class SpecError(IasError):
    """A spec cannot be used; `problems` are all that was found, in the order of the file's lines."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems
