"""What tests of the runtime share: where the ill-behaved programs are, and how to start one."""

import os
import resource
import select
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

from ias.runtime.process import Launch, Processes

PROGRAMS = Path(__file__).resolve().parent.parent / "fixtures" / "programs"


def launch(name: str, folder: Path, *, timeout: float = 20.0, output_bytes: int = 1024 * 1024) -> Launch:
    """Give the launch of a fixture program in a folder of its own."""
    program = PROGRAMS / name
    argv = (sys.executable, "-I", "-S", str(program)) if program.suffix == ".py" else (str(program),)
    env = {"PATH": os.environ["PATH"], "TMPDIR": str(folder)}
    return Launch(argv=argv, env=env, cwd=folder, timeout=timeout, output_bytes=output_bytes)


@asynccontextmanager
async def processes() -> AsyncGenerator[Processes]:
    """Give an owner of processes that is closed at the end."""
    owner = Processes()
    try:
        yield owner
    finally:
        await owner.close()


def alive(folder: Path) -> list[int]:
    """List the processes that carry a call's folder in their environment; one that is dead but not reaped has none."""
    mark = b"TMPDIR=" + bytes(folder)
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                variables = (entry / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if mark in variables:
                found.append(int(entry.name))
    return found


def ends(pid: int, *, within: float = 5.0) -> bool:
    """Say whether a process ends, or has ended, within some seconds; it need not be a child."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([watched], [], [], within)[0])
    finally:
        os.close(watched)


def open_files() -> set[str]:
    """List this process's open file descriptors."""
    return {entry.name for entry in Path("/proc/self/fd").iterdir()}


def has_children() -> bool:
    """Say whether this process has children that run or wait to be reaped."""
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return False
    return True


@contextmanager
def no_files_left() -> Generator[None]:
    """Leave this process no file descriptor to open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, open_files())) + 2, hard))
    taken: list[int] = []
    try:
        with suppress(OSError):
            while True:
                taken.append(os.dup(0))
        yield
    finally:
        for number in taken:
            os.close(number)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
