"""The memories tool: what it asks the store for, and what it says about the answers."""

import json
from typing import Any

import pytest

from tests.tools import host
from tests.tools.host import Message, run_line, spec, specs_of

NOON = 1_767_240_000_000  # 2026-01-01 04:00 UTC, noon in China
PEANUTS = {"id": "7f3a91c2d4e5", "body": "我对花生过敏", "tags": ["健康"], "created_at": NOON, "updated_at": NOON}
FLIGHT = {"id": "91c27f3a0000", "body": "Flight on Friday", "tags": [], "created_at": NOON, "updated_at": NOON + 60_000}
PEANUTS_FACTS = PEANUTS | {"created_at": "2026-01-01T12:00+08:00", "updated_at": "2026-01-01T12:00+08:00"}
FLIGHT_FACTS = FLIGHT | {"created_at": "2026-01-01T12:00+08:00", "updated_at": "2026-01-01T12:01+08:00"}


def serve(command: str, params: Any, **more: Any) -> Message:
    """Serve one step in the zone of China: the tool shows instants in local time."""
    return host.serve("memory_list", {"params": params, **more}, {"TZ": "Asia/Shanghai"}, command=command)


def error(command: str, params: Message, **more: Any) -> str:
    message = serve(command, params, **more)
    assert (message["type"], message.get("is_error")) == ("result", True)
    return str(message["content"])


@pytest.mark.parametrize(
    ("command", "params", "operation", "asked", "desc"),
    [
        (
            "save",
            {"body": " 我对花生过敏 ", "tags": ["健康", "", "健康"]},
            "save_memory",
            {"body": "我对花生过敏", "tags": ["健康"]},
            "保存一条记忆",
        ),
        ("save", {"body": "x", "tags": []}, "save_memory", {"body": "x"}, "Save a memory"),
        ("search", {"query": "过敏"}, "search_memories", {"query": "过敏", "limit": 10}, "查找关于“过敏”的记忆"),
        (
            "search",
            {"query": "x", "limit": 500},
            "search_memories",
            {"query": "x", "limit": 50},
            "Search the memories for 'x'",
        ),
        ("list", {}, "read_memories", {"limit": 20}, "List the memories"),
        (
            "list",
            {"limit": 0, "before": "7f3a", "lang": "zh"},
            "read_memories",
            {"limit": 1, "before": "7f3a"},
            "列出记忆",
        ),
        (
            "update",
            {"id": "7f3a", "body": "我对虾过敏"},
            "update_memory",
            {"id": "7f3a", "body": "我对虾过敏"},
            "修改记忆 7f3a",
        ),
        ("update", {"id": "7f3a", "tags": []}, "update_memory", {"id": "7f3a", "tags": []}, "Change memory 7f3a"),
    ],
)
def test_each_command_asks_the_store_for_one_operation(
    command: str, params: Message, operation: str, asked: Message, desc: str
) -> None:
    assert serve(command, params) == {"type": "db", "operation": operation, "params": asked, "desc": desc}


def test_a_saved_memory_is_confirmed_with_its_id() -> None:
    message = serve("save", {"body": "我对花生过敏", "tags": ["健康"]}, db_response={"rows": [PEANUTS]})

    assert message == {
        "type": "result",
        "content": "已记住（7f3a91c2）：我对花生过敏",
        "data": {"memory": PEANUTS_FACTS},
    }


def test_found_memories_are_listed_with_id_tags_and_local_time() -> None:
    message = serve("search", {"query": "过敏 flight"}, db_response={"rows": [PEANUTS, FLIGHT]})

    assert message == {
        "type": "result",
        "content": (
            "与“过敏 flight”有关的记忆 2 条：\n"
            "- [7f3a91c2] 我对花生过敏 #健康 (2026-01-01 12:00+08:00)\n"
            "- [91c27f3a] Flight on Friday (2026-01-01 12:01+08:00)"
        ),
        "data": {"query": "过敏 flight", "memories": [PEANUTS_FACTS, FLIGHT_FACTS]},
    }


def test_finding_nothing_is_an_answer_and_no_error() -> None:
    assert serve("search", {"query": "cats"}, db_response={"rows": []}) == {
        "type": "result",
        "content": "No memory matches 'cats'.",
        "data": {"query": "cats", "memories": []},
    }


def test_a_list_speaks_the_language_of_its_memories() -> None:
    message = serve("list", {}, db_response={"rows": [PEANUTS]})

    assert message["content"] == "记忆 1 条，新的在前：\n- [7f3a91c2] 我对花生过敏 #健康 (2026-01-01 12:00+08:00)"
    assert message["data"] == {"memories": [PEANUTS_FACTS], "next_before": None}


