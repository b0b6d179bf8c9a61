"""How much of a conversation is sent."""

from hypothesis import given
from hypothesis import strategies as st

from ias.cycle.context import LEFT_OUT, TURNS_AT_ONCE, estimate_message, estimate_text, fit
from ias.domain.messages import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage, shorten


def turn(number: int, *, size: int = 100, calls: int = 0) -> list[Message]:
    made = tuple(ToolCall(id=f"c{number}.{at}", name="t", arguments="{}") for at in range(calls))
    results = [ToolMessage(call_id=call.id, name="t", text="r" * size) for call in made]
    before: list[Message] = [AssistantMessage(text="", calls=made), *results] if made else []
    return [UserMessage(text=f"q{number} " + "x" * size), *before, AssistantMessage(text=f"a{number}")]


def history(turns: int, *, size: int = 100, calls: int = 0) -> tuple[Message, ...]:
    past = [message for number in range(turns) for message in turn(number, size=size, calls=calls)]
    return (*past, UserMessage(text="now"))


def asked(messages: tuple[Message, ...]) -> list[str]:
    return [message.text.removeprefix(LEFT_OUT).split()[0] for message in messages if isinstance(message, UserMessage)]


def test_chinese_counts_more_than_latin() -> None:
    assert estimate_text("北京天气") > estimate_text("abcd") > 0


def test_what_fits_is_sent_as_it_is() -> None:
    messages = history(5)
    assert fit(messages, tokens=10_000) == messages


def test_the_oldest_turns_go_first_and_it_is_said() -> None:
    sent = fit(history(4), tokens=100)
    assert asked(sent) == ["q2", "q3", "now"]
    assert isinstance(sent[0], UserMessage)
    assert sent[0].text.startswith(LEFT_OUT)


def test_the_last_message_is_sent_whatever_it_takes() -> None:
    assert asked(fit(history(3), tokens=0)) == ["now"]


def test_the_cut_moves_by_groups_so_that_a_cache_keeps_the_beginning() -> None:
    firsts = [asked(fit(history(turns), tokens=1500))[0] for turns in range(60, 60 + 3 * TURNS_AT_ONCE)]
    assert len(set(firsts)) == 3 or len(set(firsts)) == 4
    assert firsts == sorted(firsts, key=lambda name: int(name[1:]))


def test_long_results_of_the_last_turn_are_shortened_oldest_first() -> None:
    working = [UserMessage(text="go on"), *turn(0, size=30_000, calls=3)[1:-1]]
    sent = fit(tuple(working), tokens=12_000)
    sizes = [len(message.text) for message in sent if isinstance(message, ToolMessage)]
    assert len(sent) == len(working)
    assert sizes[0] < 3_000
    assert sizes[-1] == 30_000


@given(st.integers(0, 30), st.integers(1, 400), st.integers(0, 3), st.floats(0, 5_000))
def test_a_call_is_never_parted_from_its_results(turns: int, size: int, calls: int, tokens: float) -> None:
    sent = fit(history(turns, size=size, calls=calls), tokens=tokens)
    made = [call.id for message in sent if isinstance(message, AssistantMessage) for call in message.calls]
    answered = [message.call_id for message in sent if isinstance(message, ToolMessage)]
    assert made == answered
    assert isinstance(sent[0], UserMessage)
    assert isinstance(sent[-1], UserMessage)


@given(st.text(max_size=400), st.integers(10, 200))
def test_a_shortened_text_keeps_its_head_and_tail_and_is_bounded(text: str, limit: int) -> None:
    short = shorten(text, limit_bytes=limit)
    if len(text.encode("utf-8", "surrogatepass")) <= limit:
        assert short == text
    else:
        assert "left out here" in short
        assert len(short.encode("utf-8", "surrogatepass")) <= limit + 120


def test_estimates_add_up() -> None:
    call = ToolCall(id="1", name="tool", arguments='{"a": 1}')
    with_call = AssistantMessage(text="x", reasoning="why", calls=(call,))
    assert estimate_message(with_call) > estimate_message(AssistantMessage(text="x"))
