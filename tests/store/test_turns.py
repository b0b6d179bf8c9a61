"""Turns: messages in, model steps stored, cancelled."""

import pytest

from ias.domain.jobs import Queue, TurnReason
from ias.domain.messages import AssistantMessage, ToolMessage, UserMessage, message_from_json
from ias.domain.tools import Result
from ias.errors import Code, NotFoundError, TooDeepError
from ias.store import words
from ias.store.base import LOST, Terms
from ias.store.results import Command, CommandKind
from ias.store.transactions.runs import finish_run
from ias.store.transactions.turns import cancel_turn, finish_llm_step, submit_message
from tests.store.world import World, llm_step

CANCEL, NEW = Command(kind=CommandKind.CANCEL), Command(kind=CommandKind.NEW)


async def history(world: World, conversation_id: str, seq: int = 99) -> list[object]:
    rows = await world.store.read("history", conversation_id=conversation_id, seq=seq)
    return [message_from_json(row["role"], row["content"]) for row in rows]


async def test_a_message_becomes_a_turn_with_a_job_and_is_found_again(world: World) -> None:
    first = await world.submit("你好", source_id="7")
    second = await world.submit("你好", source_id="7")

    assert (first.is_duplicate, second.is_duplicate) == (False, True)
    assert (second.turn_id, second.conversation_id, second.cursor) == (first.turn_id, first.conversation_id, 0)
    assert world.state("turn") == ["llm"]
    assert "llm" in world.topics


async def test_one_submission_run_twice_is_one_turn_also_without_a_source_id(world: World) -> None:
    submission = submit_message(world.terms, channel="chat", address="ann", user_id="ann", text="hi")
    first, second = await world.run(submission), await world.run(submission)
    assert (first.turn_id, second.is_duplicate) == (second.turn_id, True)


async def test_the_same_source_id_at_another_address_is_another_message(world: World) -> None:
    await world.submit(source_id="7", channel="chat")
    other = await world.submit(source_id="7", channel="web")
    assert not other.is_duplicate


async def test_any_text_survives_as_it_was(world: World) -> None:
    text = "北京 \0 \ud800 \U0001f600"
    sent = await world.submit(text)
    assert await history(world, sent.conversation_id) == [UserMessage(text=text)]


async def test_a_reply_ends_the_turn_and_is_delivered_once(world: World) -> None:
    sent = await world.submit()
    job = await world.claim(Queue.LLM)
    answer = finish_llm_step(world.terms, job, llm_step("sunny"))

    assert await world.run(answer) is TurnReason.REPLY
    assert await world.run(answer) == LOST
    assert world.events(sent.conversation_id) == ["AssistantTextDelta", "TurnComplete"]
    assert world.one("SELECT body, kind FROM delivery") == {"body": '"sunny"', "kind": "reply"}
    assert world.one("SELECT count(*) AS n, sum(tokens_in) AS t FROM usage") == {"n": 1, "t": 10}


async def test_a_lost_model_call_is_counted_once_and_changes_nothing(world: World) -> None:
    sent = await world.submit()
    job = await world.claim(Queue.LLM)
    await world.run(cancel_turn(world.terms, sent.turn_id))
    late = finish_llm_step(world.terms, job, llm_step("late", calls=2))
    assert [await world.run(late), await world.run(late)] == [LOST, LOST]
    assert world.one("SELECT count(*) AS n FROM usage") == {"n": 1}
    assert world.state("run") == []


async def test_calls_become_runs_at_reserved_places_and_the_last_result_starts_the_model(world: World) -> None:
    sent = await world.submit()
    assert await world.answer(await world.claim(Queue.LLM), "let me see", calls=2) == "calls"
    assert world.state("turn") == ["tools"]
    jobs = [await world.claim(Queue.TOOL), await world.claim(Queue.TOOL)]
    await world.run(finish_run(world.terms, jobs[1], Result(content="second")))
    assert world.state("turn") == ["tools"]
    await world.run(finish_run(world.terms, jobs[0], Result(content="first", code=Code.TIMEOUT)))
    assert world.state("turn") == ["llm"]

    told = [message for message in await history(world, sent.conversation_id) if isinstance(message, ToolMessage)]
    by_run = {world.one("SELECT pos FROM run WHERE id = :r", r=job.owner_id)["pos"]: job for job in jobs}
    assert [message.text for message in told] == [
        "error (timeout): first" if by_run[pos] is jobs[0] else "second" for pos in (2, 3)
    ]


async def test_calls_that_are_answered_at_once_start_the_model_again(world: World) -> None:
    sent = await world.submit()
    known = Result(content="bad arguments", code=Code.INVALID_ARGUMENTS)
    assert await world.answer(await world.claim(Queue.LLM), "", calls=2, known=known) == "calls"
    assert (world.state("turn"), world.state("run")) == (["llm"], ["done", "done"])
    assert world.events(sent.conversation_id) == [
        *["ToolExecutionStarted", "ToolExecutionCompleted"] * 2,
        "TurnComplete",
    ]


