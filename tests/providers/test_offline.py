"""The stand-in for a model: everyday questions to the project's own tools, by rules alone."""

import json

import pytest

from ias.catalogue import Catalogue
from ias.domain.messages import (
    AssistantMessage,
    ChatResponse,
    FinishReason,
    JsonObject,
    Message,
    MessageRequest,
    TextChunk,
    ToolDef,
    ToolMessage,
    Usage,
    UserMessage,
)
from ias.providers.offline import OfflineProvider
from tests.providers.tool_catalogue import catalogue_answer, entries

META = (ToolDef(name="query_capabilities"), ToolDef(name="call_capability"))
ENTRIES = entries()
CATALOGUE = Catalogue(ENTRIES)


async def next_of(messages: list[Message], tools: tuple[ToolDef, ...] = META) -> AssistantMessage:
    """Give the provider's next message, checking that its stream has the form of any provider's."""
    items = [
        item async for item in OfflineProvider().stream(MessageRequest(model="", messages=tuple(messages), tools=tools))
    ]
    response = items[-1]
    assert isinstance(response, ChatResponse)
    assert (response.usage, response.model) == (Usage(), "offline")
    assert items[:-1] == ([TextChunk(text=response.message.text)] if response.message.text else [])
    assert response.stop_reason is (FinishReason.TOOL_CALLS if response.message.calls else FinishReason.STOP)
    return response.message


async def drive(
    messages: list[Message], said: str, result: str = "42", *, is_error: bool = False
) -> tuple[str, JsonObject] | str:
    """Take one turn; give the tool and arguments that were called, or the text of a turn without a call."""
    called: tuple[str, JsonObject] | None = None
    messages.append(UserMessage(text=said))
    while True:
        message = await next_of(messages)
        messages.append(message)
        if not message.calls:
            return called or message.text
        (call,) = message.calls
        args = json.loads(call.arguments)
        if call.name == "query_capabilities":
            text = catalogue_answer(args["query"], CATALOGUE)
            messages.append(ToolMessage(call_id=call.id, name=call.name, text=text))
        else:
            assert (call.name, sorted(args)) == ("call_capability", ["name", "prompt"])
            called = (args["name"], json.loads(args["prompt"]))
            messages.append(ToolMessage(call_id=call.id, name=call.name, text=result, is_error=is_error))


