"""Field faults that a conversation brings upon itself when it is sent again, by their row in docs/providers.md."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ias.domain.messages import AssistantMessage, JsonValue, Message, ToolCall, ToolDef, ToolMessage, UserMessage
from ias.errors import BadRequestError, ServerFaultError
from ias.providers.chat_body import chat_body
from ias.providers.exchange import encode
from ias.providers.history import LOST_RESULT
from ias.providers.profiles import DEEPSEEK, PROFILES, Wire
from ias.providers.tool_names import names_of
from tests.providers.loopback import delta, frames, refusing, request_of, streaming, take

ASK = UserMessage(text="weather?")
TOOLS = (ToolDef(name="weather"),)


def sent(*messages: Message) -> list[dict[str, Any]]:  # JSON, read back
    """Give the messages of DeepSeek's body for a conversation."""
    request = request_of(messages=messages, tools=TOOLS)
    return json.loads(encode(chat_body(request, DEEPSEEK, model="m", names=names_of(request))))["messages"]


def calls(*identities: str, **changes: Any) -> AssistantMessage:
    made = tuple(ToolCall(id=identity, name="weather", arguments="{}") for identity in identities)
    return AssistantMessage(calls=made, **changes)


def result(identity: str, text: str = "rain") -> ToolMessage:
    return ToolMessage(call_id=identity, name="weather", text=text)


def roles(messages: list[dict[str, Any]]) -> list[str]:
    return [
        f"{message['role']} {message['tool_call_id']}" if "tool_call_id" in message else message["role"]
        for message in messages
    ]


def test_row_05_reasoning_goes_back_in_every_turn_byte_for_byte() -> None:
    thoughts = "look\u2028 it  up\n"
    talk = sent(ASK, calls("a", reasoning=thoughts), result("a"), AssistantMessage(text="rain", reasoning=" so"), ASK)
    assert [message.get("reasoning_content") for message in talk] == [None, thoughts, None, " so", None]


@pytest.mark.parametrize("reasoning", [None, ""])
def test_row_06_a_turn_without_reasoning_says_so_with_an_empty_one(reasoning: str | None) -> None:
    talk = sent(ASK, calls("a", reasoning=reasoning), result("a"), AssistantMessage(text="rain"), ASK)
    assert [message.get("reasoning_content") for message in talk] == [None, "", None, "", None]


async def test_row_06_an_answer_goes_back_as_one_message_with_all_it_had() -> None:
    pieces = [{"index": at, "id": f"c{at}", "function": {"name": "weather", "arguments": "{}"}} for at in (0, 1)]
    chunks = [delta(reasoning_content="hm"), delta(content="I look."), delta(tool_calls=pieces), delta("tool_calls")]
    taken, _ = await take(streaming(frames(*chunks)), request_of(tools=TOOLS))
    talk = sent(ASK, taken.response.message, result("c0"), result("c1"))
    assert roles(talk) == ["user", "assistant", "tool c0", "tool c1"]
    assert (talk[1]["content"], talk[1]["reasoning_content"]) == ("I look.", "hm")
    assert [call["id"] for call in talk[1]["tool_calls"]] == ["c0", "c1"]


def test_row_07_a_call_without_a_result_gets_one_that_says_so() -> None:
    talk = sent(ASK, calls("a", "b"), result("b"), UserMessage(text="stop"))
    assert roles(talk) == ["user", "assistant", "tool a", "tool b", "user"]
    assert talk[2]["content"] == LOST_RESULT


def test_row_07_results_that_came_late_stand_at_their_calls() -> None:
    talk = sent(ASK, calls("a", "b"), UserMessage(text="and?"), result("b"), result("a"))
    assert roles(talk) == ["user", "assistant", "tool a", "tool b", "user"]


@pytest.mark.parametrize("orphan", [result("z"), result("")])
def test_row_08_a_result_without_its_call_is_left_out(orphan: ToolMessage) -> None:
    assert roles(sent(orphan, ASK, orphan, AssistantMessage(text="ok"), orphan, ASK)) == ["user", "assistant", "user"]


