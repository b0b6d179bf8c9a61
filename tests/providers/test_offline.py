"""The stand-in for a model: greetings, failures, calls by name, catalogues that cannot be read."""

import json

import pytest

from ias.domain.messages import AssistantMessage, JsonObject, Message, ToolDef, ToolMessage, UserMessage
from tests.providers.offline_talk import drive, next_of


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
    ("said", "result", "told"),
    [
        (
            "北京到广州有多远",
            "error (approval_denied): the person was asked and said no: do not try this again",
            "amap_distance 没有成功：请求没有得到批准，所以没有做。",
        ),
        (
            "How far is Berlin from Paris",
            "error http_failed: the host 'x' has no address",
            "amap_distance did not succeed: no network or DNS; run `ias doctor --online`.",
        ),
        (
            "How far is Berlin from Paris",
            'error (invalid_arguments): amap_distance: bad. Its parameters: {"type":"object"}',
            (
                "amap_distance did not succeed: what was asked for could not be read. "
                'Say it like this: "How far is Berlin from Paris".'
            ),
        ),
        (
            "北京到广州有多远",
            "error (tool_failed): 没有找到“广州”。",
            "amap_distance 没有成功：没有找到“广州”。",
        ),
        (
            "How far is Berlin from Paris",
            "error (killed): exit code 1",
            "amap_distance did not succeed: the tool's program failed; `ias logs error` has the details.",
        ),
        ("How far is Berlin from Paris", "set AMAP_KEY first", "amap_distance did not succeed: set AMAP_KEY first"),
        (
            "How far is Berlin from Paris",
            "error (tool_failed): 打不开\nIt is closed.",
            "amap_distance did not succeed: It is closed.",
        ),
    ],
)
async def test_a_failure_is_told_in_plain_words(said: str, result: str, told: str) -> None:
    messages: list[Message] = []
    await drive(messages, said, result, is_error=True)
    assert isinstance(messages[-1], AssistantMessage)
    assert messages[-1].text.partition("\n\n")[0] == told


@pytest.mark.parametrize("said", ["你好", "你好！", "你能做什么", "帮助"])
async def test_a_greeting_is_answered_with_what_this_is(said: str) -> None:
    assert await drive([], said) == (
        "这里是 ias 的离线应答：按规则把问题交给工具，不是语言模型。可以这样问：\n"
        "- 北京现在天气怎么样\n- 离春节还有几天\n- 记住我喜欢喝美式咖啡\n- 北京到上海有多远\n"
        "- 搜索一下新能源汽车的最新政策\n"
        "要用语言模型：在 .env 里设置 DEEPSEEK_API_KEY，再重启 ias serve。"
    )


@pytest.mark.parametrize("said", ["hello", "Hi there", "help", "What can you do?", "/help"])
async def test_a_greeting_in_english_is_answered_in_english(said: str) -> None:
    assert await drive([], said) == (
        "This is ias answering offline: it fits questions to tools by rules, it is not a language model. Try:\n"
        "- What is the weather in London right now\n- How many days until Christmas\n"
        "- Remember that my flight is on Friday\n- How far is Berlin from Paris\n"
        "- Search the web for golang tutorials\n"
        "To use a language model, set DEEPSEEK_API_KEY in .env and restart ias serve."
    )


@pytest.mark.parametrize(
    ("said", "told"), [("谢谢", "不客气。"), ("Thanks!", "You are welcome."), ("算了", "好的，不查了。")]
)
async def test_a_courtesy_is_answered_shortly(said: str, told: str) -> None:
    assert await drive([], said) == told


async def test_a_tool_that_comes_near_is_described_in_the_language_of_the_question() -> None:
    text = await drive([], "sunrise and sunset please kittens elephants giraffes zebras lions tigers")
    assert isinstance(text, str)
    assert text.startswith(
        "No tool fits this message. The nearest are:\n- weather_daily: The daily forecast for a place"
    )
    assert not any("\u4e00" <= char <= "\u9fff" for char in text)


async def test_a_missing_value_is_asked_for_and_taken_from_the_reply() -> None:
    messages: list[Message] = []
    assert (
        await drive(messages, "附近的停车场")
        == "amap_around 还需要“location”（中心：地名、地址或“经度,纬度”）。请直接回复它，或说“取消”。"
    )
    assert await drive(messages, "天安门") == (
        "amap_around",
        {"keywords": "停车场", "location": "天安门", "lang": "zh"},
    )


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
    await drive(messages, "weather")
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
