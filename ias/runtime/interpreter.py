"""Finds, once, what really runs a program: a version manager's shim would cost 70 ms at every start."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

FIRST_LINE_MAX = 256  # bytes; what Linux itself reads of a `#!` line
ASK_TIMEOUT = 10.0  # seconds for an interpreter to name itself
WHO_ARE_YOU = {  # how an interpreter names its own file
    "python": ("-c", "import sys; print(sys.executable)"),
    "node": ("-p", "process.execPath"),
    "ruby": ("-e", "puts RbConfig.ruby"),
}


def command_of(program: Path, *, search_path: str) -> tuple[str, ...]:
    """Give the command that runs a program: the program itself, or its interpreter's real file and the program.

    A `.py` file runs under this process's own interpreter, isolated from Python's environment variables and the user's
    site folder, so it sees its sibling modules and the packages installed beside `ias`. For any other program with a
    `#!/usr/bin/env NAME` line, NAME is looked up now instead of at every start.

    Args:
        program: Absolute path.
        search_path: The PATH that the program will get.
    """
    if program.suffix == ".py":
        return (sys.executable, "-E", "-s", str(program))
    words = _shebang(program)
    if len(words) != 2 or Path(words[0]).name != "env" or words[1].startswith("-") or "=" in words[1]:
        return (str(program),)
    if not os.access(program, os.X_OK):
        return (str(program),)  # the start will fail, as it should
    found = shutil.which(words[1], path=search_path)
    return (str(program),) if found is None else (_real(Path(found), search_path), str(program))


def _shebang(program: Path) -> tuple[str, ...]:
    try:
        with program.open("rb") as file:
            line = file.read(FIRST_LINE_MAX).partition(b"\n")[0]
    except OSError:
        return ()
    return tuple(os.fsdecode(line[2:]).split()) if line.startswith(b"#!") else ()


def _real(found: Path, search_path: str) -> str:
    """Look behind a shim: a script where an interpreter should be is asked which file it starts in the end."""
    name = found.name.rstrip("0123456789.")
    question = WHO_ARE_YOU.get(name)
    if question is None or not _shebang(found):
        return str(found)
    try:
        answer = subprocess.run(  # noqa: S603 - an interpreter from PATH, with a fixed question
            (str(found), *question),
            capture_output=True,
            text=True,
            timeout=ASK_TIMEOUT,
            check=True,
            stdin=subprocess.DEVNULL,
            env={"PATH": search_path, "HOME": os.environ.get("HOME", "/")},
            cwd="/",  # where no version file of a project is
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return str(found)
    path = answer.stdout.strip()
    return path if path.startswith("/") and os.access(path, os.X_OK) else str(found)
