"""What is said about memories, read as an intent: list, recall, keep, forget or change one, told by words or by id."""

import re
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from ias.providers.embedded.tokens import HAN, Kind, is_chinese, tokenize, unquote

SEARCH, LIST, SAVE, UPDATE, DELETE = "memory_search", "memory_list", "memory_save", "memory_update", "memory_delete"
LINE = re.compile(r"^- \[(?P<id>[^\]]+)\] (?P<body>.*?)(?: \(\d{4}-\d\d-\d\d [^)]*\))?$")
"""A memory as the memories tool lists it."""
CLOSE = 0.5
"""Share of the words that a memory must have to be the one that is meant."""
ID = r"(?P<id>m_[a-z0-9]+|(?=[a-z0-9]*[0-9])(?=[0-9]*[a-z])[a-z0-9]{4,32})"
POLITE = r"^(?:请问|请|麻烦你?|帮我|帮忙|给我|那|please|can you|could you|would you)+\s*"
EVERYTHING = re.compile(
    r"(?:忘掉|忘记|删除|删掉|清空|清除|抹掉).*(?:所有|全部|一切|每一?条|整个).*|(?:把)?(?:所有|全部).*记忆.*(?:删"
    r"|清|忘).*"
    r"|(?:清空|清除)(?:我的)?记忆|(?:forget|delete|erase|clear|remove|wipe)\s+(?:all|every|everything)\b.*"
    r"|(?:clear|wipe|erase|delete)\s+(?:my |the |your )?(?:memories|memory)",
    re.IGNORECASE,
)
LISTING = re.compile(
    r"(?:列出|看看|显示|查看|告诉我|列一下|看一?下)?(?:我|你)?的?(?:所有|全部)?的?记忆(?:列表|有哪些|里有什么"
    r"|有什么)?(?:吗|呢)?"
    r"|你?都?(?:还)?记(?:住|得|下|着)了?(?:我的?|关于我的?)?(?:些)?(?:什么|哪些)(?:事情?)?|你?都?(?:知道|了解)我"
    r"(?:的)?(?:些)?(?:什么|哪些)(?:事情?)?"
    r"|你对我(?:都)?(?:了解|知道|记得)(?:多少|些?什么)|我(?:都)?让你记(?:住|下)?了?(?:些)?什么|关于我你?(?:都)?"
    r"(?:记得|知道)(?:些)?什么|有哪些记忆"
    r"|(?:list|show)(?: me)?(?: all)?(?: of)?(?: my| your| the)? memor(?:y|ies)|(?:all )?my memories|all memories"
    r"|memories"
    r"|what (?:do|can) you (?:remember|know|recall)(?: about me| of me)?|what have you (?:remembered|saved"
    r"|learned)(?: about me)?"
    r"|what did I (?:ask|tell) you to remember|what memories do you have",
    re.IGNORECASE,
)
KEEPING = re.compile(
    r"(?:记住|记一?下来?|记着|别忘了|不要忘了|备忘)(?:一下)?[：:，,\s]*(?P<body>.+)"
    r"|(?:remember|note|keep in mind|don't forget|memorize|make a note)(?:\s*[:,]\s*|\s+that\s+|\s+)(?P<body_en>.+)",
    re.IGNORECASE | re.DOTALL,
)
FORGETTING = re.compile(
    r"(?:忘掉|忘记|忘了|别再?记|不要再?记)(?:一下)?(?P<words>.*)|(?:把)?(?P<moved>.+?)(?:这条|那条)?(?:的)?"
    r"(?:记忆)?忘(?:掉|记|了)"
    r"|(?:删除|删掉|删了|清除|移除)(?P<deleted>.*记忆.*)|(?:把)?(?P<moved_out>.*记忆.*?)(?:删除|删掉|删了)"
    r"|forget(?P<forgotten>\s.*|)|(?:delete|remove|erase)\s(?P<removed>.*memor(?:y|ies).*)",
    re.IGNORECASE,
)
CHANGING = re.compile(
    r"把(?P<words>(?:我|关于|有关|记忆).+?)(?:改成|改为|更新为|更新成|换成)(?P<body>.+)"
    r"|(?:change|update|correct)\s+(?P<words_en>(?:my|memory|the memory|what you (?:know|remember))\b.+?)\s+to\s+"
    r"(?P<body_en>.+)",
    re.IGNORECASE | re.DOTALL,
)
AROUND_ZH = re.compile(
    r"^(?:一?条|这条|那条|关于|有关|我的|我|的|记忆|编号|[：:，,\s#])+|(?:的|这条|那条|那个|记忆|吧|了|这件事"
    r"|的事情?|[，,\s])+$"
)
AROUND_EN = re.compile(
    r"^(?:(?:about|that|my|the|a|an|one|memory|memories|of|on|id|number|what i (?:said|told you) about"
    r"|what you know about|note)\b[\s:#]*)+"
    r"|\s*(?:memory|memories|please)$",
    re.IGNORECASE,
)
RECALL_ZH = re.compile(
    r"你?(?:还)?(?:记得|记不记得|记不得|知道|知不知道)(?P<asked>我.*?)(?:吗|么|不|没有)?|我(?:之前|以前|上次)?"
    r"(?:跟你|对你|和你)?(?:说过|提过|告诉过你)(?P<said>.*?)(?:吗|么)?"
    r"|(?P<own>我(?!该|要|想|能|可以|应该|怎么|们|在哪|这|附近|现在|今天|明天|得|可不可以).*(?:什么|哪|谁|多少"
    r"|几[^天]|怎么样).*)"
    r"|(?:回忆|查找记忆|搜索记忆|回想)(?:一下)?[：:\s]*(?P<sought>.+)",
)
RECALL_EN = re.compile(
    r"(?:where|when|what|who|which)(?:'s| is| are| was| were) (?:my|our) (?P<own>(?!ip\b|location|local time"
    r"|time ?zone|current).+)"
    r"|what(?:'s| is) the (?:name|birthday|address|number|password) of my (?P<named>.+)"
    r"|(?P<like>(?:what|which|who|where|when)\b.*\b(?:do|did|am|was|have|should|can) I\b.*)"
    r"|(?:do|can|did) you (?:still )?(?:remember|recall|know) (?P<asked>(?:my|our|what|where|when|who|i|that|if"
    r"|the)\b.+)"
    r"|(?:what did|did) I (?:say|tell you|mention)(?: about)? (?P<said>.+)"
    r"|(?:recall|search (?:my |your |the )?memor(?:y|ies)(?: for)?|look up (?:my )?memor(?:y|ies)(?: for"
    r"| about)?)\s+(?P<sought>.+)"
    r"|am I (?P<am>.+)",
    re.IGNORECASE,
)
ASKING_ZH = re.compile(
    r"你|我|什么时候|什么|哪(?:里|儿|天|个|种|些|一天|位)?|在(?=哪)|是(?=什么|哪|谁|多少|几|$|吗)|谁|多少|几(?=号"
    r"|点|个|月|岁|次)|怎么样|吗|呢|么|的|了"
    r"|对(?=什么|哪|谁)|叫(?=什么)|号码?(?=是)|[？?。！!，,\s]+|在$"
)
LONGEST = 300
"""Characters from which a sentence can only be one to keep: the time of patterns grows with its square."""
ASKING_EN = frozenset(
    [
        "what",
        "where",
        "when",
        "who",
        "which",
        "how",
        "do",
        "does",
        "did",
        "am",
        "is",
        "are",
        "was",
        "were",
        "have",
        "has",
        "i",
        "my",
        "our",
        "me",
        "you",
        "your",
        "the",
        "a",
        "an",
        "to",
        "of",
        "for",
        "in",
        "on",
        "at",
        "about",
        "that",
        "if",
        "it",
        "kind",
        "type",
        "sort",
        "be",
        "should",
        "can",
        "tell",
        "say",
        "said",
        "told",
        "still",
    ]
)


