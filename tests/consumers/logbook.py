"""Real logs in a folder, for parts that write to them."""

import io
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ias.logs import Logs, open_logs


@dataclass(frozen=True, kw_only=True)
class Settings:
    level: str = "info"
    format: str = "text"
    rotate: int = 0
    keep: int = 1
    raw: bool = False


@contextmanager
def logs_in(folder: Path) -> Generator[Logs]:
    """Open the logs in a folder and close them at the end."""
    logs = open_logs(Settings(), folder, str, terminal=io.StringIO())
    try:
        yield logs
    finally:
        logs.close()


def read_log(folder: Path, name: str) -> str:
    """Give what one of the logs holds."""
    file = folder / f"{name}.log"
    return file.read_text(encoding="utf-8") if file.exists() else ""
