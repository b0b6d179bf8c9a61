"""The way in: what is taken, what is refused, what is a command, and who may give it."""

from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest

from ias.domain.jobs import Queue
from ias.errors import TooDeepError
from ias.intake import Incoming, Intake, UnfitMessageError
from ias.logs import Logs
from ias.store.base import Terms
from tests.consumers.logbook import logs_in, read_log
from tests.store.world import World

HELLO = Incoming(channel="chat", address="ann", user_id="ann", text="hello")


@pytest.fixture
def logs(tmp_path: Path) -> Generator[Logs]:
    with logs_in(tmp_path / "logs") as found:
        yield found


@pytest.fixture
async def intake(world: World, logs: Logs) -> Intake:
    return Intake(world.store, world.terms, logs)


async def send(intake: Intake, world: World, text: str, *, user: str = "ann", source_id: str | None = None) -> str:
    """Send a message and give the notice that answered it, if one did."""
    await intake.submit(replace(HELLO, text=text, user_id=user, address=user, source_id=source_id))
    world.check()
    rows = world.look("SELECT body FROM delivery WHERE kind = 'notice' ORDER BY rowid DESC LIMIT 1")
    return "" if not rows else str(rows[0]["body"]).strip('"').encode().decode("unicode_escape")


async def test_a_message_is_stored_once_however_often_it_comes(intake: Intake, world: World, tmp_path: Path) -> None:
    first = await intake.submit(replace(HELLO, source_id="m1"))
    again = await intake.submit(replace(HELLO, source_id="m1"))
    other = await intake.submit(replace(HELLO, source_id="m2"))
    assert again == replace(first, is_duplicate=True)
    assert other.turn_id != first.turn_id
    assert len(world.look("SELECT id FROM turn")) == 2
    assert read_log(tmp_path / "logs", "msg").count("[用户]") == 2


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"text": ""}, "empty"),
        ({"text": " \n\t"}, "empty"),
        ({"text": "x" * 100_001}, "at most 100000"),
        ({"user_id": ""}, "user_id"),
        ({"user_id": "x" * 201}, "user_id"),
        ({"address": ""}, "address"),
        ({"source_id": "x" * 201}, "source_id"),
    ],
)
async def test_what_cannot_be_taken_is_refused_and_not_stored(
    intake: Intake, world: World, change: dict[str, str], part: str
) -> None:
    with pytest.raises(UnfitMessageError, match=part):
        await intake.submit(replace(HELLO, **change))
    assert world.look("SELECT id FROM turn") == []


async def test_lone_surrogates_are_replaced_and_blank_ends_cut(intake: Intake, world: World) -> None:
    await intake.submit(replace(HELLO, text="  a\ud800b \n"))
    assert world.one("SELECT content FROM message")["content"] == '{"text":"a\\ufffdb"}'


async def test_too_many_waiting_messages_are_refused_but_commands_pass(world: World, logs: Logs) -> None:
    intake = Intake(world.store, Terms(conversation_depth=2, depth=4), logs)
    for number in range(3):
        await intake.submit(replace(HELLO, text=f"{number}"))
    with pytest.raises(TooDeepError) as one_conversation:
        await intake.submit(HELLO)
    await intake.submit(replace(HELLO, address="bob"))
    with pytest.raises(TooDeepError) as all_of_them:
        await intake.submit(replace(HELLO, address="cat"))
    assert one_conversation.value.retry_after > 0
    assert all_of_them.value.retry_after > 0
    await intake.submit(replace(HELLO, text="/cancel"))


async def test_cancel_stops_what_is_going_on_and_says_so(intake: Intake, world: World) -> None:
    assert await send(intake, world, "/cancel") == "Nothing is going on."
    await send(intake, world, "现在几点")
    assert await send(intake, world, "/cancel") == "已停止。"
    turns = world.look("SELECT kind, reason FROM turn ORDER BY seq")
    assert turns == [
        {"kind": "command", "reason": "command"},
        {"kind": "chat", "reason": "cancelled"},
        {"kind": "command", "reason": "command"},
    ]


