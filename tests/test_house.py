"""The rules of the repository that no linter knows: where things lie, how long files are, that links lead somewhere."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = {"CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md", "README.zh-CN.md"}
FOLDERS = {".ci", "ias", "logs", "specs", "tests", "tools"}
REQUIRED = PAGES | FOLDERS | {"Makefile", "config.yaml", "pyproject.toml", "requirements.lock"}
OPTIONAL = {".gitattributes", ".gitignore", "bench", "docs"}
# Made at run time or by tools, and ignored by git.
CACHES = {".hypothesis", ".import_linter_cache", ".pytest_cache", ".ruff_cache", "__pycache__"}
MADE = CACHES | {".env", ".git", ".peers", ".venv", "data", "dist"}
FOREIGN = {"fixtures", "recorded"}  # below tests/: answers of others, and files that are wrong on purpose

MAX_LINES = 400  # what one can still hold in the head
CODE = {".css", ".html", ".js", ".py", ".sh", ".sql", ".yaml"}
TEXT = CODE | {".cfg", ".json", ".lock", ".md", ".toml", ".txt", ""}

MACHINE_PATH = re.compile(r"(^|[^A-Za-z])/(work|root|farm)/")
UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME)\b")
SUPPRESSION = re.compile(r"#\s*(noqa|type:\s*ignore|pyright:\s*ignore|ruff:\s*noqa)\b.*")
EXPLAINED = re.compile(
    r"#\s*(?:(?:ruff:\s*)?noqa:\s*[A-Z]+[0-9]+(?:,\s*[A-Z]+[0-9]+)*"
    r"|(?:type|pyright):\s*ignore\[[\w\-, ]+\])(?P<reason>.*)"
)
LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)(?:\s+\"[^\"]*\")?\)")
FENCED = re.compile(r"^(```|~~~).*?^\1\s*$", re.MULTILINE | re.DOTALL)


def files(suffixes: set[str]) -> Iterator[Path]:
    """Yield the files with one of `suffixes` that were written here: no logs, caches or answers of others."""
    for top in sorted(ROOT.iterdir()):
        if top.name in MADE or top.name == "logs":
            continue
        skipped = CACHES | FOREIGN if top.name == "tests" else CACHES
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if path.is_file() and path.suffix in suffixes and not skipped & set(path.relative_to(top).parts):
                yield path


def places(pattern: re.Pattern[str], suffixes: set[str]) -> list[str]:
    """Return `file:line: text` of every line that `pattern` finds."""
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in files(suffixes)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if pattern.search(line)
    ]


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as code hosts derive them."""
    headings = re.findall(r"^#+\s+(.*)$", FENCED.sub("", page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_the_top_level_holds_what_it_should_and_nothing_else() -> None:
    present = {path.name for path in ROOT.iterdir()} - MADE

    assert (sorted(REQUIRED - present), sorted(present - REQUIRED - OPTIONAL)) == ([], [])


def test_no_file_is_longer_than_the_limit() -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text("utf-8").splitlines()) for path in files(CODE)}

    assert {name: lines for name, lines in lengths.items() if lines > MAX_LINES} == {}


def test_init_files_are_empty() -> None:
    inits = [path for path in files({".py"}) if path.name == "__init__.py" and path != ROOT / "ias" / "__init__.py"]

    assert [str(path.relative_to(ROOT)) for path in inits if path.read_text("utf-8").strip()] == []


def test_no_path_of_a_particular_machine_is_written_down() -> None:
    assert places(MACHINE_PATH, TEXT) == []


def test_nothing_is_marked_as_unfinished() -> None:
    assert places(UNFINISHED, CODE) == []


def test_a_suppression_names_its_code_and_its_reason() -> None:
    bare: list[str] = []
    for path in files({".py"}):
        lines = path.read_text("utf-8").splitlines()
        for number, line in enumerate(lines):
            if path == Path(__file__).resolve() or not SUPPRESSION.search(line):
                continue
            explained = EXPLAINED.search(line)
            above = lines[number - 1].strip() if number else ""
            if not explained or not (re.search(r"\w", explained["reason"]) or above.startswith("#")):
                bare.append(f"{path.relative_to(ROOT)}:{number + 1}: {line.strip()}")

    assert bare == []


@pytest.mark.parametrize(("page", "other"), [("README.md", "README.zh-CN.md"), ("README.zh-CN.md", "README.md")])
def test_the_readme_exists_in_both_languages_and_each_leads_to_the_other(page: str, other: str) -> None:
    assert f"({other})" in (ROOT / page).read_text("utf-8")


def test_links_between_pages_lead_somewhere() -> None:
    broken: list[str] = []
    for page in files({".md"}):
        for link in LINK.finditer(FENCED.sub("", page.read_text("utf-8"))):
            target, _, anchor = link["target"].partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            aim = page if not target else page.parent / target
            if not aim.exists() or (anchor and aim.suffix == ".md" and anchor not in anchors(aim)):
                broken.append(f"{page.relative_to(ROOT)}: {link['target']}")

    assert broken == []


def test_the_lock_pins_every_dependency_and_names_no_place_to_get_it() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wanted = [
        *project["project"]["dependencies"],
        *project["dependency-groups"]["build"],
        *(item for item in project["dependency-groups"]["dev"] if isinstance(item, str)),
        *project["build-system"]["requires"],
    ]
    names = {re.split(r"[\[<>=~! ]", item)[0].replace("_", "-").lower() for item in wanted}
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    pinned = set(re.findall(r"^([a-z0-9.\-]+)==\S+", lock, re.MULTILINE))

    assert sorted(names - pinned) == []
    assert "://" not in lock
    assert "index-url" not in lock
