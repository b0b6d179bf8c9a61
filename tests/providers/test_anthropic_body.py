"""Requests as Anthropic's wire wants them, whatever the history is."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ias.domain.messages import (
    AssistantMessage,
    JsonObject,
    JsonValue,
    Message,
    MessageRequest,
    ToolCall,
    ToolDef,
    ToolMessage,
    UserMessage,
    message_from_json,
    message_to_json,
)
from ias.providers.anthropic_body import GO_ON, AnthropicBody
from ias.providers.anthropic_tools import AnthropicTools
from ias.providers.exchange import encode
from ias.providers.history import LOST_RESULT
from ias.providers.profiles import ANTHROPIC, ANTHROPIC_COMPATIBLE, DEEPSEEK_ANTHROPIC, Profile
from ias.providers.tool_names import names_of

ASK = UserMessage(text="Which is warmer?")
MODEL = "claude-opus-5"
SIGNED: JsonObject = {"type": "thinking", "thinking": "hm", "signature": "SIG"}


def body_of(*messages: Message, profile: Profile = ANTHROPIC, model: str = MODEL, **fields: object) -> JsonObject:
    request = MessageRequest(model=model, messages=messages or (ASK,), **fields)  # type: ignore[arg-type]  - any field
    names = names_of(request)
    tools = AnthropicTools(request.tools, names)
    body = AnthropicBody(request, profile, model=model, names=names, tools=tools).build([])
    return json.loads(encode(body))


def turns_of(*messages: Message, **fields: object) -> list[tuple[str, list[JsonObject]]]:
    messages_sent = body_of(*messages, **fields)["messages"]  # type: ignore[arg-type]  - any field
    return [(turn["role"], turn["content"]) for turn in messages_sent]  # type: ignore[index,misc,call-overload]  - a list of objects


def call(identity: str, arguments: str = "{}", name: str = "f") -> ToolCall:
    return ToolCall(id=identity, name=name, arguments=arguments)


def result(identity: str, text: str = "ok", *, is_error: bool = False) -> ToolMessage:
    return ToolMessage(call_id=identity, name="f", text=text, is_error=is_error)


def use(identity: str, given: JsonObject | None = None, name: str = "f") -> JsonObject:
    return {"type": "tool_use", "id": identity, "name": name, "input": given or {}}


def text(words: str) -> JsonObject:
    return {"type": "text", "text": words}


def test_a_plain_question_asks_for_a_stream_with_a_limit_and_thinking() -> None:
    assert body_of(ASK, system="Be brief.") == {
        "model": MODEL,
        "max_tokens": 32_000,
        "messages": [{"role": "user", "content": [text("Which is warmer?")]}],
        "stream": True,
        "system": "Be brief.",
        "cache_control": {"type": "ephemeral"},
        "thinking": {"type": "adaptive", "display": "summarized"},
    }


def test_results_stand_first_and_all_in_one_message() -> None:
    said = AssistantMessage(text="I look.", calls=(call("a", '{"x": 1}'), call("b")))
    later = UserMessage(text="and?")
    assert turns_of(ASK, said, result("b", "2"), later, result("a", "1"), later) == [
        ("user", [text("Which is warmer?")]),
        ("assistant", [text("I look."), use("a", {"x": 1}), use("b")]),
        (
            "user",
            [
                {"type": "tool_result", "tool_use_id": "a", "content": "1"},
                {"type": "tool_result", "tool_use_id": "b", "content": "2"},
                text("and?"),
                text("and?"),
            ],
        ),
    ]


def test_own_blocks_go_back_unmodified_and_in_order() -> None:
    content: list[JsonValue] = [SIGNED, text("a"), {"type": "redacted_thinking", "data": "X"}, use("a"), text("b")]
    made: JsonObject = {"provider": "anthropic", "model": MODEL, "content": content}
    said = AssistantMessage(text="ab", reasoning="hm", calls=(call("a"),), blocks=made)
    stored = message_from_json("assistant", message_to_json(said))
    assert stored == said
    assert turns_of(ASK, stored, result("a"))[1] == ("assistant", content)


@pytest.mark.parametrize(
    ("provider", "model", "profile"),
    [
        ("deepseek_anthropic", MODEL, ANTHROPIC),
        ("anthropic", "claude-sonnet-5", ANTHROPIC),
        ("anthropic", MODEL, ANTHROPIC_COMPATIBLE),
    ],
)
def test_blocks_of_another_model_are_not_sent(provider: str, model: str, profile: Profile) -> None:
    made: JsonObject = {"provider": provider, "model": model, "content": [SIGNED, text("a")]}
    said = AssistantMessage(text="a", reasoning="hm", blocks=made)
    assert turns_of(ASK, said, ASK, profile=profile)[1] == ("assistant", [text("a")])


def test_blocks_follow_the_ids_that_had_to_change() -> None:
    made: JsonObject = {"provider": "anthropic", "model": MODEL, "content": [SIGNED, use("a")]}
    said = AssistantMessage(calls=(call("a"),), blocks=made)
    turns = turns_of(ASK, said, result("a", "1"), said, result("a", "2"))
    assert turns[1:] == [
        ("assistant", [SIGNED, use("a")]),
        ("user", [{"type": "tool_result", "tool_use_id": "a", "content": "1"}]),
        ("assistant", [SIGNED, use("a_2")]),
        ("user", [{"type": "tool_result", "tool_use_id": "a_2", "content": "2"}]),
    ]


def test_blocks_that_do_not_fit_their_calls_are_made_anew() -> None:
    for content in ([SIGNED], [SIGNED, use("a"), use("b")], None):
        made: JsonObject = {"provider": "anthropic", "model": MODEL, "content": content}  # type: ignore[dict-item]  - JSON of any shape
        said = AssistantMessage(text="t", calls=(call("a"),), blocks=made)
        assert turns_of(ASK, said, result("a"))[1] == ("assistant", [text("t"), use("a")])


def test_neighbouring_answers_become_one_and_keep_their_blocks() -> None:
    made: JsonObject = {"provider": "anthropic", "model": MODEL, "content": [SIGNED, text("a")]}
    turns = turns_of(ASK, AssistantMessage(text="a", blocks=made), AssistantMessage(text="b"), ASK)
    assert turns[1] == ("assistant", [SIGNED, text("a"), text("b")])


def test_a_history_begins_and_ends_with_the_user() -> None:
    assert turns_of(AssistantMessage(text="a")) == [
        ("user", [text(GO_ON)]),
        ("assistant", [text("a")]),
        ("user", [text(GO_ON)]),
    ]
    assert turns_of(ASK, AssistantMessage(text=" \n"), ASK) == [("user", [text(ASK.text), text(ASK.text)])]


def test_a_failed_result_is_marked_and_says_so_where_the_mark_is_not_read() -> None:
    said = AssistantMessage(calls=(call("a"), call("b")))
    talk = (ASK, said, result("a", "no such city", is_error=True))
    block: JsonObject = {"type": "tool_result", "tool_use_id": "a", "is_error": True}
    lost: JsonObject = {"type": "tool_result", "tool_use_id": "b", "is_error": True}
    assert turns_of(*talk)[2][1] == [{**block, "content": "no such city"}, {**lost, "content": LOST_RESULT}]
    assert turns_of(*talk, profile=DEEPSEEK_ANTHROPIC)[2][1] == [
        {**block, "content": "error: no such city"},
        {**lost, "content": f"error: {LOST_RESULT}"},
    ]


def test_deepseek_gets_every_answers_thinking_even_where_there_was_none() -> None:
    talk = (ASK, AssistantMessage(text="a", reasoning="hm"), ASK, AssistantMessage(text="b"), ASK)
    turns = turns_of(*talk, profile=DEEPSEEK_ANTHROPIC)
    assert turns[1] == ("assistant", [{"type": "thinking", "thinking": "hm", "signature": ""}, text("a")])
    assert turns[3] == ("assistant", [{"type": "thinking", "thinking": "", "signature": ""}, text("b")])
    assert turns_of(*talk, profile=DEEPSEEK_ANTHROPIC, thinking=False)[1] == ("assistant", [text("a")])


@pytest.mark.parametrize(
    ("model", "on", "off"),
    [
        ("claude-opus-5", "adaptive", "disabled"),
        ("claude-sonnet-4-6", "adaptive", "disabled"),
        ("claude-haiku-5-5", "adaptive", "disabled"),
        ("claude-opus-4-10", "adaptive", "disabled"),
        ("claude-fable-5-2", "adaptive", None),
        ("claude-mythos-preview", "adaptive", None),
        ("claude-opus-4-5-20251101", "enabled", "disabled"),
        ("claude-haiku-4-5", "enabled", "disabled"),
        ("claude-opus-4-20250514", "enabled", "disabled"),
        ("anthropic/claude-sonnet-4", "enabled", "disabled"),
        ("claude-3-7-sonnet-latest", "enabled", "disabled"),
        ("claude-3-5-haiku-latest", None, None),
        ("claude-next", "adaptive", "disabled"),
    ],
)
def test_each_model_is_told_to_think_in_its_own_words(model: str, on: str | None, off: str | None) -> None:
    kinds = [body_of(model=model, thinking=thinking).get("thinking", {}) for thinking in (True, False)]
    assert [kind.get("type") for kind in kinds] == [on, off]  # type: ignore[union-attr]  - objects


@pytest.mark.parametrize(
    ("limit", "thinking"),
    [
        (None, {"type": "enabled", "budget_tokens": 8_000}),
        (8_000, {"type": "enabled", "budget_tokens": 4_000}),
        (1_025, {"type": "enabled", "budget_tokens": 1_024}),
        (1_024, {"type": "disabled"}),
    ],
)
def test_the_budget_stays_below_the_limit(limit: int | None, thinking: JsonObject) -> None:
    assert body_of(model="claude-haiku-4-5", max_tokens=limit)["thinking"] == thinking


def test_manual_thinking_pauses_amid_calls_that_another_provider_made() -> None:
    foreign = (ASK, AssistantMessage(calls=(call("a"),)), result("a"))
    assert body_of(*foreign, model="claude-haiku-4-5")["thinking"] == {"type": "disabled"}
    assert body_of(*foreign, ASK, model="claude-haiku-4-5")["thinking"] == {"type": "disabled"}
    made: JsonObject = {"provider": "anthropic", "model": "claude-haiku-4-5", "content": [SIGNED, use("a")]}
    own = (ASK, AssistantMessage(calls=(call("a"),), blocks=made), result("a"))
    assert body_of(*own, model="claude-haiku-4-5")["thinking"] == {"type": "enabled", "budget_tokens": 8_000}
    after = (*foreign, AssistantMessage(text="done"), ASK)
    assert body_of(*after, model="claude-haiku-4-5")["thinking"] == {"type": "enabled", "budget_tokens": 8_000}


def test_extra_is_laid_over_the_body_but_for_the_stream() -> None:
    body = body_of(extra={"stream": False, "temperature": 0, "thinking": {"type": "disabled"}, "max_tokens": 7})
    assert (body["stream"], body["temperature"], body["thinking"], body["max_tokens"]) == (
        True,
        0,
        {"type": "disabled"},
        7,
    )


def test_ids_of_other_providers_get_a_shape_that_is_taken() -> None:
    said = AssistantMessage(calls=(call("functions.f:0"), call("x|y")))
    turns = turns_of(ASK, said, result("functions.f:0"), result("x|y"))
    uses = [str(block["id"]) for block in turns[1][1]]
    assert [block["tool_use_id"] for block in turns[2][1]] == uses
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]+", identity) for identity in uses)
    assert len({*uses}) == 2


@pytest.mark.parametrize(
    "arguments", ['{"x": 1e999}', '{"x":' + "[" * 200 + "]" * 200 + "}", '{"x":' * 200 + "1" + "}" * 200]
)
def test_arguments_that_would_spoil_every_request_are_left_out(arguments: str) -> None:
    assert turns_of(ASK, AssistantMessage(calls=(call("a", arguments),)), result("a"))[1][1] == [use("a")]


def test_lone_surrogates_are_replaced_everywhere() -> None:
    bad = "a\ud800b"
    talk = (
        UserMessage(text=bad),
        AssistantMessage(text=bad, calls=(ToolCall(id=bad, name=bad, arguments='{"x": "\\ud800"}'),)),
        ToolMessage(call_id=bad, name=bad, text=bad),
    )
    body = json.dumps(body_of(*talk, system=bad, tools=(ToolDef(name=bad, description=bad),)))
    assert "\\ud800" not in body
    assert body.count("\\ufffd") == 6


IDS = st.sampled_from(["a", "b", ":", ""])
MADE = st.sampled_from(
    [
        None,
        {"provider": "anthropic", "model": MODEL, "content": [SIGNED, text("t")]},
        {"provider": "anthropic", "model": MODEL, "content": [SIGNED, use("a")]},
    ]
)
MESSAGES = st.one_of(
    st.builds(UserMessage, text=st.sampled_from(["", "hi"])),
    st.builds(
        AssistantMessage,
        text=st.sampled_from(["", " ", "t"]),
        calls=st.lists(st.builds(call, IDS, st.sampled_from(["{}", "[", ""])), max_size=3).map(tuple),
        blocks=MADE,
    ),
    st.builds(result, IDS, st.sampled_from(["", "ok"])),
)


@given(st.lists(MESSAGES, max_size=12))
def test_every_history_keeps_the_rules_of_the_wire(history: list[Message]) -> None:
    turns = turns_of(*(history or [ASK]))
    roles = [role for role, _ in turns]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"]
    waiting: list[JsonValue] = []
    seen: set[str] = set()
    for role, blocks in turns:
        assert blocks
        assert all(str(block["text"]).strip() for block in blocks if block["type"] == "text")
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert [block["tool_use_id"] for block in blocks[: len(results)]] == results == waiting
        uses = [str(block["id"]) for block in blocks if block["type"] == "tool_use"]
        assert seen.isdisjoint(uses)
        assert len({*uses}) == len(uses)
        seen.update(uses)
        waiting = list(uses) if role == "assistant" else []