IMPLIED = {"lang", "days", "hours", "action", "source"}
"""What a tool file's examples may set without the sentence naming it."""
QUESTIONS: list[tuple[str, str, JsonObject]] = [
    ("现在几点", "datetime", {}),
    ("几点了？", "datetime", {}),
    ("今天星期几", "datetime", {}),
    ("东京现在几点", "datetime", {"timezone": "东京"}),
    ("现在纽约几点", "datetime", {"timezone": "纽约"}),
    ("离中秋还有几天", "datetime", {"action": "until", "festival": "中秋"}),
    ("5个工作日后是几号", "datetime", {"action": "add", "amount": 5, "unit": "business_days"}),
    ("what time is it", "datetime", {}),
    ("What time is it in Berlin right now?", "datetime", {"timezone": "Berlin", "action": "now"}),
    ("how many days until Halloween", "datetime", {"action": "until", "festival": "Halloween"}),
    ("北京现在天气怎么样", "weather_now", {"location": "北京"}),
    ("现在北京的天气怎么样？", "weather_now", {"location": "北京"}),
    ("weather in Berlin", "weather_now", {"location": "Berlin"}),
    ("What's the weather like in New York?", "weather_now", {"location": "New York"}),
    ("How is the weather in Tokyo right now", "weather_now", {"location": "Tokyo"}),
    ("成都明天会下雨吗", "weather_daily", {"location": "成都"}),
    ("广州未来五天天气", "weather_daily", {"location": "广州", "days": 5}),
    ("What will the weather be in Madrid over the next 3 days", "weather_daily", {"location": "Madrid", "days": 3}),
    ("重庆接下来6小时天气怎么样", "weather_hourly", {"location": "重庆", "hours": 6}),
    ("When will it rain in Oslo tonight", "weather_hourly", {"location": "Oslo"}),
    ("从清华大学到颐和园怎么走", "amap_route", {"origin": "清华大学", "destination": "颐和园"}),
    ("请问从清华大学坐地铁到西单多久", "amap_route", {"origin": "清华大学", "destination": "西单", "mode": "transit"}),
    (
        "我想从北京南站走路去天安门，怎么走",
        "amap_route",
        {"origin": "北京南站", "destination": "天安门", "mode": "walking"},
    ),
    ("打车从机场到酒店怎么走", "amap_route", {"origin": "机场", "destination": "酒店", "mode": "driving"}),
    (
        "Walk from Times Square to Central Park",
        "amap_route",
        {"origin": "Times Square", "destination": "Central Park", "mode": "walking"},
    ),
    ("北京到广州有多远", "amap_distance", {"origin": "北京", "destination": "广州"}),
    ("上海离杭州多远？", "amap_distance", {"origin": "上海", "destination": "杭州"}),
    (
        "How far is London from Paris?",
        "amap_distance",
        {"origin": "London", "destination": "Paris", "source": "openstreetmap"},
    ),
    ("天坛附近有厕所吗", "amap_around", {"location": "天坛", "keywords": "厕所"}),
    ("故宫附近的咖啡馆", "amap_around", {"location": "故宫", "keywords": "咖啡馆"}),
    ("Find pharmacies near Alexanderplatz", "amap_around", {"location": "Alexanderplatz", "keywords": "pharmacies"}),
    ("在上海找复旦大学", "amap_search", {"city": "上海", "keywords": "复旦大学"}),
    ("Find a museum in Munich", "amap_search", {"city": "Munich", "keywords": "museum", "source": "openstreetmap"}),
    ("深圳市南山区科技园的经纬度是多少", "amap_geocode", {"address": "深圳市南山区科技园"}),
    (
        "What are the coordinates of the Eiffel Tower",
        "amap_geocode",
        {"address": "Eiffel Tower", "source": "openstreetmap"},
    ),
    ("坐标 121.47,31.23 是哪里", "amap_regeocode", {"location": "121.47,31.23"}),
    ("What address is at 2.2945,48.8584", "amap_regeocode", {"location": "2.2945,48.8584", "source": "openstreetmap"}),
    ("记住我喜欢喝美式咖啡", "memory_save", {"body": "我喜欢喝美式咖啡"}),
    ("请记一下：我的车牌是京A12345", "memory_save", {"body": "我的车牌是京A12345"}),
    ("Remember that I am allergic to penicillin", "memory_save", {"body": "I am allergic to penicillin"}),
    ("你还记得我的航班吗", "memory_search", {"query": "航班"}),
    ("你记得我喜欢喝什么吗", "memory_search", {"query": "喜欢喝"}),
    ("Do you remember my birthday", "memory_search", {"query": "birthday"}),
    ("你都记住了什么", "memory_list", {}),
    ("List my memories", "memory_list", {}),
    ("忘掉记忆 1234abcd", "memory_delete", {"id": "1234abcd"}),
    ("Forget memory abcd1234", "memory_delete", {"id": "abcd1234"}),
    ("把记忆 7f3a91c2 改成“我只喝茶”", "memory_update", {"id": "7f3a91c2", "body": "我只喝茶"}),
    ('Change memory aa11bb22 to "tea only"', "memory_update", {"id": "aa11bb22", "body": "tea only"}),
    ("搜索一下量子计算的最新进展", "web_search", {"query": "量子计算的最新进展"}),
    ("帮我搜一下 python 3.14 新特性", "web_search", {"query": "python 3.14 新特性"}),
    ("最近一周有什么航天新闻", "web_search", {"query": "航天新闻", "freshness": "week"}),
    ("search the web for rust async tutorials", "web_search", {"query": "rust async tutorials"}),
    ("find five pages about sourdough bread", "web_search", {"query": "sourdough bread", "count": 5}),
    ("打开 https://www.example.org/ 看看", "fetch_page", {"url": "https://www.example.org/"}),
    ("总结一下 https://example.com/a?b=1&c=2", "fetch_page", {"url": "https://example.com/a?b=1&c=2"}),
    (
        "把这个网页里的链接列出来 https://news.example.com/",
        "fetch_page",
        {"url": "https://news.example.com/", "format": "links"},
    ),
    ("read the page https://www.python.org/about/", "fetch_page", {"url": "https://www.python.org/about/"}),
    (
        "fetch https://docs.python.org/3/ as markdown",
        "fetch_page",
        {"url": "https://docs.python.org/3/", "format": "markdown"},
    ),
]


@pytest.mark.parametrize(("said", "tool", "args"), QUESTIONS, ids=[question[0] for question in QUESTIONS])
async def test_an_everyday_question_calls_the_right_tool(said: str, tool: str, args: JsonObject) -> None:
    called = await drive([], said)
    assert isinstance(called, tuple)
    chosen, given = called
    said_by_example = {key: value for key, value in given.items() if key in IMPLIED and key not in args}
    assert (chosen, given) == (tool, {**args, **said_by_example})


async def test_the_language_of_the_question_is_passed_on() -> None:
    assert await drive([], "List my memories") == ("memory_list", {"lang": "en"})
    assert await drive([], "你都记住了什么") == ("memory_list", {"lang": "zh"})


async def test_a_result_is_passed_on_with_its_source() -> None:
    messages: list[Message] = []
    await drive(messages, "北京到广州有多远", "约 1890 公里\n")
    assert messages[-1] == AssistantMessage(text="约 1890 公里\n\n（amap_distance 的结果；ias 离线应答，不是语言模型）")
    await drive(messages, "How far is Berlin from Paris", "878 km")
    assert messages[-1] == AssistantMessage(
        text="878 km\n\n(from amap_distance; ias answers offline, this is not a language model)"
    )


