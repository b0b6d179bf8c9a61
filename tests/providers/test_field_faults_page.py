"""The page of field faults: every row has its test, and every test its row."""

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "providers.md"
ROWS = 39


def test_every_row_of_the_page_names_a_test_of_that_row() -> None:
    there = {
        name
        for file in (*TESTS.glob("providers/test_field_faults_*.py"), TESTS / "consumers" / "test_llm_faults.py")
        for name in re.findall(r"def (test_row_\w+)", file.read_text())
    }
    named: dict[int, list[str]] = {}
    for line in PAGE.read_text().splitlines():
        if found := re.match(r"\| (\d+) \|", line):
            named[int(found[1])] = re.findall(r"`(test_\w+)`", line)
    assert sorted(named) == list(range(1, ROWS + 1))
    assert [(row, name) for row, names in named.items() for name in names if name not in there] == []
    assert [row for row, names in named.items() if not any(f"_{row:02}_" in name for name in names)] == []
    assert {int(name[9:11]) for name in there} == set(named)
