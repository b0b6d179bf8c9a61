"""Operations on what a user wants remembered: saved, searched, listed, changed, deleted."""

import json

from ias.domain.messages import JsonObject
from ias.domain.tools import Permission
from ias.errors import Code, InvalidArgumentsError
from ias.store.base import Row, Steps, first, only, run
from ias.store.text import pack, weighted_words, words_of
from ias.store.transactions.operation import (
    Caller,
    Operation,
    failed,
    key_param,
    refuse_unknown,
    text_param,
    texts_param,
    whole_param,
)

BODY_CHARS = 4_000  # a memory is a sentence or a paragraph, not a document
TAGS, TAG_CHARS = 20, 100
ID_CHARS = 4  # shortest beginning of an id that is taken for it
MOST_FOUND, MOST_LISTED = 50, 100


def check_save(params: JsonObject) -> JsonObject:
    """Check `{body, tags?}`."""
    refuse_unknown(params, "body", "tags")
    tags = texts_param(params, "tags", most=TAGS, longest=TAG_CHARS)
    return {"body": text_param(params, "body", longest=BODY_CHARS), "tags": tags}


def save(caller: Caller, params: JsonObject) -> Steps[JsonObject]:
    """Store a memory and give its row."""
    row = yield from only(
        "put_memory",
        id=caller.ids.new("m"),
        user_id=caller.user_id,
        **_columns(params),
        run_id=caller.run_id,
        now=caller.now,
    )
    return {"rows": [_shown(row)]}


def check_search(params: JsonObject) -> JsonObject:
    """Check `{query, limit?}`."""
    refuse_unknown(params, "query", "limit")
    limit = whole_param(params, "limit", default=10, most=MOST_FOUND)
    return {"query": text_param(params, "query", longest=BODY_CHARS), "limit": limit}


def search(caller: Caller, params: JsonObject) -> Steps[JsonObject]:
    """Give the memories that share words with the question, best first, newer first where equal."""
    words = pack([list(pair) for pair in weighted_words(str(params["query"]))])
    rows = yield run("search_memories", user_id=caller.user_id, words=words, limit=params["limit"])
    return {"rows": [_shown(row) for row in rows]}


def check_read(params: JsonObject) -> JsonObject:
    """Check `{limit?, before?}`."""
    refuse_unknown(params, "limit", "before")
    limit = whole_param(params, "limit", default=20, most=MOST_LISTED)
    return {"limit": limit, "before": key_param(params, "before", longest=64, default="")}


def read(caller: Caller, params: JsonObject) -> Steps[JsonObject]:
    """Give the newest memories, or those that come after `before` in that order."""
    if not params["before"]:
        rows = yield run("newest_memories", user_id=caller.user_id, limit=params["limit"])
        return {"rows": [_shown(row) for row in rows]}
    found = yield from _find(caller, str(params["before"]))
    if isinstance(found, str):
        return failed(Code.NOT_FOUND, found)
    rows = yield run(
        "older_memories", user_id=caller.user_id, updated_at=found["updated_at"], id=found["id"], limit=params["limit"]
    )
    return {"rows": [_shown(row) for row in rows]}


def check_update(params: JsonObject) -> JsonObject:
    """Check `{id, body?, tags?}`; one of the last two must be there."""
    refuse_unknown(params, "id", "body", "tags")
    checked: JsonObject = {"id": _id_param(params)}
    if params.get("body") is not None:
        checked["body"] = text_param(params, "body", longest=BODY_CHARS)
    if params.get("tags") is not None:
        checked["tags"] = texts_param(params, "tags", most=TAGS, longest=TAG_CHARS)
    if len(checked) == 1:
        raise InvalidArgumentsError("nothing to change; give 'body', 'tags' or both")
    return checked


def update(caller: Caller, params: JsonObject) -> Steps[JsonObject]:
    """Change a memory's text or tags."""
    found = yield from _find(caller, str(params["id"]))
    if isinstance(found, str):
        return failed(Code.NOT_FOUND, found)
    columns = _columns({"body": json.loads(found["body"]), "tags": json.loads(found["tags"]), **params})
    rows = yield run("change_memory", id=found["id"], user_id=caller.user_id, **columns, now=caller.now)
    return {"changed": len(rows)}


def check_delete(params: JsonObject) -> JsonObject:
    """Check `{id, body?}`; with `body`, which a person approves, only a memory of just this text is deleted."""
    refuse_unknown(params, "id", "body")
    checked: JsonObject = {"id": _id_param(params)}
    if params.get("body") is not None:
        checked["body"] = text_param(params, "body", longest=BODY_CHARS)
    return checked


def delete(caller: Caller, params: JsonObject) -> Steps[JsonObject]:
    """Forget a memory for good."""
    found = yield from _find(caller, str(params["id"]))
    if isinstance(found, str):
        return failed(Code.NOT_FOUND, found)
    if "body" in params and str(json.loads(found["body"])).strip() != str(params["body"]).strip():
        return failed(Code.DB_FAILED, f"the memory {found['id']!r} has another text by now; look it up again")
    rows = yield run("delete_memory", id=found["id"], user_id=caller.user_id)
    return {"changed": len(rows)}


MEMORY_OPERATIONS = (
    Operation(name="save_memory", permission=Permission.WRITE, deletes=False, check=check_save, work=save),
    Operation(name="search_memories", permission=Permission.READ, deletes=False, check=check_search, work=search),
    Operation(name="read_memories", permission=Permission.READ, deletes=False, check=check_read, work=read),
    Operation(name="update_memory", permission=Permission.WRITE, deletes=False, check=check_update, work=update),
    Operation(name="delete_memory", permission=Permission.DELETE, deletes=True, check=check_delete, work=delete),
)


def _id_param(params: JsonObject) -> str:
    value = key_param(params, "id", longest=64)
    if len(value) < ID_CHARS:
        raise InvalidArgumentsError(f"the id {value!r} is too short; give at least {ID_CHARS} characters")
    return value


def _find(caller: Caller, given: str) -> Steps[Row | str]:
    """Give the memory whose id begins so, or why there is not exactly one."""
    exact = yield from first("memory_of_user", user_id=caller.user_id, id=given)
    if exact is not None:
        return exact
    prefix = given if given.startswith("m_") else f"m_{given}"
    rows = yield run("memories_like", user_id=caller.user_id, prefix=prefix)
    if not rows:
        return f"there is no memory {given!r}"
    if len(rows) > 1:
        return f"{given!r} fits several memories: {', '.join(row['id'] for row in rows)}"
    return rows[0]


def _columns(params: JsonObject) -> JsonObject:
    """Give the stored form: free text as JSON, and the words that a search compares."""
    tags = params["tags"]
    text = " ".join([str(params["body"]), *(str(tag) for tag in tags if tag)]) if isinstance(tags, list) else ""
    return {"body": pack(params["body"]), "tags": pack(tags), "words": f" {' '.join(words_of(text))} "}


def _shown(row: Row) -> JsonObject:
    return {
        "id": row["id"],
        "body": json.loads(row["body"]),
        "tags": json.loads(row["tags"]),
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
    }
