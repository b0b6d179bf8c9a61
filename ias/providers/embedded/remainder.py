"""What remains of a sentence when the words of asking are taken away."""

import re

from ias.providers.embedded.tokens import WEAK, unquote

TIMES = "现在|目前|当前|今天|今晚|今早|明天|明早|明晚|后天|大后天|昨天|这周|本周|下周|周末|早上|上午|中午|下午|晚上"
LEADING = (
    "请问|请帮我|请给我|麻烦你?|劳驾|帮我|帮忙|给我|替我|我想知道|我想|我要|我们|你能不能|你能|能不能|能否|可不可以|可以|"
    "请|告诉我|查询一下|查询|查一下|查查|查下|查|搜索一下|搜索|搜一下|搜|找一下|找找|看一下|看看|看|那么|那|嗯|"
    f"{TIMES}|关于|有关|一下|距离|距|离|在|到|从|去|的"
)
TRAILING = (
    f"{TIMES}|最近|未来|接下来|"
    "怎么样|如何|是什么|什么|是多少|多少|怎么走|怎么去|在哪里|在哪儿|在哪|"
    r"(?P<verb>[\u4e00-\u9fff])不(?P=verb).*|"
    "会不|要不|能不|是不|好吗|可以吗|行吗|对吗|吗|呢|吧|啊|呀|么|谢谢|的|了|有|会|是|要|到|去|离|最新"
)
ENGLISH_LEADING = (
    "please|can you|could you|would you|tell me|show me|give me|i want to know|i want to|i would like to|"
    "what is|what's|what are|who is|how is|find out|look up|search the web for|search for|search|find|google|about|"
    "the|a|be|like|in|at|for|to|of|from|is|right now|now|hey|hi|do you know|me"
)
ENGLISH_TRAILING = (
    "please|right now|right|now|today|tonight|tomorrow|this week|next week|this weekend|this afternoon|currently|"
    "at the moment|thanks|thank you|is|in|at|for|of|to|like"
)
COURTESY = re.compile(
    r"^\W*(请问|请你?|麻烦你?|劳驾|你能不能|能不能|能否|可不可以|帮我|帮忙|给我|替我|我想知道"
    r"|please|can you|could you|would you|how is the|how's the|what is the|what's the)+\s*",
    re.IGNORECASE,
)
EDGE_MARKS = " \t\r\n,，.。!！?？;；:：、~～…"
PHRASE_HAN, PHRASE_WORDS = 14, 5
"""Characters, or Latin words, of the longest value that is taken from a sentence that no example explains."""

HEAD = re.compile(rf"^(?:(?:{LEADING})|(?:(?:{ENGLISH_LEADING})(?![A-Za-z0-9])))", re.IGNORECASE)
TAIL = re.compile(rf"(?:(?:{TRAILING})|(?:(?<![A-Za-z0-9])(?:{ENGLISH_TRAILING})))$", re.IGNORECASE)


def trim(text: str) -> str:
    """Take words of asking off both ends of a value, until one stands there that is none.

    A value that is only such words stays whole: "现在" may be just what was meant.
    """
    whole = text.strip(EDGE_MARKS)
    value = unquote(whole)
    if value != whole:
        return value
    while True:
        shorter = TAIL.sub("", HEAD.sub("", value).strip(EDGE_MARKS)).strip(EDGE_MARKS)
        if not shorter:
            return whole if value == whole else value
        if shorter == value:
            return value
        value = shorter


def is_phrase(text: str) -> bool:
    """Say whether a value is short enough to be a name or a place; a sentence that no example explains is none."""
    return len(text) <= PHRASE_HAN if not text.isascii() else len(text.split()) <= PHRASE_WORDS


def strip_words(text: str, words: tuple[str, ...]) -> str:
    """Take whole words off both ends of a value, longest first, with the verb that goes before a vehicle."""
    listed = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    if not listed:
        return text
    tail = re.compile(
        rf"(?:^|(?<=[^A-Za-z0-9]))(?:坐|乘|搭)?(?:{listed})$|(?<=[\u3400-\u9fff])(?:坐|乘|搭)?(?:{listed})$",
        re.IGNORECASE,
    )
    head = re.compile(rf"^(?:坐|乘|搭)?(?:{listed})(?![A-Za-z0-9])", re.IGNORECASE)
    return tail.sub("", head.sub("", text).strip(EDGE_MARKS)).strip(EDGE_MARKS)


def is_empty(text: str) -> bool:
    """Say whether nothing but words of asking remains."""
    rest = text.strip(EDGE_MARKS)
    while rest and (shorter := TAIL.sub("", HEAD.sub("", rest)).strip(EDGE_MARKS)) != rest:
        rest = shorter
    return not rest or rest.lower() in WEAK
