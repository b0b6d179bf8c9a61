"""The real catalogue over the project's own tool files."""

import json
from pathlib import Path

from ias.catalogue import Catalogue, Entry
from ias.toolspec.scanning import scan

PROJECT = Path(__file__).parents[2]


def entries() -> tuple[Entry, ...]:
    """Read every tool file of the project."""
    specs = scan([PROJECT / "tools"], project=PROJECT).specs
    return tuple(
        Entry(name=s.name, desc=s.desc, parameters=s.parameters, keywords=s.keywords, examples=s.examples)
        for s in specs
    )


def catalogue_answer(query: str, known: Catalogue) -> str:
    """Give what `query_capabilities` answers."""
    return json.dumps(known.search(query), ensure_ascii=False)
