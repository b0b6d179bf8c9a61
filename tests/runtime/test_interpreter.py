"""Which command runs a program."""

import sys
from pathlib import Path

import pytest

from ias.runtime.interpreter import command_of


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_a_python_file_runs_under_the_interpreter_that_runs_this(tmp_path: Path) -> None:
    program = script(tmp_path / "a.py", "#!/usr/bin/env python2\n")

    assert command_of(program, search_path="/nowhere") == (sys.executable, "-E", "-s", str(program))


def test_env_is_resolved_once(tmp_path: Path) -> None:
    program = script(tmp_path / "a", "#!/usr/bin/env  sh\n")

    assert command_of(program, search_path="/nowhere:/bin") == ("/bin/sh", str(program))


def test_a_shim_is_asked_for_the_real_interpreter(tmp_path: Path) -> None:
    shim = script(tmp_path / "shims" / "python3.99", f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    program = script(tmp_path / "a", "#!/usr/bin/env python3.99\n")

    assert command_of(program, search_path=str(shim.parent)) == (sys.executable, str(program))


def test_a_shim_that_gives_no_answer_is_used_as_it_is(tmp_path: Path) -> None:
    shim = script(tmp_path / "shims" / "node", "#!/bin/sh\nexit 1\n")
    program = script(tmp_path / "a", "#!/usr/bin/env node\n")

    assert command_of(program, search_path=str(shim.parent)) == (str(shim), str(program))


@pytest.mark.parametrize(
    "first_line",
    [
        "#!/bin/sh",
        "#!/usr/bin/env -S python3 -u",
        "#!/usr/bin/env A=b python3",
        "#!/usr/bin/env nothing-like-it",
        "text",
        "",
    ],
)
def test_anything_else_runs_as_it_is(first_line: str, tmp_path: Path) -> None:
    program = script(tmp_path / "a", f"{first_line}\n")

    assert command_of(program, search_path="/bin:/usr/bin") == (str(program),)


def test_a_program_that_is_not_executable_or_not_there_is_left_to_fail(tmp_path: Path) -> None:
    program = script(tmp_path / "a", "#!/usr/bin/env sh\n")
    program.chmod(0o644)

    assert (command_of(program, search_path="/bin"), command_of(tmp_path / "b", search_path="/bin")) == (
        (str(program),),
        (str(tmp_path / "b"),),
    )
