"""The pages about the library: every block of Python runs, in order, as somebody who reads along would run it."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest

import ias
from ias.providers.profiles import PROFILES

DOCS = Path(__file__).resolve().parents[2] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = ["library.md", "library.zh-CN.md"]

DICE = """\
import json
import random
import sys

sides = json.loads(sys.stdin.readline())["params"]["sides"]
print(json.dumps({"type": "result", "content": f"rolled {random.randint(1, sides)} of {sides}"}))
"""
DICE_SPEC = """\
name: dice_roll
desc: Roll a die
type: local
path: dice.py
params:
  - {name: sides, type: integer, minimum: 2, default: 6, desc: number of sides}
"""


def put_dice(home: Path) -> None:
    specs = home / "tools" / "dice" / "specs"
    specs.mkdir(parents=True)
    (specs / "roll.tool.yaml").write_text(DICE_SPEC, "utf-8")
    (specs.parent / "dice.py").write_text(DICE, "utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_every_block_of_the_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_dice(tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "page"}
    blocks = BLOCK.findall((DOCS / page).read_text("utf-8"))

    for number, block in enumerate(blocks):
        code = compile(block, f"{page}, block {number}", "exec")
        exec(code, names)  # noqa: S102 - the page's own code is the subject

    assert len(blocks) == 9


def test_both_pages_show_the_same_code() -> None:
    shown = [
        [ast.dump(ast.parse(block)) for block in BLOCK.findall((DOCS / page).read_text("utf-8"))] for page in PAGES
    ]

    assert shown[0] == shown[1]


def test_every_public_name_is_on_the_page() -> None:
    text = (DOCS / "library.md").read_text("utf-8")

    assert [name for name in ias.__all__ if not re.search(rf"\b{name}\b", text)] == []


@pytest.mark.parametrize("page", PAGES)
def test_the_table_of_providers_holds_each_with_its_key_and_model(page: str) -> None:
    rows = dict(re.findall(r"^\| `(\w+)`[^|]* \| (.*) \|$", (DOCS / page).read_text("utf-8"), re.MULTILINE))

    for name, profile in PROFILES.items():
        for known in (profile.key_env, profile.default_model):
            assert known is None or f"`{known}`" in rows[name]
        assert ("config.base_url" in rows[name]) == (profile.base_url is None)
