"""A catalogue over the project's own tool files, ranked plainly: what the offline provider is tested against."""

import json
import math
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from ias.providers.embedded.tokens import Kind, tokenize

Entry: TypeAlias = dict[str, Any]

TOOLS = Path(__file__).parents[2] / "tools"


def specs() -> list[Entry]:
    return [yaml.safe_load(path.read_text()) for path in sorted(TOOLS.glob("*/specs/*.tool.yaml"))]


def catalogue_answer(query: str, entries: list[Entry]) -> str:
    """Give what `query_capabilities` would: full details of the best three, the index where nothing is asked."""
    if not query.strip():
        return json.dumps({"index": [{"name": entry["name"], "desc": entry["desc"]} for entry in entries]})
    documents = [Counter(_terms(_words_of(entry))) for entry in entries]
    ranked = sorted(range(len(entries)), key=lambda i: -_score(_terms(query), documents[i], documents))
    best = [entries[i] for i in ranked[:3]]
    tools = [{"name": entries[i]["name"], "desc": entries[i]["desc"]} for i in ranked[:8]]
    return json.dumps({"tools": tools, "details": [_detail(entry) for entry in best]}, ensure_ascii=False)


def _detail(entry: Entry) -> Entry:
    params = entry.get("params", [])
    fields = ("type", "enum", "pattern", "minimum", "maximum", "items")
    properties = {
        p["name"]: {"description": p["desc"], "type": "string", **{k: p[k] for k in fields if k in p}} for p in params
    }
    required = [p["name"] for p in params if p.get("required")]
    return {
        "name": entry["name"],
        "desc": entry["desc"],
        "parameters": {"type": "object", "properties": properties, "required": required},
        "examples": entry.get("examples", []),
    }


def _words_of(entry: Entry) -> str:
    names = " ".join(p["name"] for p in entry.get("params", []))
    return " ".join([entry["name"].replace("_", " "), entry["desc"], *entry.get("keywords", []), names])


def _terms(text: str) -> list[str]:
    tokens = tokenize(text)
    pairs = [a.text + b.text for a, b in pairwise(tokens) if a.kind is b.kind is Kind.HAN]
    return [token.text for token in tokens] + pairs


def _score(query: list[str], document: Counter[str], documents: list[Counter[str]]) -> float:
    size, average = document.total(), sum(d.total() for d in documents) / len(documents)
    total = 0.0
    for term in set(query):
        frequency = document[term]
        holders = sum(1 for d in documents if d[term])
        idf = math.log(1 + (len(documents) - holders + 0.5) / (holders + 0.5))
        total += idf * frequency * 2.2 / (frequency + 1.2 * (0.25 + 0.75 * size / average))
    return total
