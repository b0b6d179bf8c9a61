"""Memories of the user: saved, searched, listed, changed and deleted through the host's `db` operations."""

import json
import sys
from collections.abc import Callable
from typing import Any

from memory_call import Message, Refusal, Step, read_step, result, text_of
from memory_text import failed, listed, memory_facts, short_id

BODY_CHARS = 4000
ID_CHARS = 4  # a shorter beginning of an id is refused by the host
QUERY_CHARS = 1000
SEARCH_LIMIT = (10, 50)  # default, most
LIST_LIMIT = (20, 100)
PAGES = 5  # lists of the newest memories that are looked through for the one to delete
SHOWN_BODY = 200  # characters of a memory's text that is about to be deleted


def save(step: Step) -> Message:
    """Remember a text."""
    body = _body(step)
    if step.answer is None:
        params = _without_empty({"body": body, "tags": step.texts("tags")})
        return _ask("save_memory", params, step.say("保存一条记忆", "Save a memory"))
    rows = step.rows()
    if not rows:
        raise Refusal("没有保存成功：存储没有返回记录。", "It was not saved: the store returned no row.")
    saved = memory_facts(rows[0])
    ident = short_id(saved)
    text = step.say(f"已记住（{ident}）：{saved['body']}", f"Remembered ({ident}): {saved['body']}")
    return result(text, {"memory": saved})


def search(step: Step) -> Message:
    """Find memories that match words, best first."""
    query = step.needed("query")[:QUERY_CHARS]
    default, most = SEARCH_LIMIT
    limit = step.whole("limit", default=default, most=most)
    if step.answer is None:
        desc = step.say(f"查找关于“{query}”的记忆", f"Search the memories for {query!r}")
        return _ask("search_memories", {"query": query, "limit": limit}, desc)
    found = [memory_facts(row) for row in step.rows()]
    if not found:
        text = step.say(f"没有找到与“{query}”有关的记忆。", f"No memory matches {query!r}.")
        return result(text, {"query": query, "memories": []})
    head = step.say(f"与“{query}”有关的记忆 {len(found)} 条：", f"Memories that match {query!r}: {len(found)}")
    return result(listed(step, head, found), {"query": query, "memories": found})


def list_newest(step: Step) -> Message:
    """List memories, newest first; `before` goes on below the last one shown."""
    default, most = LIST_LIMIT
    limit = step.whole("limit", default=default, most=most)
    before = step.text("before")
    if step.answer is None:
        params = _without_empty({"limit": limit, "before": before})
        return _ask("read_memories", params, step.say("列出记忆", "List the memories"))
    memories = [memory_facts(row) for row in step.rows()]
    if not memories:
        text = step.say("没有更早的记忆了。", "There are no older memories.")
        if not before:
            text = step.say("还没有任何记忆。", "There are no memories yet.")
        return result(text, {"memories": [], "next_before": None})
    more = memories[-1]["id"] if len(memories) >= limit else None
    text = listed(
        step, step.say(f"记忆 {len(memories)} 条，新的在前：", f"Memories, newest first: {len(memories)}"), memories
    )
    if more:
        text += step.say(f"\n可能还有更早的：before={more}", f"\nThere may be older ones: before={more}")
    return result(text, {"memories": memories, "next_before": more})


def update(step: Step) -> Message:
    """Change the text or the tags of a memory."""
    ident = _id(step)
    changes: dict[str, Any] = {}
    if step.text("body"):
        changes["body"] = _body(step)
    if step.has("tags"):
        changes["tags"] = step.texts("tags")
    if not changes:
        raise Refusal(
            "没有要改的内容：请给出 body（新内容）或 tags（新标签）。",
            "There is nothing to change: give body (the new text) or tags (the new tags).",
        )
    if step.answer is None:
        return _ask("update_memory", {"id": ident, **changes}, step.say(f"修改记忆 {ident}", f"Change memory {ident}"))
    if step.changed() < 1:
        raise _unknown(ident)
    if "body" in changes:
        text = step.say(f"已更新记忆 {ident}：{changes['body']}", f"Updated memory {ident}: {changes['body']}")
    else:
        tags = ", ".join(changes["tags"])
        text = step.say(f"已更新记忆 {ident} 的标签：{tags or '无'}", f"Updated the tags of {ident}: {tags or 'none'}")
    return result(text, {"id": ident, "changed": 1, **changes})


