"""What can be read by name."""

from ias.domain.approvals import Verdict
from ias.domain.jobs import Dead, Queue, TurnReason
from ias.store.connection import BACKEND, Lenient
from ias.store.statements import FOLDER, HEAD, load_statements
from ias.store.transactions.queue import bury
from tests.store.world import START, World, get, post


async def test_everything_that_a_person_may_look_at_can_be_read(world: World) -> None:
    job, _ = await world.begin_run()
    await world.finish_all(job, await world.ask(job, get()))
    await world.ask(job, post(), no=2, verdict=Verdict.ASK)
    read, run_id, conversation_id = world.store.read, job.owner_id, job.conversation_id
    turn_id = world.one("SELECT id FROM turn")["id"]

    assert [row["id"] for row in await read("conversations", limit=5)] == [conversation_id]
    assert await read("conversations", user_id="bob") == []
    assert (await read("conversation", id=conversation_id))[0]["address"] == "ann"
    assert (await read("conversation_at", channel="chat", address="ann"))[0]["id"] == conversation_id
    assert (await read("turn_by_prefix", ref=turn_id[:6]))[0]["state"] == "tools"
    assert (await read("active_turn", conversation_id=conversation_id))[0]["id"] == turn_id
    assert [row["role"] for row in await read("messages", conversation_id=conversation_id)] == ["user", "assistant"]
    assert (await read("runs", limit=1))[0]["id"] == run_id
    assert await read("runs", conversation_id="c_other") == []
    assert (await read("run_by_prefix", ref=run_id[:6]))[0]["state"] == "parked"
    assert [row["no"] for row in await read("steps", run_id=run_id)] == [1, 2]
    assert await read("met_hosts", conversation_id=conversation_id) == [{"host": "api.example.com"}]
    assert (await read("pending_counts"))[0] == {
        "turns": 1,
        "runs": 1,
        "approvals": 1,
        "deliveries": 1,
        "dead_letters": 0,
    }
    assert (await read("usage"))[0]["calls"] == 1
    assert await read("usage", since="2999-01-01") == []


async def test_an_approval_is_read_by_any_of_its_names(world: World) -> None:
    await world.park()
    read, row = world.store.read, world.one("SELECT id, run_id FROM approval")
    assert [len(await read("approval", ref=ref)) for ref in ("A1", "a1", "1", row["id"])] == [1, 1, 1, 1]
    assert [len(await read("approval", ref=ref)) for ref in ("A", "A12", "")] == [0, 0, 0]
    assert (await read("approval", ref="A1"))[0]["tool"] == "weather_now"
    assert (await read("approval_for_user", ref="1", user_id="ann"))[0]["id"] == row["id"]
    assert await read("approval_for_user", ref="1", user_id="bob") == []
    assert (await read("approval_of_run", run_id=row["run_id"]))[0]["num"] == 1
    assert [len(await read("approvals", state=state)) for state in ("pending", "denied", "all", None)] == [1, 0, 1, 1]
    assert await read("pending_approvals") == [{"n": 1, "expires_at": START + 900_000}]


async def test_queues_and_dead_letters_can_be_read(world: World) -> None:
    await world.submit()
    job = await world.claim(Queue.LLM)
    await world.run(bury(world.terms, job, Dead(reason=TurnReason.DEAD, error="why", closing="sorry")))
    stats = await world.store.read("queue_stats")
    assert [(row["queue"], row["state"], row["n"]) for row in stats] == [("llm", "dead", 1), ("send", "ready", 1)]
    assert [row["last_error"] for row in await world.store.read("dead_jobs")] == ["why"]
    assert len(await world.store.read("dead_job_by_prefix", ref=job.id[:5])) == 1


def test_every_statement_can_be_prepared_and_has_one_name() -> None:
    names = [match["name"] for file in FOLDER.glob("*.sql") for match in HEAD.finditer(file.read_text())]
    assert len(names) == len(set(names))
    assert set(load_statements(BACKEND)) == set(names)


async def test_every_statement_fits_the_tables(world: World) -> None:
    for statement in load_statements(BACKEND).values():
        world.look(f"EXPLAIN {statement}", Lenient())
