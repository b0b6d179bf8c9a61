"""Histories that providers would refuse, repaired."""

import json

from hypothesis import given
from hypothesis import strategies as st

from ias.domain.messages import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage
from ias.providers.history import EMPTY_OUTPUT, LOST_RESULT, repair

ASK = UserMessage(text="hi")


def call(identity: str, arguments: str = "{}") -> ToolCall:
    return ToolCall(id=identity, name="f", arguments=arguments)


def result(identity: str, text: str = "ok", *, is_error: bool = False) -> ToolMessage:
    return ToolMessage(call_id=identity, name="f", text=text, is_error=is_error)


def test_a_sound_history_stays_as_it_is() -> None:
    history = (
        ASK,
        AssistantMessage(reasoning="", calls=(call("a"), call("b"))),
        result("a"),
        result("b"),
        AssistantMessage(text="done"),
    )
    assert repair(history) == history


def test_a_call_without_a_result_gets_one_that_says_so() -> None:
    assert repair((ASK, AssistantMessage(calls=(call("a"), call("b"))), result("b"))) == (
        ASK,
        AssistantMessage(calls=(call("a"), call("b"))),
        result("a", LOST_RESULT, is_error=True),
        result("b"),
    )


def test_late_and_double_results_are_put_in_their_place_or_dropped() -> None:
    late = (
        ASK,
        AssistantMessage(calls=(call("a"),)),
        UserMessage(text="and?"),
        result("a", "1"),
        result("a", "2"),
        result("z"),
    )
    assert repair(late) == (ASK, AssistantMessage(calls=(call("a"),)), result("a", "1"), UserMessage(text="and?"))


def test_an_id_that_comes_twice_is_changed_with_its_result() -> None:
    turn = (AssistantMessage(calls=(call("a"),)), result("a"))
    again = (AssistantMessage(calls=(call("a"),)), result("a", "second"))
    assert repair((ASK, *turn, ASK, *again)) == (
        ASK,
        *turn,
        ASK,
        AssistantMessage(calls=(call("a_2"),)),
        result("a_2", "second"),
    )


def test_a_lost_result_is_not_taken_from_a_later_call_of_the_same_id() -> None:
    lost, kept = AssistantMessage(calls=(call("a"),)), AssistantMessage(calls=(call("a_2"),))
    assert repair((ASK, lost, ASK, lost, result("a"))) == (
        ASK,
        lost,
        result("a", LOST_RESULT, is_error=True),
        ASK,
        kept,
        result("a_2"),
    )


def test_broken_arguments_and_empty_outputs_are_replaced() -> None:
    assert repair((ASK, AssistantMessage(calls=(call("a", '{"x":'),)), result("a", " "))) == (
        ASK,
        AssistantMessage(calls=(call("a"),)),
        result("a", EMPTY_OUTPUT),
    )


def test_neighbouring_answers_become_one() -> None:
    assert repair(
        (ASK, AssistantMessage(text="a", reasoning="x"), AssistantMessage(text="b", calls=(call("c"),)), result("c"))
    ) == (
        ASK,
        AssistantMessage(text="a\n\nb", reasoning="x", calls=(call("c"),)),
        result("c"),
    )


def test_an_answer_of_nothing_is_left_out() -> None:
    assert repair((ASK, AssistantMessage(), ASK)) == (ASK, ASK)


IDS = st.sampled_from(["a", "b", "c", ""])
MESSAGES = st.one_of(
    st.builds(UserMessage, text=st.sampled_from(["", "hi"])),
    st.builds(
        AssistantMessage,
        text=st.sampled_from(["", "t"]),
        reasoning=st.sampled_from([None, "", "r"]),
        calls=st.lists(st.builds(call, IDS, st.sampled_from(["{}", "[", ""])), max_size=3).map(tuple),
    ),
    st.builds(result, IDS, st.sampled_from(["", "ok"])),
)


@given(st.lists(MESSAGES, max_size=12))
def test_every_history_comes_out_sendable(history: list[Message]) -> None:
    repaired = repair(history)
    seen: set[str] = set()
    waiting: list[str] = []
    for before, message in zip((None, *repaired), repaired, strict=False):
        if isinstance(message, ToolMessage):
            assert message.call_id == waiting.pop(0)
            assert message.text.strip()
            continue
        assert waiting == []
        if isinstance(message, AssistantMessage):
            assert not isinstance(before, AssistantMessage)
            waiting = [one.id for one in message.calls]
            assert len({*waiting}) == len(waiting)
            assert seen.isdisjoint(waiting)
            seen.update(waiting)
            assert all(isinstance(json.loads(one.arguments), dict) for one in message.calls)
    assert waiting == []
    assert repair(repaired) == repaired
