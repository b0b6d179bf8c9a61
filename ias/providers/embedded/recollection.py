"""The steps of working with memories: which tool to call for an intent, and what its answer leads to."""

from dataclasses import dataclass

from ias.domain.messages import JsonObject
from ias.providers.embedded import speech
from ias.providers.embedded.memories import DELETE, LIST, SAVE, SEARCH, UPDATE, Intent, Memory, Want, closest, listed

SEARCHED = 20
"""Memories looked at to find the one that is meant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What is done next: a call of a tool, or words where `text` is not empty."""

    tool: str = ""
    args: JsonObject
    text: str = ""


def first_step(intent: Intent, *, chinese: bool) -> Step:
    """Begin with what a sentence wants; what is told by words is looked for first."""
    lang = "zh" if chinese else "en"
    if intent.want is Want.FORGET_WHICH:
        return Step(args={}, text=speech.WHICH[chinese])
    if intent.want in (Want.LIST, Want.FORGET_ALL):
        return Step(tool=LIST, args={"lang": lang})
    if intent.want is Want.KEEP:
        return Step(tool=SAVE, args={"body": intent.words, "lang": lang})
    if intent.id:
        return _on(intent, intent.id, lang)
    args: JsonObject = {"query": intent.words, "lang": lang}
    return Step(tool=SEARCH, args=args if intent.want is Want.RECALL else {**args, "limit": SEARCHED})


def next_step(intent: Intent, tool: str, text: str, *, chinese: bool) -> Step | None:
    """Go on after the answer of a tool; None where its answer is what was wanted.

    A memory is deleted or changed only where exactly one is meant.
    """
    if tool == LIST and intent.want is Want.FORGET_ALL:
        kept = listed(text)
        if not kept:
            return Step(args={}, text=speech.NOTHING_KEPT[chinese])
        head = speech.ONE_AT_A_TIME[chinese].format(id=kept[0].id)
        return Step(args={}, text=head + text.rstrip() + speech.FOOTER[chinese].format(tool=tool))
    if tool != SEARCH or intent.want not in (Want.FORGET, Want.CHANGE):
        return None
    meant = closest(listed(text), intent.words)
    if len(meant) == 1:
        return _on(intent, meant[0].id, "zh" if chinese else "en")
    return Step(args={}, text=_unclear(intent, meant, chinese=chinese) + speech.FOOTER[chinese].format(tool=tool))


def _on(intent: Intent, ident: str, lang: str) -> Step:
    if intent.want is Want.CHANGE:
        return Step(tool=UPDATE, args={"id": ident, "body": intent.body, "lang": lang})
    return Step(tool=DELETE, args={"id": ident, "lang": lang})


def _unclear(intent: Intent, meant: tuple[Memory, ...], *, chinese: bool) -> str:
    is_change = intent.want is Want.CHANGE
    verb = (speech.CHANGE_VERB if is_change else speech.FORGET_VERB)[chinese]
    if not meant:
        return speech.NONE_MEANT[chinese].format(words=intent.words, verb=verb)
    sample = (speech.CHANGE_SAMPLE if is_change else speech.FORGET_SAMPLE)[chinese].format(id=meant[0].id)
    lines = "\n".join(f"- [{memory.id}] {memory.body}" for memory in meant)
    return speech.SEVERAL[chinese].format(words=intent.words, count=len(meant), verb=verb, sample=sample, lines=lines)
