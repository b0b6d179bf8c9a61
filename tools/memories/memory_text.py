"""Memories and the store's errors as text and facts."""

from datetime import UTC, datetime
from typing import Any

from memory_call import Refusal, Step, text_of, texts_of

SHOWN_ID = 8  # characters; a unique beginning of four is enough to name a memory
SHOWN_CHARS = 300  # of one memory in a list; `data` holds the whole text


def memory_facts(row: dict[str, Any]) -> dict[str, Any]:
    """Read a row of the store; instants become ISO 8601 in local time, None where there are none."""
    return {
        "id": text_of(row.get("id")),
        "body": text_of(row.get("body")),
        "tags": texts_of(row.get("tags")),
        "created_at": _instant(row.get("created_at")),
        "updated_at": _instant(row.get("updated_at")),
    }


def short_id(memory: dict[str, Any]) -> str:
    """Return the beginning of a memory's id that people type."""
    return str(memory["id"])[:SHOWN_ID] or "?"


def listed(step: Step, head: str, memories: list[dict[str, Any]]) -> str:
    """Write one memory a line: id, text, tags, when it was last changed."""
    return "\n".join([head, *(_line(step, memory, _label(memory, memories)) for memory in memories)])


def failed(error: dict[str, Any]) -> Refusal:
    """Explain an error of the store, in its own words where it has some."""
    code = text_of(error.get("code")) or "db_failed"
    reason = text_of(error.get("message")) or code
    return Refusal(f"记忆操作失败：{reason}（{code}）。", f"The memory operation failed: {reason} ({code}).", code=code)


def _instant(value: Any) -> str | None:
    """Turn epoch milliseconds into local time."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return datetime.fromtimestamp(value / 1000, UTC).astimezone().isoformat(timespec="minutes")
    except (ValueError, OverflowError, OSError):
        return None


def _label(memory: dict[str, Any], memories: list[dict[str, Any]]) -> str:
    """Return the short id, or the whole one where the short one is not unique in the list."""
    short = short_id(memory)
    alike = sum(short_id(other) == short for other in memories)
    return short if alike == 1 else str(memory["id"]) or short


def _line(step: Step, memory: dict[str, Any], label: str) -> str:
    body = " ".join(str(memory["body"]).split())
    if len(body) > SHOWN_CHARS:
        body = body[:SHOWN_CHARS] + step.say(
            f"……（共 {len(memory['body'])} 字）", f"... ({len(memory['body'])} characters)"
        )
    tags = "".join(f" #{tag}" for tag in memory["tags"])
    changed = memory["updated_at"] or memory["created_at"]
    when = f" ({changed.replace('T', ' ')})" if changed else ""
    return f"- [{label}] {body}{tags}{when}"