class Want(StrEnum):
    """What a sentence wants of the memories."""

    LIST = "list"
    RECALL = "recall"
    KEEP = "keep"
    FORGET = "forget"
    FORGET_ALL = "forget_all"
    FORGET_WHICH = "forget_which"
    CHANGE = "change"


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """A sentence about memories.

    Args:
        want: What is to be done.
        words: What the memory is about, or the text to keep.
        id: The memory's id, where the sentence has one.
        body: The new text.
    """

    want: Want
    words: str = ""
    id: str = ""
    body: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A memory as a list shows it."""

    id: str
    body: str


def read_intent(text: str) -> Intent | None:
    """Read a sentence; None where it is not about memories."""
    asked = re.sub(POLITE, "", text.strip(), flags=re.IGNORECASE).strip()
    if len(asked) > LONGEST:
        return _keeping(asked)
    said = asked.strip(" \t\r\n。.!！?？～~")
    if EVERYTHING.fullmatch(said):
        return Intent(want=Want.FORGET_ALL)
    if LISTING.fullmatch(said):
        return Intent(want=Want.LIST)
    is_question = asked.endswith(("?", "？", "吗", "么"))
    return _changing(said) or _forgetting(said) or (None if is_question else _keeping(asked)) or _recalling(said)


def listed(text: str) -> tuple[Memory, ...]:
    """Read the memories back from a list of the memories tool."""
    found = (LINE.match(line) for line in text.splitlines())
    return tuple(Memory(id=line["id"], body=line["body"]) for line in found if line)


def closest(memories: tuple[Memory, ...], words: str) -> tuple[Memory, ...]:
    """Give the memories that are meant by words: those that hold them whole, else those with the most of them."""
    whole = tuple(memory for memory in memories if words.lower() in memory.body.lower())
    if whole:
        return whole
    wanted = _terms(words)
    shares = [len(wanted & _terms(memory.body)) / len(wanted) if wanted else 0.0 for memory in memories]
    best = max(shares, default=0.0)
    return tuple(m for m, share in zip(memories, shares, strict=True) if share == best and share >= CLOSE)


def is_id(text: str) -> bool:
    """Say whether a word looks like the id of a memory."""
    return re.fullmatch(ID, text.strip(), re.IGNORECASE) is not None


def _changing(said: str) -> Intent | None:
    found = CHANGING.fullmatch(said)
    if found is None:
        return None
    ident, words = _meant(found["words"] or found["words_en"])
    given = (found["body"] or found["body_en"]).strip()
    body = unquote(given)
    if not ident and body == given and words:
        glue = "：" if is_chinese(said) else ": "
        body = f"{words}{glue}{body}"
    return Intent(want=Want.CHANGE, id=ident, words=words, body=body) if ident or words else None


def _forgetting(said: str) -> Intent | None:
    found = FORGETTING.fullmatch(said)
    if found is None or said.lower() in ("forget it", "forget about it", "忘了吧", "忘记了"):
        return None
    about = next((part for part in found.groups() if part is not None), "")
    ident, words = _meant(about)
    if not ident and not words:
        return Intent(want=Want.FORGET_WHICH)
    return Intent(want=Want.FORGET, id=ident, words=words)


def _meant(about: str) -> tuple[str, str]:
    """Give the id or the words that tell a memory."""
    words = unquote(about.strip())
    pattern = AROUND_ZH if is_chinese(about) else AROUND_EN
    while (shorter := pattern.sub("", words).strip()) != words:
        words = shorter
    words = unquote(words)
    return (words, "") if is_id(words) else ("", words)


def _keeping(asked: str) -> Intent | None:
    found = KEEPING.fullmatch(asked)
    body = "" if found is None else (found["body"] or found["body_en"]).strip()
    if not body or re.match(r"(?:了|什么|过|得|to (?:me|you)$)", body):
        return None
    return Intent(want=Want.KEEP, words=unquote(body).rstrip("。"))


def _recalling(said: str) -> Intent | None:
    found = (RECALL_ZH if is_chinese(said) else RECALL_EN).fullmatch(said)
    if found is None:
        return None
    about = next((part for part in found.groups() if part), "")
    words = _content(about)
    return Intent(want=Want.RECALL, words=words) if words else None


def _content(about: str) -> str:
    if HAN.search(about):
        return " ".join(ASKING_ZH.sub(" ", about).split())
    return " ".join(word for word in about.split() if word.lower().strip("'\".,") not in ASKING_EN)


def _terms(text: str) -> set[str]:
    tokens = tokenize(text)
    terms = {token.text for token in tokens if token.kind is not Kind.HAN and token.weight == 1}
    pairs = {a.text + b.text for a, b in pairwise(tokens) if a.kind is b.kind is Kind.HAN and a.end == b.start}
    return terms | pairs or {token.text for token in tokens}
