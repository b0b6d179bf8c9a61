"""The database operations of tools."""

import json
from typing import Any

import pytest

from ias.domain.tools import Permission
from ias.errors import InvalidArgumentsError
from ias.store.progress import Spawn
from ias.store.transactions.operations import OPERATIONS
from tests.store.world import World, db


class Tool:
    """A tool that does database operations one after the other."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.no = 0
        self.job: Any = None

    async def __call__(self, operation: str, **params: Any) -> Any:
        if self.job is None:
            self.job, _ = await self.world.begin_run()
        self.no += 1
        self.world.clock.move(1)
        spawn = await self.world.ask(self.job, db(operation, **params), no=self.no)
        assert isinstance(spawn, Spawn)
        return json.loads(spawn.steps[0].response or "")


@pytest.fixture
def tool(world: World) -> Tool:
    return Tool(world)


async def bodies(tool: Tool, operation: str, **params: Any) -> list[str]:
    return [row["body"] for row in (await tool(operation, **params))["rows"]]


async def test_chinese_and_latin_memories_are_found_by_their_words(tool: Tool) -> None:
    await tool("save_memory", body="我对花生过敏", tags=["健康"])
    await tool("save_memory", body="下周五飞北京的航班是 CA1234")
    await tool("save_memory", body="My sister's Café is called Blue Door")
    assert await bodies(tool, "search_memories", query="过敏吗") == ["我对花生过敏"]
    assert await bodies(tool, "search_memories", query="健康") == ["我对花生过敏"]
    assert await bodies(tool, "search_memories", query="北京 航班") == ["下周五飞北京的航班是 CA1234"]
    assert await bodies(tool, "search_memories", query="ca1234!") == ["下周五飞北京的航班是 CA1234"]
    wide = "\uff22\uff2c\uff35\uff25"
    assert await bodies(tool, "search_memories", query=wide) == ["My sister's Café is called Blue Door"]
    assert await bodies(tool, "search_memories", query="lue doo") == []
    assert await bodies(tool, "search_memories", query="?!") == []


async def test_better_and_newer_memories_come_first(tool: Tool) -> None:
    await tool("save_memory", body="北京")
    await tool("save_memory", body="京北")
    await tool("save_memory", body="去北京的航班")
    assert await bodies(tool, "search_memories", query="北京航班", limit=3) == ["去北京的航班", "北京", "京北"]
    assert await bodies(tool, "search_memories", query="北京航班", limit=1) == ["去北京的航班"]


async def test_memories_hold_any_text(tool: Tool) -> None:
    text = "quote ' \" % _ \\ \0 \ud800 \U0001f600"
    await tool("save_memory", body=text, tags=["\0\ud800"])
    row = (await tool("read_memories"))["rows"][0]
    assert (row["body"], row["tags"]) == (text, ["\0\ud800"])
    assert await bodies(tool, "search_memories", query="quote") == [text]


async def test_memories_are_listed_newest_first_page_by_page(tool: Tool) -> None:
    saved = [(await tool("save_memory", body=str(number)))["rows"][0]["id"] for number in range(3)]
    assert await bodies(tool, "read_memories", limit=2) == ["2", "1"]
    assert await bodies(tool, "read_memories", limit=2, before=saved[1]) == ["0"]
    assert (await tool("read_memories", before="m_none"))["error"]["code"] == "not_found"


async def test_a_memory_is_changed_and_deleted_by_the_beginning_of_its_id(tool: Tool) -> None:
    row = (await tool("save_memory", body="peanuts", tags=["food"]))["rows"][0]
    assert await tool("update_memory", id=row["id"][:8], body="walnuts") == {"changed": 1}
    assert await bodies(tool, "search_memories", query="peanuts") == []
    changed = (await tool("search_memories", query="walnuts food"))["rows"][0]
    assert (changed["tags"], changed["created_at"] < changed["updated_at"]) == (["food"], True)
    assert await tool("delete_memory", id=row["id"][2:8]) == {"changed": 1}
    assert (await tool("delete_memory", id=row["id"]))["error"]["code"] == "not_found"


async def test_a_memory_is_not_deleted_where_its_text_is_not_the_one_that_was_approved(tool: Tool) -> None:
    row = (await tool("save_memory", body="peanuts"))["rows"][0]
    refused = await tool("delete_memory", id=row["id"], body="walnuts")
    message = f"the memory {row['id']!r} has another text by now; look it up again"
    assert refused == {"error": {"code": "db_failed", "message": message}}
    assert await tool("delete_memory", id=row["id"], body="peanuts") == {"changed": 1}


async def test_memories_of_another_user_cannot_be_reached(tool: Tool) -> None:
    row = (await tool("save_memory", body="mine"))["rows"][0]
    tool.world.look("UPDATE memory SET user_id = 'bob'")
    assert await bodies(tool, "read_memories") == []
    assert await bodies(tool, "search_memories", query="mine") == []
    assert (await tool("update_memory", id=row["id"], body="x"))["error"]["code"] == "not_found"


async def test_a_key_value_space_keeps_any_json(tool: Tool) -> None:
    assert await tool("kv_get", key="a") == {"rows": []}
    for value in ({"x": [1, 2.5, None, "é\0"]}, "second"):
        assert await tool("kv_put", key="a", value=value) == {"changed": 1}
    await tool("kv_put", key="a%", value=None)
    rows = (await tool("kv_list", prefix="a"))["rows"]
    assert [(row["key"], row["value"]) for row in rows] == [("a", "second"), ("a%", None)]
    assert [row["key"] for row in (await tool("kv_list", prefix="a%"))["rows"]] == ["a%"]
    assert [await tool("kv_delete", key="a"), await tool("kv_delete", key="a")] == [{"changed": 1}, {"changed": 0}]


@pytest.mark.parametrize(
    ("operation", "params", "message"),
    [
        ("save_memory", {}, "'body' must be a text that is not empty, found None"),
        ("save_memory", {"body": "x" * 4001}, "'body' has 4001 characters; at most 4000 are stored"),
        ("save_memory", {"body": "x", "tag": []}, "there is no parameter 'tag'; known are body, tags"),
        ("save_memory", {"body": "x", "tags": [1]}, "'tags' must be a list of texts, found [1]"),
        ("search_memories", {"query": "x", "limit": 0}, "'limit' must be a whole number from 1 to 50, found 0"),
        ("search_memories", {"query": "x", "limit": True}, "'limit' must be a whole number from 1 to 50, found True"),
        ("update_memory", {"id": "m_12"}, "nothing to change; give 'body', 'tags' or both"),
        ("delete_memory", {"id": "m_1"}, "the id 'm_1' is too short; give at least 4 characters"),
        ("kv_put", {"key": "a"}, "'value' is missing; give any JSON value, null included"),
        ("kv_put", {"key": "a\0", "value": 1}, "'key' has characters that a name cannot have: 'a\\x00'"),
        ("kv_put", {"key": "a", "value": "x" * 65_536}, "'value' has 65538 bytes as JSON; at most 65536 are stored"),
    ],
)
def test_wrong_parameters_are_refused_with_what_is_right(operation: str, params: Any, message: str) -> None:
    with pytest.raises(InvalidArgumentsError) as caught:
        OPERATIONS[operation].check(params)
    assert str(caught.value) == message


def test_every_operation_names_its_permission_and_whether_it_deletes() -> None:
    table = {name: (operation.permission, operation.deletes) for name, operation in OPERATIONS.items()}
    assert table == {
        "save_memory": (Permission.WRITE, False),
        "search_memories": (Permission.READ, False),
        "read_memories": (Permission.READ, False),
        "update_memory": (Permission.WRITE, False),
        "delete_memory": (Permission.DELETE, True),
        "kv_get": (Permission.READ, False),
        "kv_list": (Permission.READ, False),
        "kv_put": (Permission.WRITE, False),
        "kv_delete": (Permission.DELETE, True),
    }
