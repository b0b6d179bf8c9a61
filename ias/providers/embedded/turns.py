"""A conversation cut into turns, and the value that an earlier turn still waits for."""

import re
from dataclasses import dataclass

from ias.domain.messages import AssistantMessage, Message, ToolMessage, UserMessage
from ias.providers.embedded import speech
from ias.providers.embedded.everyday import read_everyday
from ias.providers.embedded.hits import Catalogue, Hit, Parameter, read_all
from ias.providers.embedded.memories import read_intent
from ias.providers.embedded.picking import pick
from ias.providers.embedded.tokens import is_chinese

QUERY = "query_capabilities"
OTHER_FITS, SAME_FITS = 0.45, 0.6
"""Fit to an example from which a short message is a question of its own: to another tool, to the one that waits."""
MOST_TURNS = 6
"""Questions of ours in a row that are looked back at."""
ANSWER_HAN, ANSWER_WORDS = 24, 8
"""Characters or words of the longest answer to a question for a name or place."""
FREE_TEXT = frozenset({"body", "text", "message", "content", "query", "note", "title", "prompt"})
"""Parameters whose values are sentences."""
CANCEL = re.compile(
    r"^\W*(?:算了吧?|取消(?:吧|这个)?|不用了|不查了|不要了|没事了?|忘了吧|停|别查了|cancel(?: that| it)?"
    r"|never ?mind|forget (?:about )?it|stop|abort"
    r"|quit|skip(?: it)?|no thanks?|nothing)\W*$",
    re.IGNORECASE,
)
ASKING = re.compile(
    r"[?？]|吗|呢|什么|怎么|哪|谁|多少|几(?![\u4e00-\u9fff]*[路街巷])|为啥|为什么|是否|能不能|会不会|要不要|有没有"
    r"|多远|多久"
    r"|^\W*(?:请|帮|给我|告诉|查|搜|找|打开|列出|显示|记住|记一?下|忘|删|写|发|提醒|讲|说|总结|翻译|算|画|唱|播放"
    r"|我想|我要|离|距离)"
    r"|^\W*(?:what|when|where|who|why|how|which|is|are|am|do|does|did|can|could|will|would|should|may|tell|show"
    r"|list|find|search|write|give"
    r"|make|create|remember|forget|delete|remove|open|read|play|send|help|please|translate|explain|summari[sz]e"
    r"|convert|calculate|compute|get"
    r"|fetch|add|set|draw|sing|let|look|check|remind|change|update|i want|i need|i'd like)\b",
    re.IGNORECASE,
)
IDENTIFIER = re.compile(r"(?=.*\d)[A-Za-z0-9_.:#-]{3,64}|m_[a-z0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What a person said, and what was done and said about it."""

    asked: str
    done: tuple[Message, ...] = ()

    @property
    def catalogue(self) -> Catalogue:
        """What the catalogue answered in this turn."""
        return read_all([m.text for m in self.done if isinstance(m, ToolMessage) and m.name == QUERY])

    @property
    def question(self) -> tuple[str, str] | None:
        """The tool and the parameter that this turn ended with a question for."""
        last = self.done[-1] if self.done else None
        return speech.asked(last.text) if isinstance(last, AssistantMessage) and not last.calls else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """A tool that waits for a value: the first message, the parameter asked for last, and the replies so far."""

    asked: str
    hit: Hit
    parameter: Parameter
    replies: tuple[tuple[str, str], ...] = ()


def turns_of(messages: tuple[Message, ...]) -> tuple[Turn, ...]:
    """Cut a conversation; what stands before the first message of a person is left out."""
    starts = [position for position, message in enumerate(messages) if isinstance(message, UserMessage)]
    ends = [*starts, len(messages)][1:]
    return tuple(
        Turn(asked=opening.text, done=messages[start + 1 : end])
        for start, end in zip(starts, ends, strict=True)
        if isinstance(opening := messages[start], UserMessage)
    )


def pending_before(turns: tuple[Turn, ...]) -> Pending | None:
    """Give what the turns wait for: their last one ended with a question of ours."""
    first = len(turns)
    while first and len(turns) - first < MOST_TURNS and turns[first - 1].question is not None:
        first -= 1
    pending: Pending | None = None
    for turn in turns[first:]:
        is_answer = pending is not None and answers(pending, turn.asked, turn.catalogue)
        pending = _extended(pending if is_answer else None, turn)
    return pending


def _extended(pending: Pending | None, turn: Turn) -> Pending | None:
    """Give what is waited for after a turn, that began with an answer to `pending` if that is not None."""
    question = turn.question
    if question is None:
        return None
    tool, name = question
    hit = pending.hit if pending else next((hit for hit in turn.catalogue.hits if hit.name == tool), None)
    parameter = hit.parameter(name) if hit else None
    if hit is None or parameter is None:
        return None
    if pending is None:
        return Pending(asked=turn.asked, hit=hit, parameter=parameter)
    replies = (*pending.replies, (pending.parameter.name, turn.asked))
    return Pending(asked=pending.asked, hit=hit, parameter=parameter, replies=replies)


def may_answer(pending: Pending, text: str) -> bool:
    """Say whether a message can be the value that is waited for: short, no question, no command, no other matter."""
    said = text.strip()
    if not said or said.startswith("/") or read_everyday(said) or read_intent(said):
        return False
    parameter = pending.parameter
    if parameter.name == "id" or parameter.name.endswith("_id"):
        return IDENTIFIER.fullmatch(said) is not None
    if ASKING.search(said):
        return False
    if parameter.name in FREE_TEXT or parameter.type == "array":
        return True
    return len(said) <= ANSWER_HAN if is_chinese(said) else len(said.split()) <= ANSWER_WORDS


def answers(pending: Pending, text: str, catalogue: Catalogue) -> bool:
    """Say whether a message is the value that is waited for; `catalogue` is what was found for its words."""
    if not may_answer(pending, text):
        return False
    best = pick(catalogue.hits, text)
    if best is None or best.fit is None:
        return True
    return best.fit.score < (SAME_FITS if best.hit.name == pending.hit.name else OTHER_FITS)
