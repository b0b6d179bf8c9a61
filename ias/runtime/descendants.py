"""Finds and kills what a call left behind: processes that left its group but still carry its private folder's name."""

import os
import signal
import time
from collections.abc import Collection
from pathlib import Path, PurePosixPath

PROC = Path("/proc")
PASSES = 20  # a process that forks while it is being killed is found by the next pass
PAUSE = 0.005  # seconds between passes: the kernel needs some time to end a process


def sweep(folders: Collection[str]) -> int:
    """Kill every process whose `TMPDIR` is one of `folders` or lies in one.

    Each call has a temporary folder of its own and passes it as `TMPDIR`; children inherit that, whatever group or
    session they move to. Reads all of `/proc`: milliseconds, so not on the event loop.

    Args:
        folders: Absolute paths of the folders of calls that ended, or of a folder that holds such.

    Returns:
        How many processes were killed; all of them are gone, unless the kernel took longer than 0.1 s.
    """
    wanted = frozenset(folders)
    killed: set[int] = set()
    for _ in range(PASSES):
        found = _find(wanted)
        if not found:
            break
        for pid in found:
            _kill(pid)
        killed |= found
        time.sleep(PAUSE)
    return len(killed)


def _find(folders: frozenset[str]) -> set[int]:
    pids = {int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit()} - {os.getpid()}
    return {pid for pid in pids if _belongs(pid, folders)}


def _belongs(pid: int, folders: frozenset[str]) -> bool:
    try:
        variables = (PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:  # it is gone, or another user's
        return False
    for variable in variables:
        name, _, value = variable.partition(b"=")
        if name == b"TMPDIR":
            path = PurePosixPath(os.fsdecode(value))
            return any(str(part) in folders for part in (path, *path.parents))
    return False


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
