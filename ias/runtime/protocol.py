"""The line protocol: the line that a program is given, and the one message that it answers with, read strictly."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Never, cast

from ias.domain.approvals import StepKind
from ias.domain.messages import JsonObject, JsonValue, replace_surrogates
from ias.domain.tools import Asks, DbAsk, HttpAsk, Result, StepInput
from ias.errors import Code, ToolError
from ias.runtime.headers import COUNT_MAX, check_header

DEPTH_MAX = 64
STATE_MAX_BYTES = 64 * 1024
BATCH_MAX = 32  # requests of one message; a person has to be able to read them
BODY_MAX_BYTES = 1024 * 1024
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
OPERATION = re.compile(r"[a-z][a-z0-9_]{0,63}")

HTTP_FIELDS = ("method", "url", "query", "headers", "body", "json", "desc")
DB_FIELDS = ("operation", "params", "desc")
FIELDS = {
    "http": (*HTTP_FIELDS, "state"),
    "db": (*DB_FIELDS, "state"),
    "batch": ("requests", "state"),
    "result": ("content", "data", "is_error"),
}


def envelope(args: JsonObject, given: StepInput, *, user_id: str, call_id: str, secrets: tuple[str, ...] = ()) -> bytes:
    """Give the line for one start of a program, without its end.

    Args:
        args: The call's validated arguments.
        given: Which step it is, and what the host answered to the step before.
        user_id: For whom the call runs.
        call_id: The run's id, the same in each step.
        secrets: Names of the tool's secrets that have a value.
    """
    body: JsonObject = {
        "params": args,
        "approved": True,  # a call that was not allowed is not started
        "user_id": user_id,
        "call_id": call_id,
        "step": given.step,
        "secrets": list(secrets),
    }
    if given.is_batch:
        body["responses"] = [answer.body for answer in given.answers]
    elif given.answers:
        answer = given.answers[0]
        body["db_response" if answer.kind is StepKind.DB else "response"] = answer.body
    if given.state is not None:
        body["state"] = given.state
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate in the arguments or in an answer
        return replace_surrogates(text).encode("utf-8")


def parse_line(line: bytes) -> Asks | Result:
    """Read a program's message.

    Args:
        line: One line, without its end.

    Raises:
        ToolError: With code bad_utf8, bad_json or bad_message, and what to write instead.
    """
    message = _object(line)
    kind = message.get("type")
    if not isinstance(kind, str) or kind not in FIELDS:
        _refuse(f"`type` is {_short(kind)}; it must be one of {', '.join(FIELDS)}")
    _known(message, kind, ("type", *FIELDS[kind]))
    match kind:
        case "result":
            return _result(message)
        case "batch":
            return Asks(asks=_requests(message.get("requests")), state=_state(message), is_batch=True)
        case _:
            return Asks(asks=(_ask(message, kind, ""),), state=_state(message))


def _object(line: bytes) -> dict[str, Any]:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"the tool's line is no UTF-8: byte {line[error.start]:#04x} at {error.start}; write UTF-8"
        raise ToolError(message, code=Code.BAD_UTF8) from error
    try:
        value = json.loads(
            text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite, parse_int=_integer
        )
        depth = _depth(value)
    except json.JSONDecodeError as error:
        message = f"the tool's line is no JSON: {error.msg} at character {error.pos}: {_short(text)}"
        raise ToolError(message, code=Code.BAD_JSON) from error
    except ValueError as error:
        raise ToolError(f"the tool's line is no JSON: {error}", code=Code.BAD_JSON) from error
    except RecursionError as error:
        raise ToolError(f"the tool's line nests deeper than {DEPTH_MAX}", code=Code.BAD_JSON) from error
    if depth > DEPTH_MAX:
        raise ToolError(f"the tool's line nests deeper than {DEPTH_MAX}", code=Code.BAD_JSON)
    if not isinstance(value, dict):
        _refuse(f"it is {_short(value)}; print one JSON object with a `type`")
    message = cast("JsonObject", value)
    return cast("dict[str, Any]", _without_surrogates(message) if "\\u" in text else message)


def _ask(message: Mapping[str, Any], kind: str, where: str) -> HttpAsk | DbAsk:
    return _http(message, where) if kind == "http" else _db(message, where)


def _requests(value: object) -> tuple[HttpAsk | DbAsk, ...]:
    if not isinstance(value, list) or not value:
        _refuse("`requests` must be a list of at least one http or db message")
    items = cast("list[object]", value)
    if len(items) > BATCH_MAX:
        _refuse(f"`requests` has {len(items)} items, at most {BATCH_MAX} are allowed")
    asks: list[HttpAsk | DbAsk] = []
    for number, item in enumerate(items):
        where = f"requests[{number}]."
        if not isinstance(item, dict):
            _refuse(f"`requests[{number}]` is {_short(item)}; it must be an http or db message")
        part = cast("dict[str, Any]", item)
        kind = part.get("type")
        if kind not in ("http", "db"):
            _refuse(f"`{where}type` is {_short(kind)}; it must be http or db")
        _known(part, kind, ("type", *(HTTP_FIELDS if kind == "http" else DB_FIELDS)), where)
        asks.append(_ask(part, kind, where))
    return tuple(asks)


def _http(message: Mapping[str, Any], where: str) -> HttpAsk:
    method = _text(message, "method", where).upper()
    if method not in METHODS:
        _refuse(f"`{where}method` is {_short(method)}; it must be one of {', '.join(METHODS)}")
    headers = _headers(message.get("headers"), where)
    body, headers = _body(message, headers, where)
    return HttpAsk(
        method=method,
        url=_text(message, "url", where),
        query=_query(message.get("query"), where),
        headers=headers,
        body=body,
        desc=_text(message, "desc", where, default=""),
    )


def _db(message: Mapping[str, Any], where: str) -> DbAsk:
    operation = _text(message, "operation", where)
    if not OPERATION.fullmatch(operation):
        _refuse(f"`{where}operation` is {_short(operation)}; it must be the name of an operation, such as kv_get")
    params = message.get("params", {})
    if not isinstance(params, dict):
        _refuse(f"`{where}params` is {_short(params)}; it must be an object")
    return DbAsk(operation=operation, params=cast("JsonObject", params), desc=_text(message, "desc", where, default=""))


def _result(message: Mapping[str, Any]) -> Result:
    is_error = message.get("is_error", False)
    if not isinstance(is_error, bool):
        _refuse(f"`is_error` is {_short(is_error)}; it must be true or false")
    return Result(
        content=_text(message, "content", ""),
        data=message.get("data"),
        code=Code.TOOL_FAILED if is_error else Code.OK,
    )


def _body(
    message: Mapping[str, Any], headers: tuple[tuple[str, str], ...], where: str
) -> tuple[str | None, tuple[tuple[str, str], ...]]:
    if message.get("body") is not None and message.get("json") is not None:
        _refuse(f"`{where}body` and `{where}json` exclude each other; keep one")
    body = message.get("body")
    if body is not None and not isinstance(body, str):
        _refuse(f"`{where}body` is {_short(body)}; it must be text (use `json` for anything else)")
    if message.get("json") is not None:
        body = json.dumps(message["json"], ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        if not any(name.lower() == "content-type" for name, _ in headers):
            headers = (*headers, ("Content-Type", "application/json"))
    if body is not None and len(body.encode("utf-8")) > BODY_MAX_BYTES:
        _refuse(f"`{where}body` has more than {BODY_MAX_BYTES:,} bytes")
    return body, headers


def _query(value: object, where: str) -> tuple[tuple[str, str], ...]:
    """Read the query: a list stands for a repeated name, null for one that is left out."""
    pairs: list[tuple[str, str]] = []
    for name, item in _named(value, f"{where}query").items():
        items = cast("list[object]", item) if isinstance(item, list) else [item]
        pairs.extend((name, _scalar(one, f"{where}query.{name}")) for one in items if one is not None)
    return tuple(pairs)


def _headers(value: object, where: str) -> tuple[tuple[str, str], ...]:
    headers = _named(value, f"{where}headers")
    if len(headers) > COUNT_MAX:
        _refuse(f"`{where}headers` has {len(headers)} entries, at most {COUNT_MAX} are allowed")
    pairs: list[tuple[str, str]] = []
    for name, item in headers.items():
        if item is None:
            continue
        text = _scalar(item, f"{where}headers.{name}")
        try:
            check_header(name, text)
        except ValueError as error:
            _refuse(f"`{where}headers`: {error}")
        pairs.append((name, text))
    if len({name.lower() for name, _ in pairs}) < len(pairs):
        _refuse(f"`{where}headers` has a name twice, in different letters; keep one")
    return tuple(pairs)


def _named(value: object, where: str) -> dict[str, object]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        _refuse(f"`{where}` is {_short(value)}; it must be an object of names and values")
    return cast("dict[str, object]", value)


def _scalar(value: object, where: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, int | float):
        _refuse(f"`{where}` is {_short(value)}; it must be text, a number, true or false")
    return json.dumps(value)


def _text(message: Mapping[str, Any], name: str, where: str, *, default: str | None = None) -> str:
    value = message.get(name)
    if value is None and default is not None:
        return default
    if value is None:
        _refuse(f"`{where}{name}` is missing")
    if not isinstance(value, str):
        _refuse(f"`{where}{name}` is {_short(value)}; it must be text")
    return value


def _state(message: Mapping[str, Any]) -> JsonValue:
    state = cast("JsonValue", message.get("state"))
    size = len(json.dumps(state, ensure_ascii=False, separators=(",", ":")).encode("utf-8"))
    if size > STATE_MAX_BYTES:
        _refuse(f"`state` has {size:,} bytes, at most {STATE_MAX_BYTES:,} are allowed")
    return state


def _known(message: Mapping[str, Any], kind: str, names: tuple[str, ...], where: str = "") -> None:
    for name in message:
        if name not in names:
            _refuse(f"`{where}{name[:64]}` is no field of a {kind} message; its fields are {', '.join(names)}")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {_short(twice)} stands twice in one object; keep one")
    return found


def _no_constant(name: str) -> Never:
    raise ValueError(f"{name} is no JSON; write null or leave the field out")


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"the number {_short(text)} is too large")
    return value


def _integer(text: str) -> int:
    if len(text) > 40:
        raise ValueError(f"the number {_short(text)} has {len(text)} digits; write it as text")
    return int(text)


def _depth(value: object) -> int:
    """Count how deep lists and objects nest; more than the limit is not counted out."""
    depth, level = 0, list(_inside([value]))
    while level and depth <= DEPTH_MAX:
        level = [inner for item in level for inner in _inside(item)]
        depth += 1
    return depth


def _inside(value: object) -> Iterable[object]:
    """Give the lists and objects that a list or an object holds."""
    items = cast("dict[str, object]", value).values() if isinstance(value, dict) else cast("list[object]", value)
    for item in items:
        if isinstance(item, dict | list):
            yield cast("object", item)


def _without_surrogates(value: JsonValue) -> JsonValue:
    match value:
        case str():
            return replace_surrogates(value)
        case list():
            return [_without_surrogates(item) for item in value]
        case dict():
            return {replace_surrogates(name): _without_surrogates(item) for name, item in value.items()}
        case _:
            return value


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _refuse(message: str) -> Never:
    raise ToolError(f"the tool's message cannot be used: {message}", code=Code.BAD_MESSAGE)
