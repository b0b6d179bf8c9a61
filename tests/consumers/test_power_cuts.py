"""The power goes at each transaction of a call: afterwards it ends, and what must happen once happened once at most."""

from pathlib import Path

import pytest

from ias.domain.messages import JsonObject
from ias.store.transactions.queue import recover_at_start
from tests.consumers.logbook import logs_in
from tests.consumers.stores import CuttingStore, PowerCutError
from tests.consumers.workshop import GET, GET_KEY, HOST, POST, PUT_KEY, workshop_in
from tests.loopback import Loopback, Reply
from tests.store.conftest import sqlite_world

SCRIPT: list[JsonObject] = [
    GET,
    {"type": "batch", "requests": [POST, PUT_KEY, GET_KEY]},
    {"type": "result", "content": "done"},
]
TRANSACTIONS = 13  # of one life of such a call, from its first claim to its result


async def live(folder: Path, left: int, *, is_after_commit: bool) -> tuple[str, int, int, int]:
    """Let one life end after so many transactions, then a second one go on.

    Returns:
        The run's code, how often the order was posted, rows written, and transactions that were left to the first life.
    """
    with logs_in(folder / "logs") as logs, Loopback({(HOST, "/orders"): Reply(body=b"{}")}) as service:
        async with sqlite_world(folder) as world, workshop_in(world, folder, logs) as shop:
            shop.reroute(service)
            run_id = await shop.call(SCRIPT)
            store = CuttingStore(world.store, left, is_after_commit=is_after_commit)
            try:
                await shop.finish(run_id, store)
            except* PowerCutError:
                world.check()
            await world.run(recover_at_start())
            await shop.finish(run_id)
            code, _ = shop.told(run_id)
            posts = sum(seen.method == "POST" for seen in service.seen)
            rows = world.one("SELECT count(*) AS n FROM kv")["n"]
            unknown = [step for step in shop.steps() if step["state"] == "unknown"]
            assert bool(unknown) is (code == "outcome_unknown")
            return code, posts, rows, store.left


@pytest.mark.parametrize("is_after_commit", [False, True])
@pytest.mark.parametrize("left", range(TRANSACTIONS))
async def test_a_call_ends_and_its_effect_happens_once_at_most(
    tmp_path: Path, left: int, is_after_commit: bool
) -> None:
    code, posts, rows, _ = await live(tmp_path, left, is_after_commit=is_after_commit)
    assert rows == 1
    assert (code, posts) in (("ok", 1), ("outcome_unknown", 1), ("outcome_unknown", 0))


async def test_without_a_cut_the_call_takes_that_many_transactions(tmp_path: Path) -> None:
    code, posts, rows, left = await live(tmp_path, 1000, is_after_commit=False)
    assert (code, posts, rows, 1000 - left) == ("ok", 1, 1, TRANSACTIONS)
