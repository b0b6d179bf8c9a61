"""Two messages in a row to the stand-in for a model: what the second one means after the first."""

import pytest

from ias.domain.messages import JsonObject, Message
from tests.providers.offline_talk import calls_of

UNFIT = ("这句话对不上任何工具。", "No tool fits this message.")
ONE = "与“x”有关的记忆 1 条：\n- [m_6i6wtf] 我喝咖啡不加糖 #口味 (2026-01-01 12:00+08:00)"
TWO = ONE + "\n- [m_7a7abc] 咖啡豆放在左边柜子 (2026-01-01 12:00+08:00)"

ANSWERED: list[tuple[str, str, str, JsonObject]] = [
    ("附近的停车场", "天安门", "amap_around", {"keywords": "停车场", "location": "天安门", "lang": "zh"}),
    ("天气", "北京", "weather_now", {"location": "北京", "lang": "zh"}),
    ("weather", "London", "weather_now", {"location": "London", "lang": "en"}),
    ("天气", "在上海", "weather_now", {"location": "上海", "lang": "zh"}),
    ("weather", "New York", "weather_now", {"location": "New York", "lang": "en"}),
]
NEW: list[tuple[str, str, str, JsonObject]] = [
    ("附近的停车场", "will it rain in London tomorrow", "weather_daily", {"location": "London", "lang": "en"}),
    ("天气", "现在几点", "datetime", {"lang": "zh"}),
    ("忘掉记忆", "现在几点", "datetime", {"lang": "zh"}),
    ("天气", "天安门的坐标", "amap_geocode", {"address": "天安门", "lang": "zh"}),
    (
        "how far is it from Paris to Lyon",
        "天安门的坐标",
        "amap_geocode",
        {"address": "天安门", "lang": "zh"},
    ),
    ("我的记忆", "list my memories", "memory_list", {"lang": "en"}),
    ("天气", "list my memories", "memory_list", {"lang": "en"}),
    ("weather", "when is my wife's birthday", "memory_search", {"query": "wife's birthday", "lang": "en"}),
    ("附近的停车场", "记住我的车牌是京A12345", "memory_save", {"body": "我的车牌是京A12345", "lang": "zh"}),
    ("天气", "搜索一下新能源汽车", "web_search", {"query": "新能源汽车", "lang": "zh"}),
    (
        "附近的停车场",
        "2026-01-01到2026-03-01有多少天",
        "datetime",
        {"action": "diff", "date": "2026-01-01", "end": "2026-03-01", "lang": "zh"},
    ),
    ("weather", "/tool memory_list", "memory_list", {}),
]
DROPPED = [("附近的停车场", "取消"), ("天气", "算了"), ("weather", "cancel"), ("weather", "never mind")]
NOT_AN_ANSWER = [
    ("天气", "write me a poem"),
    ("附近的停车场", "给我讲个笑话"),
    ("weather", "why is the sky blue"),
    ("天气", "我今天心情不太好因为工作上遇到了很多让人烦恼的事情"),
]


@pytest.mark.parametrize(("first", "second", "tool", "args"), ANSWERED)
async def test_a_short_answer_fills_what_was_asked_for(first: str, second: str, tool: str, args: JsonObject) -> None:
    messages: list[Message] = []
    assert (await calls_of(messages, first))[0] == []
    assert (await calls_of(messages, second))[0] == [(tool, args)]


@pytest.mark.parametrize(("first", "second", "tool", "args"), NEW)
async def test_a_new_question_is_not_taken_for_an_answer(first: str, second: str, tool: str, args: JsonObject) -> None:
    messages: list[Message] = []
    await calls_of(messages, first)
    assert (await calls_of(messages, second))[0] == [(tool, args)]


@pytest.mark.parametrize(("first", "second"), DROPPED)
async def test_a_question_of_ours_ends_with_a_word(first: str, second: str) -> None:
    messages: list[Message] = []
    await calls_of(messages, first)
    called, text = await calls_of(messages, second)
    assert (called, text in ("好的，不查了。", "All right, dropped.")) == ([], True)
    assert (await calls_of(messages, "北京"))[0] == []


