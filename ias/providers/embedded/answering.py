"""From a request to the offline provider's answer: ask the catalogue, call the best tool, pass its result on."""

import hashlib
import json
import re
from dataclasses import dataclass

from ias.domain.messages import (
    AssistantMessage,
    JsonObject,
    Message,
    MessageRequest,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from ias.providers.embedded import speech
from ias.providers.embedded.direct import read_direct
from ias.providers.embedded.filling import Filled, fill, value_of
from ias.providers.embedded.hits import Catalogue, Hit, hits_of, read_all, read_catalogue
from ias.providers.embedded.picking import pick
from ias.providers.embedded.tokens import is_chinese
from ias.providers.embedded.wording import SHORTLIST, query_words, shortlist

QUERY = "query_capabilities"
CALL = "call_capability"
SURE = 0.95
"""Score from which no other tool is looked for."""

GREETING = re.compile(
    r"^\W*(你好|您好|嗨|哈喽|早上好|早安|晚上好|在吗|谢谢|多谢|再见"
    r"|你是谁|你叫什么|你会什么|你能做什么|你能干什么|你有什么功能|帮助|help"
    r"|hi|hello|hey|good (morning|evening)|thanks|thank you|bye|who are you|what are you|what can you do)"
    r"\s*(呀|啊|吗|呢|there)?\W*$",
    re.IGNORECASE,
)
NEVER_MIND = re.compile(r"^\W*(算了|取消|不用了|不查了|cancel|never ?mind|forget it|stop)\W*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """The open turn: what was asked, what was done for it, and what came before."""

    asked: str
    done: tuple[Message, ...]
    before: tuple[Message, ...]

    @property
    def chinese(self) -> bool:
        """Whether to answer in Chinese."""
        return is_chinese(self.asked)


def answer(request: MessageRequest) -> AssistantMessage:
    """Give the next message of the conversation."""
    talk = _talk(request.messages)
    offered = {tool.name for tool in request.tools}
    if talk.done and isinstance(talk.done[-1], ToolMessage):
        return _after_result(talk, talk.done[-1], offered)
    direct = read_direct(talk.asked)
    if direct is not None:
        if direct.fault is not None:
            return _say(speech.BAD_DIRECT[talk.chinese].format(why=direct.fault))
        return _call(talk, direct.tool, direct.args, offered)
    pending = _pending(talk)
    if pending is not None:
        return _resume(talk, pending, offered)
    if QUERY in offered:
        words = "" if GREETING.match(talk.asked) else query_words(talk.asked)
        return _plain_call(talk, QUERY, {"query": words})
    return _choose(talk, hits_of(request.tools), offered)


def _talk(messages: tuple[Message, ...]) -> Talk:
    last = max((i for i, message in enumerate(messages) if isinstance(message, UserMessage)), default=-1)
    asked = messages[last].text if last >= 0 and isinstance(message := messages[last], UserMessage) and message else ""
    return Talk(asked=asked, done=messages[last + 1 :], before=messages[: max(last, 0)])


def _after_result(talk: Talk, result: ToolMessage, offered: set[str]) -> AssistantMessage:
    if result.name == QUERY and not result.is_error:
        answers = [m.text for m in talk.done if isinstance(m, ToolMessage) and m.name == QUERY]
        names = _further(talk, read_catalogue(answers[0])) if len(answers) == 1 else ()
        if names:
            return _plain_call(talk, QUERY, {"query": " ".join(names)})
        return _choose(talk, read_all(answers), offered)
    tool = result.name if result.name != CALL else _called(talk.done, result.call_id)
    return _say(speech.result(tool, result.text, is_error=result.is_error, chinese=talk.chinese))


def _further(talk: Talk, catalogue: Catalogue) -> tuple[str, ...]:
    """Give names to ask for in a second question: where the first gave the index alone, or no tool for sure."""
    if GREETING.match(talk.asked):
        return ()
    if not catalogue.hits:
        return shortlist(catalogue.lines, talk.asked)
    best = pick(catalogue.hits, talk.asked)
    if best is not None and best.score >= SURE:
        return ()
    described = {hit.name for hit in catalogue.hits}
    return tuple(name for name, _ in catalogue.lines if name not in described)[:SHORTLIST]


def _called(done: tuple[Message, ...], call_id: str) -> str:
    """Give the name of the tool that a `call_capability` called."""
    for message in done:
        for call in message.calls if isinstance(message, AssistantMessage) else ():
            if call.id == call_id:
                return str(json.loads(call.arguments).get("name", CALL))
    return CALL


def _choose(talk: Talk, catalogue: Catalogue, offered: set[str]) -> AssistantMessage:
    is_greeting = GREETING.match(talk.asked) is not None
    best = None if is_greeting else pick(catalogue.hits, talk.asked)
    if best is None:
        lines = catalogue.lines or tuple((hit.name, hit.description) for hit in catalogue.hits)
        return _say(speech.introduction(lines, chinese=talk.chinese, is_greeting=is_greeting))
    filled = fill(best.hit, talk.asked, best.template, best.fit)
    return _ask_or_call(talk, best.hit, filled, offered)


def _ask_or_call(talk: Talk, hit: Hit, filled: Filled, offered: set[str]) -> AssistantMessage:
    if filled.missing:
        return _say(speech.question(hit.name, filled.missing[0], chinese=talk.chinese))
    return _call(talk, hit.name, filled.args, offered)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """A tool that waits for values: the first message, the catalogue's answer to it, and the replies so far."""

    asked: str
    hit: Hit
    replies: tuple[tuple[str, str], ...]


def _pending(talk: Talk) -> Pending | None:
    """Find the question that the person's message answers, going back over a chain of them."""
    replies: list[tuple[str, str]] = []
    reply = talk.asked
    tool = ""
    messages = list(talk.before)
    while messages:
        last = messages.pop()
        question = speech.asked(last.text) if isinstance(last, AssistantMessage) and not last.calls else None
        if question is None:
            return None
        tool = question[0]
        replies.insert(0, (question[1], reply))
        if messages and isinstance(messages[-1], ToolMessage):
            break
        if not messages or not isinstance(messages[-1], UserMessage):
            return None
        reply = messages[-1].text
        messages.pop()
    hit = _described(messages, tool)
    asked = next((message.text for message in reversed(messages) if isinstance(message, UserMessage)), "")
    return None if hit is None else Pending(asked=asked, hit=hit, replies=tuple(replies))


def _described(messages: list[Message], tool: str) -> Hit | None:
    last = messages[-1] if messages else None
    if not isinstance(last, ToolMessage) or last.name != QUERY:
        return None
    texts = [message.text for message in messages if isinstance(message, ToolMessage) and message.name == QUERY]
    return next((hit for hit in read_all(texts[-2:]).hits if hit.name == tool), None)


def _resume(talk: Talk, pending: Pending, offered: set[str]) -> AssistantMessage:
    if NEVER_MIND.match(talk.asked):
        return _say(speech.DROPPED[talk.chinese])
    best = pick((pending.hit,), pending.asked)
    filled = fill(pending.hit, pending.asked, best.template if best else None, best.fit if best else None)
    args = dict(filled.args)
    for name, reply in pending.replies:
        parameter = pending.hit.parameter(name)
        value = None if parameter is None else value_of(parameter, reply)
        if value is not None:
            args[name] = value
    missing = tuple(p for p in pending.hit.parameters if p.is_required and p.name not in args)
    return _ask_or_call(talk, pending.hit, Filled(args=args, missing=missing), offered)


def _call(talk: Talk, tool: str, args: JsonObject, offered: set[str]) -> AssistantMessage:
    if CALL in offered and tool not in offered:
        return _plain_call(talk, CALL, {"name": tool, "prompt": json.dumps(args, ensure_ascii=False)})
    return _plain_call(talk, tool, args)


def _plain_call(talk: Talk, name: str, args: JsonObject) -> AssistantMessage:
    """Make a call whose id is the same whenever the same conversation is continued, and unique within it."""
    arguments = json.dumps(args, ensure_ascii=False)
    seed = f"{len(talk.before)}.{len(talk.done)}.{name}.{arguments}"
    identity = "call_" + hashlib.sha256(seed.encode("utf-8", "surrogatepass")).hexdigest()[:24]
    return AssistantMessage(calls=(ToolCall(id=identity, name=name, arguments=arguments),))


def _say(text: str) -> AssistantMessage:
    return AssistantMessage(text=text)
