"""Usage as the API and `ias usage` show it."""

import json
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from ias.domain.jobs import Queue
from ias.domain.messages import JsonObject
from ias.domain.money import Money
from ias.logs import Logs
from ias.store.base import Terms
from ias.store.once import run_once
from ias.store.transactions.queue import Idle, claim
from ias.store.transactions.turns import finish_llm_step, submit_message
from tests.cli.homes import ias, make_store
from tests.store.world import World, llm_step
from tests.web.api import make_api

PRICED = llm_step(cost=Money(micros=21, currency="CNY"))
NUMBERS: JsonObject = {
    "calls": 1,
    "input_tokens": 10,
    "cached_tokens": 4,
    "cache_hit_share": 0.4,
    "output_tokens": 5,
    "reasoning_tokens": 3,
    "cost": [{"amount": "0.000021", "currency": "CNY", "micros": 21}],
    "calls_of_unknown_cost": 0,
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Give a home whose store has two model calls of two users, one with a price."""
    store = make_store(tmp_path)
    for user, step in (("ann", PRICED), ("bob", llm_step())):
        run_once(store, submit_message(Terms(), channel="cli", address=user, user_id=user, text="hi"))
        job = run_once(store, claim(Queue.LLM, "w", f"t-{user}", 60_000))
        assert not isinstance(job, Idle)
        run_once(store, finish_llm_step(Terms(), job, step))
    return tmp_path


async def test_the_api_gives_usage_by_what_is_asked_for(world: World, logs: Logs) -> None:
    world.clock.move(round(datetime.now(UTC).timestamp() * 1000) - world.clock.at)
    sent = await world.submit()
    await world.run(finish_llm_step(world.terms, await world.claim(Queue.LLM), PRICED))

    async def get(query: str) -> httpx.Response:
        async with make_api(world, logs).client() as client:
            return await client.get(f"/api/usage{query}")

    by_day = (await get("")).json()
    day = by_day["usage"][0].pop("day")
    assert (by_day["by"], by_day["usage"], by_day["total"]) == ("day", [NUMBERS], NUMBERS)
    assert day == world.one("SELECT day FROM usage")["day"]
    named = {by: (await get(f"?by={by}&days=2")).json()["usage"][0][by] for by in ("user", "conversation", "model")}
    assert named == {"user": "ann", "conversation": sent.conversation_id, "model": "m"}
    assert (await get("?user_id=bob")).json()["usage"] == []
    assert [(await get(query)).status_code for query in ("?by=week", "?days=0", "?days=99999999", "?limit=0")] == [
        422
    ] * 4


async def test_usage_is_behind_the_token(world: World, logs: Logs) -> None:
    async with make_api(world, logs).client(token=None) as client:
        assert (await client.get("/api/usage")).status_code == 401


def test_the_command_shows_columns_with_cache_share_and_cost_or_unknown(home: Path) -> None:
    done = ias(home, "usage", "--by", "user")

    assert (done.code, done.err) == (0, "")
    assert [line.split() for line in done.out.splitlines()] == [
        ["USER", "CALLS", "INPUT", "CACHED", "OUTPUT", "REASONING", "COST"],
        ["ann", "1", "10", "40%", "5", "3", "0.000021", "CNY"],
        ["bob", "1", "10", "40%", "5", "3", "unknown"],
        ["all", "2", "20", "40%", "10", "6", "0.000021", "CNY", "+", "unknown", "(1", "of", "2", "calls)"],
    ]
    short = ias(home, "usage", "--by", "user", "--limit", "1").out.splitlines()
    assert [line.split()[0] for line in short] == ["USER", "ann", "all", "1"]


def test_the_command_gives_the_same_json_as_the_api(home: Path) -> None:
    shown = json.loads(ias(home, "usage", "--days", "1", "--user", "ann", "--json").out)

    assert (shown["by"], shown["total"]) == ("day", NUMBERS)
    assert [next(iter(line)) for line in shown["usage"]] == ["day"]


def test_a_day_without_calls_is_no_error(tmp_path: Path) -> None:
    make_store(tmp_path)

    done = ias(tmp_path, "usage")
    assert (done.code, done.out.splitlines()[-1].split()) == (0, ["all", "0", "0", "-", "0", "0", "-"])


@pytest.mark.parametrize("args", [("--by", "week"), ("--days", "0"), ("--limit", "0")])
def test_a_wrong_use_is_told(tmp_path: Path, args: tuple[str, ...]) -> None:
    make_store(tmp_path)

    assert ias(tmp_path, "usage", *args).code == 2
