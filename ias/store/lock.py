"""The lock of a state folder: one process at a time claims, sends and recovers."""

import fcntl
import os
from pathlib import Path
from typing import Self

from ias.errors import ReadOnlyStateError, StateLockedError

FILE = "ias.lock"


class StateLock:
    """An advisory lock on `ias.lock` in the folder, with the holder's process id in it.

    The kernel lets it go when the process dies, however it dies. The file stays: its presence means nothing.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._folder = str(folder)
        self._file: int | None = None

    def acquire(self) -> None:
        """Take the lock at once or not at all.

        Raises:
            StateLockedError: Another process holds it; its `pid` is named.
            ReadOnlyStateError: The folder cannot be written.
        """
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            folder = str(self._path.parent)
            raise ReadOnlyStateError(
                f"the folder {folder!r} cannot be written: {error.strerror}; check its owner"
            ) from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            pid = _pid_in(file)
            os.close(file)
            who = "another process" if pid is None else f"the process {pid}"
            folder = str(self._path.parent)
            raise StateLockedError(
                f"{who} works on {folder!r} already; stop it, or use another folder", pid=pid
            ) from error
        os.ftruncate(file, 0)
        os.pwrite(file, f"{os.getpid()}\n".encode(), 0)
        self._file = file

    def release(self) -> None:
        """Let the lock go; without one this does nothing."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def __enter__(self) -> Self:
        """Take the lock."""
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        """Let the lock go."""
        self.release()


def _pid_in(file: int) -> int | None:
    text = os.pread(file, 32, 0).strip()
    return int(text) if text.isdigit() else None
