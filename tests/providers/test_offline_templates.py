"""Examples as templates: what they take and what they must not."""

from ias.domain.messages import JsonObject
from ias.providers.embedded.filling import fill
from ias.providers.embedded.hits import Example, Hit, Parameter
from ias.providers.embedded.picking import pick


def hit(ask: str, params: JsonObject, *parameters: Parameter) -> Hit:
    return Hit(name="tool", description="", parameters=parameters, examples=(Example(ask=ask, params=params),))


def filled(tool: Hit, text: str) -> JsonObject | None:
    best = pick((tool,), text)
    return None if best is None else fill(tool, text, best.template, best.fit).args


PLACE = Parameter(name="location", is_required=True)
DAYS = Parameter(name="days", type="integer")


def test_words_of_every_sentence_alone_do_not_make_a_match() -> None:
    tool = hit("What are the coordinates of the Brandenburg Gate", {"location": "the Brandenburg Gate"}, PLACE)
    assert filled(tool, "what is the meaning of life") is None
    assert filled(tool, "the coordinates of Big Ben?") == {"location": "Big Ben"}


def test_a_value_may_stand_before_or_behind_its_usual_place() -> None:
    tool = hit("北京现在天气怎么样", {"location": "北京"}, PLACE)
    for text in ("上海现在天气怎么样", "现在上海的天气怎么样？", "请问上海天气如何", "今天上海天气怎么样啊"):
        assert filled(tool, text) == {"location": "上海"}, text


def test_numbers_are_read_in_digits_and_in_words() -> None:
    tool = hit("广州未来三天天气", {"location": "广州", "days": 3}, PLACE, DAYS)
    for text, days in (("深圳未来五天天气", 5), ("深圳未来7天天气", 7), ("深圳未来十五天天气", 15)):
        assert filled(tool, text) == {"location": "深圳", "days": days}, text
    assert filled(tool, "深圳未来天气") == {"location": "深圳"}


def test_a_closed_set_is_told_by_everyday_words() -> None:
    units = Parameter(name="units", choices=("celsius", "fahrenheit"))
    tool = hit("weather in Paris", {"location": "Paris"}, PLACE, units)
    assert filled(tool, "weather in Oslo in fahrenheit") == {"location": "Oslo", "units": "fahrenheit"}


def test_free_values_that_the_example_does_not_say_are_not_copied() -> None:
    tool = hit("到西单怎么走", {"location": "西单", "city": "北京"}, PLACE, Parameter(name="city"))
    assert filled(tool, "到外滩怎么走") == {"location": "外滩"}


def test_a_quotation_is_one_value() -> None:
    tool = hit("记住“买牛奶”", {"body": "买牛奶"}, Parameter(name="body", is_required=True))
    assert filled(tool, "请记住「明天 到 北京」") == {"body": "明天 到 北京"}
