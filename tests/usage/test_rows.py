"""Usage in the store: what a model call cost is kept with its tokens, once, and older rows keep what they had."""

import sqlite3
from pathlib import Path

from ias.domain.jobs import Queue, TurnOver, TurnReason
from ias.domain.money import Money
from ias.store.base import LOST
from ias.store.connection import row_of
from ias.store.migrate import load_migrations, migrate
from ias.store.transactions.turns import close_turn, finish_llm_step
from ias.usage import By, sum_up
from tests.store.world import World, llm_step

PRICED = llm_step("sunny", cost=Money(micros=21, currency="CNY"))
OVER = TurnOver(reason=TurnReason.BUDGET, closing="no more today")
CONVERSATION = "INSERT INTO conversation VALUES ('c1', 'u', 'api', 'a', 1, 1, 1, 1, 5, NULL)"
BEFORE = "INSERT INTO usage VALUES ('j:t', 'c1', NULL, 'u', '2026-11-30', 'm', 10, 5, 4, 3, NULL, 7)"


async def test_the_cost_of_a_call_is_stored_with_its_tokens(world: World) -> None:
    await world.submit()
    await world.run(finish_llm_step(world.terms, await world.claim(Queue.LLM), PRICED))

    assert world.one("SELECT tokens_in, cost, currency FROM usage") == {"tokens_in": 10, "cost": 21, "currency": "CNY"}


async def test_a_call_that_came_too_late_is_paid_for_once_all_the_same(world: World) -> None:
    await world.submit()
    job = await world.claim(Queue.LLM)
    assert await world.run(finish_llm_step(world.terms, job, PRICED)) is TurnReason.REPLY

    assert await world.run(finish_llm_step(world.terms, job, PRICED)) == LOST
    assert world.one("SELECT count(*) AS n, sum(cost) AS cost FROM usage") == {"n": 1, "cost": 21}


async def test_usage_is_summed_up_by_day_user_conversation_and_model(world: World) -> None:
    sent = await world.submit()
    await world.run(finish_llm_step(world.terms, await world.claim(Queue.LLM), PRICED))
    world.clock.move(86_400_000)
    await world.submit()
    await world.run(finish_llm_step(world.terms, await world.claim(Queue.LLM), llm_step("no price")))
    days = [row["day"] for row in world.look("SELECT day FROM usage ORDER BY day")]

    async def of(by: By, **more: str) -> list[tuple[str, int, int]]:
        rows = await world.store.read("usage", by=by, **more)
        return [(used.of, used.calls, used.unpriced) for used in sum_up(rows, by)]

    assert await of(By.DAY) == [(days[1], 1, 1), (days[0], 1, 0)]
    assert await of(By.DAY, since=days[1]) == [(days[1], 1, 1)]
    assert await of(By.USER) == [("ann", 2, 1)]
    assert await of(By.USER, user_id="bob") == []
    assert await of(By.CONVERSATION) == [(sent.conversation_id, 2, 1)]
    assert await of(By.MODEL) == [("m", 2, 1)]
    assert await world.store.read("usage_of_day", day=days[0]) == [{"currency": "CNY", "tokens": 15, "cost": 21}]
    assert await world.store.read("usage_of_day", day="2000-01-01") == []


async def test_a_turn_that_is_over_ends_with_its_words_and_lets_the_next_begin(world: World) -> None:
    sent = await world.submit("first")
    await world.submit("second")
    job = await world.claim(Queue.LLM)

    assert await world.run(close_turn(world.terms, job, OVER)) is TurnReason.BUDGET
    assert await world.run(close_turn(world.terms, job, OVER)) == LOST
    world.check()
    turns = world.look("SELECT state, reason FROM turn ORDER BY seq")
    assert turns == [{"state": "ended", "reason": "budget"}, {"state": "llm", "reason": None}]
    assert world.events(sent.conversation_id)[-2:] == ["AssistantTextDelta", "TurnComplete"]
    assert world.look("SELECT 1 AS x FROM job WHERE state = 'dead'") == []
    assert world.look("SELECT 1 AS x FROM usage") == []


def test_rows_from_before_currencies_keep_their_tokens_and_have_no_cost(tmp_path: Path) -> None:
    first, *later = load_migrations()
    database = sqlite3.connect(tmp_path / "old.db", isolation_level=None)
    database.row_factory = row_of
    migrate(database, (first,))
    database.execute(CONVERSATION)
    database.execute(BEFORE)

    assert migrate(database, (first, *later)) == len(later)
    kept = database.execute("SELECT id, tokens_in, tokens_cached, cost, currency FROM usage").fetchall()
    database.close()
    assert kept == [{"id": "j:t", "tokens_in": 10, "tokens_cached": 4, "cost": None, "currency": None}]