def test_a_full_list_says_how_to_go_on() -> None:
    message = serve("list", {"limit": 1}, db_response={"rows": [FLIGHT]})

    assert message["content"] == (
        "Memories, newest first: 1\n"
        "- [91c27f3a] Flight on Friday (2026-01-01 12:01+08:00)\n"
        "There may be older ones: before=91c27f3a0000"
    )
    assert message["data"]["next_before"] == "91c27f3a0000"


@pytest.mark.parametrize(
    ("params", "content"),
    [
        ({}, "There are no memories yet."),
        ({"lang": "zh"}, "还没有任何记忆。"),
        ({"before": "7f3a"}, "There are no older memories."),
    ],
)
def test_an_empty_list_is_an_answer_and_no_error(params: Message, content: str) -> None:
    assert serve("list", params, db_response={"rows": []}) == {
        "type": "result",
        "content": content,
        "data": {"memories": [], "next_before": None},
    }


def test_ids_that_begin_alike_are_shown_whole() -> None:
    rows = [FLIGHT | {"id": "7f3a91c2-1"}, FLIGHT | {"id": "7f3a91c2-2"}]

    lines = serve("list", {}, db_response={"rows": rows})["content"].splitlines()

    assert [line.split("]")[0] for line in lines[1:]] == ["- [7f3a91c2-1", "- [7f3a91c2-2"]


def test_a_long_memory_is_shortened_in_the_list_and_whole_in_the_facts() -> None:
    message = serve("list", {}, db_response={"rows": [FLIGHT | {"body": "word\n" * 200}]})

    assert message["content"].splitlines()[1] == (
        f"- [91c27f3a] {'word ' * 60}... (999 characters) (2026-01-01 12:01+08:00)"
    )
    assert len(message["data"]["memories"][0]["body"]) == 999


def test_a_changed_memory_is_confirmed() -> None:
    assert serve("update", {"id": "7f3a", "body": "我对虾过敏"}, db_response={"changed": 1}) == {
        "type": "result",
        "content": "已更新记忆 7f3a：我对虾过敏",
        "data": {"id": "7f3a", "changed": 1, "body": "我对虾过敏"},
    }
    assert serve("update", {"id": "7f3a", "tags": []}, db_response={"changed": 1}) == {
        "type": "result",
        "content": "Updated the tags of 7f3a: none",
        "data": {"id": "7f3a", "changed": 1, "tags": []},
    }


LOOK_UP: Message = {"type": "db", "operation": "read_memories", "params": {"limit": 100}, "desc": "查看要删除的记忆"}


def test_a_memory_is_read_before_it_is_deleted_so_that_its_text_can_be_approved() -> None:
    params = {"id": "7f3a", "lang": "zh"}
    first = serve("delete", params)
    assert first == LOOK_UP | {"state": {"stage": "find", "page": 0}}

    second = serve("delete", params, db_response={"rows": [FLIGHT, PEANUTS]}, state=first["state"])
    assert second == {
        "type": "db",
        "operation": "delete_memory",
        "params": {"id": "7f3a91c2d4e5", "body": "我对花生过敏"},
        "desc": "永久删除记忆 7f3a：“我对花生过敏”",
        "state": {"stage": "delete", "body": "我对花生过敏"},
    }

    third = serve("delete", params, db_response={"changed": 1}, state=second["state"])
    assert third["content"] == "已删除记忆 7f3a：“我对花生过敏”。"


@pytest.mark.parametrize(
    ("rows", "content"),
    [
        ([FLIGHT], "There is no memory with the id '7f3a'. memory_search and memory_list show ids."),
        ([], "There is no memory with the id '7f3a'. memory_search and memory_list show ids."),
        (
            [{**FLIGHT, "id": "m_7f3a0"}, {**FLIGHT, "id": "m_7f3a1"}],
            "The id '7f3a' fits several memories: m_7f3a0, m_7f3a1. Write one of them whole.",
        ),
    ],
)
def test_nothing_is_deleted_where_an_id_does_not_fit_one_memory(rows: Any, content: str) -> None:
    state = {"stage": "find", "page": 0}
    assert error("delete", {"id": "7f3a", "lang": "en"}, db_response={"rows": rows}, state=state) == content


def test_an_old_memory_is_looked_for_page_by_page_and_in_the_end_deleted_by_its_id_alone() -> None:
    rows = [{**FLIGHT, "id": f"m_{number:04}"} for number in range(100)]
    params, state = {"id": "m_zzzz", "lang": "en"}, {"stage": "find", "page": 0}
    for page in range(1, 5):
        asked = serve("delete", params, db_response={"rows": rows}, state=state)
        state = asked["state"]
        assert (asked["params"], state) == ({"limit": 100, "before": "m_0099"}, {"stage": "find", "page": page})
    asked = serve("delete", params, db_response={"rows": rows}, state=state)
    assert (asked["operation"], asked["params"]) == ("delete_memory", {"id": "m_zzzz"})


