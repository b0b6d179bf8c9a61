"""A backup put in the store's place: checked first, and what was there is kept beside it."""

import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from ias.errors import NotFoundError, SchemaError, StateError
from ias.store.backup import copy_store
from ias.store.connection import connect, make_file, refuse_special
from ias.store.migrate import check_origin

COUNTERS = ("approval_no", "rule_no")  # numbers that people were told: none is given a second time


def restore(source: Path, target: Path) -> Path | None:
    """Put a backup in the place of a store that no process uses; the caller holds the state folder's lock.

    The old database is kept beside the new one, with its log, so that SQLite still reads it whole. Wherever this is cut
    off, nothing is lost, and no log lies beside a database that it is not of: doing it again mends it.

    Args:
        source: The backup; it stays as it is.
        target: The store's file, which need not be there.

    Returns:
        Where the old database is now, None if there was none.

    Raises:
        NotFoundError: There is no such backup.
        StateError: The backup is damaged, is not of ias or of a newer one, or the place cannot be written.
    """
    if not source.is_file():
        raise NotFoundError(f"there is no file {str(source)!r}; name one that `ias backup` made")
    refuse_special(target)
    if target.exists() and source.samefile(target):
        raise StateError(f"{str(source)!r} is the store itself; name a backup of it")
    part = target.with_name(f"{target.name}.part")
    part.unlink(missing_ok=True)
    make_file(part)
    try:
        _copy(source, part, target)
        kept = _set_aside(target)
        part.replace(target)
        _sync_folder(target.parent)
    except OSError as error:
        raise StateError(f"{str(target)!r} cannot be replaced: {error.strerror}; check the folder's owner") from error
    finally:
        part.unlink(missing_ok=True)
    return kept


def find_damage(path: Path, *, is_thorough: bool = False) -> str | None:
    """Look for damage in a database: what was found first, None if it is whole.

    Args:
        path: The file.
        is_thorough: Compare indexes with their tables too, and references with what they name: some times slower.

    Raises:
        StateError: It cannot be opened.
    """
    with closing(connect(path, is_reader=True)) as connection:
        return _damage(connection, is_thorough=is_thorough)


def _copy(source: Path, part: Path, target: Path) -> None:
    try:
        with closing(_open_unchanged(source)) as reader:
            copy_store(reader, part, ahead=0)
        with closing(connect(part)) as copy:
            check_origin(copy)
            damage = _damage(copy, is_thorough=True)
            if damage is not None:
                raise SchemaError(f"{str(source)!r} is damaged ({damage}); name another backup")
            _count_on(copy, _counters(target))
            copy.execute("PRAGMA journal_mode=DELETE").fetchall()
    except sqlite3.Error as error:
        raise SchemaError(f"{str(source)!r} is no backup that can be read ({error}); name another one") from error


def _damage(connection: sqlite3.Connection, *, is_thorough: bool) -> str | None:
    check = "integrity_check" if is_thorough else "quick_check"
    try:
        found = str(connection.execute(f"PRAGMA {check}(1)").fetchone()[check])
        if found == "ok" and is_thorough and connection.execute("PRAGMA foreign_key_check").fetchone():
            found = "a row names another one that is not there"
    except sqlite3.DatabaseError as error:
        found = str(error)
    return None if found == "ok" else found


def _counters(target: Path) -> dict[str, int]:
    """Read how far the old database has counted; nothing if it cannot say."""
    if not target.exists():
        return {}
    try:
        with closing(_open_unchanged(target)) as old:
            return dict(old.execute("SELECT key, num FROM meta WHERE key IN (?, ?)", COUNTERS).fetchall())
    except sqlite3.Error:
        return {}


def _open_unchanged(file: Path) -> sqlite3.Connection:
    """Open a database so that not even its log is folded in when it is closed."""
    return sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)


def _count_on(copy: sqlite3.Connection, counters: dict[str, int]) -> None:
    for key, number in counters.items():
        copy.execute("UPDATE meta SET num = max(num, ?) WHERE key = ?", (number, key))


def _set_aside(target: Path) -> Path | None:
    """Give the old database and its log second names, then take the log away from where the new one comes."""
    log = target.with_name(f"{target.name}-wal")
    kept = None
    if target.exists():
        kept = _free_name(target)
        if log.exists() and log.stat().st_size:
            _name_too(log, kept.with_name(f"{kept.name}-wal"))
        _name_too(target, kept)
    log.unlink(missing_ok=True)
    target.with_name(f"{target.name}-shm").unlink(missing_ok=True)
    return kept


def _name_too(file: Path, name: Path) -> None:
    try:
        os.link(file, name)
    except OSError:  # a file system without second names: for a moment nothing is in place
        file.rename(name)
    name.chmod(0o600)


def _free_name(target: Path) -> Path:
    base = f"{target.name}.before-restore-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    kept, number = target.with_name(base), 1
    while kept.exists():
        number += 1
        kept = target.with_name(f"{base}-{number}")
    return kept


def _sync_folder(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
