"""The lines between host and tool as JSON Schemas; `ias.runtime.protocol` is what reads and writes them."""

from typing import TypeAlias

Schema: TypeAlias = dict[str, object]

DRAFT = "https://json-schema.org/draft/2020-12/schema"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
# In either case, written so that every dialect of regular expressions reads it.
METHOD = "^(" + "|".join("".join(f"[{char}{char.lower()}]" for char in name) for name in METHODS) + ")$"
SCALARS = ["string", "number", "boolean", "null"]


def envelope_schema() -> Schema:
    """Give the schema of the line that a tool reads."""
    answer: Schema = {"$ref": "#/$defs/response"}
    db_answer: Schema = {"$ref": "#/$defs/db_response"}
    return {
        "$schema": DRAFT,
        "title": "Envelope",
        "description": "What a tool reads: one JSON object on one line of stdin.",
        "type": "object",
        "required": ["params", "approved", "user_id", "call_id", "step", "secrets"],
        "properties": {
            "params": _object("The call's arguments, checked against the spec's params."),
            "approved": {"const": True, "description": "A call that was not allowed is not started."},
            "user_id": _text("For whom the call runs."),
            "call_id": _text("The call's id, the same in each step."),
            "step": {
                "type": "integer",
                "minimum": 0,
                "description": "Starts of the program for this call before this one.",
            },
            "secrets": _list({"type": "string"}, "Names of this tool's secrets that have a value."),
            "response": answer | {"description": "The answer to an http message."},
            "db_response": db_answer | {"description": "The answer to a db message."},
            "responses": _list({"anyOf": [answer, db_answer]}, "The answers to a batch, in order."),
            "state": {"description": "What the last message carried as state."},
        },
        "additionalProperties": False,
        "$defs": {"response": _response(), "db_response": _db_response(), "error": _error()},
    }


def message_schema() -> Schema:
    """Give the schema of the line that a tool prints."""
    state: Schema = {"state": {"description": "Any JSON up to 64 KiB; comes back unchanged in the next step."}}
    requests: Schema = {
        "type": "array",
        "minItems": 1,
        "maxItems": 32,
        "items": {"oneOf": [_http({}), _db({})]},
        "description": "http and db messages without state, served side by side.",
    }
    return {
        "$schema": DRAFT,
        "title": "Message",
        "description": "What a tool prints: one JSON object on one line of stdout; then it ends.",
        "oneOf": [
            _http(state),
            _db(state),
            _message("batch", {"requests": requests} | state, ["requests"]),
            _message(
                "result",
                {
                    "content": _text("Text for the model: the answer, or what went wrong."),
                    "data": {"description": "Any JSON, kept with the call."},
                    "is_error": {"type": "boolean", "description": "Whether the call failed."},
                },
                ["content"],
            ),
        ],
    }


def _http(more: Schema) -> Schema:
    scalars: Schema = {"type": SCALARS}
    properties: Schema = {
        "method": {"type": "string", "pattern": METHOD},
        "url": _text("http or https, without user name; the host must be in the spec's hosts."),
        "query": {
            "type": ["object", "null"],
            "additionalProperties": {"anyOf": [scalars, {"type": "array", "items": scalars}]},
            "description": "Added to the URL; a list repeats a name, null leaves it out.",
        },
        "headers": {"type": ["object", "null"], "additionalProperties": scalars},
        "body": {"type": ["string", "null"], "description": "The body as text. Not together with json."},
        "json": {"description": "The body as JSON; sets Content-Type. Not together with body."},
        "desc": _optional_text("One line for the person who approves."),
    }
    schema = _message("http", properties | more, ["method", "url"])
    exclusive: Schema = {"required": ["body", "json"], "properties": {"body": _not_null(), "json": _not_null()}}
    return schema | {"not": exclusive}


def _db(more: Schema) -> Schema:
    properties: Schema = {
        "operation": {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,63}$", "description": "Like kv_get."},
        "params": _object("The operation's parameters."),
        "desc": _optional_text("One line for the person who approves."),
    }
    return _message("db", properties | more, ["operation"])


def _message(kind: str, properties: Schema, required: list[str]) -> Schema:
    return {
        "type": "object",
        "properties": {"type": {"const": kind}} | properties,
        "required": ["type", *required],
        "additionalProperties": False,
    }


def _response() -> Schema:
    return {
        "type": "object",
        "properties": {
            "status": {"type": "integer"},
            "headers": {"type": "object", "additionalProperties": {"type": "string"}},
            "body": _text("The body, if it is text."),
            "body_base64": _text("The body, if it is not."),
            "truncated": {"type": "boolean", "description": "Whether the body was cut."},
            "error": {"$ref": "#/$defs/error"},
        },
        "oneOf": [{"required": ["status", "headers"]}, {"required": ["error"]}],
    }


def _db_response() -> Schema:
    return {
        "type": "object",
        "properties": {
            "rows": _list({"type": "object"}, "What was read."),
            "changed": {"type": "integer", "minimum": 0, "description": "How many rows were changed."},
            "error": {"$ref": "#/$defs/error"},
        },
        "anyOf": [{"required": ["rows"]}, {"required": ["changed"]}, {"required": ["error"]}],
    }


def _error() -> Schema:
    return {
        "type": "object",
        "properties": {"code": {"type": "string"}, "message": {"type": "string"}},
        "required": ["code", "message"],
        "description": "What came back instead of an answer.",
    }


def _text(description: str) -> Schema:
    return {"type": "string", "description": description}


def _optional_text(description: str) -> Schema:
    return {"type": ["string", "null"], "description": description}


def _object(description: str) -> Schema:
    return {"type": "object", "description": description}


def _list(items: Schema, description: str) -> Schema:
    return {"type": "array", "items": items, "description": description}


def _not_null() -> Schema:
    return {"not": {"type": "null"}}
