"""Values of closed sets, told from everyday words: `week` from 一周, `walking` from 步行."""

import re

from ias.providers.embedded.hits import Parameter

SYNONYMS: dict[str, tuple[str, ...]] = {
    "day": ("一天", "今天", "24小时", "today"),
    "week": ("一周", "一星期", "本周", "这周", "近一周", "this week", "past week", "last week"),
    "month": ("一个月", "一月内", "本月", "这个月", "this month", "past month", "last month"),
    "year": ("一年", "今年", "this year", "past year", "last year"),
    "driving": ("开车", "驾车", "自驾", "打车", "drive", "by car"),
    "walking": ("步行", "走路", "走过去", "walk", "on foot"),
    "bicycling": ("骑车", "骑行", "自行车", "单车", "bike", "cycle", "bicycle", "by bicycle"),
    "transit": ("地铁", "公交", "坐车", "公共交通", "subway", "metro", "bus", "public transport"),
    "straight": ("直线", "straight line"),
    "links": ("链接", "links"),
    "markdown": ("markdown",),
    "openstreetmap": ("openstreetmap", "osm"),
    "amap": ("高德", "amap"),
    "celsius": ("摄氏", "celsius"),
    "fahrenheit": ("华氏", "fahrenheit"),
}
"""Words by value, for values that tools commonly have."""


def choose(parameter: Parameter, text: str) -> str | None:
    """Give the value that the sentence names, by itself or by an everyday word; the longest word wins."""
    lowered = text.lower()
    best, length = None, 0
    for choice in parameter.choices:
        for word in (choice.lower(), *SYNONYMS.get(choice.lower(), ())):
            if len(word) > length and _stands_in(word, lowered):
                best, length = choice, len(word)
    return best


def words_for(parameters: tuple[Parameter, ...]) -> tuple[str, ...]:
    """Give all words that name a value of these closed sets."""
    choices = [choice for parameter in parameters for choice in parameter.choices]
    return tuple(word for choice in choices for word in (choice, *SYNONYMS.get(choice.lower(), ())))


def _stands_in(word: str, text: str) -> bool:
    if not word.isascii():
        return word in text
    return re.search(rf"(?<![a-z0-9]){re.escape(word)}(?![a-z0-9])", text) is not None