def test_a_deleted_memory_is_confirmed() -> None:
    assert serve("delete", {"id": "7f3a", "lang": "zh"}, db_response={"changed": 1}) == {
        "type": "result",
        "content": "已删除记忆 7f3a。",
        "data": {"id": "7f3a", "changed": 1},
    }


@pytest.mark.parametrize(("command", "more"), [("update", {"body": "x"}), ("delete", {})])
def test_an_unknown_id_is_said_to_be_unknown(command: str, more: Message) -> None:
    assert serve(command, {"id": "7f3a", **more}, db_response={"changed": 0}) == {
        "type": "result",
        "content": "There is no memory with the id '7f3a'. memory_search and memory_list show ids.",
        "data": {"id": "7f3a", "changed": 0},
        "is_error": True,
    }


@pytest.mark.parametrize(
    ("failure", "content"),
    [
        (
            {"code": "db_failed", "message": "id '7f3a' fits 2 memories"},
            "The memory operation failed: id '7f3a' fits 2 memories (db_failed).",
        ),
        ({"code": "db_failed"}, "The memory operation failed: db_failed (db_failed)."),
        ("disk full", "The memory operation failed: disk full (db_failed)."),
        ({}, "The memory operation failed: db_failed (db_failed)."),
    ],
)
@pytest.mark.parametrize("command", ["save", "search", "list", "update", "delete"])
def test_an_error_of_the_store_is_told_in_its_own_words(command: str, failure: Any, content: str) -> None:
    params = {"id": "7f3a", "body": "x", "query": "x"}

    assert error(command, params, db_response={"error": failure}) == content


@pytest.mark.parametrize(
    ("command", "params", "content"),
    [
        ("save", {}, "The parameter body is missing."),
        ("save", {"body": " ", "lang": "zh"}, "缺少参数 body。"),
        (
            "save",
            {"body": "x" * 4001},
            "The text has 4001 characters, at most 4000 fit. Shorten it or save it in parts.",
        ),
        ("search", {"query": []}, "The parameter query is missing."),
        ("update", {"body": "x"}, "The parameter id is missing."),
        (
            "update",
            {"id": "7f3a", "body": ""},
            "There is nothing to change: give body (the new text) or tags (the new tags).",
        ),
        (
            "delete",
            {"id": "7f3"},
            "The id '7f3' is too short: at least 4 characters. memory_search and memory_list show ids.",
        ),
        ("forget", {}, "no command 'forget': save, search, list, update, delete"),
    ],
)
def test_a_wrong_call_is_told_what_is_wrong_before_the_store_is_asked(
    command: str, params: Message, content: str
) -> None:
    assert error(command, params) == content


@pytest.mark.parametrize(
    "row", [{}, {"id": 12345, "body": None, "tags": "x", "created_at": "soon", "updated_at": 1e30}, {"tags": [1, None]}]
)
def test_a_row_with_holes_is_still_listed(row: Message) -> None:
    message = serve("list", {}, db_response={"rows": [row, "no row"]})

    assert len(message["data"]["memories"]) == 1
    assert message["content"].startswith("Memories, newest first: 1\n- [")


def test_a_memory_may_have_4000_characters() -> None:
    assert serve("save", {"body": "x" * 4000})["params"] == {"body": "x" * 4000}


@pytest.mark.parametrize("tool", specs_of("memories"), ids=lambda tool: str(tool["name"]))
def test_the_examples_of_a_spec_ask_the_store(tool: Message) -> None:
    asked = [serve(tool["command"], example["params"])["type"] for example in tool["examples"]]

    assert (set(asked), len(asked) >= 2) == ({"db"}, True)


def test_a_store_that_returns_no_row_has_not_saved() -> None:
    for answer in ({"rows": []}, {}, None, {"rows": None}):
        assert error("save", {"body": "x"}, db_response=answer) == "It was not saved: the store returned no row."


def test_the_program_reads_one_line_and_prints_one_line() -> None:
    code, out, err = run_line(spec("memory_save"), json.dumps({"params": {"body": "记住 \ud800"}}) + "\n", {})

    assert (code, err, out.count("\n")) == (0, "", 1)
    assert json.loads(out)["params"] == {"body": "记住 \ud800"}


def test_the_program_ends_quietly_without_a_line() -> None:
    assert run_line(spec("memory_list"), "", {}) == (0, "", "")
