"""Everyday questions about the weather, distances and coordinates, read into the arguments of their tools."""

import re

from ias.domain.messages import JsonObject
from ias.providers.embedded.remainder import trim
from ias.providers.embedded.tokens import is_chinese

NOW, DAILY, HOURLY = "weather_now", "weather_daily", "weather_hourly"
DISTANCE, GEOCODE = "amap_distance", "amap_geocode"
WEATHER_ZH = re.compile(
    r"天气预报|天气|空气质量|空气|雾霾|湿度|气温|温度|多少度|几度|预报|热不热|冷不冷|热吗|冷吗|(?:会|要|有没有"
    r"|会不会)?(?:下|有)[雨雪]|刮风|降温|(?:要不要|需不需要|用不用|要)?带[雨]?伞"
)
DAYS_ZH = re.compile(
    r"明天|后天|大后天|明早|明晚|这?周末|下?周[一二三四五六日天末]|下周|这周|本周|最近几天|未来几天|这几天|预报"
)
HOURS_ZH = re.compile(r"今晚|今天下午|几点下|什么时候下|雨停")
FILLERS_ZH = re.compile(
    r"现在|目前|当前|今天|今日|今早|上午|早上|中午|下午|晚上|怎么样|怎样|如何|是多少|多少|请问|帮我|查一?下|查询"
    r"|看一?下|看看|告诉我|我想知道|的|呢|吗|么"
    r"|啊|吧|会不会|会|要|有|是|外面|那边|这边|不|[\s，,。？?！!、]+"
)
PLACE_ZH = re.compile(r"[\u4e00-\u9fff]{2,7}")
WEATHER_EN = re.compile(
    r"(?:what(?:'s| is| will) (?:the )?|how(?:'s| is) (?:the )?|show me (?:the )?|tell me (?:the )?|is there |get "
    r"(?:the )?)?"
    r"(?:(?:current )?(?:weather|temperature)(?: forecast)?(?: be)?(?: like)?|forecast|(?:will it|is it going to) "
    r"(?:rain|snow|be "
    r"(?:hot|cold|sunny|windy))"
    r"|is it (?:raining|snowing|hot|cold|windy|sunny)|how (?:hot|cold|warm|windy) is it|do I need an umbrella)"
    r"(?: (?P<before>right now|now|today|tomorrow|this week|this weekend|next week))?(?: (?:in|for|at|of)) "
    r"(?P<place>[^\d]+?)"
    r"(?: (?P<after>right now|now|today|tomorrow|the day after tomorrow|this week|this weekend|next week|on \w+day))?",
    re.IGNORECASE,
)
WEATHER_OF_EN = re.compile(
    r"(?P<place>[a-z][a-z .'-]{1,30}?) (?:weather|temperature)(?: forecast)?(?: (?:now|today|tomorrow|this week"
    r"(?:end)?|next week))?",
    re.IGNORECASE,
)
NO_PLACE = re.compile(r"\b(?:what|how|the|is|will|my|show|tell|get|bad|nice|good|great|current)\b", re.IGNORECASE)
DAYS_EN = re.compile(r"\b(?:tomorrow|week|weekend|forecast|on \w+day)\b", re.IGNORECASE)
DISTANCE_ZH = re.compile(
    r"(?:请问)?从?(?P<origin>[^\s，,到离距]{2,12})(?:到|离|距离|距)(?P<end>[^\s，,到离]{2,12}?)(?:之间)?"
    r"(?:的距离)?(?:一共|大概|大约|直线)?(?:有|是|距离)?"
    r"(?:多远|(?:多少|几)(?:公里|千米|里))"
)
DISTANCE_EN = re.compile(
    r"(?:how far (?:is it |away is it )?|(?:what(?:'s| is) )?(?:the )?distance )(?:(?:from|between) "
    r"(?P<origin>.+?) (?:to|and) (?P<end>.+)"
    r"|is (?P<there>.+?) (?:away )?from (?P<here>.+))",
    re.IGNORECASE,
)
GEOCODE_ZH = re.compile(
    r"(?:请问|查一?下|查询)?(?P<place>[^\d，,。？?]{2,20}?)的?(?:坐标|经纬度|地理坐标)(?:是(?:多少|什么)|在哪)?"
)
OSM: JsonObject = {"source": "openstreetmap"}
"""English questions are mostly about places that the Chinese map does not know."""


def read_place_question(text: str) -> tuple[str, JsonObject] | None:
    """Give the tool and the arguments for a question that has all it needs; None for any other sentence."""
    said = text.strip().rstrip("?？。.!！ ")
    found = _chinese(said) if is_chinese(said) else _english(said)
    if found is None:
        return None
    tool, args = found
    return tool, {**args, "lang": "zh" if is_chinese(text) else "en"}


def _chinese(said: str) -> tuple[str, JsonObject] | None:
    if found := DISTANCE_ZH.fullmatch(said):
        return DISTANCE, {"origin": trim(found["origin"]), "destination": trim(found["end"])}
    if found := GEOCODE_ZH.fullmatch(said):
        return GEOCODE, {"address": trim(found["place"])}
    if WEATHER_ZH.search(said) is None or re.search(r"[\d一二三四五六七八九十几]\s*(?:个?小时|天)|的.+空气", said):
        return None
    place = FILLERS_ZH.sub("", DAYS_ZH.sub("", HOURS_ZH.sub("", WEATHER_ZH.sub("", said))))
    if not PLACE_ZH.fullmatch(place):
        return None
    tool = HOURLY if HOURS_ZH.search(said) else DAILY if DAYS_ZH.search(said) else NOW
    return tool, {"location": place}


def _english(said: str) -> tuple[str, JsonObject] | None:
    if found := DISTANCE_EN.fullmatch(said):
        origin, end = found["origin"] or found["there"], found["end"] or found["here"]
        return DISTANCE, {"origin": trim(origin), "destination": trim(end), **OSM}
    found = WEATHER_EN.fullmatch(said) or WEATHER_OF_EN.fullmatch(said)
    if found and not NO_PLACE.search(found["place"]):
        tool = DAILY if DAYS_EN.search(said) or re.match("will|is it going", said, re.IGNORECASE) else NOW
        return tool, {"location": trim(found["place"])}
    return None
