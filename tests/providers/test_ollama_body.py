"""Requests as Ollama's own wire wants them."""

import json

from ias.domain.messages import (
    AssistantMessage,
    JsonObject,
    Message,
    MessageRequest,
    ToolCall,
    ToolDef,
    ToolMessage,
    UserMessage,
)
from ias.providers.exchange import encode
from ias.providers.ollama_body import ollama_body
from ias.providers.profiles import OLLAMA
from ias.providers.tool_names import names_of

ASK = UserMessage(text="hi")


def body_of(*messages: Message, **fields: object) -> JsonObject:
    request = MessageRequest(model="qwen3", messages=messages or (ASK,), **fields)  # type: ignore[arg-type]  - any field
    return json.loads(encode(ollama_body(request, OLLAMA, model="qwen3", names=names_of(request))))


def test_a_plain_question_says_nothing_of_thinking_unless_it_is_unwanted() -> None:
    plain: JsonObject = {"model": "qwen3", "messages": [{"role": "user", "content": "hi"}], "stream": True}
    assert body_of() == plain
    assert body_of(thinking=False) == {**plain, "think": False}


def test_calls_are_objects_and_results_name_their_tool() -> None:
    said = AssistantMessage(reasoning="hm", calls=(ToolCall(id="a", name="files.read", arguments='{"x": {"y": [1]}}'),))
    talk = (ASK, said, ToolMessage(call_id="a", name="files.read", text="ok"))
    body = body_of(*talk, system="Be brief.", tools=(ToolDef(name="files.read"),))
    name = body["tools"][0]["function"]["name"]  # type: ignore[index,call-overload]  - a list of objects
    assert body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": "",
            "thinking": "hm",
            "tool_calls": [{"id": "a", "function": {"name": name, "arguments": {"x": {"y": [1]}}}}],
        },
        {"role": "tool", "tool_name": name, "tool_call_id": "a", "content": "ok"},
    ]
    assert "." not in str(name)


def test_thinking_that_is_unwanted_does_not_go_back() -> None:
    said = AssistantMessage(text="a", reasoning="hm")
    assert body_of(ASK, said, ASK, thinking=False)["messages"][1] == {"role": "assistant", "content": "a"}  # type: ignore[index,call-overload]  - a list


def test_options_of_extra_stand_beside_the_limit() -> None:
    body = body_of(max_tokens=50, extra={"options": {"num_ctx": 32768}, "keep_alive": "1h", "stream": False})
    assert (body["options"], body["keep_alive"], body["stream"]) == (
        {"num_predict": 50, "num_ctx": 32768},
        "1h",
        True,
    )


def test_arguments_that_would_spoil_every_request_are_left_out() -> None:
    calls = (ToolCall(id="a", name="f", arguments='{"x": 1e999}'), ToolCall(id="b", name="f", arguments="[1]"))
    sent = body_of(ASK, AssistantMessage(calls=calls))["messages"][1]["tool_calls"]  # type: ignore[index,call-overload]  - a list of objects
    assert [call["function"]["arguments"] for call in sent] == [{}, {}]  # type: ignore[index,call-overload,union-attr]  - objects
