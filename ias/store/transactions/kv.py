"""Operations on the key-value space that each tool group has for each user."""

import json

from ias.domain.messages import JsonObject
from ias.domain.tools import Permission
from ias.errors import InvalidArgumentsError
from ias.store.base import Row, Steps, run
from ias.store.text import pack
from ias.store.transactions.operation import Caller, Operation, key_param, refuse_unknown, whole_param

KEY_CHARS = 200
VALUE_BYTES = 65_536  # of the value's JSON text: as much as a tool's state may hold
MOST_LISTED = 1_000


def check_key(params: JsonObject) -> JsonObject:
    """Check `{key}`."""
    refuse_unknown(params, "key")
    return {"key": key_param(params, "key", longest=KEY_CHARS)}


def check_list(params: JsonObject) -> JsonObject:
    """Check `{prefix?, limit?}`."""
    refuse_unknown(params, "prefix", "limit")
    limit = whole_param(params, "limit", default=100, most=MOST_LISTED)
    return {"prefix": key_param(params, "prefix", longest=KEY_CHARS, default=""), "limit": limit}


def check_put(params: JsonObject) -> JsonObject:
    """Check `{key, value}`; the value is any JSON."""
    refuse_unknown(params, "key", "value")
    if "value" not in params:
        raise InvalidArgumentsError("'value' is missing; give any JSON value, null included")
    size = len(pack(params["value"]))
    if size > VALUE_BYTES:
        raise InvalidArgumentsError(f"'value' has {size} bytes as JSON; at most {VALUE_BYTES} are stored")
    return {"key": key_param(params, "key", longest=KEY_CHARS), "value": params["value"]}


def get(caller: Caller, params: JsonObject) -> Steps[JsonObject]:
    """Give the row of a key, or no row."""
    rows = yield run("kv_get", user_id=caller.user_id, space=caller.space, key=params["key"])
    return {"rows": [_shown(row) for row in rows]}


def list_keys(caller: Caller, params: JsonObject) -> Steps[JsonObject]:
    """Give the rows whose key begins so, by key."""
    rows = yield run(
        "kv_list", user_id=caller.user_id, space=caller.space, prefix=params["prefix"], limit=params["limit"]
    )
    return {"rows": [_shown(row) for row in rows]}


def put(caller: Caller, params: JsonObject) -> Steps[JsonObject]:
    """Store a value under a key; an older one is replaced."""
    value = pack(params["value"])
    yield run("kv_put", user_id=caller.user_id, space=caller.space, key=params["key"], value=value, now=caller.now)
    return {"changed": 1}


def delete(caller: Caller, params: JsonObject) -> Steps[JsonObject]:
    """Remove a key."""
    rows = yield run("kv_delete", user_id=caller.user_id, space=caller.space, key=params["key"])
    return {"changed": len(rows)}


KV_OPERATIONS = (
    Operation(name="kv_get", permission=Permission.READ, deletes=False, check=check_key, work=get),
    Operation(name="kv_list", permission=Permission.READ, deletes=False, check=check_list, work=list_keys),
    Operation(name="kv_put", permission=Permission.WRITE, deletes=False, check=check_put, work=put),
    Operation(name="kv_delete", permission=Permission.DELETE, deletes=True, check=check_key, work=delete),
)


def _shown(row: Row) -> JsonObject:
    return {"key": row["key"], "value": json.loads(row["value"]), "updated_at": row["updated_at"]}