@pytest.mark.parametrize(("first", "second"), NOT_AN_ANSWER)
async def test_a_sentence_is_no_answer(first: str, second: str) -> None:
    messages: list[Message] = []
    await calls_of(messages, first)
    called, text = await calls_of(messages, second)
    assert (called, text.startswith(UNFIT)) == ([], True)


async def test_an_answer_counts_only_right_after_the_question() -> None:
    messages: list[Message] = []
    await calls_of(messages, "天气")
    await calls_of(messages, "现在几点")
    assert (await calls_of(messages, "北京"))[0] == []


async def test_the_same_question_again_is_no_answer_to_the_first() -> None:
    messages: list[Message] = []
    await calls_of(messages, "附近的停车场")
    await calls_of(messages, "附近的加油站")
    assert (await calls_of(messages, "天安门"))[0] == [
        ("amap_around", {"keywords": "加油站", "location": "天安门", "lang": "zh"})
    ]


async def test_a_memory_told_by_words_is_found_and_then_deleted() -> None:
    results = {"memory_search": ONE, "memory_delete": "已删除记忆 m_6i6wtf：我喝咖啡不加糖"}
    called, text = await calls_of([], "忘掉咖啡不加糖", results)
    assert called == [
        ("memory_search", {"query": "咖啡不加糖", "lang": "zh", "limit": 20}),
        ("memory_delete", {"id": "m_6i6wtf", "lang": "zh"}),
    ]
    assert text.startswith("已删除记忆 m_6i6wtf：我喝咖啡不加糖\n\n")


async def test_several_memories_are_listed_and_none_is_deleted() -> None:
    messages: list[Message] = []
    called, text = await calls_of(messages, "忘掉咖啡", {"memory_search": TWO})
    assert called == [("memory_search", {"query": "咖啡", "lang": "zh", "limit": 20})]
    assert text == (
        "与“咖啡”有关的记忆有 2 条，没有删除。请用编号指明一条，例如：忘掉 m_6i6wtf\n"
        "- [m_6i6wtf] 我喝咖啡不加糖 #口味\n- [m_7a7abc] 咖啡豆放在左边柜子"
        "\n\n（memory_search 的结果；ias 离线应答，不是语言模型）"
    )
    assert (await calls_of(messages, "忘掉 m_7a7abc"))[0] == [("memory_delete", {"id": "m_7a7abc", "lang": "zh"})]


async def test_a_memory_that_is_not_there_is_said_not_to_be() -> None:
    called, text = await calls_of([], "forget my flight", {"memory_search": "No memory matches 'flight'."})
    assert called == [("memory_search", {"query": "flight", "lang": "en", "limit": 20})]
    assert text.startswith("No memory matches “flight”; nothing was deleted.")


async def test_memories_that_share_single_characters_are_not_meant() -> None:
    called, _ = await calls_of([], "忘掉航班", {"memory_search": ONE})
    assert [name for name, _ in called] == ["memory_search"]


async def test_a_memory_told_by_words_is_changed() -> None:
    called, _ = await calls_of([], "把我的车牌改成京B12345", {"memory_search": "1:\n- [m_abcdef] 我的车牌是京A12345"})
    assert called[1:] == [("memory_update", {"id": "m_abcdef", "body": "车牌：京B12345", "lang": "zh"})]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("delete all my memories", "Memories can be deleted one at a time only, each with an approval."),
        ("清空记忆", "记忆只能一条一条地删，每一条都要批准。"),
    ],
)
async def test_deleting_all_is_said_to_go_one_at_a_time(said: str, told: str) -> None:
    called, text = await calls_of([], said, {"memory_list": TWO})
    assert [name for name, _ in called] == ["memory_list"]
    assert text.startswith(told)
    assert "[m_7a7abc]" in text


async def test_deleting_none_in_particular_asks_which_and_waits_for_nothing() -> None:
    messages: list[Message] = []
    assert (await calls_of(messages, "Forget a memory"))[1].startswith("Which one?")
    assert (await calls_of(messages, "abcd1234"))[0] == []
