"""The JSON Schemas in `specs/`, made from what really reads the files; `python -m ias.toolspec.schemas` writes them."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel

from ias.config.settings import Settings
from ias.toolspec.model import SpecFile
from ias.toolspec.wire import DRAFT, Schema, envelope_schema, message_schema


def schemas() -> Mapping[str, Schema]:
    """Give each schema under its file's name."""
    return {
        "tool.schema.json": _schema_of(SpecFile, "Tool spec"),
        "envelope.schema.json": envelope_schema(),
        "message.schema.json": message_schema(),
        "config.schema.json": _schema_of(Settings, "config.yaml"),
    }


def schema_text(schema: Schema) -> str:
    """Give a schema as it stands in its file."""
    return json.dumps(schema, ensure_ascii=False, indent=2) + "\n"


def write_schemas(folder: Path) -> None:
    """Write all schemas into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, schema in schemas().items():
        (folder / name).write_text(schema_text(schema), "utf-8")


def _schema_of(model: type[BaseModel], title: str) -> Schema:
    schema: Schema = model.model_json_schema(mode="validation")
    return {"$schema": DRAFT} | schema | {"title": title}


if __name__ == "__main__":
    write_schemas(Path(sys.argv[1] if len(sys.argv) > 1 else "specs"))
