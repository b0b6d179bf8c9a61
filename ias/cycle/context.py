"""How much of a conversation a model is sent: an estimate of its tokens, and what is left out where it is too long.

Whole turns are left out, the oldest first: a call is never parted from its result, nor a turn from its reasoning. The
cut moves several turns at a time: between two moves each request begins with the bytes of the one before, which a
provider's cache then knows. Where the last turn alone is too long, its oldest results are shortened.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import replace

from ias.domain.messages import AssistantMessage, Message, ToolDef, ToolMessage, UserMessage, shorten

WIDE = re.compile(r"[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
WIDE_TOKENS = 0.6  # tokens of a Chinese character; DeepSeek's own rule (api-docs.deepseek.com, "Token & Token Usage")
OTHER_TOKENS = 0.3  # of any other character; the same page
MESSAGE_TOKENS = 4  # what a message costs beside its text: role and separators
TURNS_AT_ONCE = 8  # turns by which the cut moves
RESULT_BYTES = 2_000  # what is left of a result that must be shortened
LEFT_OUT = "(Earlier messages of this conversation are left out here.)"


def estimate_text(text: str) -> float:
    """Give the tokens of a text, roughly: within a factor of two for every tokenizer in use."""
    wide = len(WIDE.findall(text))
    return wide * WIDE_TOKENS + (len(text) - wide) * OTHER_TOKENS


def estimate_message(message: Message) -> float:
    """Give the tokens of a message, its calls and reasoning included."""
    match message:
        case AssistantMessage():
            calls = "".join(call.name + call.arguments for call in message.calls)
            blocks = "" if message.blocks is None else json.dumps(message.blocks)
            text = message.text + (message.reasoning or "") + calls + blocks
        case UserMessage() | ToolMessage():
            text = message.text
    return MESSAGE_TOKENS + estimate_text(text)


def estimate_frame(system: str | None, tools: Sequence[ToolDef]) -> float:
    """Give the tokens of what stands around the messages in every request."""
    texts = [system or "", *(f"{tool.name}{tool.description}{tool.parameters}" for tool in tools)]
    return sum(estimate_text(text) for text in texts)


def fit(messages: tuple[Message, ...], *, tokens: float) -> tuple[Message, ...]:
    """Give as much of a history's end as fits, from a person's message on.

    Args:
        messages: The history; each turn begins with a person's message, the last is the one to answer.
        tokens: What may be sent, as `estimate_message` counts.
    """
    turns = _turns(messages)
    sizes = [sum(estimate_message(message) for message in turn) for turn in turns]
    first = _first_turn(sizes, tokens)
    kept = [message for turn in turns[first:] for message in turn]
    if sum(sizes[first:]) > tokens:
        kept = _shorten_results(kept, tokens=tokens)
    if first and isinstance(kept[0], UserMessage):
        kept[0] = UserMessage(text=f"{LEFT_OUT}\n\n{kept[0].text}")
    return tuple(kept)


def _first_turn(sizes: list[float], tokens: float) -> int:
    """Give the first turn that is sent: the last one always is; of many, whole groups go at a time."""
    left, first = sum(sizes), 0
    while first < len(sizes) - 1 and left > tokens:
        left -= sizes[first]
        first += 1
    grouped = -(-first // TURNS_AT_ONCE) * TURNS_AT_ONCE
    return grouped if len(sizes) - grouped >= TURNS_AT_ONCE else first


def _turns(messages: tuple[Message, ...]) -> list[list[Message]]:
    turns: list[list[Message]] = []
    for message in messages:
        if isinstance(message, UserMessage) or not turns:
            turns.append([])
        turns[-1].append(message)
    return turns or [[]]


def _shorten_results(messages: list[Message], *, tokens: float) -> list[Message]:
    total = sum(estimate_message(message) for message in messages)
    shorter = list(messages)
    for at, message in enumerate(messages):
        if total <= tokens:
            break
        if isinstance(message, ToolMessage):
            less = replace(message, text=shorten(message.text, limit_bytes=RESULT_BYTES))
            total -= estimate_message(message) - estimate_message(less)
            shorter[at] = less
    return shorter
