"""A conversation made one that every provider accepts, whatever crashes and cancellations left in it."""

import re
from collections.abc import Iterable
from dataclasses import replace

from ias.domain.messages import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage
from ias.providers.arguments import read_arguments

LOST_RESULT = "no result: the call was cancelled, or ias was stopped while it ran"
COUNTED_ID = re.compile(r"(functions\..+:)(\d{1,9})")
"""Kimi's ids; its template reads the tool's name and a count out of them (openclaw#62319)."""
EMPTY_OUTPUT = "(no output)"
EMPTY_QUESTION = "(empty message)"


def repair(messages: Iterable[Message], *, joins_answers: bool = True) -> tuple[Message, ...]:
    """Give the history a form that can always be sent.

    Providers answer 400, for this and every later request of the conversation, when a call has no result, two
    results, or a result that does not follow at once; when a result has no call; when an id comes twice; when
    arguments are not JSON; when two assistant messages follow each other. Call and result ids are changed only
    where they collide.

    Args:
        messages: As they are stored.
        joins_answers: Whether neighbouring assistant messages become one; an adapter that reads their `blocks` joins
            them itself.
    """
    whole = tuple(messages)
    results = _Results(whole)
    ids = _Ids()
    repaired: list[Message] = []
    for position, message in enumerate(whole):
        match message:
            case UserMessage():
                repaired.append(message if message.text.strip() else UserMessage(text=EMPTY_QUESTION))
            case AssistantMessage():
                answers = [(call, results.take(call.id, after=position)) for call in message.calls]
                sent, found = _pair(message, answers, ids)
                if joins_answers and repaired and isinstance(repaired[-1], AssistantMessage):
                    sent = _join(repaired.pop(), sent)
                if sent.text or sent.calls or sent.reasoning or sent.blocks:
                    repaired.append(sent)
                repaired.extend(found)
            case ToolMessage():
                continue
    return tuple(repaired)


class _Results:
    """Tool messages by call id and position; each is given out once."""

    def __init__(self, messages: tuple[Message, ...]) -> None:
        self._by_id: dict[str, list[tuple[int, ToolMessage]]] = {}
        self._calls: dict[str, list[int]] = {}
        for position, message in enumerate(messages):
            if isinstance(message, ToolMessage):
                self._by_id.setdefault(message.call_id, []).append((position, message))
            elif isinstance(message, AssistantMessage):
                for call in message.calls:
                    self._calls.setdefault(call.id, []).append(position)

    def take(self, call_id: str, *, after: int) -> ToolMessage | None:
        """Give the first unused result after `after` and before the id's next call."""
        end = min((position for position in self._calls[call_id] if position > after), default=None)
        waiting = self._by_id.get(call_id, [])
        for number, (position, message) in enumerate(waiting):
            if position > after and (end is None or position < end):
                del waiting[number]
                return message
        return None


class _Ids:
    """Ids on the wire, each once."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def unique(self, wanted: str) -> str:
        """Give `wanted`, or the first free id made from it."""
        numbered = COUNTED_ID.fullmatch(wanted)
        base, number = (numbered[1], int(numbered[2])) if numbered else (f"{wanted or 'call'}_", 1)
        chosen = wanted or "call"
        while chosen in self._used:
            number += 1
            chosen = f"{base}{number}"
        self._used.add(chosen)
        return chosen


def _pair(
    message: AssistantMessage, answers: list[tuple[ToolCall, ToolMessage | None]], ids: _Ids
) -> tuple[AssistantMessage, list[ToolMessage]]:
    """Give the message with sendable calls, and a result for each of them."""
    calls: list[ToolCall] = []
    tools: list[ToolMessage] = []
    for call, result in answers:
        sent = replace(call, id=ids.unique(call.id), arguments=read_arguments(call.arguments).text)
        calls.append(sent)
        found = result or ToolMessage(call_id=sent.id, name=call.name, text=LOST_RESULT, is_error=True)
        tools.append(replace(found, call_id=sent.id, text=found.text if found.text.strip() else EMPTY_OUTPUT))
    return replace(message, calls=tuple(calls)), tools


def _join(first: Message, second: AssistantMessage) -> AssistantMessage:
    """Make one message of two neighbours; the first has no calls, else its results would stand between them."""
    if not isinstance(first, AssistantMessage):
        return second
    reasoning = [part for part in (first.reasoning, second.reasoning) if part is not None]
    return AssistantMessage(
        text="\n\n".join(part for part in (first.text, second.text) if part),
        reasoning="\n\n".join(part for part in reasoning if part) if reasoning else None,
        calls=second.calls,
    )