@pytest.mark.parametrize(
    ("said", "result", "words"),
    [
        ("北京到广州有多远", "error approval_denied: no", "amap_distance 没有成功：这次请求没有得到批准（no）"),
        (
            "How far is Berlin from Paris",
            "error http_failed: refused",
            "did not succeed: the service could not be reached (refused)",
        ),
        ("How far is Berlin from Paris", "set AMAP_KEY first", "amap_distance did not succeed: set AMAP_KEY first"),
    ],
)
async def test_a_failure_is_told_in_plain_words(said: str, result: str, words: str) -> None:
    messages: list[Message] = []
    await drive(messages, said, result, is_error=True)
    assert isinstance(messages[-1], AssistantMessage)
    assert words in messages[-1].text


@pytest.mark.parametrize("said", ["你好", "你好！", "hello", "Hi there", "你能做什么", "help", "What can you do?"])
async def test_a_greeting_is_answered_with_what_this_is(said: str) -> None:
    text = await drive([], said)
    assert isinstance(text, str)
    assert "DEEPSEEK_API_KEY" in text
    assert "不是语言模型" in text or "not a language model" in text
    assert all(f"- {entry.name}" in text for entry in ENTRIES)


@pytest.mark.parametrize("said", ["给我讲个笑话", "what is the meaning of life", "😀", "…"])
async def test_what_no_tool_fits_is_said_honestly(said: str) -> None:
    text = await drive([], said)
    assert isinstance(text, str)
    assert text.startswith(("这句话对不上任何工具。", "No tool fits this message."))
    assert "/tool" in text


async def test_a_missing_value_is_asked_for_and_taken_from_the_reply() -> None:
    messages: list[Message] = []
    assert (
        await drive(messages, "忘掉记忆")
        == "memory_delete 还需要“id”（记忆编号，或它开头的至少 4 个字符）。请直接回复它。"
    )
    assert await drive(messages, "abcd1234") == ("memory_delete", {"id": "abcd1234", "lang": "zh"})


async def test_values_are_asked_for_one_after_the_other() -> None:
    messages: list[Message] = []
    first = await drive(messages, "帮我查路线")
    second = await drive(messages, "清华大学")
    assert isinstance(first, str)
    assert isinstance(second, str)
    assert first.startswith("amap_route 还需要“origin”（起点")
    assert second.startswith("amap_route 还需要“destination”（终点")
    assert await drive(messages, "在北京大学") == (
        "amap_route",
        {"origin": "清华大学", "destination": "北京大学", "lang": "zh"},
    )


async def test_a_question_of_ours_can_be_dropped() -> None:
    messages: list[Message] = []
    await drive(messages, "Forget a memory")
    assert await drive(messages, "never mind") == "All right, dropped."


@pytest.mark.parametrize(
    ("said", "called"),
    [
        ("/tool memory_list", ("memory_list", {})),
        ('/tool memory_save body="a b = c" tags=["x","y"]', ("memory_save", {"body": "a b = c", "tags": ["x", "y"]})),
        ("/tool  web_search query=“量子 计算” count=3", ("web_search", {"query": "量子 计算", "count": "3"})),
        (
            "/tool fetch_page url=https://example.com/?a=b format=",
            ("fetch_page", {"url": "https://example.com/?a=b", "format": ""}),
        ),
    ],
)
async def test_a_tool_can_be_called_by_name(said: str, called: tuple[str, JsonObject]) -> None:
    assert await drive([], said) == called


@pytest.mark.parametrize("said", ["/tool", "/tool =3", "/tool web_search 量子", '/tool web_search query="open'])
async def test_a_call_by_name_that_cannot_be_read_shows_how_to_write_it(said: str) -> None:
    text = await drive([], said)
    assert isinstance(text, str)
    assert "/tool" in text


async def test_tools_offered_without_a_catalogue_are_called_directly() -> None:
    schema: JsonObject = {"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]}
    tool = ToolDef(name="read_page", description="Read a web page", parameters=schema)
    message = await next_of([UserMessage(text="read the page https://example.com/")], (tool,))
    assert [(call.name, json.loads(call.arguments)) for call in message.calls] == [
        ("read_page", {"url": "https://example.com/"})
    ]


@pytest.mark.parametrize(
    "text", ["", "nonsense", "[]", '{"details": [1, {"name": 3}], "tools": "x", "index": {"a": 1}}']
)
async def test_a_catalogue_that_cannot_be_read_does_no_harm(text: str) -> None:
    messages: list[Message] = [UserMessage(text="北京到广州有多远")]
    message = await next_of(messages)
    while message.calls:
        (call,) = message.calls
        messages += [message, ToolMessage(call_id=call.id, name=call.name, text=text)]
        message = await next_of(messages)
    assert message.text.startswith("这句话对不上任何工具。")
    assert len(messages) in (3, 5)


async def test_no_message_at_all_is_survived() -> None:
    assert (await next_of([])).calls[0].name == "query_capabilities"


async def test_call_ids_do_not_repeat_within_a_conversation() -> None:
    messages: list[Message] = []
    for _ in range(3):
        await drive(messages, "北京到广州有多远")
    ids = [call.id for message in messages if isinstance(message, AssistantMessage) for call in message.calls]
    assert len({*ids}) == len(ids) == 6