async def test_a_limit_answers_every_call_and_closes_the_turn(world: World) -> None:
    sent = await world.submit("继续")
    job = await world.claim(Queue.LLM)
    step = llm_step("more", calls=2, stop=TurnReason.MAX_TURNS)
    assert await world.run(finish_llm_step(world.terms, job, step)) is TurnReason.MAX_TURNS
    codes = world.look("SELECT code FROM run")
    assert [row["code"] for row in codes] == [Code.TURN_ENDED, Code.TURN_ENDED]
    assert (await history(world, sent.conversation_id))[-1] == AssistantMessage(text=words.max_turns("继续", 1))


async def test_a_message_that_comes_meanwhile_waits_its_turn(world: World) -> None:
    first = await world.submit("one")
    job = await world.claim(Queue.LLM)
    await world.submit("two")
    assert (world.state("turn"), await world.try_claim(Queue.LLM)) == (["llm", "queued"], None)
    assert await history(world, first.conversation_id) == [UserMessage(text="one")]
    await world.answer(job)
    assert world.state("turn") == ["ended", "llm"]


async def test_who_waits_behind_a_question_is_told_so(world: World) -> None:
    _, ref = await world.park()
    await world.submit("还有一件事")
    notice = world.one("SELECT body FROM delivery WHERE kind = 'notice'")
    assert notice["body"].encode().decode("unicode_escape") == f'"{words.QUEUED.to("还有", num=ref[1:])}"'


async def test_too_many_waiting_messages_are_refused_before_they_are_stored(world: World) -> None:
    world.terms = Terms(conversation_depth=1, depth=3)
    await world.submit()
    await world.submit()
    with pytest.raises(TooDeepError, match="1 messages of this conversation wait"):
        await world.submit()
    await world.submit(channel="b")
    with pytest.raises(TooDeepError, match="3 messages wait already"):
        await world.submit(channel="c")
    assert world.state("turn") == ["llm", "queued", "llm"]
    assert world.state("job") == ["ready", "ready"]
    await world.submit("/cancel", command=CANCEL)


async def test_cancel_answers_every_call_and_the_next_turn_starts(world: World) -> None:
    sent = await world.submit()
    await world.answer(await world.claim(Queue.LLM), calls=2)
    await world.submit("next")
    assert await world.run(cancel_turn(world.terms, sent.turn_id)) == "cancelled"
    assert await world.run(cancel_turn(world.terms, sent.turn_id)) == "already ended"
    assert world.state("turn") == ["ended", "llm"]
    assert [row["code"] for row in world.look("SELECT code FROM run")] == ["cancelled", "cancelled"]


async def test_a_queued_turn_can_be_cancelled_too(world: World) -> None:
    await world.submit()
    second = await world.submit()
    assert await world.run(cancel_turn(world.terms, second.turn_id)) == "cancelled"
    assert world.state("turn") == ["llm", "ended"]


async def test_an_unknown_turn_cannot_be_cancelled(world: World) -> None:
    with pytest.raises(NotFoundError, match="t_none"):
        await world.run(cancel_turn(world.terms, "t_none"))


async def test_the_cancel_command_stops_what_runs_and_is_a_turn_of_its_own(world: World) -> None:
    sent = await world.submit("天气")
    first = await world.submit("/cancel", source_id="9", command=CANCEL)
    again = await world.submit("/cancel", source_id="9", command=CANCEL)
    assert again.turn_id == first.turn_id
    assert world.state("turn") == ["ended", "ended"]
    assert world.events(sent.conversation_id) == ["AssistantTextDelta", "TurnComplete", "Notice", "TurnComplete"]
    assert await history(world, sent.conversation_id) == [
        UserMessage(text="天气"),
        AssistantMessage(text=words.STOPPED.zh),
    ]


async def test_new_ends_everything_and_the_next_message_opens_another_conversation(world: World) -> None:
    sent = await world.submit("one")
    await world.submit("two")
    command = submit_message(world.terms, channel="chat", address="ann", user_id="ann", text="/new", command=NEW)
    first, again = await world.run(command), await world.run(command)
    assert (again.conversation_id, again.is_duplicate) == (first.conversation_id, True)
    after = await world.submit("three")
    assert first.conversation_id == sent.conversation_id
    assert after.conversation_id != sent.conversation_id
    reasons = world.look("SELECT reason FROM turn WHERE conversation_id = :c ORDER BY seq", {"c": sent.conversation_id})
    assert [row["reason"] for row in reasons] == ["new", "new", "command"]


async def test_another_command_only_answers(world: World) -> None:
    await world.submit("/approve", command=Command(kind=CommandKind.OTHER, answer="which one?"))
    assert world.one("SELECT body FROM delivery") == {"body": '"which one?"'}
    assert await world.try_claim(Queue.LLM) is None


async def test_the_cursor_stands_before_the_turns_own_events(world: World) -> None:
    await world.submit("one")
    await world.answer(await world.claim(Queue.LLM))
    second = await world.submit("two")
    await world.answer(await world.claim(Queue.LLM), "fine")
    rows = await world.store.read("events", conversation_id=second.conversation_id, after=second.cursor)
    assert [(row["name"], row["turn_id"]) for row in rows] == [
        ("AssistantTextDelta", second.turn_id),
        ("TurnComplete", second.turn_id),
    ]