async def test_new_closes_the_conversation_and_the_next_message_opens_another(intake: Intake, world: World) -> None:
    await send(intake, world, "one")
    await send(intake, world, "two")
    assert await send(intake, world, "/new") == "A new conversation begins."
    await send(intake, world, "three")
    conversations = world.look("SELECT closed_at IS NULL AS is_open FROM conversation ORDER BY rowid")
    assert [row["is_open"] for row in conversations] == [0, 1]
    reasons = [row["reason"] for row in world.look("SELECT reason FROM turn WHERE kind = 'chat' ORDER BY rowid")]
    assert reasons == ["new", "new", None]


async def waiting(world: World) -> tuple[str, str]:
    """Let a call of ann's wait for a person; gives the approval's name and digest."""
    _, ref = await world.park()
    return ref, world.one("SELECT digest FROM approval")["digest"]


async def test_an_approval_needs_its_digest(intake: Intake, world: World) -> None:
    ref, digest = await waiting(world)
    ask = f"To show that you read it, write /approve {ref} {digest[:4]}"
    for wrong in ("", " zzzz", f" {digest[:3]}", f" {digest[:4]}zz", " yes please"):
        assert await send(intake, world, f"/approve {ref}{wrong}") == ask
        assert world.state("approval") == ["pending"]
    assert await send(intake, world, f"/approve {ref.lower()} {digest[:4].upper()}") == f"{ref.lower()} is approved."
    assert world.one("SELECT state, decided_by, decided_via FROM approval") == {
        "state": "approved",
        "decided_by": "ann",
        "decided_via": "chat",
    }
    assert await world.try_claim(Queue.TOOL) is not None


async def test_nobody_else_can_decide_or_learn_of_a_request(intake: Intake, world: World) -> None:
    ref, digest = await waiting(world)
    for text in (f"/approve {ref} {digest}", f"/deny {ref}", f"/approve {ref}"):
        assert await send(intake, world, text, user="eve") == f"No request {ref} waits for you."
    assert world.state("approval") == ["pending"]


@pytest.mark.parametrize("ref", ["A99", "R1", "x", "%", "A1' OR 1=1"])
async def test_an_unknown_request_is_named(intake: Intake, world: World, ref: str) -> None:
    await waiting(world)
    assert await send(intake, world, f"/deny {ref}") == f"No request {ref.split(' ')[0]} waits for you."
    assert world.state("approval") == ["pending"]


async def test_a_command_without_a_request_asks_for_one(intake: Intake, world: World) -> None:
    assert await send(intake, world, "/approve") == "Name the request, as in /approve A12 7f3a."
    assert await send(intake, world, "/deny") == "Name the request, as in /approve A12 7f3a."


async def test_a_denial_gives_its_reason_to_the_model(intake: Intake, world: World) -> None:
    ref, _ = await waiting(world)
    assert await send(intake, world, f"/deny {ref} too\nexpensive") == f"{ref} is denied."
    assert world.one("SELECT reason FROM approval") == {"reason": "too\nexpensive"}
    assert world.one("SELECT code FROM run") == {"code": "approval_denied"}


async def test_a_second_answer_is_told_the_first_and_the_same_one_again_is_fine(intake: Intake, world: World) -> None:
    ref, digest = await waiting(world)
    await send(intake, world, f"/approve {ref} {digest[:4]}", source_id="m1")
    assert await send(intake, world, f"/approve {ref} {digest[:4]}", source_id="m1") == f"{ref} is approved."
    assert await send(intake, world, f"/deny {ref}") == f"{ref} was settled before: approved."
    commands = world.look("SELECT id FROM turn WHERE kind = 'command'")
    assert len(commands) == 2


async def test_an_expired_request_cannot_be_approved(intake: Intake, world: World) -> None:
    ref, digest = await waiting(world)
    world.clock.move(world.terms.approval_timeout_ms)
    assert await send(intake, world, f"/approve {ref} {digest[:4]}") == f"{ref} was settled before: expired."


@pytest.mark.parametrize("text", ["/newfound land", "/cancelled", "approve A1", "//new", "say /new"])
async def test_what_only_looks_like_a_command_is_a_message(intake: Intake, world: World, text: str) -> None:
    await send(intake, world, text)
    assert world.one("SELECT kind FROM turn") == {"kind": "chat"}
