"""One model step of a turn: what the model is sent, what listeners hear, what is stored, and how failures end."""

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from ias.bus import Bus
from ias.consumers.base import Consumer
from ias.consumers.llm import LlmHandler
from ias.cycle.step import CycleConfig, ModelStep
from ias.domain.events import AssistantTextDelta, ReasoningDelta
from ias.domain.jobs import Queue
from ias.domain.messages import AssistantMessage, JsonObject, JsonValue, TextChunk, ToolMessage, UserMessage
from ias.domain.tools import Result
from ias.errors import (
    AuthenticationError,
    BadRequestError,
    BalanceError,
    ContextOverflowError,
    LlmError,
    RateLimitedError,
    StreamCutError,
)
from ias.logs import Logs
from ias.registry import ToolRegistry
from ias.store.base import Row
from ias.store.transactions.runs import finish_run
from tests.consumers.crew import Scripted, consumer_of
from tests.consumers.logbook import logs_in, read_log
from tests.cycle.script import Answer, ScriptedModel, call, says
from tests.registry.tools import CITY, PythonTool, echo
from tests.store.world import World


class Tools:
    """The tools that a model is given."""

    def __init__(self) -> None:
        self.registry = ToolRegistry()
        self.registry.register(PythonTool("echo", echo, parameters=CITY))

    def for_model(self) -> ToolRegistry:
        return self.registry


class Desk:
    """A worker of the llm queue with a scripted model."""

    def __init__(self, world: World, logs: Logs, *answers: Answer, max_turns: int = 10) -> None:
        self.world = world
        self.model = ScriptedModel(*answers)
        self.bus = Bus()
        step = ModelStep(self.model, CycleConfig(model="m-1", max_turns=max_turns))
        handler = LlmHandler(world.store, step, Tools(), self.bus, logs)
        self.consumer: Consumer = consumer_of(world, Scripted(handler.handle), logs)

    async def step(self) -> None:
        """Work on the next job of the queue."""
        await self.consumer.work(await self.world.claim(Queue.LLM))
        self.world.check()

    async def finish_calls(self, content: str = "done") -> None:
        """Let each open call end."""
        job = await self.world.try_claim(Queue.TOOL)
        while job is not None:
            await self.world.run(finish_run(self.world.terms, job, Result(content=content)))
            job = await self.world.try_claim(Queue.TOOL)

    def said(self) -> list[str]:
        """Give what the assistant said, message by message."""
        rows = self.world.look("SELECT content FROM message WHERE role = 'assistant' ORDER BY rowid")
        return [json.loads(row["content"])["text"] for row in rows]

    def turn(self) -> Row:
        return self.world.one("SELECT state, reason, llm_steps FROM turn ORDER BY seq LIMIT 1")


@pytest.fixture
def logs(tmp_path: Path) -> Generator[Logs]:
    with logs_in(tmp_path / "logs") as found:
        yield found


async def test_an_answer_is_heard_as_it_comes_and_stored_as_a_whole(world: World, logs: Logs, tmp_path: Path) -> None:
    desk = Desk(world, logs, says("it is noon", reasoning="the clock"))
    stored = await world.submit("what time is it")
    with desk.bus.subscribe(stored.conversation_id) as listener:
        await desk.step()
        items = aiter(listener)
        heard = [await anext(items) for _ in range(5)]

    turn: dict[str, Any] = {"turn_id": stored.turn_id, "step": 1, "attempt": 1}
    assert heard == [
        None,
        ReasoningDelta(text="the clock", **turn),
        AssistantTextDelta(text="it", **turn),
        AssistantTextDelta(text=" is", offset=2, **turn),
        AssistantTextDelta(text=" noon", offset=5, **turn),
    ]
    assert (desk.said(), desk.turn()) == (["it is noon"], {"state": "ended", "reason": "reply", "llm_steps": 1})
    assert desk.bus.running_text(stored.conversation_id) == ()
    assert "[LLM]" in read_log(tmp_path / "logs", "msg")
    assert world.one("SELECT tokens_in, tokens_out FROM usage") == {"tokens_in": 7, "tokens_out": 3}


async def test_calls_become_runs_and_their_results_come_back_to_the_model(world: World, logs: Logs) -> None:
    calls = (call(arguments='{"city":"x"}', call_id="a"), call("nothing", call_id="b"))
    desk = Desk(world, logs, says("looking", *calls), says("done"))
    await world.submit("go")
    await desk.step()
    runs = world.look("SELECT tool, state, code FROM run ORDER BY pos")
    assert runs == [
        {"tool": "echo", "state": "open", "code": None},
        {"tool": "nothing", "state": "done", "code": "not_found"},
    ]
    await desk.finish_calls("22 °C")
    await desk.step()

    assert desk.model.requests[1].messages == (
        UserMessage(text="go"),
        AssistantMessage(text="looking", calls=calls),
        ToolMessage(call_id="a", name="echo", text="22 °C"),
        ToolMessage(
            call_id="b",
            name="nothing",
            text="error (not_found): there is no tool 'nothing'; the tools are: echo",
            is_error=True,
        ),
    )
    assert desk.said() == ["looking", "done"]


async def test_a_message_that_waits_is_not_shown_to_the_model_before_its_turn(world: World, logs: Logs) -> None:
    desk = Desk(world, logs, says("first answer"), says("second answer"))
    await world.submit("first")
    await world.submit("second")
    await desk.step()
    await desk.step()
    assert [message.text for message in desk.model.requests[0].messages] == ["first"]
    assert [message.text for message in desk.model.requests[1].messages] == ["first", "first answer", "second"]


