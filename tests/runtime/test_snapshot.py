"""Snapshots of tool folders: what is copied, what the hash covers, and what is refused."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ias.runtime import snapshot
from ias.runtime.snapshot import Snapshot, SnapshotError, prune, take


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "weather"
    (root / "specs").mkdir(parents=True)
    (root / "lib" / "__pycache__").mkdir(parents=True)
    (root / "weather.py").write_text("import lib.inner\nprint(lib.inner.VALUE, lib.inner.__cached__)\n")
    (root / "lib" / "inner.py").write_text("VALUE = 7\n")
    (root / "lib" / "__pycache__" / "inner.cpython-38.pyc").write_bytes(b"old")
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o700)
    (root / "specs" / "now.tool.yaml").write_text("name: now\n")
    (root / ".env").write_text("KEY=1\n")
    return root


def files(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): oct(path.stat().st_mode & 0o777)
        for path in root.rglob("*")
        if path.suffix != ".pyc"
    }


def test_a_snapshot_holds_the_programs_read_only_and_nothing_else(folder: Path, tmp_path: Path) -> None:
    taken = take(folder, tmp_path / "snapshots")

    assert (taken.root, oct(taken.root.stat().st_mode & 0o777), files(taken.root)) == (
        tmp_path / "snapshots" / taken.sha256,
        "0o555",
        {
            "__pycache__": "0o555",
            "lib": "0o555",
            "lib/__pycache__": "0o555",
            "lib/inner.py": "0o444",
            "run.sh": "0o555",
            "weather.py": "0o444",
        },
    )


def test_python_programs_start_from_compiled_modules(folder: Path, tmp_path: Path) -> None:
    taken = take(folder, tmp_path / "snapshots")

    done = subprocess.run(
        [sys.executable, "-E", "-s", "-v", str(taken.root / "weather.py")], capture_output=True, text=True, check=True
    )

    cached = taken.root / "lib" / "__pycache__" / f"inner.{sys.implementation.cache_tag}.pyc"
    assert done.stdout == f"7 {cached}\n"
    assert f"matches {taken.root / 'lib' / 'inner.py'}" in done.stderr


def test_a_module_with_a_syntax_error_is_copied_and_fails_when_it_runs(folder: Path, tmp_path: Path) -> None:
    (folder / "lib" / "inner.py").write_text("VALUE = = 7\n")

    taken = take(folder, tmp_path / "snapshots")

    done = subprocess.run([sys.executable, str(taken.root / "weather.py")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, "SyntaxError: invalid syntax")


def change_a_byte(folder: Path) -> None:
    (folder / "lib" / "inner.py").write_text("VALUE = 8\n")


def rename_a_file(folder: Path) -> None:
    (folder / "lib" / "inner.py").rename(folder / "lib" / "other.py")


def make_it_executable(folder: Path) -> None:
    (folder / "weather.py").chmod(0o755)


def add_a_file(folder: Path) -> None:
    (folder / "new.txt").write_text("")


@pytest.mark.parametrize("change", [change_a_byte, rename_a_file, make_it_executable, add_a_file])
def test_the_hash_changes_with_whatever_acts(change: Callable[[Path], None], folder: Path, tmp_path: Path) -> None:
    before = take(folder, tmp_path / "snapshots")
    change(folder)

    assert take(folder, tmp_path / "snapshots") != before


def edit_a_spec(folder: Path) -> None:
    (folder / "specs" / "other.tool.yaml").write_text("name: other\n")


def leave_a_cache(folder: Path) -> None:
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "weather.pyc").write_bytes(b"x")


def touch_everything(folder: Path) -> None:
    for path in folder.rglob("*"):
        os.utime(path, (1, 1))


@pytest.mark.parametrize("change", [edit_a_spec, leave_a_cache, touch_everything])
def test_the_hash_stays_with_what_does_not_act(change: Callable[[Path], None], folder: Path, tmp_path: Path) -> None:
    before = take(folder, tmp_path / "snapshots")
    change(folder)

    assert take(folder, tmp_path / "snapshots") == before


def test_a_tools_hash_covers_its_own_spec_too() -> None:
    taken = Snapshot(sha256="a" * 64, root=Path("/nowhere"))

    assert len({taken.tool_sha256(b"name: a"), taken.tool_sha256(b"name: b"), taken.sha256}) == 3


def test_a_change_after_the_copy_does_not_reach_it(folder: Path, tmp_path: Path) -> None:
    taken = take(folder, tmp_path / "snapshots")
    (folder / "lib" / "inner.py").write_text("VALUE = 8\n")

    assert (taken.root / "lib" / "inner.py").read_text() == "VALUE = 7\n"


def test_a_damaged_snapshot_is_replaced(folder: Path, tmp_path: Path) -> None:
    taken = take(folder, tmp_path / "snapshots")
    (taken.root / "lib" / "inner.py").chmod(0o600)
    (taken.root / "lib" / "inner.py").write_text("")

    assert take(folder, tmp_path / "snapshots") == taken
    assert (taken.root / "lib" / "inner.py").read_text() == "VALUE = 7\n"


def test_a_whole_snapshot_is_used_as_it_is(folder: Path, tmp_path: Path) -> None:
    taken = take(folder, tmp_path / "snapshots")
    before = taken.root.stat().st_ino
    take(folder, tmp_path / "snapshots")

    assert (taken.root.stat().st_ino, [path.name for path in (tmp_path / "snapshots").iterdir()]) == (
        before,
        [taken.sha256],
    )


def link(folder: Path) -> str:
    (folder / "link").symlink_to("/etc/passwd")
    return "is a symbolic link; a tool's folder may hold plain files and folders alone"


def linked_folder(folder: Path) -> str:
    (folder / "link").symlink_to("/etc")
    return "is a symbolic link; a tool's folder may hold plain files and folders alone"


def pipe(folder: Path) -> str:
    os.mkfifo(folder / "link")
    return "is no plain file; a tool's folder may hold plain files and folders alone"


@pytest.mark.parametrize("spoil", [link, linked_folder, pipe])
def test_links_and_devices_are_refused(spoil: Callable[[Path], str], folder: Path, tmp_path: Path) -> None:
    words = spoil(folder)

    with pytest.raises(SnapshotError) as caught:
        take(folder, tmp_path / "snapshots")

    assert str(caught.value) == f"{folder / 'link'} {words}"
    assert list((tmp_path / "snapshots").iterdir()) == []


def test_too_many_files_are_refused(folder: Path, tmp_path: Path) -> None:
    for number in range(snapshot.MAX_FILES - 2):
        (folder / f"{number}.txt").touch()

    with pytest.raises(
        SnapshotError, match=r"holds more than 2,000 files; move what the tool does not need elsewhere$"
    ):
        take(folder, tmp_path / "snapshots")


def test_too_many_bytes_are_refused(folder: Path, tmp_path: Path) -> None:
    with (folder / "large.bin").open("wb") as file:
        file.truncate(snapshot.MAX_BYTES + 1)

    with pytest.raises(SnapshotError, match=r"holds more than 64 MiB; move what the tool does not need elsewhere$"):
        take(folder, tmp_path / "snapshots")


def test_a_missing_folder_is_an_error_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError) as caught:
        take(tmp_path / "none", tmp_path / "snapshots")

    assert str(caught.value) == f"{tmp_path / 'none'} cannot be copied: No such file or directory"


def test_pruning_keeps_what_is_needed(folder: Path, tmp_path: Path) -> None:
    into = tmp_path / "snapshots"
    old = take(folder, into)
    change_a_byte(folder)
    new = take(folder, into)
    (into / ".new-left").mkdir()

    assert (prune(into, {new.sha256}), prune(into, {new.sha256}), prune(tmp_path / "none", ())) == (
        (".new-left", old.sha256),
        (),
        (),
    )
    assert [path.name for path in into.iterdir()] == [new.sha256]


def test_what_cannot_be_compiled_as_text_is_copied_all_the_same(folder: Path, tmp_path: Path) -> None:
    (folder / "lib" / "nul.py").write_bytes(b"\0\xff")

    assert (take(folder, tmp_path / "snapshots").root / "lib" / "nul.py").read_bytes() == b"\0\xff"


def test_a_snapshot_of_another_python_is_compiled_anew(folder: Path, tmp_path: Path) -> None:
    taken = take(folder, tmp_path / "snapshots")
    cache = taken.root / "lib" / "__pycache__"
    cache.chmod(0o700)
    for path in cache.iterdir():
        path.rename(path.with_name("inner.cpython-38.pyc"))

    take(folder, tmp_path / "snapshots")

    assert [path.name for path in cache.iterdir()] == [f"inner.{sys.implementation.cache_tag}.pyc"]
