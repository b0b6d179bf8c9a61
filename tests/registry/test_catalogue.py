"""The catalogue: names first, then words in Chinese and English, and never nothing."""

from pathlib import Path

import pytest

from ias.catalogue import DETAILS, INDEX_CHARS, SIGNATURES, Catalogue, Entry, signature
from ias.domain.messages import JsonObject
from ias.domain.tools import Example
from ias.toolspec.scanning import scan

PROJECT = Path(__file__).resolve().parents[2]
LOCATION: JsonObject = {
    "type": "object",
    "properties": {"location": {"type": "string"}, "lang": {"type": "string", "enum": ["zh", "en"]}, "any": {}},
    "required": ["location"],
}


def entry(name: str, desc: str = "", *keywords: str, parameters: JsonObject | None = None) -> Entry:
    return Entry(name=name, desc=desc, parameters=parameters or {"type": "object", "properties": {}}, keywords=keywords)


def shipped() -> Catalogue:
    return Catalogue(
        Entry(name=s.name, desc=s.desc, parameters=s.parameters, keywords=s.keywords, examples=s.examples)
        for s in scan([PROJECT / "tools"], project=PROJECT).specs
    )


def names(answer: JsonObject, part: str = "tools") -> list[str]:
    listed = answer.get(part, [])
    assert isinstance(listed, list)
    return [str(item["name"]) for item in listed if isinstance(item, dict)]


def test_a_hit_has_a_signature_and_the_best_have_everything() -> None:
    weather = Entry(
        name="weather_now",
        desc="实时天气\nmore words",
        parameters=LOCATION,
        keywords=("天气",),
        examples=(Example(ask="北京天气", params={"location": "北京"}),),
    )

    assert Catalogue([weather, entry("datetime", "时间")]).search("天气") == {
        "tools": [
            {
                "name": "weather_now",
                "desc": "实时天气",
                "call": "weather_now(location: string, lang?: zh|en, any?: any)",
            }
        ],
        "details": [
            {
                "name": "weather_now",
                "desc": "实时天气\nmore words",
                "parameters": LOCATION,
                "examples": [{"ask": "北京天气", "params": {"location": "北京"}}],
            }
        ],
        "hint": "details has the arguments of the best hits; "
        "call_capability(name, prompt) calls one, prompt being them as JSON",
    }


@pytest.mark.parametrize("query", ["", "   ", "qwerty zzz", "播放音乐", "？！"])
def test_no_good_hit_gives_the_index_of_all_tools(query: str) -> None:
    answer = Catalogue([entry("b", "two\nlines"), entry("a", "x" * 99)]).search(query)

    assert answer["index"] == [{"name": "a", "desc": "x" * 79 + "…"}, {"name": "b", "desc": "two"}]
    assert set(answer) == {"index", "hint"}


def test_an_empty_catalogue_answers_too() -> None:
    assert Catalogue([]).search("天气")["index"] == []
    assert (Catalogue([]).index_text(), Catalogue([]).near("x")) == ("none", ())


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("weather_now", "weather_now"),
        ("Weather-Now", "weather_now"),
        ("weather now", "weather_now"),
        ("now", "weather_now"),
        ("please run weather_now for me", "weather_now"),
        ("list_issues", "github.list_issues"),
    ],
)
def test_a_name_or_its_end_comes_before_every_other_hit(query: str, first: str) -> None:
    catalogue = Catalogue(
        [
            entry("aaa", "weather now weather now please run list issues", "weather", "now", "list issues"),
            entry("weather_now", "something else"),
            entry("github.list_issues", "something else"),
        ]
    )

    assert names(catalogue.search(query))[0] == first


def test_single_characters_and_pairs_of_chinese_both_count() -> None:
    catalogue = Catalogue([entry("rain", "会不会下雨"), entry("river", "江河上下"), entry("late", "晚了")])

    assert names(catalogue.search("下雨吗")) == ["rain"]
    assert names(catalogue.search("雨在下"))[0] == "rain"
    assert names(catalogue.search("晚")) == ["late"]
    assert "index" in catalogue.search("晚上好")


def test_a_tool_is_listed_once_and_noise_is_left_out() -> None:
    strong = entry("weather_now", "weather now forecast rain")
    weak = entry("city_guide", "streets and squares, parks and museums, and now and then a market", "streets", "parks")
    catalogue = Catalogue([strong, weak, *(entry(f"other_{n}", "now then") for n in range(5))])

    assert names(catalogue.search("weather forecast rain now")) == ["weather_now"]
    assert names(catalogue.search("weather_now")).count("weather_now") == 1


def test_english_plurals_are_found_and_filler_words_are_not() -> None:
    catalogue = Catalogue([entry("places", "search a place"), entry("the_is", "what is the")])

    assert names(catalogue.search("what are the places")) == ["places"]