def delete(step: Step) -> Message:
    """Forget a memory for good: it is looked up first, so that who approves reads what will be gone.

    `state` is `{"stage": "find" | "delete", "page": lists read before this one,
    "body": the memory's text}`.
    """
    ident = _id(step)
    if step.answer is None:
        return _look_up(step, page=0, before="")
    if step.state.get("stage") == "find":
        return _ask_to_delete(step, ident)
    if step.changed() < 1:
        raise _unknown(ident)
    shown = _shortened(text_of(step.state.get("body")))
    text = step.say(f"已删除记忆 {ident}", f"Deleted memory {ident}")
    tail = step.say(f"：“{shown}”。", f": “{shown}”.") if shown else step.say("。", ".")
    return result(text + tail, {"id": ident, "changed": 1})


def _look_up(step: Step, *, page: int, before: str) -> Message:
    params = _without_empty({"limit": LIST_LIMIT[1], "before": before})
    message = _ask("read_memories", params, step.say("查看要删除的记忆", "Look up the memory to delete"))
    return {**message, "state": {"stage": "find", "page": page}}


def _ask_to_delete(step: Step, ident: str) -> Message:
    """Ask to delete the only memory whose id begins so; beyond the newest ones its text stays unknown."""
    memories = [memory_facts(row) for row in step.rows()]
    meant = [memory for memory in memories if str(memory["id"]).removeprefix("m_").startswith(ident.removeprefix("m_"))]
    page = step.state.get("page")
    page = page if isinstance(page, int) else PAGES
    if not meant and len(memories) >= LIST_LIMIT[1] and page + 1 < PAGES:
        return _look_up(step, page=page + 1, before=str(memories[-1]["id"]))
    if not meant and len(memories) < LIST_LIMIT[1]:
        raise _unknown(ident)
    if len(meant) > 1:
        names = ", ".join(str(memory["id"]) for memory in meant)
        raise Refusal(
            f"编号 {ident!r} 对应几条记忆：{names}。请写完整的编号。",
            f"The id {ident!r} fits several memories: {names}. Write one of them whole.",
        )
    body = str(meant[0]["body"]) if meant else ""
    shown = _shortened(body)
    desc = step.say(f"永久删除记忆 {ident}", f"Delete memory {ident} for good")
    if shown:
        desc = step.say(f"永久删除记忆 {ident}：“{shown}”", f"Delete memory {ident} for good: “{shown}”")
    params = _without_empty({"id": str(meant[0]["id"]) if meant else ident, "body": body})
    message = _ask("delete_memory", params, desc)
    return {**message, "state": {"stage": "delete", "body": body[:SHOWN_BODY]}}


def _shortened(body: str) -> str:
    line = " ".join(body.split())
    return line if len(line) < SHOWN_BODY else f"{line[: SHOWN_BODY - 1]}…"


COMMANDS: dict[str, Callable[[Step], Message]] = {
    "save": save,
    "search": search,
    "list": list_newest,
    "update": update,
    "delete": delete,
}


def main(envelope: Message) -> Message:
    """Serve one step of the command that is the program's first argument."""
    step = read_step(envelope)
    command = sys.argv[1] if len(sys.argv) > 1 else ""
    serve = COMMANDS.get(command)
    if serve is None:
        names = ", ".join(COMMANDS)
        text = step.say(f"没有命令 {command!r}，可用：{names}", f"no command {command!r}: {names}")
        return result(text, {}, is_error=True)
    try:
        if step.error:
            raise failed(step.error)
        return serve(step)
    except Refusal as refusal:
        return result(step.say(refusal.zh, refusal.en), refusal.facts, is_error=True)


def _ask(operation: str, params: dict[str, Any], desc: str) -> Message:
    return {"type": "db", "operation": operation, "params": params, "desc": desc}


def _without_empty(params: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if value not in ("", [])}


def _body(step: Step) -> str:
    body = step.needed("body")
    if len(body) > BODY_CHARS:
        raise Refusal(
            f"内容有 {len(body)} 字，最多 {BODY_CHARS} 字。请缩短或分成几条保存。",
            f"The text has {len(body)} characters, at most {BODY_CHARS} fit. Shorten it or save it in parts.",
        )
    return body


def _id(step: Step) -> str:
    ident = step.needed("id")
    if len(ident) < ID_CHARS:
        raise Refusal(
            f"记忆编号 {ident!r} 太短，至少 {ID_CHARS} 个字符。可先用 memory_search 或 memory_list 查到编号。",
            f"The id {ident!r} is too short: at least {ID_CHARS} characters. memory_search and memory_list show ids.",
        )
    return ident


def _unknown(ident: str) -> Refusal:
    return Refusal(
        f"没有编号为 {ident!r} 的记忆。可先用 memory_search 或 memory_list 查到编号。",
        f"There is no memory with the id {ident!r}. memory_search and memory_list show ids.",
        id=ident,
        changed=0,
    )


if __name__ == "__main__":
    line = sys.stdin.buffer.readline()
    if line:
        sys.stdout.write(json.dumps(main(json.loads(line))) + "\n")
