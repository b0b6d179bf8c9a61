"""Migrations: applied once, all or nothing, refused where they do not fit."""

import sqlite3
from pathlib import Path

import pytest

from ias.errors import SchemaError
from ias.store.connection import row_of
from ias.store.migrate import Migration, check_schema, load_migrations, migrate

SCRIPT = "CREATE TABLE a(x);\n-- a; b\nCREATE TABLE b(x);\n"
FIRST = Migration(no=1, name="0001_a", digest="d1", text=SCRIPT)
SECOND = Migration(no=2, name="0002_b", digest="d2", text="INSERT INTO a VALUES ('x;y');")
BROKEN = Migration(no=2, name="0002_c", digest="d3", text="CREATE TABLE c(x); CREATE TABLE a(x);")


@pytest.fixture
def database(tmp_path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(tmp_path / "x.db", isolation_level=None)
    connection.row_factory = row_of
    return connection


def tables(database: sqlite3.Connection) -> list[str]:
    rows = database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
    return [row["name"] for row in rows]


def test_each_file_is_applied_once_and_recorded(database: sqlite3.Connection) -> None:
    assert [migrate(database, (FIRST,)), migrate(database, (FIRST, SECOND)), migrate(database, (FIRST, SECOND))] == [
        1,
        1,
        0,
    ]
    assert database.execute("SELECT x FROM a").fetchall() == [{"x": "x;y"}]
    rows = database.execute("SELECT no, name, digest FROM migration").fetchall()
    assert [tuple(row.values()) for row in rows] == [(1, "0001_a", "d1"), (2, "0002_b", "d2")]
    check_schema(database, (FIRST, SECOND))


def test_a_file_that_fails_leaves_nothing_behind(database: sqlite3.Connection) -> None:
    with pytest.raises(sqlite3.OperationalError, match="already exists"):
        migrate(database, (FIRST, BROKEN))
    assert tables(database) == []
    assert not database.in_transaction


def test_a_database_of_a_newer_ias_is_refused(database: sqlite3.Connection) -> None:
    migrate(database, (FIRST, SECOND))
    for act in (migrate, check_schema):
        with pytest.raises(SchemaError, match="has schema 2, this ias knows 1: a newer ias wrote it"):
            act(database, (FIRST,))


def test_a_database_of_an_older_ias_is_not_changed_by_a_look(database: sqlite3.Connection) -> None:
    migrate(database, (FIRST,))
    with pytest.raises(SchemaError, match="start `ias serve` once"):
        check_schema(database, (FIRST, SECOND))


def test_a_file_that_was_changed_after_it_was_applied_is_noticed(database: sqlite3.Connection) -> None:
    migrate(database, (FIRST, SECOND))
    with pytest.raises(SchemaError, match="migration 2 differs"):
        migrate(database, (FIRST, BROKEN))


def test_a_database_of_something_else_is_refused_and_left_alone(database: sqlite3.Connection) -> None:
    database.execute("CREATE TABLE photos(x)")
    for act in (migrate, check_schema):
        with pytest.raises(SchemaError, match=r"no database of ias: it holds the tables \['photos'"):
            act(database, (FIRST,))
    assert tables(database) == ["photos"]


def test_files_of_another_backend_are_left_out(tmp_path: Path) -> None:
    for name in ("0002_b.postgres.sql", "0001_a.sql", "0003_c.sqlite.sql"):
        (tmp_path / name).write_text("")
    assert [migration.name for migration in load_migrations(tmp_path)] == ["0001_a", "0003_c"]


def test_the_projects_own_files_have_numbers_without_gaps() -> None:
    numbers = [migration.no for migration in load_migrations()]
    assert numbers == list(range(1, len(numbers) + 1))