def test_row_09_an_id_that_comes_twice_is_told_apart() -> None:
    turn = (calls("a"), result("a"))
    talk = sent(ASK, *turn, ASK, calls("a", "a"), result("a", "1"), result("a", "2"))
    assert roles(talk)[:3] == ["user", "assistant", "tool a"]
    assert roles(talk)[4:] == ["assistant", "tool a_2", "tool a_3"]
    assert [call["id"] for call in talk[4]["tool_calls"]] == ["a_2", "a_3"]


@pytest.mark.parametrize("broken", ['{"x":', "", "[1]", "null", "x", '{"x": NaN}', '{"x": 1}}', '{"x": "\\ud800"}'])
def test_row_19_arguments_that_are_no_json_never_go_back(broken: str) -> None:
    poisoned = AssistantMessage(calls=(ToolCall(id="a", name="weather", arguments=broken),))
    talk = sent(ASK, poisoned, result("a"))
    written = talk[1]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(written) == ({"x": "\ufffd"} if "ud800" in broken else {})


async def test_row_19_a_server_fault_over_a_history_is_not_tried_again() -> None:
    words = b'{"error": {"code": 500, "message": "Failed to parse tool call arguments as JSON: x"}}'
    with pytest.raises(BadRequestError, match="Failed to parse"):
        await take(refusing(500, words))
    with pytest.raises(ServerFaultError):
        await take(refusing(500, words.replace(b"arguments", b"somewhat")))


BAD = "a\ud800b\udc00"
HALVES = st.text(st.one_of(st.characters(), st.sampled_from("\ud800\udbff\udc00\udfff")), max_size=12)


@given(
    text=HALVES,
    profile=st.sampled_from([one for one in PROFILES.values() if one.wire is Wire.CHAT_COMPLETIONS]),
    escaped=st.booleans(),
)
def test_row_34_half_characters_are_replaced_wherever_they_stand_in_a_request(
    text: str, profile: Any, escaped: bool
) -> None:
    arguments = json.dumps({text: [text]}, ensure_ascii=escaped)
    talk = (
        UserMessage(text=text),
        AssistantMessage(text=text, reasoning=text, calls=(ToolCall(id=text, name=text, arguments=arguments),)),
        ToolMessage(call_id=text, name=text, text=text),
    )
    schema: dict[str, JsonValue] = {"type": "object", "properties": {text: {"description": text, "enum": [text]}}}
    tools = (ToolDef(name=text, description=text, parameters=schema),)
    request = request_of(messages=talk, tools=tools, system=text, extra={"user": text})
    body = encode(chat_body(request, profile, model="m", names=names_of(request)))
    read = json.loads(body.encode().decode())
    for call in (call for message in read["messages"] for call in message.get("tool_calls", ())):
        json.dumps(json.loads(call["function"]["arguments"]), ensure_ascii=False).encode()
    json.dumps(read, ensure_ascii=False).encode()


async def test_row_34_half_characters_are_replaced_wherever_they_stand_in_an_answer() -> None:
    call = {"index": 0, "id": BAD, "function": {"name": BAD, "arguments": json.dumps({"x": BAD})}}
    chunks = [delta(reasoning_content=BAD), delta(content=BAD), delta(tool_calls=[call]), delta("tool_calls")]
    taken, _ = await take(streaming(frames(*({**chunk, "model": BAD} for chunk in chunks))))
    good = "a\ufffdb\ufffd"
    made = ToolCall(id=good, name=good, arguments=f'{{"x": "{good}"}}')
    assert taken.response.message == AssistantMessage(text=good, reasoning=good, calls=(made,))
    assert (taken.text, taken.reasoning, taken.response.model) == (good, good, good)


async def test_row_34_a_character_that_two_chunks_share_is_whole() -> None:
    chunks = [delta(content="\ud83d", reasoning_content="\ud83d"), delta(content="\ude00", reasoning_content="\ude00")]
    taken, _ = await take(streaming(frames(*chunks, delta("stop"))))
    assert taken.response.message == AssistantMessage(text="😀", reasoning="😀")


def test_row_39_an_id_of_kimi_that_comes_twice_keeps_its_form() -> None:
    turn = (calls("functions.weather:0"), result("functions.weather:0"))
    talk = sent(ASK, *turn, ASK, *turn, ASK, *turn)
    assert [message["tool_call_id"] for message in talk if message["role"] == "tool"] == [
        f"functions.weather:{number}" for number in range(3)
    ]
