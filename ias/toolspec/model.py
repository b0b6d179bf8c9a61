"""The 16 fields of a `*.tool.yaml`, as a strict model."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, JsonValue, StringConstraints, WithJsonSchema

from ias.config.fields import HostPattern, Name, PermissionName, Section, Text
from ias.domain.tools import Risk

NAME_PATTERN = r"^[a-z][a-z0-9_]{0,63}$"

Kind = Literal["string", "integer", "number", "boolean", "array", "object"]
Variable = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$")]
Word = Annotated[str, StringConstraints(min_length=1, max_length=100)]


KINDS = ["string", "integer", "number", "boolean", "array", "object"]
ITEMS_SCHEMA = {
    "anyOf": [
        {"enum": KINDS},
        {
            "type": "object",
            "properties": {"type": {"enum": KINDS}, "enum": {"type": "array"}},
            "additionalProperties": False,
        },
    ]
}


def _items(value: object) -> object:
    return {"type": value} if isinstance(value, str) else value


class Items(Section):
    """What an array holds: a type, or a type with its choices."""

    type: Kind = "string"
    enum: list[JsonValue] | None = None


class Param(Section):
    """One argument of the tool."""

    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")] = Field(
        description="The argument's name."
    )
    type: Kind = Field(default="string", description="Its JSON type.")
    required: bool = Field(default=False, description="Whether every call must give it.")
    desc: str = Field(default="", max_length=1000, description="What the model reads about it.")
    enum: tuple[JsonValue, ...] | None = Field(default=None, min_length=1, description="The values it may have.")
    default: JsonValue = Field(default=None, description="Its value where the call gives none.")
    items: Annotated[
        Items | None,
        BeforeValidator(_items),
        WithJsonSchema(ITEMS_SCHEMA),
    ] = Field(default=None, description="What an array holds: a type, or {type, enum}.")
    minimum: float | None = Field(default=None, description="Least number.")
    maximum: float | None = Field(default=None, description="Greatest number.")
    pattern: str | None = Field(default=None, max_length=500, description="Regular expression that a text must match.")


class ExampleEntry(Section):
    """A question and the arguments that answer it."""

    ask: Text = Field(max_length=500, description="What a person might say.")
    params: dict[str, JsonValue] = Field(default_factory=lambda: {}, description="The arguments of the call.")


class LimitEntry(Section):
    """Bounds of one call."""

    max_steps: int = Field(default=8, ge=1, le=100, description="Starts of the program.")
    memory_mb: int = Field(default=256, ge=16, le=65536, description="Memory of one process in MiB (RLIMIT_DATA).")
    output_kb: int = Field(default=1024, ge=1, le=65536, description="Longest line of output in KiB.")
    warm: Literal["auto", "off"] = Field(default="auto", description="Whether a process may be started ahead.")


class SpecFile(Section):
    """A tool's spec: one file per tool, in the `specs` folder of the tool's folder."""

    name: Annotated[str, StringConstraints(pattern=NAME_PATTERN)] = Field(description="Unique over all tools.")
    desc: Text = Field(max_length=4000, description="What the model reads to decide whether to call.")
    type: Literal["http", "db", "local"] = Field(description="What it mainly asks the host for.")
    tool: Text | None = Field(default=None, max_length=64, description="The group; by default the folder's name.")
    command: Text | None = Field(default=None, max_length=256, description="First argument given to the program.")
    path: Text = Field(description="The program, relative to the tool's folder; a leading / means the project's root.")
    risk_level: Risk = Field(default=Risk.LOW, description="Input of the approval policy.")
    timeout_secs: float = Field(default=30, ge=1, le=600, description="For one call, without waiting for a person.")
    env: tuple[Variable, ...] = Field(default=(), description="Variables passed to the process; nothing else is.")
    params: tuple[Param, ...] = Field(default=(), description="The arguments of a call.")
    secrets: tuple[Name, ...] = Field(default=(), description="Placeholders that the host may fill in requests.")
    hosts: tuple[HostPattern, ...] = Field(
        default=(), description="Where it may send http requests; * is any public host."
    )
    permissions: tuple[PermissionName, ...] | None = Field(default=None, description="By default derived from type.")
    keywords: tuple[Word, ...] = Field(default=(), max_length=100, description="Everyday words, in any language.")
    examples: tuple[ExampleEntry, ...] = Field(
        default=(), max_length=20, description="Shown to the model, and run as tests."
    )
    limits: LimitEntry = Field(default=LimitEntry(), description="Bounds of one call.")
