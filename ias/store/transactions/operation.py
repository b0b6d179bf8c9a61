"""What a named `db` operation is; each stands in the file of its noun."""

from collections.abc import Callable
from dataclasses import dataclass

from ias.domain.messages import JsonObject, JsonValue
from ias.domain.tools import Permission
from ias.errors import InvalidArgumentsError
from ias.store.base import Ids, Steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Whose rows an operation touches, in which space, at which time (ms), in which run."""

    ids: Ids
    user_id: str
    space: str
    now: int
    run_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A named operation on rows of one user.

    `check` gives the parameters with their defaults or raises InvalidArgumentsError; `work` does it and gives
    `{"rows": [...]}`, `{"changed": n}` or `{"error": {code, message}}`.
    """

    name: str
    permission: Permission
    deletes: bool
    check: Callable[[JsonObject], JsonObject]
    work: Callable[[Caller, JsonObject], Steps[JsonObject]]


def refuse_unknown(params: JsonObject, *known: str) -> None:
    """Raise InvalidArgumentsError for a parameter that the operation does not have."""
    for name in params:
        if name not in known:
            raise InvalidArgumentsError(f"there is no parameter {name!r}; known are {', '.join(known)}")


def text_param(params: JsonObject, name: str, *, longest: int, default: str | None = None) -> str:
    """Give a text parameter of at most `longest` characters; without a default it must be there and not empty."""
    value = params.get(name)
    if value is None and default is not None:
        return default
    if not isinstance(value, str) or (default is None and not value.strip()):
        raise InvalidArgumentsError(f"{name!r} must be a text that is not empty, found {value!r}")
    if len(value) > longest:
        raise InvalidArgumentsError(f"{name!r} has {len(value)} characters; at most {longest} are stored")
    return value


def key_param(params: JsonObject, name: str, *, longest: int, default: str | None = None) -> str:
    """Give a text parameter that names a row: no NUL, no lone surrogates, they could not be found again."""
    value = text_param(params, name, longest=longest, default=default)
    if "\0" in value or any("\ud800" <= char <= "\udfff" for char in value):
        raise InvalidArgumentsError(f"{name!r} has characters that a name cannot have: {value!r}")
    return value


def whole_param(params: JsonObject, name: str, *, default: int, most: int) -> int:
    """Give a whole number from 1 to `most`."""
    value = params.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise InvalidArgumentsError(f"{name!r} must be a whole number from 1 to {most}, found {value!r}")
    return value


def texts_param(params: JsonObject, name: str, *, most: int, longest: int) -> list[JsonValue]:
    """Give a list of at most `most` texts."""
    value = params.get(name, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InvalidArgumentsError(f"{name!r} must be a list of texts, found {value!r}")
    if len(value) > most or any(len(str(item)) > longest for item in value):
        raise InvalidArgumentsError(f"{name!r} may hold {most} texts of {longest} characters each")
    return value


def failed(code: str, message: str) -> JsonObject:
    """Give the answer of an operation that did nothing."""
    return {"error": {"code": code, "message": message}}
