"""Everyday questions about dates and times, read into the arguments of the `datetime` tool."""

import re
from collections.abc import Callable

from ias.domain.messages import JsonObject
from ias.providers.embedded.tokens import is_chinese, number_of

TOOL = "datetime"
NUM = r"(?:\d{1,6}|[一二两三四五六七八九十]{1,3})"
FESTIVAL_ZH = (
    r"(?:春节|过年|除夕|元宵节?|清明节?|端午节?|七夕|中秋节?|重阳节?|国庆节?|元旦|五一|十一|劳动节|儿童节|妇女节"
    r"|教师节|母亲节"
    r"|父亲节|情人节|圣诞节?|平安夜|万圣节|感恩节|复活节|腊八节?|小年|双十一|立春|夏至|冬至|立秋|立冬|春分|秋分)"
)
FESTIVAL_EN = (
    r"(?:christmas(?: eve| day)?|halloween|easter|thanksgiving|valentine'?s day|new year'?s (?:day|eve)|(?:chinese"
    r"|lunar) new "
    r"year|new year|spring festival|mid-?autumn(?: festival)?|dragon boat(?: festival)?|national day|labou?r day"
    r"|qingming"
    r"(?: festival)?|lantern festival|winter solstice|summer solstice|mother'?s day|father'?s day|golden week)"
)
DAY_ZH = (
    r"(?:大前天|前天|昨天|今天|明天|大后天|后天|今日|明日|昨日|周末|月底|年底|(?:这|本|下下|下|上)?个?(?:周|星期"
    r"|礼拜)[一二三四五六日天]"
    r"|(?:(?:这|本|下|上)个?月)\d{1,2}[日号]|(?:(?:\d{4}|今|明|后|去)年)?\d{1,2}月\d{1,2}[日号]?"
    r"|\d{4}[-/.]\d{1,2}[-/.]\d{1,2}"
    rf"|(?:(?:\d{{4}}|今|明|后|去)年的?)?{FESTIVAL_ZH})"
)
WEEKDAY_EN = r"(?:mon|tues?|wednes|thurs?|fri|satur|sun)day"
MONTH_EN = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*"
DAY_EN = (
    r"(?:(?:the )?day (?:after tomorrow|before yesterday)|yesterday|today|tomorrow|tonight"
    rf"|(?:this |next |last )?{WEEKDAY_EN}|\d{{4}}-\d{{1,2}}-\d{{1,2}}"
    rf"|{MONTH_EN} \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?|(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {MONTH_EN}"
    rf"(?:,? \d{{4}})?"
    rf"|{FESTIVAL_EN}(?: (?:this|next|last) year| (?:in )?\d{{4}})?)"
)
TODAY = ("今天", "今日", "today", "tonight")
UNITS_ZH = {
    "个工作日": "business_days",
    "工作日": "business_days",
    "天": "days",
    "日": "days",
    "周": "weeks",
    "个星期": "weeks",
    "星期": "weeks",
    "个礼拜": "weeks",
    "个月": "months",
    "年": "years",
    "个小时": "hours",
    "小时": "hours",
    "分钟": "minutes",
    "秒": "seconds",
}
UNIT_ZH = "|".join(sorted(UNITS_ZH, key=len, reverse=True))
NUM_EN = r"(?:\d{1,6}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
UNIT_EN = r"(?P<unit>(?:business|working|work)[ -]?day|weekday|day|week|month|year|hour|minute|second)s?"
CLOCK_ZH = (
    rf"(?:(?:今天|明天|昨天)?(?:上午|下午|晚上|早上|凌晨|中午|晚|早)?{NUM}点(?:半|一刻|三刻|{NUM}分)?"
    rf"|\d{{1,2}}:\d{{2}})"
)
CLOCK_EN = r"(?:\d{1,2}(?::\d{2})?\s*[ap]\.?m\.?|\d{1,2}:\d{2}|noon|midnight)(?: (?:today|tomorrow))?"
WHICH_ZH = r"(?:是|在)?(?:哪一?天|几号|几月几[日号]|什么时候|什么日子|星期几|周几|礼拜几|多少号)"
WEEKDAY_OF = r"(?:星期几|周几|礼拜几|几号|几月几[日号]|哪一?天|什么日子|多少号)"
OFF_ZH = r"(?:怎么放假?(?:调休)?|放几天假?|放多少天假?|放假几天|放假安排|放假调休|怎么调休|放假多少天|的?放假时间)"
WORK_ZH = (
    r"(?:是否|是不是|要不要|用不用|需不需要|要|用|需要|得|该|应该|是)?(?:上班|上学|放假|休息|工作日|加班"
    r"|休假|节假日|调休)"
)

Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], JsonObject | None]]


