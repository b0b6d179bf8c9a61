"""The statements of `store/sql` by name: `-- name: ack_job` heads one, `-- name: claim@sqlite` one for one backend."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "sql"
HEAD = re.compile(r"^-- name: (?P<name>[a-z_]+)(?:@(?P<backend>[a-z]+))?$", re.MULTILINE)


@cache
def load_statements(backend: str) -> Mapping[str, str]:
    """Read all statements that a backend uses.

    Args:
        backend: `sqlite`; a statement marked with another backend is left out.

    Raises:
        ValueError: If a name stands twice.
    """
    found: dict[str, str] = {}
    for file in sorted(FOLDER.glob("*.sql")):
        for name, text in _split(file.read_text(encoding="utf-8"), backend):
            if name in found:
                raise ValueError(f"statement {name!r} stands twice, the second time in {file.name}")
            found[name] = text
    return found


def _split(text: str, backend: str) -> list[tuple[str, str]]:
    heads = list(HEAD.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    return [
        (head["name"], text[head.end() : end].strip().removesuffix(";"))
        for head, end in zip(heads, ends, strict=True)
        if head["backend"] in (None, backend)
    ]