def test_parameter_names_count() -> None:
    assert names(Catalogue([entry("a", parameters=LOCATION), entry("b")]).search("location")) == ["a"]


def test_an_answer_is_bounded() -> None:
    answer = Catalogue(entry(f"tool_{n:02}", "weather") for n in range(30)).search("weather")

    assert (len(names(answer)), len(names(answer, "details"))) == (SIGNATURES, DETAILS)


def test_what_is_not_visible_is_not_told_anywhere() -> None:
    catalogue = Catalogue([entry("weather_now", "weather"), entry("weather_secret", "weather")])

    def is_visible(name: str) -> bool:
        return name != "weather_secret"

    for query in ("weather", "weather_secret", "secret", "", "zzz"):
        assert "secret" not in str(catalogue.search(query, is_visible=is_visible)).replace(query or "-", "")
    assert catalogue.index_text(is_visible=is_visible) == "weather_now"
    assert catalogue.near("weather_secre", is_visible=is_visible) == ("weather_now",)


def test_the_index_text_is_sorted_and_bounded() -> None:
    assert Catalogue([entry("b"), entry("a")]).index_text() == "a, b"

    text = Catalogue(entry(f"tool_{n:04}") for n in range(1000)).index_text()

    assert len(text) <= INDEX_CHARS + 20
    assert text.startswith("tool_0000, tool_0001, ")
    assert text.endswith(f" and {1000 - text.count('tool_')} more")


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("wether_now", ("weather_now",)),
        ("WeatherNow", ("weather_now",)),
        ("get_weather", ("weather_now",)),
        ("search", ("web_search",)),
        ("zzz", ()),
    ],
)
def test_a_wrong_name_leads_to_near_ones(wrong: str, near: tuple[str, ...]) -> None:
    assert Catalogue([entry("weather_now", "weather"), entry("web_search", "search the web")]).near(wrong) == near


def test_a_signature_shows_choices_up_to_a_bound() -> None:
    many: JsonObject = {"enum": [str(n) for n in range(20)], "type": "string"}
    schema: JsonObject = {"type": "object", "properties": {"a": many, "b": True}, "required": ["a"]}

    assert signature(entry("x", parameters=schema)) == "x(a: string, b?: any)"
    assert signature(entry("x")) == "x()"


# What people ask, and the tools of this project that answer it.
ASKED = """
现在几点了 = datetime
今天星期几 = datetime
今天农历几月几号 = datetime
今年国庆节怎么调休 = datetime
距离春节还有多少天 = datetime
what time is it in Tokyo = datetime
how many days until Christmas = datetime
北京现在天气怎么样 = weather_now
外面冷不冷 = weather_now
空气质量怎么样 = weather_now
weather in London right now = weather_now
明天会下雨吗 = weather_daily weather_hourly
未来一周天气预报 = weather_daily
周末上海天气 = weather_daily
will it rain tomorrow = weather_daily weather_hourly
接下来几个小时会下雨吗 = weather_hourly
hourly forecast for Paris = weather_hourly
天安门的经纬度 = amap_geocode
coordinates of the Eiffel Tower = amap_geocode
116.3,39.9是什么地方 = amap_regeocode
附近有什么好吃的 = amap_around
find a coffee shop near me = amap_around amap_search
怎么去北京南站 = amap_route
从家到公司开车要多久 = amap_route
坐地铁怎么走 = amap_route
directions to the airport = amap_route
北京到上海多远 = amap_distance
how far is it to Berlin = amap_distance
找一家医院 = amap_search
restaurants in Chengdu = amap_search amap_around
记住我的生日是五月一号 = memory_save
remember that I like tea = memory_save
我之前说过喜欢什么 = memory_search
你都记得我什么 = memory_list
忘掉那条记忆 = memory_delete
forget what I said = memory_delete
把记忆改成六月 = memory_update
correct a memory = memory_update
搜索一下最新的新闻 = web_search
latest news about AI = web_search
上网查一下 = web_search
打开这个网页 https://example.com = fetch_page
总结这篇文章 https://a.b/c = fetch_page
read this page = fetch_page
summarize the article at this url = fetch_page
"""
LEAST = 0.9  # of the questions whose tool must be among the details


def test_everyday_questions_find_their_tool() -> None:
    catalogue = shipped()
    missed: list[str] = []
    asked = [line.split(" = ") for line in ASKED.strip().splitlines()]
    for question, wanted in asked:
        found = names(catalogue.search(question), "details")
        if not set(wanted.split()) & set(found):
            missed.append(f"{question}: wanted {wanted}, found {found}")

    assert len(missed) <= (1 - LEAST) * len(asked), missed


@pytest.mark.parametrize(
    "query", ["send an email", "播放音乐", "订一张机票", "画一张图", "你好", "run a shell command"]
)
def test_what_no_tool_does_gives_the_index(query: str) -> None:
    assert "index" in shipped().search(query)
