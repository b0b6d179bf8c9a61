"""From a request to the offline provider's answer: ask the catalogue, call the best tool, pass its result on."""

import hashlib
import json
import re
from dataclasses import dataclass

from ias.domain.messages import (
    AssistantMessage,
    JsonObject,
    MessageRequest,
    ToolCall,
    ToolMessage,
)
from ias.providers.embedded import recollection, speech
from ias.providers.embedded.direct import read_direct
from ias.providers.embedded.everyday import read_everyday
from ias.providers.embedded.filling import Filled, fill, value_of
from ias.providers.embedded.hits import Catalogue, Hit, hits_of, read_all, read_catalogue
from ias.providers.embedded.memories import Intent, read_intent
from ias.providers.embedded.picking import Pick, pick
from ias.providers.embedded.recollection import Step
from ias.providers.embedded.tokens import is_chinese, tokenize
from ias.providers.embedded.turns import CANCEL, QUERY, Pending, Turn, answers, may_answer, pending_before, turns_of
from ias.providers.embedded.vocabulary import overlap
from ias.providers.embedded.wording import SHORTLIST, query_words, shortlist

CALL = "call_capability"
SURE = 0.95
"""Score from which no other tool is looked for."""
PLAUSIBLE = 0.15
"""Share of a message that a tool's words must cover to be named as a near one."""
GREETING = re.compile(
    r"^\W*(你好|您好|嗨|哈喽|早上好|早安|晚上好|在吗|你是谁|你叫什么|你会什么|你能做什么|你能干什么|你有什么功能"
    r"|有什么功能|怎么用|帮助"
    r"|help|hi|hello|hey|good (morning|afternoon|evening)|who are you|what are you|what can (you|i) do"
    r"|what can i ask( you)?)"
    r"\s*(呀|啊|吗|呢|there|ias)?\W*$",
    re.IGNORECASE,
)
THANKS = re.compile(
    r"^\W*(谢谢你?|多谢|感谢|再见|拜拜|好的|thanks( a lot)?|thank you( very much)?|bye|goodbye|ok(ay)?)\W*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """The open turn, what earlier ones wait for, and what everyday rules read in it."""

    turn: Turn
    before: int
    offered: frozenset[str]
    pending: Pending | None
    intent: Intent | None
    rule: Step | None

    @property
    def asked(self) -> str:
        """What the person said."""
        return self.turn.asked

    @property
    def chinese(self) -> bool:
        """Whether to answer in Chinese; a place's name or an id says nothing, so then as the question was asked."""
        return is_chinese(self.asked) or (self.pending is not None and is_chinese(self.pending.asked))


def answer(request: MessageRequest) -> AssistantMessage:
    """Give the next message of the conversation."""
    talk = _talk(request)
    last = talk.turn.done[-1] if talk.turn.done else None
    if isinstance(last, ToolMessage):
        return _after_result(talk, last)
    direct = read_direct(talk.asked)
    if direct is not None:
        if direct.fault is not None:
            return _say(speech.BAD_DIRECT[talk.chinese].format(why=direct.fault))
        return _call(talk, direct.tool, direct.args)
    if CANCEL.match(talk.asked):
        return _say(speech.DROPPED[talk.chinese])
    if THANKS.match(talk.asked):
        return _say(speech.WELCOME[talk.chinese])
    if talk.rule is not None and talk.rule.text:
        return _say(talk.rule.text)
    if QUERY in talk.offered:
        return _plain_call(talk, QUERY, {"query": _first_query(talk)})
    return _choose(talk, hits_of(request.tools))


def _talk(request: MessageRequest) -> Talk:
    turns = turns_of(request.messages)
    turn = turns[-1] if turns else Turn(asked="")
    pending = pending_before(turns[:-1])
    intent = read_intent(turn.asked)
    everyday = read_everyday(turn.asked)
    rule = None if everyday is None else Step(tool=everyday[0], args=everyday[1])
    if rule is not None:
        intent = None
    elif intent is not None:
        rule = recollection.first_step(intent, chinese=is_chinese(turn.asked))
    return Talk(
        turn=turn,
        before=len(request.messages) - len(turn.done) - 1,
        offered=frozenset(tool.name for tool in request.tools),
        pending=pending if pending is not None and may_answer(pending, turn.asked) else None,
        intent=intent,
        rule=rule,
    )


def _first_query(talk: Talk) -> str:
    if GREETING.match(talk.asked):
        return ""
    words = query_words(talk.asked)
    return words if talk.rule is None else f"{words} {talk.rule.tool}"


def _after_result(talk: Talk, result: ToolMessage) -> AssistantMessage:
    if result.name == QUERY and not result.is_error:
        texts = [m.text for m in talk.turn.done if isinstance(m, ToolMessage) and m.name == QUERY]
        names = _further(talk, read_catalogue(texts[0])) if len(texts) == 1 else ()
        if names:
            return _plain_call(talk, QUERY, {"query": " ".join(names)})
        return _choose(talk, read_all(texts))
    calls = (call for m in talk.turn.done if isinstance(m, AssistantMessage) for call in m.calls)
    tool = next((_target(call) for call in calls if call.id == result.call_id), result.name)
    if talk.intent is not None and not result.is_error:
        step = recollection.next_step(talk.intent, tool, result.text, chinese=talk.chinese)
        if step is not None:
            return _say(step.text) if step.text else _call(talk, step.tool, step.args)
    sample = _sample(talk, tool)
    return _say(speech.result(tool, result.text, is_error=result.is_error, chinese=talk.chinese, sample=sample))


def _sample(talk: Talk, tool: str) -> str:
    """Give a sentence of the tool's examples in the language of the talk."""
    examples = (example.ask for hit in talk.turn.catalogue.hits if hit.name == tool for example in hit.examples)
    return next((ask for ask in examples if is_chinese(ask) == talk.chinese), "")


def _further(talk: Talk, catalogue: Catalogue) -> tuple[str, ...]:
    """Give names to ask for in a second question: where the first gave the index alone, or no tool for sure."""
    if GREETING.match(talk.asked) or talk.pending is not None:
        return ()
    if talk.rule is not None and any(hit.name == talk.rule.tool for hit in catalogue.hits):
        return ()
    if not catalogue.hits:
        return shortlist(catalogue.lines, talk.asked)
    best = pick(catalogue.hits, talk.asked)
    if best is not None and best.score >= SURE:
        return ()
    described = {hit.name for hit in catalogue.hits}
    return tuple(name for name, _ in catalogue.lines if name not in described)[:SHORTLIST]


def _target(call: ToolCall) -> str:
    """Give the name of the tool that a call is for, also through `call_capability`."""
    return call.name if call.name != CALL else str(json.loads(call.arguments).get("name", CALL))


def _choose(talk: Talk, catalogue: Catalogue) -> AssistantMessage:
    if GREETING.match(talk.asked):
        names = frozenset({name for name, _ in catalogue.lines} | {hit.name for hit in catalogue.hits})
        return _say(speech.introduction(names, chinese=talk.chinese))
    best = pick(catalogue.hits, talk.asked)
    if talk.rule is not None and _is_ruled(talk.rule, catalogue, best):
        return _call(talk, talk.rule.tool, talk.rule.args)
    if talk.pending is not None and answers(talk.pending, talk.asked, catalogue):
        return _resume(talk, talk.pending)
    if best is None:
        sentence = tokenize(talk.asked)
        near = tuple(hit for hit in catalogue.hits if overlap(hit, sentence) >= PLAUSIBLE)
        return _say(speech.unfit(near[:SHORTLIST], chinese=talk.chinese))
    return _ask_or_call(talk, best.hit, fill(best.hit, talk.asked, best.template, best.fit))


def _is_ruled(rule: Step, catalogue: Catalogue, best: Pick | None) -> bool:
    """Say whether a rule decides: its tool is there, takes its arguments, and no other one has just this example."""
    hit = next((hit for hit in catalogue.hits if hit.name == rule.tool), None)
    if hit is None or not all(hit.parameter(name) for name in rule.args):
        return False
    group = rule.tool.partition("_")[0]
    return best is None or best.score < SURE or best.hit.name.partition("_")[0] == group


def _ask_or_call(talk: Talk, hit: Hit, filled: Filled) -> AssistantMessage:
    if filled.missing:
        return _say(speech.question(hit.name, filled.missing[0], chinese=talk.chinese))
    return _call(talk, hit.name, filled.args)


def _resume(talk: Talk, pending: Pending) -> AssistantMessage:
    best = pick((pending.hit,), pending.asked)
    filled = fill(pending.hit, pending.asked, best.template if best else None, best.fit if best else None)
    args = dict(filled.args)
    for name, reply in (*pending.replies, (pending.parameter.name, talk.asked)):
        parameter = pending.hit.parameter(name)
        value = None if parameter is None else value_of(parameter, reply)
        if value is not None:
            args[name] = value
    missing = tuple(p for p in pending.hit.parameters if p.is_required and p.name not in args)
    return _ask_or_call(talk, pending.hit, Filled(args=args, missing=missing))


def _call(talk: Talk, tool: str, args: JsonObject) -> AssistantMessage:
    if CALL in talk.offered and tool not in talk.offered:
        return _plain_call(talk, CALL, {"name": tool, "prompt": json.dumps(args, ensure_ascii=False)})
    return _plain_call(talk, tool, args)


def _plain_call(talk: Talk, name: str, args: JsonObject) -> AssistantMessage:
    """Make a call whose id is the same whenever the same conversation is continued, and unique within it."""
    arguments = json.dumps(args, ensure_ascii=False)
    seed = f"{talk.before}.{len(talk.turn.done)}.{name}.{arguments}"
    identity = "call_" + hashlib.sha256(seed.encode("utf-8", "surrogatepass")).hexdigest()[:24]
    return AssistantMessage(calls=(ToolCall(id=identity, name=name, arguments=arguments),))


def _say(text: str) -> AssistantMessage:
    return AssistantMessage(text=text)