@pytest.mark.parametrize(
    ("asked", "closing"),
    [
        ("查一下", "我在反复做同一件事，先停下来了。请换个说法，或者告诉我该怎么做。"),
        ("look", "I kept doing the same thing, so I stopped. Please put it another way, or tell me how to go on."),
    ],
)
async def test_the_fifth_identical_call_ends_the_turn_in_the_persons_language(
    world: World, logs: Logs, asked: str, closing: str
) -> None:
    desk = Desk(world, logs, *[says("", call(call_id=f"c{number}")) for number in range(5)])
    await world.submit(asked)
    for _ in range(5):
        await desk.step()
        await desk.finish_calls()
    codes = [row["code"] for row in world.look("SELECT code FROM run ORDER BY pos")]
    assert codes == ["ok", "ok", "repeated_call", "repeated_call", "turn_ended"]
    assert (desk.said()[-1], desk.turn()) == (closing, {"state": "ended", "reason": "loop", "llm_steps": 5})


async def test_a_turn_has_so_many_model_steps(world: World, logs: Logs) -> None:
    answers = [says("", call(arguments=f'{{"city":"{number}"}}')) for number in range(2)]
    desk = Desk(world, logs, *answers, max_turns=2)
    await world.submit("go")
    for _ in range(2):
        await desk.step()
        await desk.finish_calls()
    assert desk.turn() == {"state": "ended", "reason": "max_turns", "llm_steps": 2}
    assert desk.said()[-1] == "I stopped after 2 steps without being done. Say “go on” and I will continue."


async def test_an_answer_at_the_last_step_is_a_reply(world: World, logs: Logs) -> None:
    desk = Desk(world, logs, says("done"), max_turns=1)
    await world.submit("go")
    await desk.step()
    assert desk.turn()["reason"] == "reply"


async def test_a_failure_that_passes_is_tried_again_as_the_next_attempt(world: World, logs: Logs) -> None:
    desk = Desk(world, logs, [TextChunk(text="half"), StreamCutError("cut off")], says("whole"))
    stored = await world.submit("go")
    await desk.step()
    assert desk.bus.running_text(stored.conversation_id) == ()
    waiting = world.one("SELECT state, attempts, last_error, run_at FROM job WHERE queue = 'llm'")
    assert (waiting["state"], waiting["attempts"], waiting["last_error"]) == ("ready", 1, "StreamCutError: cut off")
    assert 500 <= waiting["run_at"] - world.clock.at <= 550
    world.clock.move(1000)
    with desk.bus.subscribe(stored.conversation_id) as listener:
        await desk.step()
        items = aiter(listener)
        heard = [await anext(items) for _ in range(2)]
    assert heard == [None, AssistantTextDelta(turn_id=stored.turn_id, step=1, attempt=2, text="whole")]
    assert desk.said() == ["whole"]


async def test_a_wish_to_wait_is_honoured(world: World, logs: Logs) -> None:
    desk = Desk(world, logs, [RateLimitedError("slow down", status=429, retry_after=30)])
    await world.submit("go")
    await desk.step()
    assert 30_000 <= world.one("SELECT run_at FROM job WHERE queue = 'llm'")["run_at"] - world.clock.at <= 33_000


async def test_a_failure_that_does_not_pass_ends_the_turn_with_what_was_wrong(world: World, logs: Logs) -> None:
    desk = Desk(world, logs, *[[RateLimitedError("slow down", status=429)] for _ in range(5)])
    await world.submit("几点")
    for _ in range(5):
        await desk.step()
        world.clock.move(600_000)
    assert desk.turn() == {"state": "ended", "reason": "provider_error", "llm_steps": 0}
    assert desk.said() == ["模型没有回答：slow down"]
    assert world.one("SELECT state FROM job WHERE queue = 'llm'") == {"state": "dead"}


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (AuthenticationError("wrong key", status=401), "; check llm.api_key in config.yaml, or DEEPSEEK_API_KEY"),
        (BalanceError("no money", status=402), "; the account has no balance left"),
        (
            ContextOverflowError("too long", status=400),
            "; the conversation is too long for this model: begin a new one with /new",
        ),
        (BadRequestError("odd", status=422), ""),
    ],
)
async def test_a_refusal_is_told_at_once_with_what_to_do(
    world: World, logs: Logs, tmp_path: Path, error: LlmError, advice: str
) -> None:
    desk = Desk(world, logs, [error])
    await world.submit("go")
    await desk.step()
    assert desk.said() == [f"The model did not answer: {error}{advice}"]
    assert desk.turn()["reason"] == "provider_error"
    assert f"kind={type(error).__name__}" in read_log(tmp_path / "logs", "error")


async def test_a_provider_that_breaks_its_contract_is_an_error_of_the_job(world: World, logs: Logs) -> None:
    desk = Desk(world, logs, [TextChunk(text="and then")])
    stored = await world.submit("go")
    await desk.step()
    waiting = world.one("SELECT state, last_error FROM job WHERE queue = 'llm'")
    assert waiting["state"] == "ready"
    assert "without a response" in waiting["last_error"]
    assert desk.bus.running_text(stored.conversation_id) == ()


async def test_a_lookup_that_breaks_the_handler_does_not_end_the_queue(world: World, logs: Logs) -> None:
    async def breaks(_: JsonObject) -> JsonValue:
        raise ZeroDivisionError("a bug")

    class Looks(PythonTool):
        answers_at_once = True

    tools = Tools()
    tools.registry.register(Looks("looks", breaks))
    model = ScriptedModel(says("", call("looks")))
    handler = LlmHandler(world.store, ModelStep(model, CycleConfig(model="m-1")), tools, Bus(), logs)
    consumer = consumer_of(world, Scripted(handler.handle), logs)
    await world.submit("go")
    await consumer.work(await world.claim(Queue.LLM))
    assert world.one("SELECT last_error FROM job WHERE queue = 'llm'")["last_error"] == "ZeroDivisionError: a bug"
