"""Messages as long as any may be: the stand-in for a model answers them at once, for all others wait meanwhile."""

import json

import pytest

from ias.domain.messages import AssistantMessage, UserMessage
from tests.providers.offline_talk import calls_of, next_of

LONGEST = 100_000


@pytest.mark.timeout(10)
@pytest.mark.parametrize("text", ["北京天气", "“「'\"“", "12:30 ", "https://a.", "记住我喜欢", "2026-01-01 "])
async def test_a_long_message_keeps_nobody_waiting(text: str) -> None:
    whole = (text * LONGEST)[:LONGEST]
    _, said = await calls_of([], whole)
    assert 0 < len(said) < LONGEST


async def test_a_call_by_name_takes_a_text_of_any_length_and_depth() -> None:
    text = "[" * 90_000
    answer = await next_of([UserMessage(text=f"/tool memory_save body={text}")])
    assert isinstance(answer, AssistantMessage)
    (call,) = answer.calls
    assert json.loads(json.loads(call.arguments)["prompt"]) == {"body": text}
