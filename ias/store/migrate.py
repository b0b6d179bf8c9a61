"""The schema's history: numbered SQL files, applied once each in one transaction, recorded with their digest."""

import hashlib
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from ias.errors import SchemaError
from ias.store.connection import BACKEND, epoch_ms, translate
from ias.store.statements import FOLDER

MIGRATIONS = FOLDER / "migrations"
RECORD = """CREATE TABLE IF NOT EXISTS migration(
  no INTEGER PRIMARY KEY, name TEXT NOT NULL, digest TEXT NOT NULL, applied_at BIGINT NOT NULL)"""
FOREIGN = "this is no database of ias: it holds the tables {names}; choose another store.url"


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One file: `0001_tables.sql`, or `0002_index.sqlite.sql` for one backend alone."""

    no: int
    name: str
    text: str
    digest: str


def load_migrations(folder: Path = MIGRATIONS, backend: str = BACKEND) -> tuple[Migration, ...]:
    """Read the files of a backend in order."""
    found: list[Migration] = []
    for file in sorted(folder.glob("*.sql")):
        parts = file.name.split(".")
        if len(parts) == 3 and parts[1] != backend:
            continue
        text = file.read_text(encoding="utf-8")
        digest = hashlib.sha256(text.encode("utf-8")).hexdigest()
        found.append(Migration(no=int(parts[0].split("_")[0]), name=parts[0], text=text, digest=digest))
    return tuple(found)


def migrate(connection: sqlite3.Connection, migrations: tuple[Migration, ...] | None = None) -> int:
    """Bring a database up to date, all or nothing; gives how many files were applied.

    Raises:
        SchemaError: A newer or another ias wrote it, or it is no database of ias.
        StateError: It cannot be written.
    """
    wanted = load_migrations() if migrations is None else migrations
    try:
        connection.execute("BEGIN IMMEDIATE")
        try:
            missing = _missing(connection, wanted)
            for migration in missing:
                _apply(connection, migration)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
    except sqlite3.Error as error:
        raise translate(error) from error
    return len(missing)


def check_origin(connection: sqlite3.Connection) -> None:
    """Refuse a database that this ias cannot bring up to date; changes nothing.

    Raises:
        SchemaError: It is empty, not of ias, or a newer or another ias wrote it.
    """
    try:
        names = {row["name"] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if "migration" not in names:
            raise SchemaError("this is no database of ias; name a file that `ias backup` made")
        _refuse_unknown(_applied(connection), load_migrations())
    except sqlite3.Error as error:
        raise translate(error) from error


def check_schema(connection: sqlite3.Connection, migrations: tuple[Migration, ...] | None = None) -> None:
    """Refuse a database that is not exactly up to date; changes nothing.

    Raises:
        SchemaError: With what to do.
    """
    wanted = load_migrations() if migrations is None else migrations
    try:
        applied = _applied(connection)
    except sqlite3.Error as error:
        raise translate(error) from error
    _refuse_unknown(applied, wanted)
    if len(applied) < len(wanted):
        raise SchemaError("the database was written by an older ias; start `ias serve` once, it brings it up to date")


def _missing(connection: sqlite3.Connection, wanted: tuple[Migration, ...]) -> tuple[Migration, ...]:
    applied = _applied(connection)
    _refuse_unknown(applied, wanted)
    connection.execute(RECORD)
    return tuple(migration for migration in wanted if migration.no not in applied)


def _applied(connection: sqlite3.Connection) -> dict[int, str]:
    """Give the digests of the files that were applied, by number."""
    names = {row["name"] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if "migration" not in names:
        if names:
            raise SchemaError(
                f"this is no database of ias: it holds the tables {sorted(names)}; choose another store.url"
            )
        return {}
    rows = connection.execute("SELECT no, digest FROM migration").fetchall()
    return {row["no"]: row["digest"] for row in rows}


def _refuse_unknown(applied: dict[int, str], wanted: tuple[Migration, ...]) -> None:
    digests = {migration.no: migration.digest for migration in wanted}
    newest = max(digests, default=0)
    if max(applied, default=0) > newest:
        raise SchemaError(
            f"the database has schema {max(applied)}, this ias knows {newest}: a newer ias wrote it, install that one"
        )
    for no, digest in applied.items():
        if digests.get(no) != digest:
            raise SchemaError(
                f"the database was made by another build of ias (migration {no} differs); install that one"
            )


def _apply(connection: sqlite3.Connection, migration: Migration) -> None:
    for statement in _split(migration.text):
        connection.execute(statement)
    connection.execute(
        "INSERT INTO migration(no, name, digest, applied_at) VALUES (?, ?, ?, ?)",
        (migration.no, migration.name, migration.digest, epoch_ms()),
    )


def _split(script: str) -> list[str]:
    """Split a script into its statements; `executescript` would commit the open transaction."""
    statements: list[str] = []
    part = ""
    for piece in script.split(";"):
        part += piece + ";"
        if sqlite3.complete_statement(part):  # else the semicolon stood in a text or a remark
            statements.append(part)
            part = ""
    return [statement for statement in statements if statement.strip(" \n;")]
