"""Model steps whose answer holds no words, by their row in docs/providers.md: tried again, then told to the person."""

from collections.abc import Generator
from pathlib import Path

import pytest

from ias.domain.messages import AssistantMessage, ChatResponse, FinishReason, ReasoningChunk, Usage
from ias.errors import EmptyResponseError, RateLimitedError
from ias.logs import Logs
from tests.consumers.logbook import logs_in
from tests.consumers.test_llm import Desk
from tests.cycle.script import Answer, says
from tests.store.world import World

EMPTY: Answer = [EmptyResponseError("neither text nor a tool call")]
BUSY: Answer = [RateLimitedError("slow down", status=429)]


@pytest.fixture
def logs(tmp_path: Path) -> Generator[Logs]:
    with logs_in(tmp_path / "logs") as found:
        yield found


def thoughts(text: str | None, reason: FinishReason = FinishReason.STOP) -> Answer:
    message = AssistantMessage(reasoning=text)
    return [
        ReasoningChunk(text=text or "."),
        ChatResponse(message=message, stop_reason=reason, usage=Usage(), model="m-1"),
    ]


async def step(desk: Desk, times: int) -> None:
    for _ in range(times):
        await desk.step()
        desk.world.clock.move(600_000)


async def test_row_26_two_empty_answers_switch_thinking_off_for_that_step(world: World, logs: Logs) -> None:
    desk = Desk(world, logs, EMPTY, BUSY, EMPTY, says("it rains"), says("it still rains"))
    await world.submit("is it raining")
    await step(desk, 4)
    await world.submit("and now")
    await step(desk, 1)
    assert desk.said() == ["it rains", "it still rains"]
    assert [request.thinking for request in desk.model.requests] == [True, True, True, False, True]


async def test_row_26_empty_answers_without_end_are_told_to_the_person(world: World, logs: Logs) -> None:
    desk = Desk(world, logs, *[EMPTY] * 5)
    await world.submit("is it raining")
    await step(desk, 5)
    assert desk.said() == ["The model did not answer: neither text nor a tool call"]
    assert desk.turn()["reason"] == "provider_error"
    assert [request.thinking for request in desk.model.requests] == [True, True, False, False, False]


@pytest.mark.parametrize(
    ("asked", "answer", "words"),
    [
        ("hi", thoughts("  so it is 4\n"), "The model gave no answer, only what it thought:\nso it is 4"),
        ("几点", thoughts("是四点"), "模型没有给出答案，只留下了思考：\n是四点"),
        ("hi", thoughts(None), "The model gave no answer. Please put it another way."),
        (
            "hi",
            thoughts("so", FinishReason.LENGTH),
            "The model reached its limit before it said anything. Ask for less, or set llm.max_tokens higher.",
        ),
    ],
)
async def test_row_27_thoughts_alone_are_shown_as_such_and_not_asked_for_again(
    world: World, logs: Logs, asked: str, answer: Answer, words: str
) -> None:
    desk = Desk(world, logs, answer)
    await world.submit(asked)
    await desk.step()
    assert desk.said() == ["", words]
    assert desk.turn() == {"state": "ended", "reason": "reply", "llm_steps": 1}


async def test_row_27_of_long_thoughts_the_end_is_shown(world: World, logs: Logs) -> None:
    desk = Desk(world, logs, thoughts("x" * 9_000 + "so it is 4"))
    await world.submit("hi")
    await desk.step()
    shown = desk.said()[1]
    assert shown.endswith("xso it is 4")
    assert len(shown) < 4_100
