"""The tool author's pages: their tool works as written, and they name what there is."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from ias.errors import Code
from ias.runtime.protocol import parse_line
from ias.store.transactions.operations import OPERATIONS
from ias.toolspec.loading import load_spec
from ias.toolspec.model import LimitEntry, Param, SpecFile
from ias.toolspec.wire import envelope_schema, message_schema

SPECS = Path(__file__).resolve().parents[2] / "specs"
PAGES = ["README.md", "README.zh-CN.md"]


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", (SPECS / page).read_text("utf-8"), re.MULTILINE | re.DOTALL)


def install(page: str, project: Path) -> Path:
    folder = project / "tools" / "dollar"
    (folder / "specs").mkdir(parents=True)
    (folder / "dollar.py").write_text(blocks(page, "python")[0], "utf-8")
    file = folder / "specs" / "rate.tool.yaml"
    file.write_text(blocks(page, "yaml")[0], "utf-8")
    return file


def answer_of(program: Path, envelope: dict[str, Any]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(program)],
        input=json.dumps(envelope) + "\n",
        capture_output=True,
        text=True,
        check=True,
        timeout=20,
    )
    parse_line(done.stdout.strip().encode())
    return json.loads(done.stdout)


@pytest.mark.parametrize("page", PAGES)
def test_the_pages_tool_loads_and_does_what_it_says(tmp_path: Path, page: str) -> None:
    spec = load_spec(install(page, tmp_path), project=tmp_path)
    envelope: dict[str, Any] = {"params": dict(spec.examples[0].params)}

    first = answer_of(spec.program, envelope)
    body = json.dumps({"date": "2026-12-01", "rates": {"CNY": 7.08}})
    second = answer_of(spec.program, envelope | {"response": {"status": 200, "headers": {}, "body": body}})
    failed = answer_of(spec.program, envelope | {"response": {"error": {"code": "http_failed", "message": "x"}}})

    assert first == {
        "type": "http",
        "method": "GET",
        "url": "https://api.frankfurter.dev/v1/latest",
        "query": {"base": "USD", "symbols": "CNY"},
        "desc": "USD in CNY",
    }
    assert second == {"type": "result", "content": "1 USD = 7.08 CNY (2026-12-01, frankfurter.dev)"}
    assert failed == {"type": "result", "content": "no rate for CNY", "is_error": True}


@pytest.mark.parametrize("page", PAGES)
def test_the_lines_on_the_page_are_lines_of_the_protocol(page: str) -> None:
    line_in, line_out = (json.loads(block) for block in blocks(page, "json"))

    assert Draft202012Validator(envelope_schema()).is_valid(line_in)
    assert Draft202012Validator(message_schema()).is_valid(line_out)


@pytest.mark.parametrize("page", PAGES)
def test_the_page_names_every_field_code_and_operation(page: str) -> None:
    text = (SPECS / page).read_text("utf-8")
    fields = [*SpecFile.model_fields, *Param.model_fields, *LimitEntry.model_fields]

    assert [name for name in fields if not re.search(rf"`{name}\b", text)] == []
    assert [code for code in Code if f"`{code}`" not in text] == []
    assert [name for name in OPERATIONS if f"`{name} " not in text] == []


def test_both_pages_have_the_same_blocks_but_for_comments() -> None:
    def bare(page: str) -> list[str]:
        return [re.sub(r"  # .*", "", block) for block in blocks(page, r"\w+")]

    assert bare(PAGES[0]) == bare(PAGES[1])
