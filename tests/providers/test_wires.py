"""What holds on every wire: one suite for all adapters."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ias.domain.messages import (
    AssistantMessage,
    ChatResponse,
    FinishReason,
    JsonObject,
    JsonValue,
    Message,
    ToolCall,
    ToolDef,
    ToolMessage,
    UserMessage,
    message_from_json,
    message_to_json,
)
from ias.errors import LlmError, ServerFaultError, TransportError
from ias.providers.schemas import object_schema
from ias.providers.tool_names import names_of
from tests.providers.loopback import ADAPTERS, KEY, Exchange, request_of, take
from tests.providers.wires import ANSWER, WIRES, WireKit, ask

every_wire = pytest.mark.parametrize("wire", WIRES.values(), ids=WIRES)
KINDS = st.sampled_from(list(WIRES.values()))
TOOLS = (ToolDef(name="f"), ToolDef(name="g"))
ASK = UserMessage(text="hi")
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(st.characters(categories=["L", "N", "P", "S", "Z", "C"]), max_size=12),
    st.sampled_from(["text", "tool_use", "thinking", "error", "message", "stop", "a", "f", "\ud800"]),
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.one_of(
                st.sampled_from(["type", "message", "content", "delta", "index", "id", "choices", "error", "done"]),
                st.text(max_size=4),
            ),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=8,
)


@every_wire
async def test_the_same_answer_comes_out_of_each(wire: WireKit) -> None:
    items, _ = await ask(wire, request_of(tools=TOOLS), wire.stream(*wire.chunks))
    response = items[-1]
    assert isinstance(response, ChatResponse)
    assert replace(response.message, blocks=None) == ANSWER
    assert response.stop_reason is FinishReason.TOOL_CALLS


@every_wire
async def test_an_answer_and_its_results_go_back_as_they_came(wire: WireKit) -> None:
    items, _ = await ask(wire, request_of(tools=TOOLS), wire.stream(*wire.chunks))
    response = items[-1]
    assert isinstance(response, ChatResponse)
    stored = message_from_json("assistant", message_to_json(response.message))
    talk = (
        ASK,
        stored,
        ToolMessage(call_id="a", name="f", text="1"),
        ToolMessage(call_id="b", name="g", text="2"),
        AssistantMessage(text="done", reasoning="so"),
        UserMessage(text="and?"),
    )
    request = request_of(messages=talk, tools=TOOLS)
    _, sent = await ask(wire, request, wire.stream(*wire.chunks))
    expected = (ASK, ANSWER, *talk[2:])
    if wire.profile.name == "anthropic":
        # Reasoning that has no signature of its own does not go back.
        expected = (*expected[:4], AssistantMessage(text="done"), expected[5])
    assert wire.history(sent, names_of(request)) == expected


def test_an_answer_that_was_stored_before_there_were_blocks_is_still_read() -> None:
    row = '{"text":"a","reasoning":null,"calls":[{"id":"1","name":"f","arguments":"{}","fault":null}]}'
    message = AssistantMessage(text="a", calls=(ToolCall(id="1", name="f", arguments="{}"),))
    assert message_from_json("assistant", row) == message
    assert message_to_json(message) == row


NAMES = st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=80)
SCHEMAS = st.dictionaries(NAMES, st.sampled_from([{}, {"type": "string"}, {"enum": [1, None]}]), max_size=4)


def schema_of(properties: JsonObject) -> JsonObject:
    schema: JsonObject = {"type": "object", "properties": properties}
    if properties:
        schema["required"] = list[JsonValue](sorted(properties))
    return schema


@settings(max_examples=100, deadline=None)
@given(
    wire=KINDS,
    tools=st.dictionaries(NAMES, st.tuples(st.sampled_from([None, "what it does"]), SCHEMAS), min_size=1, max_size=4),
)
def test_tools_come_back_from_each_wire_as_they_went(
    wire: WireKit, tools: dict[str, tuple[str | None, dict[str, JsonValue]]]
) -> None:
    offered = tuple(
        ToolDef(name=name, description=description, parameters=schema_of(properties))
        for name, (description, properties) in tools.items()
    )
    request = request_of(tools=offered)
    _, sent = asyncio.run(ask(wire, request, wire.stream(*wire.chunks)))
    assert wire.tools(request, sent) == offered


TALKS = st.lists(
    st.tuples(
        st.sampled_from(["", "I look."]),
        st.lists(st.sampled_from(["f", "files.read", "工具"]), max_size=3),
        st.sampled_from(["and?", "😀"]),
    ),
    max_size=4,
)


@settings(max_examples=100, deadline=None)
@given(wire=KINDS, talk=TALKS)
def test_conversations_come_back_from_each_wire_as_they_went(
    wire: WireKit, talk: list[tuple[str, list[str], str]]
) -> None:
    messages: list[Message] = [ASK]
    for number, (text, names, question) in enumerate(talk):
        calls = tuple(
            ToolCall(id=f"c{number}-{place}", name=name, arguments='{"x": "é"}'.replace("é", "\\u00e9"))
            for place, name in enumerate(names)
        )
        reasoning = None if wire.profile.name in ("anthropic", "ollama") else "hm"
        if text or calls:
            messages.append(AssistantMessage(text=text, reasoning=reasoning, calls=calls))
        messages += [ToolMessage(call_id=call.id, name=call.name, text="ok") for call in calls]
        messages.append(UserMessage(text=question))
    request = request_of(messages=tuple(messages))
    _, sent = asyncio.run(ask(wire, request, wire.stream(*wire.chunks)))
    assert wire.history(sent, names_of(request)) == tuple(messages)


async def is_sound(wire: WireKit, body: bytes) -> None:
    """Check that a body gives an answer that can be stored and sent back, or one of our errors."""
    try:
        items, _ = await ask(wire, request_of(tools=TOOLS, max_tokens=5_000), body)
    except LlmError as error:
        str(error).encode()
        return
    response = items[-1]
    assert isinstance(response, ChatResponse)
    message = response.message
    # The store and the logs take whole characters alone.
    " ".join(
        [response.model, message.text, *(f"{call.id} {call.name} {call.fault}" for call in message.calls)]
    ).encode()
    assert message_from_json("assistant", message_to_json(message)) == message
    if response.stop_reason in (FinishReason.LENGTH, FinishReason.CONTENT_FILTER):
        assert message.calls == ()
    assert all(isinstance(json.loads(call.arguments), dict) for call in message.calls)
    results = [ToolMessage(call_id=call.id, name=call.name, text="ok") for call in message.calls]
    await ask(wire, request_of(messages=(ASK, message, *results, ASK), tools=TOOLS), wire.stream(*wire.chunks))


@settings(max_examples=200, deadline=None)
@given(wire=KINDS, body=st.binary(max_size=300), is_framed=st.booleans())
def test_any_bytes_are_an_answer_or_an_error_of_ours(wire: WireKit, body: bytes, is_framed: bool) -> None:
    framed = wire.stream(*wire.chunks[:2])[:-3] + body + wire.stream(*wire.chunks[2:]) if is_framed else body
    asyncio.run(is_sound(wire, framed))


@settings(max_examples=300, deadline=None)
@given(wire=KINDS, chunks=st.lists(JSON, max_size=4), place=st.integers(0, 12))
def test_any_json_as_a_chunk_is_an_answer_or_an_error_of_ours(
    wire: WireKit, chunks: list[JsonValue], place: int
) -> None:
    asyncio.run(is_sound(wire, wire.stream(*wire.chunks[:place], *chunks, *wire.chunks[place:])))  # type: ignore[arg-type]  - any JSON


def places(value: JsonValue, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Give the path of every value inside."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, one in inner for found in places(one, (*path, key)))]


def put(value: JsonValue, path: tuple[str | int, ...], new: JsonValue) -> JsonValue:
    if not path:
        return new
    key, *rest = path
    if isinstance(value, dict):
        return {**value, str(key): put(value[str(key)], tuple(rest), new)}
    assert isinstance(value, list)
    assert isinstance(key, int)
    return [*value[:key], put(value[key], tuple(rest), new), *value[key + 1 :]]


@settings(max_examples=500, deadline=None)
@given(wire=KINDS, choose=st.data(), new=JSON)
def test_a_right_stream_with_one_wrong_value_is_an_answer_or_an_error_of_ours(
    wire: WireKit, choose: st.DataObject, new: JsonValue
) -> None:
    chunks = list(wire.chunks)
    at = choose.draw(st.integers(0, len(chunks) - 1))
    path = choose.draw(st.sampled_from(places(chunks[at])))
    chunks[at] = put(chunks[at], path, new)  # type: ignore[call-overload]  - any JSON
    asyncio.run(is_sound(wire, wire.stream(*chunks)))


@every_wire
async def test_half_characters_stay_out_of_whatever_is_stored(wire: WireKit) -> None:
    body = wire.stream(*wire.chunks)
    for mark in (b'"a"', b'"f"', b'"claude-opus-5"', b'"m"', b'"hm"', b'"I look."', b'"stop"', b'"tool_use"'):
        await is_sound(wire, body.replace(mark, b'"\\ud800x"'))
    await is_sound(wire, body.replace(b'"done": false', b'"done": false, "model": "\\ud800"'))


@every_wire
@pytest.mark.parametrize("depth", [60, 900, 100_000])
async def test_depth_is_survived(wire: WireKit, depth: int) -> None:
    deep = b"[" * depth + b"]" * depth
    body = wire.stream(*wire.chunks)
    for mark in (b'"hm"', b"null", b'"I look."', b'"a"', b"1", b'"f"'):
        await is_sound(wire, body.replace(mark, deep, 1))


def escaped(text: str) -> str:
    return "".join(f"\\u{ord(letter):04x}" for letter in text)


@every_wire
@pytest.mark.parametrize("shape", [str, escaped], ids=["plain", "escaped"])
@pytest.mark.parametrize("status", [200, 400, 401, 500])
async def test_no_error_and_no_tap_shows_the_key(wire: WireKit, shape: Callable[[str], str], status: int) -> None:
    fault = b'{"type": "error", "error": {"message": "bad key %s", "code": 401}}' % shape(KEY).encode()
    body = fault if status != 200 else wire.stream(json.loads(fault))
    taps: list[tuple[str, str]] = []
    with pytest.raises(LlmError) as caught:
        await ask(wire, request_of(f"my key is {KEY}"), body, status=status, taps=taps)
    assert "bad key ***" in str(caught.value)
    assert KEY not in str(caught.value) + repr(caught.value)
    assert KEY not in repr(taps)


@every_wire
@pytest.mark.parametrize("place", ["a b.example", "127.0.0.1:9"])
async def test_no_error_shows_what_is_secret_in_the_address(wire: WireKit, place: str) -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        url = f"http://me:hunter2@{place}/x?key=hunter2"
        provider = ADAPTERS[wire.profile.wire](wire.profile, model="m", base_url=url, api_key=None, client=client)
        with pytest.raises(LlmError) as caught:
            await anext(provider.stream(request_of()))
    assert f"http://***@{place}/x" in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("wire", "base", "path"),
    [
        ("chat", "/v1", "/v1/chat/completions"),
        ("anthropic", "", "/v1/messages"),
        ("anthropic", "/anthropic/", "/anthropic/v1/messages"),
        ("anthropic", "/v1/", "/v1/messages"),
        ("ollama", "", "/api/chat"),
        ("ollama", "/v1", "/api/chat"),
        ("ollama", "/api", "/api/chat"),
    ],
)
async def test_each_wire_has_its_path(wire: str, base: str, path: str) -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        return httpx.Response(500)

    profile = WIRES[wire].profile
    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
        url = f"http://127.0.0.1{base}"
        provider = ADAPTERS[profile.wire](profile, model="m", base_url=url, api_key=None, client=client)
        with pytest.raises(ServerFaultError):
            await anext(provider.stream(request_of()))
    assert asked == [path]


@every_wire
async def test_a_stream_that_only_keeps_alive_meets_its_clocks(wire: WireKit) -> None:
    head = f"HTTP/1.1 200 OK\r\ncontent-type: {wire.media}\r\nconnection: close\r\n\r\n".encode()
    stalled = asyncio.Event()

    async def keep_alive(exchange: Exchange) -> None:
        while not stalled.is_set():
            await exchange.send(wire.keep_alive)
            try:
                async with asyncio.timeout(0.02):
                    await stalled.wait()
            except TimeoutError:
                continue

    async def queued(exchange: Exchange) -> None:
        await exchange.send(head)
        await keep_alive(exchange)

    async def begun(exchange: Exchange) -> None:
        await exchange.send(head, wire.body(*wire.chunks[:3]))
        await keep_alive(exchange)

    with pytest.raises(TransportError, match=r"llm\.timeout"):
        await take(queued, profile=wire.profile, idle=0.3, total=0.7)
    with pytest.raises(TransportError, match=r"llm\.idle_timeout"):
        await take(begun, profile=wire.profile, idle=0.3)


def test_a_schema_that_is_none_is_one_on_every_wire() -> None:
    odd: JsonObject = {"type": "string", "required": None}
    for wire in WIRES.values():
        request = request_of(tools=(ToolDef(name="f", parameters=odd),))
        _, sent = asyncio.run(ask(wire, request, wire.stream(*wire.chunks)))
        assert wire.tools(request, sent) == (ToolDef(name="f", parameters=object_schema(odd)),)
