"""Scanning tools folders: one bad spec hides no other, and the fingerprint follows the files."""

import os
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ias.toolspec.scanning import Scan, fingerprint, scan
from tests.registry.spec_folder import GOOD, scan_project, write_spec


def test_a_bad_spec_is_rejected_and_the_others_stay(tmp_path: Path) -> None:
    bad = write_spec(tmp_path, "name: [", folder="bad")
    write_spec(tmp_path, GOOD, folder="good")

    found = scan_project(tmp_path)

    assert [spec.name for spec in found.specs] == ["greet"]
    assert [problem.file for problem in found.rejected] == [bad]


def test_the_second_tool_of_a_name_is_rejected_whatever_the_order_of_the_folder(tmp_path: Path) -> None:
    second = write_spec(tmp_path, "# a comment\n" + GOOD, folder="b")
    first = write_spec(tmp_path, GOOD, folder="a")

    found = scan_project(tmp_path)

    assert [spec.file for spec in found.specs] == [first]
    assert [str(problem) for problem in found.rejected] == [
        f"{second}:2: the name 'greet' is taken by {first}; choose another name"
    ]


def test_one_program_may_serve_several_tools(tmp_path: Path) -> None:
    write_spec(tmp_path, GOOD, name="one")
    write_spec(tmp_path, GOOD.replace("name: greet", "name: bye") + "command: bye\n", name="two")

    assert [(spec.name, spec.command) for spec in scan_project(tmp_path).specs] == [("greet", None), ("bye", "bye")]


def test_other_files_and_missing_folders_are_no_tools(tmp_path: Path) -> None:
    write_spec(tmp_path, GOOD)
    (tmp_path / "tools" / "greet" / "specs" / "notes.yaml").write_text("x")
    (tmp_path / "tools" / "README.md").write_text("x")

    found = scan([tmp_path / "tools", tmp_path / "nothing"], project=tmp_path)

    assert ([spec.name for spec in found.specs], found.rejected) == (["greet"], ())
    assert scan([tmp_path / "nothing"], project=tmp_path) == Scan()


def test_a_folder_that_is_named_twice_is_read_once(tmp_path: Path) -> None:
    write_spec(tmp_path, GOOD)

    found = scan([tmp_path / "tools", tmp_path / "tools"], project=tmp_path)

    assert (len(found.specs), found.rejected) == (1, ())


def test_the_fingerprint_follows_every_file_but_caches(tmp_path: Path) -> None:
    file = write_spec(tmp_path, GOOD)
    tools = tmp_path / "tools"
    seen = [fingerprint([tools])]

    (tools / "greet" / "__pycache__").mkdir()
    (tools / "greet" / "__pycache__" / "greet.pyc").write_text("x")
    assert fingerprint([tools]) == seen[0]

    os.utime(file, ns=(1, 1))
    seen.append(fingerprint([tools]))
    (tools / "greet" / "more.py").write_text("")
    seen.append(fingerprint([tools]))
    (tools / "greet" / "more.py").chmod(0o700)
    seen.append(fingerprint([tools]))
    file.unlink()
    seen.append(fingerprint([tools]))

    assert len(set(seen)) == len(seen)
    assert fingerprint([tmp_path / "nothing"]) == fingerprint([])


def test_a_tools_folder_that_is_a_link_is_followed(tmp_path: Path) -> None:
    write_spec(tmp_path / "elsewhere", GOOD)
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "greet").symlink_to(tmp_path / "elsewhere" / "tools" / "greet")
    before = fingerprint([tmp_path / "tools"])

    found = scan_project(tmp_path)
    (tmp_path / "elsewhere" / "tools" / "greet" / "greet.py").write_text("changed")

    assert [spec.folder for spec in found.specs] == [tmp_path / "elsewhere" / "tools" / "greet"]
    assert fingerprint([tmp_path / "tools"]) != before


def test_a_link_that_leads_to_itself_hides_no_other_tool(tmp_path: Path) -> None:
    write_spec(tmp_path, GOOD)
    (tmp_path / "tools" / "loop").symlink_to("loop")

    found = scan_project(tmp_path)

    assert [spec.name for spec in found.specs] == ["greet"]
    assert fingerprint([tmp_path / "tools"]) != fingerprint([])


PIECES = st.sampled_from(
    [*GOOD.splitlines(), "params:", "  - name: x", "    enum: [1, a]", "hosts: [a.b]", "- a", "{", "&a"]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.lists(PIECES, max_size=9).map("\n".join) | st.text(max_size=60) | st.binary(max_size=60))
def test_nothing_that_stands_in_a_spec_makes_the_scan_fail(tmp_path: Path, text: str | bytes) -> None:
    write_spec(tmp_path, text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)

    found = scan_project(tmp_path)

    assert len(found.specs) == (0 if found.rejected else 1)
