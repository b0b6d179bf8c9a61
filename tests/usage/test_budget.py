"""A day's budget in front of the model: the turn ends with words, nothing fails, and the next day goes on."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ias.bus import Bus
from ias.consumers.llm import LlmHandler
from ias.cycle.step import CycleConfig, ModelStep
from ias.domain.jobs import Queue
from ias.domain.messages import UserMessage
from ias.domain.money import Money
from ias.domain.tools import Result
from ias.logs import Logs
from ias.prices import PriceList, Tariff, price
from ias.registry import ToolRegistry
from ias.spending import Budget, Spending
from ias.store.transactions.runs import finish_run
from tests.consumers.crew import Scripted, consumer_of
from tests.consumers.logbook import read_log
from tests.cycle.script import Answer, ScriptedModel, call, says
from tests.registry.tools import CITY, PythonTool, echo
from tests.store.world import World

# A scripted answer has 7 tokens in and 3 out.
PRICES = PriceList(own={"m-1": Tariff(currency="CNY", price=price("2", "2", "1"))})
EVENING = datetime(2026, 12, 1, 18, 29, 30, tzinfo=UTC)
DAY_MS = 86_400_000
USED_UP = (
    "Today's budget for the model is used up (10 tokens). There is a new one at 2026-12-02 00:00 UTC, in 5 h 31 min;"
    " send this again then."
)


class Desk:
    """A worker of the llm queue with a scripted model and a budget; a new one is a daemon that started again."""

    def __init__(self, world: World, logs: Logs, budget: Budget, *answers: Answer) -> None:
        self.world = world
        self.model = ScriptedModel(*answers)
        self.registry = ToolRegistry()
        self.registry.register(PythonTool("echo", echo, parameters=CITY))
        step = ModelStep(self.model, CycleConfig(model="m-1"))
        spending = Spending(prices=PRICES, budget=budget, clock=world.clock)
        handler = LlmHandler(world.store, step, self, Bus(), logs, spending=spending)
        self.consumer = consumer_of(world, Scripted(handler.handle), logs)

    def for_model(self) -> ToolRegistry:
        return self.registry

    async def step(self) -> None:
        """Work on the next job of the queue."""
        await self.consumer.work(await self.world.claim(Queue.LLM))
        self.world.check()

    def ends(self) -> list[tuple[str, str]]:
        """Give each turn's reason and last words."""
        rows = self.world.look(
            "SELECT t.reason, m.content FROM turn t JOIN message m ON m.turn_id = t.id AND m.pos = t.next_pos - 1"
            " WHERE t.state = 'ended' ORDER BY t.seq"
        )
        return [(row["reason"], json.loads(row["content"])["text"]) for row in rows]


@pytest.fixture
def evening(world: World) -> World:
    """Give the store in the evening of a day."""
    world.clock.move(round(EVENING.timestamp() * 1000) - world.clock.at)
    return world


async def test_without_a_budget_the_model_is_called_and_priced(evening: World, logs: Logs) -> None:
    desk = Desk(evening, logs, Budget(), says("noon"))
    await evening.submit()
    await desk.step()

    assert desk.ends() == [("reply", "noon")]
    assert evening.one("SELECT cost, currency FROM usage") == {"cost": 17, "currency": "CNY"}


@pytest.mark.parametrize(
    ("budget", "asked", "words"),
    [
        (
            Budget(tokens=10),
            "again",
            USED_UP,
        ),
        (
            Budget(money=Money(micros=17, currency="CNY")),
            "再来",
            "今天的模型用量已到上限（0.000017 CNY）。2026-12-02 00:00 UTC 恢复，还有 5 小时 31 分，到时请再发一次。",
        ),
    ],
)
async def test_a_used_up_budget_ends_the_turn_in_the_persons_language_and_says_when_it_goes_on(
    evening: World, logs: Logs, tmp_path: Path, budget: Budget, asked: str, words: str
) -> None:
    desk = Desk(evening, logs, budget, says("noon"), says("not asked for"))
    for text in ("first", asked):
        await evening.submit(text)
        await desk.step()

    assert desk.ends() == [("reply", "noon"), ("budget", words)]
    assert len(desk.model.requests) == 1
    assert evening.look("SELECT queue, state FROM job") == [{"queue": "send", "state": "ready"}]  # no dead letter
    assert "used up" in read_log(tmp_path / "logs", "msg")


async def test_it_holds_after_a_restart_and_ends_with_the_day(evening: World, logs: Logs) -> None:
    budget = Budget(tokens=10)
    before = Desk(evening, logs, budget, says("noon"))
    await evening.submit()
    await before.step()

    again = Desk(evening, logs, budget, says("a new day"))
    await evening.submit()
    await again.step()
    assert (again.ends()[-1][0], again.model.requests) == ("budget", [])
    evening.clock.move(DAY_MS - 18 * 3_600_000)
    await evening.submit()
    await again.step()
    assert again.ends()[-1] == ("reply", "a new day")


async def test_it_is_looked_at_before_each_step_and_results_of_tools_are_kept(evening: World, logs: Logs) -> None:
    desk = Desk(evening, logs, Budget(tokens=10), says("", call(arguments='{"city":"x"}')), says("not asked for"))
    await evening.submit("go")
    await desk.step()
    await evening.run(finish_run(evening.terms, await evening.claim(Queue.TOOL), Result(content="22 °C")))
    await desk.step()

    assert [reason for reason, _ in desk.ends()] == ["budget"]
    roles = [row["role"] for row in evening.look("SELECT role FROM message ORDER BY pos")]
    assert roles == ["user", "assistant", "tool", "assistant"]
    assert desk.model.requests[0].messages == (UserMessage(text="go"),)


async def test_the_budget_is_for_all_users_together(evening: World, logs: Logs) -> None:
    desk = Desk(evening, logs, Budget(tokens=10), says("noon"))
    await evening.submit()
    await desk.step()
    await evening.submit(channel="other")
    await desk.step()

    assert desk.ends()[-1][0] == "budget"
