"""Content-addressed, read-only copies of tool folders: what was loaded is what runs, whatever happens to the folder."""

import hashlib
import os
import py_compile
import shutil
import stat
import sys
import tempfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from ias.errors import IasError

MAX_BYTES = 64 * 1024 * 1024
MAX_FILES = 2000
SPECS = "specs"  # a tool's spec is hashed with the tool, so that a change of one leaves its neighbours' approvals alone
CACHE = "__pycache__"
UNFINISHED = ".new-"
FILE_MODE, PROGRAM_MODE, FOLDER_MODE = 0o444, 0o555, 0o555


class SnapshotError(IasError):
    """A tool's folder cannot be copied: it holds something that no program needs, or too much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A copy of a tool's folder; `sha256` covers the names, contents and executable bits of all its files."""

    sha256: str
    root: Path

    def tool_sha256(self, spec: bytes) -> str:
        """Give the hash of one tool: everything in the folder, and its own spec file."""
        return hashlib.sha256(self.sha256.encode() + b"\0" + spec).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One file to copy."""

    source: Path
    name: str
    is_program: bool


def take(folder: Path, into: Path) -> Snapshot:
    """Copy a tool's folder to `into/<sha256>`, unless that is there already.

    Left out are `specs`, hidden files and `__pycache__`. Python files are compiled, so that no start pays for it. The
    copy appears whole or not at all, and one that was damaged, or compiled for another Python, is replaced.

    Args:
        folder: The tool's folder.
        into: Where snapshots are kept; made if it is missing.

    Raises:
        SnapshotError: With the file at fault: a symbolic link, a device, over 64 MiB or 2,000 files, or one that cannot
            be read.
    """
    into.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=into))
    try:
        sha256 = _copy(folder, new)
        root = into / sha256
        if not _is_whole(root, sha256):
            _compile(new, root)
            _seal(new)
            _remove(root)
            new.rename(root)
        return Snapshot(sha256=sha256, root=root)
    except OSError as error:
        raise SnapshotError(f"{error.filename or folder} cannot be copied: {error.strerror}") from error
    finally:
        _remove(new)


def prune(into: Path, keep: Collection[str]) -> tuple[str, ...]:
    """Remove the snapshots that nothing needs, and what an interrupted copy left.

    Args:
        into: Where snapshots are kept.
        keep: Hashes of those that tools or open runs still need.

    Returns:
        The names of what was removed, sorted.
    """
    if not into.is_dir():
        return ()
    gone = tuple(sorted(path.name for path in into.iterdir() if path.name not in keep))
    for name in gone:
        _remove(into / name)
    return gone


def _entries(folder: Path) -> Iterator[Entry]:
    """Go through a folder's files, in an order that depends on their names alone."""
    for path in sorted(_walk(folder, is_top=True), key=lambda path: path.relative_to(folder).as_posix()):
        mode = path.lstat().st_mode
        if not stat.S_ISREG(mode):
            kind = "a symbolic link" if stat.S_ISLNK(mode) else "no plain file"
            raise SnapshotError(f"{path} is {kind}; a tool's folder may hold plain files and folders alone")
        yield Entry(source=path, name=path.relative_to(folder).as_posix(), is_program=bool(mode & 0o111))


def _walk(folder: Path, *, is_top: bool = False) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.name.startswith(".") or path.name == CACHE or (is_top and path.name == SPECS):
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _walk(path)
        else:
            yield path


def _copy(folder: Path, new: Path) -> str:
    digest = hashlib.sha256()
    total = 0
    for number, entry in enumerate(_entries(folder)):
        if number == MAX_FILES:
            raise SnapshotError(
                f"{folder} holds more than {MAX_FILES:,} files; move what the tool does not need elsewhere"
            )
        content = _content(entry.source, MAX_BYTES - total, folder)
        total += len(content)
        target = new / entry.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        target.chmod(PROGRAM_MODE if entry.is_program else FILE_MODE)
        digest.update(_header(entry, content))
        digest.update(content)
    return digest.hexdigest()


def _content(path: Path, room: int, folder: Path) -> bytes:
    # O_NOFOLLOW and fstat: the file may have been swapped since it was listed.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise SnapshotError(f"{path} is no plain file; a tool's folder may hold plain files and folders alone")
        content = file.read(room + 1)
    if len(content) > room:
        raise SnapshotError(
            f"{folder} holds more than {MAX_BYTES // 1024**2} MiB; move what the tool does not need elsewhere"
        )
    return content


def _header(entry: Entry, content: bytes) -> bytes:
    """Give what goes before a file's content into the hash: with names and sizes no two folders give the same bytes."""
    return f"{entry.name}\0{int(entry.is_program)} {len(content)}\0".encode("utf-8", "surrogateescape")


def _is_whole(root: Path, sha256: str) -> bool:
    """Say whether a snapshot is there and unharmed: a loss of power may leave empty files."""
    if not root.is_dir():
        return False
    digest = hashlib.sha256()
    try:
        for entry in _entries(root):
            content = entry.source.read_bytes()
            digest.update(_header(entry, content))
            digest.update(content)
            if entry.name.endswith(".py") and not _compiled(entry.source).exists():
                return False
    except (OSError, SnapshotError):
        return False
    return digest.hexdigest() == sha256


def _compile(new: Path, root: Path) -> None:
    """Compile Python files; the compiled ones are never checked against the source, since neither can change.

    A file that cannot be compiled gets an empty one in its place, which Python ignores: the run itself says it better.
    """
    for path in new.rglob("*.py"):
        compiled = _compiled(path)
        try:
            py_compile.compile(
                str(path),
                cfile=str(compiled),
                dfile=str(root / path.relative_to(new)),
                doraise=True,
                invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
            )
        except (py_compile.PyCompileError, ValueError):
            compiled.parent.mkdir(exist_ok=True)
            compiled.touch()


def _compiled(source: Path) -> Path:
    # Not importlib's cache_from_source: it follows this process's PYTHONPYCACHEPREFIX, which the tool's Python ignores.
    return source.parent / CACHE / f"{source.stem}.{sys.implementation.cache_tag}.pyc"


def _seal(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_dir():
            path.chmod(FOLDER_MODE)
        elif path.parent.name == CACHE:
            path.chmod(FILE_MODE)
    folder.chmod(FOLDER_MODE)


def _remove(root: Path) -> None:
    if not root.is_dir():
        return
    root.chmod(0o700)
    for path in root.rglob("*"):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o700)
    shutil.rmtree(root)
