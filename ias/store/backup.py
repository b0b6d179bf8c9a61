"""A copy of the store while it is used."""

import os
import sqlite3
from pathlib import Path

from ias.errors import StateError
from ias.store.connection import connect, make_file, set_up, translate

NUMBERS_AHEAD = 1_000  # short names given after the copy was made must not be given again by it


def backup(source: Path, target: Path) -> None:
    """Copy a store into a new file that only its owner may read; writers go on meanwhile.

    The copy's numbers of approvals and rules continue 1,000 further on, so that a number in an old chat never comes to
    mean something else.

    Raises:
        StateError: The target is there already, or one of the two cannot be used.
    """
    if target.exists():
        raise StateError(f"{str(target)!r} is there already; choose another name")
    part = target.with_name(f"{target.name}.part")
    part.unlink(missing_ok=True)
    make_file(part)
    try:
        reader = connect(source, is_reader=True)
        try:
            copy_store(reader, part, ahead=NUMBERS_AHEAD)
        finally:
            reader.close()
        part.replace(target)
    except sqlite3.Error as error:
        raise translate(error) from error
    finally:
        part.unlink(missing_ok=True)


def copy_store(reader: sqlite3.Connection, part: Path, *, ahead: int) -> None:
    """Copy a store into an empty file, in one piece without a log, and see it to the disk.

    Args:
        reader: The store.
        part: The file.
        ahead: How much further the copy's numbers of approvals and rules go on.
    """
    writer = sqlite3.connect(part, isolation_level=None)
    try:
        reader.backup(writer)
        set_up(writer, is_reader=False)
        writer.execute("PRAGMA journal_mode=DELETE").fetchall()
        if ahead:
            writer.execute("UPDATE meta SET num = num + ? WHERE key IN ('approval_no', 'rule_no')", (ahead,))
    finally:
        writer.close()
    file = os.open(part, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
