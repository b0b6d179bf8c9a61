"""The few settings that short commands read without the models."""

import subprocess
import sys
from pathlib import Path

import pytest

from ias.config.load import load_config
from ias.config.quick import SQLITE_LIKE, Quick, read_quick
from ias.errors import ConfigError


@pytest.mark.parametrize("text", ["", "llm: {max_turns: wrong}\n", "store:\napprovals: 5\n", "- a\n"])
def test_what_is_not_there_or_not_asked_for_is_the_default(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.yaml").write_text(text)

    assert read_quick(tmp_path, {}) == Quick(database=tmp_path / "data" / "ias.db", approval_timeout=900.0)


def test_a_missing_file_is_the_default(tmp_path: Path) -> None:
    assert read_quick(tmp_path, {}) == Quick(database=tmp_path / "data" / "ias.db")


@pytest.mark.parametrize("url", ["sqlite:here.db", "sqlite:/var/ias.db", "sqlite:${DB}"])
@pytest.mark.parametrize("timeout", ["15m", "5", "90s"])
def test_it_agrees_with_the_whole_reader(tmp_path: Path, url: str, timeout: str) -> None:
    (tmp_path / "config.yaml").write_text(f"store:\n  url: {url}\napprovals:\n  timeout: {timeout}\n")
    (tmp_path / ".env").write_text("DB=from_env.db\n")
    config = load_config(tmp_path, {})

    assert read_quick(tmp_path, {}) == Quick(
        database=config.database, approval_timeout=config.settings.approvals.timeout
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "store:\n  url: postgresql://x\n",
            f"2: store.url must be {SQLITE_LIKE}",
        ),
        (
            "store:\n  url: 'sqlite:'\n",
            f"2: store.url must be {SQLITE_LIKE}",
        ),
        (
            "store:\n  url: 5\n",
            f"2: store.url must be {SQLITE_LIKE}",
        ),
        (
            "approvals:\n  timeout: soon\n",
            "2: approvals.timeout must be seconds or a duration like 20s, 15m, 2h or 30d, not 'soon'",
        ),
        (
            "approvals:\n  timeout: ${T}\n",
            "2: approvals.timeout needs ${T}, which is not set; put T=… into the environment or into .env",
        ),
        (
            "store: [\n",
            "2: no valid YAML: did not find expected node content; write a value here: close the bracket before it",
        ),
    ],
)
def test_a_mistake_is_told_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "config.yaml").write_text(text)

    with pytest.raises(ConfigError) as caught:
        read_quick(tmp_path, {})
    assert str(caught.value) == f"{tmp_path}/config.yaml:{message}"


def test_it_loads_nothing_heavy() -> None:
    code = "import sys, ias.config.quick, ias.config.home; print(*{name.partition('.')[0] for name in sys.modules})"

    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    assert {"pydantic", "asyncio", "httpx", "structlog"} & set(loaded) == set()
