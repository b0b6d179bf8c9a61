"""Kinds of values that both config.yaml and specs hold, as strict models read them."""

from typing import Annotated

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainSerializer,
    PlainValidator,
    StringConstraints,
    WithJsonSchema,
)

from ias.domain.tools import Permission
from ias.domain.urls import check_pattern

PERMISSION_PATTERN = "^(read|write|delete|network|shell|filesystem|custom:[A-Za-z0-9_.:-]{1,64})$"


def _permission(value: object) -> Permission:
    if not isinstance(value, str):
        raise ValueError(f"must be the name of a permission, not {value!r}")  # noqa: TRY004 - pydantic reports ValueErrors
    return Permission.parse(value)


def _host_pattern(value: object) -> object:
    return check_pattern(value) if isinstance(value, str) else value


Text = Annotated[str, StringConstraints(min_length=1)]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Z0-9_]{0,63}$")]
HostPattern = Annotated[Text, BeforeValidator(_host_pattern)]
PermissionName = Annotated[
    Permission,
    PlainValidator(_permission),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string", "pattern": PERMISSION_PATTERN}),
]


class Section(BaseModel):
    """Root of all models of files: nothing unknown, nothing converted, nothing changed later."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