def read_date_question(text: str) -> JsonObject | None:
    """Give the arguments for a question about dates or times; None for any other sentence."""
    rules, said = (CHINESE, _plain_zh(text)) if is_chinese(text) else (ENGLISH, _plain_en(text))
    for pattern, arguments in rules:
        found = pattern.fullmatch(said)
        args = None if found is None else arguments(found)
        if args is not None:
            return {**args, "lang": "zh" if is_chinese(text) else "en"}
    return None


def _plain_zh(text: str) -> str:
    said = re.sub(r"[\s，,。！!？?；;]+", "", text)
    said = re.sub(
        r"^(?:请问一?下?|麻烦你?|告诉我|我想知道|帮我(?:算一?下|查一?下|看一?下|看看)?|那么?|算一?下|查一?下)+",
        "",
        said,
    )
    return re.sub(r"(?:啊|呀|呢|吧|来着|谢谢)+$", "", said)


def _plain_en(text: str) -> str:
    said = " ".join(re.sub(r"[?!.,;]+(?=\s|$)", " ", text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")).split())
    said = re.sub(r"^(?:please|can you|could you|tell me|do you know|so|and|hey|hi)\s+", "", said, flags=re.IGNORECASE)
    said = re.sub(r"^what's\b", "what is", said, flags=re.IGNORECASE)
    said = re.sub(r"^when's\b", "when is", said, flags=re.IGNORECASE)
    return re.sub(r"\s+(?:please|thanks|thank you|again)$", "", said, flags=re.IGNORECASE)


def _stamp(found: re.Match[str]) -> JsonObject:
    return {"action": "convert", "date": found["stamp"]}


def _now(_: re.Match[str]) -> JsonObject:
    return {}


def _stamp_now(_: re.Match[str]) -> JsonObject:
    return {"action": "convert"}


def _of_day(found: re.Match[str]) -> JsonObject:
    day = found["day"]
    return {} if day.lower() in TODAY else {"action": "day", "date": _dated(day)}


def _worked(found: re.Match[str]) -> JsonObject:
    day = found["day"] or "今天"
    return {"action": "holiday"} if day.lower() in TODAY else {"action": "holiday", "date": _dated(day)}


def _dated(day: str) -> str:
    """Write a day as the tool reads it: no `in` before the year, no `the` before a name."""
    return re.sub(r" in (\d{4})$", r" \1", day)


def _add(found: re.Match[str]) -> JsonObject | None:
    number = number_of(found["number"])
    if number is None:
        return None
    sign = -1 if found["side"] == "前" else 1
    args: JsonObject = {"action": "add", "amount": sign * int(number), "unit": UNITS_ZH[found["unit"]]}
    start = found["day"]
    return args if start is None or start in TODAY else {**args, "date": start}


def _add_en(found: re.Match[str]) -> JsonObject | None:
    number = 1 if found["number"].lower() in ("a", "an") else number_of(found["number"])
    if number is None:
        return None
    parts = found.groupdict()
    sign = -1 if (parts.get("side") or "").lower() in ("ago", "before") else 1
    unit = found["unit"].lower()
    unit = "business_days" if unit == "weekday" or re.match("business|work", unit) else f"{unit}s"
    args: JsonObject = {"action": "add", "amount": sign * int(number), "unit": unit}
    start = parts.get("day")
    return args if start is None or start.lower() in (*TODAY, "now") else {**args, "date": start}


def _diff(found: re.Match[str]) -> JsonObject:
    return {"action": "diff", "date": found["start"], "end": found["end"]}


def _until(found: re.Match[str]) -> JsonObject:
    day = found["day"]
    if re.fullmatch(f"{FESTIVAL_ZH}|{FESTIVAL_EN}", day, re.IGNORECASE):
        return {"action": "until", "festival": day}
    return {"action": "until", "date": _dated(day)}


def _off(found: re.Match[str]) -> JsonObject:
    args: JsonObject = {"action": "holiday"}
    parts = found.groupdict()
    if parts.get("festival"):
        args["festival"] = found["festival"]
    if parts.get("year"):
        args["year"] = int(found["year"])
    return args


def _zones(found: re.Match[str]) -> JsonObject:
    args: JsonObject = {"action": "convert", "timezone": found["from"].strip(), "to_timezone": found["to"].strip()}
    clock = found.groupdict().get("clock")
    return args if clock is None else {**args, "date": clock}


def _time_in(found: re.Match[str]) -> JsonObject:
    return {"timezone": found["place"].strip()}


def _lunar(found: re.Match[str]) -> JsonObject:
    day = found["day"]
    return {"action": "lunar"} if day is None or day in TODAY else {"action": "lunar", "date": day}


def _from_lunar(found: re.Match[str]) -> JsonObject:
    return {"action": "lunar", "lunar_date": found["lunar"]}


def _zodiac(found: re.Match[str]) -> JsonObject:
    return {"action": "lunar", "date": f"{found['year']}-07-01"}


def _rules(*pairs: tuple[str, Callable[[re.Match[str]], JsonObject | None]]) -> tuple[Rule, ...]:
    return tuple((re.compile(pattern, re.IGNORECASE), arguments) for pattern, arguments in pairs)


STAMP = r"(?P<stamp>-?\d{9,10}|\d{13})"
PLACE_ZH = r"[\u4e00-\u9fff]{2,6}?"
LUNAR_DAY = r"(?:\d{4}年)?闰?(?:[正冬腊一二三四五六七八九十]{1,2}月)(?:初?[一二三四五六七八九十]{1,3})"
CHINESE = _rules(
    ((rf"(?:把|unix|时间戳|timestamp)*{STAMP}(?:这个)?(?:时间戳)?(?:是|对应|等于|转换?成|换算成|转为)?(?:什么|哪个"
     rf"|多少)?"
     r"(?:时间|时候|日期|北京时间|几点|哪一?天)?(?:是多少)?"), _stamp),
    (r"(?:现在|当前|此刻)的?(?:unix)?时间戳(?:是多少|是什么)?", _stamp_now),
    ((rf"(?P<from>{PLACE_ZH})(?:时间)?的?(?P<clock>{CLOCK_ZH})的?(?:时候)?(?:是|等于|相当于|对应)(?P<to>{PLACE_ZH})"
     rf"(?:时间)?的?"
     r"(?:几点钟?|什么时间|什么时候)"), _zones),
    ((rf"(?P<from>{PLACE_ZH})[和与跟同](?P<to>{PLACE_ZH})的?(?:时差|差几个?小时|相差几个?小时|时间差)(?:是)?(?:多少"
     rf"|几个?小时|多大)?"), _zones),
    ((rf"从?(?P<start>{DAY_ZH})(?:到|至|和|与|跟|距离?|离)(?P<end>{DAY_ZH})之?间?(?:一共|总共|相差|相隔|隔了?|差|有"
     rf"|共)*(?:几|多少)个?天"), _diff),
    ((rf"(?P<day>{DAY_ZH})?(?:再过|过)?(?P<number>{NUM})(?P<unit>{UNIT_ZH})(?:之|以)?(?P<side>后|前)的?(?:那天)?"
     rf"(?:{WHICH_ZH}|是几点|几点|是什么时间)?"), _add),
    (rf"(?P<day>{DAY_ZH})?再?过(?P<number>{NUM})(?P<unit>{UNIT_ZH})(?P<side>)(?:{WHICH_ZH}|是几点)", _add),
    (rf"(?:(?P<year>\d{{4}})年)?的?(?P<festival>{FESTIVAL_ZH}){OFF_ZH}", _off),
    (r"(?P<year>\d{4})年?(?:的|全年)?(?:放假安排|怎么放假|放假调休安排|节假日(?:安排)?|有哪些假期|法定节假日)", _off),
    (rf"(?:我)?(?P<day>{DAY_ZH})?(?:我|大家|我们)?(?:还)?{WORK_ZH}(?:吗|么|不)?", _worked),
    ((rf"(?:距离?|离)?(?:现在|今天)?(?:距离?|离)?(?P<day>{DAY_ZH})(?:的假期)?(?:还有|还要|还剩|还差|有)(?:几"
     rf"|多少)个?(?:天|日)"), _until),
    (rf"(?:距离?|离)?(?P<day>{DAY_ZH})还有多久", _until),
    (rf"还有(?:几|多少)天(?:就|才)?(?:是|到|过)?(?P<day>{DAY_ZH})", _until),
    (rf"(?P<day>{FESTIVAL_ZH}){WHICH_ZH}", _until),
    (rf"(?P<day>{DAY_ZH})的?(?:农历|阴历)(?:是)?(?:几月初?几|几号|多少|哪一?天|几月几[日号]?|什么日子|几)?", _lunar),
    (r"(?:农历|阴历)(?P<day>今天)?(?:是)?(?:几月初?几|几号|几月几[日号])", _lunar),
    (rf"(?:农历|阴历|旧历)(?P<lunar>{LUNAR_DAY}){WHICH_ZH}", _from_lunar),
    (r"(?P<year>\d{4})年?(?:出生)?的?(?:人)?(?:是|属)(?:什么|啥)?(?:属相|生肖|年|的)?", _zodiac),
    (rf"(?P<day>{DAY_ZH})(?:是|的日期是)?{WEEKDAY_OF}", _of_day),
    (rf"(?:是)?{WEEKDAY_OF}", _now),
    (r"(?:现在|目前|当前)?(?:是)?(?:几点钟?了?|什么时间了?|什么时候了|的?时间)", _now),
    (rf"(?P<place>{PLACE_ZH})(?:现在|目前|当地)(?:是)?(?:几点钟?了?|的?时间|什么时间)", _time_in),
    (rf"(?:现在|目前)(?P<place>{PLACE_ZH})(?:是)?(?:几点钟?了?|的?时间|什么时间)", _time_in),
)  # fmt: skip
ENGLISH = _rules(
    ((rf"(?:convert|decode|translate|what (?:time|date) is|what is|when (?:is|was))?\s*(?:the )?(?:unix )?"
     rf"(?:time ?stamp|epoch)?\s*{STAMP}"
     r"(?: (?:to|into|as|in) (?:a )?(?:human )?(?:readable )?(?:date|time|datetime))?"), _stamp),
    (r"(?:what is )?(?:the )?(?:current )?unix (?:time ?stamp|time)(?: (?:right )?now)?", _stamp_now),
    ((rf"(?:if it is |when it is |what time is )?(?P<clock>{CLOCK_EN}) (?:in )?(?P<from>[a-z ]+?)(?: time)? (?:is"
     rf"|in|to|is it)"
     r" (?:what time (?:is it )?)?(?:in )?(?P<to>[a-z ]+?)(?: time)?"), _zones),
    ((rf"convert (?P<clock>{CLOCK_EN}) (?:from )?(?:in )?(?P<from>[a-z ]+?)(?: time)? (?:to|into|in) "
     rf"(?P<to>[a-z ]+?)(?: time)?"), _zones),
    ((r"(?:what is )?(?:the )?time (?:zone )?difference (?:between|from) (?P<from>[a-z ]+?) (?:and|to) "
     r"(?P<to>[a-z ]+)"), _zones),
    ((rf"(?:how many days (?:are there |is it )?|(?:number of )?days )(?:between|from) (?P<start>{DAY_EN}) (?:and"
     rf"|to|until|till) (?P<end>{DAY_EN})"), _diff),
    ((rf"(?:what|which) (?:is the )?(?:date|day|weekday)(?: (?:is it|of the week is it|will it be|is))? in "
     rf"(?P<number>{NUM_EN}) {UNIT_EN}(?: time)?"), _add_en),
    ((rf"(?:(?:what|which|when) (?:is (?:the )?)?(?:date|day|weekday)?(?: (?:is it|of the week is it|will it be|is"
     rf"|was it|was))? ?)?"
     rf"(?P<number>{NUM_EN}) {UNIT_EN} (?P<side>from|after|before) (?P<day>{DAY_EN}|now)"), _add_en),
    ((rf"(?:(?:what|which) (?:is (?:the )?)?(?:date|day|weekday) (?:is|was|was it) )?"
     rf"(?P<number>{NUM_EN}) {UNIT_EN} (?P<side>ago)"), _add_en),
    (rf"(?:do|will|must|should|need) (?:I|we|people)(?: have to| need to)? work (?:on )?(?P<day>{DAY_EN})", _worked),
    ((rf"is (?P<day>{DAY_EN}) (?:a |an )?(?:public |bank )?(?:working day|workday|holiday|day off|work day"
     rf"|business day)(?: in china)?"), _worked),
    ((rf"(?:how many days|how long|how much time|days|countdown)(?: is it| are there| are left| left)? (?:until"
     rf"|till|to|before) (?P<day>{DAY_EN})"), _until),
    (r"(?:what are )?(?:the )?(?:public )?holidays (?:in )?(?:china )?(?:in )?(?P<year>\d{4})(?: in china)?", _off),
    (rf"how many days off (?:are there |do (?:we|I) (?:get|have) )?(?:for|on|at) (?P<festival>{FESTIVAL_EN})", _off),
    (rf"(?:when|what (?:date|day)|on (?:what|which) day) (?:is|does) (?P<day>{FESTIVAL_EN})(?: fall)?", _until),
    (rf"(?:when|what (?:date|day)|on (?:what|which) day) (?:is|was|does) (?P<day>{DAY_EN})(?: fall)?", _of_day),
    (rf"(?:what|which) (?:day|date|weekday)(?: of the week)? (?:is|was|will)(?: it)? (?P<day>{DAY_EN})(?: be)?",
     _of_day),
    (rf"what is (?:the )?(?:date|day|weekday)(?: of the week)? (?:on |for )?(?P<day>{DAY_EN})", _of_day),
    (r"what is (?P<day>today|tomorrow|yesterday)'s (?:date|day|weekday)", _of_day),
    ((r"(?:what|which) (?:day|date)(?: of the week)? is it(?: (?:now|today))?|what is (?:the )?date|today's date"
     r"|what is the day"), _now),
    ((r"(?:what time is it|what is the (?:current )?time|the time|current time|what is the time now)(?: "
     r"(?:right )?now)?"), _now),
    ((r"(?:what time is it|what is the (?:current |local )?time|(?:current |local )?time)(?: (?:right )?now)? in "
     r"(?P<place>[a-z .'-]+?)(?: (?:right )?now)?"), _time_in),
)  # fmt: skip
