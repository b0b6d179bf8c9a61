"""What a tool asks for as canonical bytes: one way to write each wish, another digest for any other one."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ias.domain.approvals import Safety, Verdict, canonical, digest_of
from ias.domain.messages import JsonObject, JsonValue
from ias.domain.tools import Ask, CallContext, HttpAsk, ToolFacts
from ias.gate import Gate
from tests.gate.asks import CONTEXT, FACTS, GET, POST, gate_of
from tests.store.world import World


async def text_of(gate: Gate, ask: Ask, facts: ToolFacts = FACTS, context: CallContext = CONTEXT) -> str:
    return (await gate.judge((ask,), facts, context)).requests[0].text


async def test_an_http_request_is_written_down_in_one_way(world: World) -> None:
    judgement = await gate_of(world).judge((POST,), FACTS, CONTEXT)
    request = judgement.requests[0]
    assert request.text == canonical(
        {
            "v": 1,
            "kind": "http",
            "tool": "orders",
            "tool_sha256": "a" * 64,
            "user": "ann",
            "conversation": "c_1",
            "call": "r_1",
            "method": "POST",
            "scheme": "https",
            "host": "api.example.com",
            "port": 443,
            "path": "/v1/orders",
            "query": [["dry", "no"], ["lang", "zh"]],
            "headers": [["Content-Type", "application/json"], ["X-Key", "${SHOP_KEY}"]],
            "body": '{"item": 7}',
            "reroute": None,
        }
    )
    assert (request.method, request.host, request.path) == ("POST", "api.example.com", "/v1/orders")
    assert (request.safety, request.idem_key) == (Safety.ONCE, None)
    assert request.digest == judgement.digest == digest_of((request.text,))
    assert (judgement.verdict, judgement.rule) == (Verdict.ASK, "approvals.low: writes")


async def test_the_same_wish_gives_the_same_bytes(world: World) -> None:
    gate = gate_of(world)
    assert await text_of(gate, POST) == await text_of(gate, replace(POST))
    other = replace(POST, url="HTTPS://API.example.com.:443/v1/orders?dry=no#part", desc="in other words")
    assert await text_of(gate, other) == await text_of(gate, POST)


ASK_CHANGES: list[HttpAsk] = [
    replace(POST, method="PUT"),
    replace(POST, url="http://api.example.com/v1/orders?dry=no"),
    replace(POST, url="https://a.shop.example.com/v1/orders?dry=no"),
    replace(POST, url="https://api.example.com:8443/v1/orders?dry=no"),
    replace(POST, url="https://api.example.com/v1/orders/?dry=no"),
    replace(POST, url="https://api.example.com/v1/orders?dry=yes"),
    replace(POST, url="https://api.example.com/v1/orders?dry=no&dry=no"),
    replace(POST, query=()),
    replace(POST, query=(("lang", "zh "),)),
    replace(POST, headers=(*POST.headers, ("X-More", "1"))),
    replace(POST, headers=tuple(reversed(POST.headers))),
    replace(POST, headers=(POST.headers[0], ("X-Key", "plain"))),
    replace(POST, body=None),
    replace(POST, body='{"item": 7} '),
    replace(POST, body='{"item":\u00a07}'),
]
CONTEXT_CHANGES = [{"user_id": "bob"}, {"conversation_id": "c_2"}, {"call_id": "r_2"}]
FACT_CHANGES = [{"name": "orders2"}, {"sha256": "b" * 64}]


async def test_any_changed_field_gives_another_digest(world: World) -> None:
    gate = gate_of(world)
    texts = [await text_of(gate, POST)]
    texts += [await text_of(gate, ask) for ask in ASK_CHANGES]
    texts += [await text_of(gate, POST, context=replace(CONTEXT, **change)) for change in CONTEXT_CHANGES]
    texts += [await text_of(gate, POST, facts=replace(FACTS, **change)) for change in FACT_CHANGES]
    texts.append(await text_of(gate_of(world, reroute={"https://api.example.com": "http://127.0.0.1:1"}), POST))

    assert len({digest_of((text,)) for text in texts}) == len(texts) == 22


TEXTS = st.text(max_size=20)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
BODIES = st.dictionaries(TEXTS, VALUES, max_size=6)


@given(first=BODIES, second=BODIES)
def test_two_bodies_have_one_digest_only_if_they_are_equal(first: JsonObject, second: JsonObject) -> None:
    is_same = json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)
    assert (canonical(first) == canonical(second)) is is_same
    assert json.loads(canonical(first)) == first
    assert canonical(first).isascii()


@given(body=BODIES, key=TEXTS, value=VALUES)
def test_one_changed_field_changes_the_digest(body: JsonObject, key: str, value: JsonValue) -> None:
    changed = body | {key: value}
    is_same = key in body and json.dumps(body[key], sort_keys=True) == json.dumps(value, sort_keys=True)
    assert (digest_of((canonical(body),)) == digest_of((canonical(changed),))) is is_same


def test_floats_are_no_part_of_a_canonical_request() -> None:
    bodies: list[JsonObject] = [{"a": 1.0}, {"a": [{"b": float("nan")}]}]
    for body in bodies:
        with pytest.raises(ValueError, match="no floats"):
            canonical(body)


def test_the_digest_of_a_batch_is_none_of_its_parts_and_depends_on_their_order() -> None:
    one, two = canonical({"a": 1}), canonical({"a": 2})
    digests = {digest_of((one,)), digest_of((two,)), digest_of((one, two)), digest_of((two, one))}
    assert len(digests) == 4


async def test_a_key_header_makes_a_write_repeatable_and_is_part_of_what_is_shown(world: World) -> None:
    gate = gate_of(world, idempotency={"api.example.com": "Idempotency-Key"})
    first, second = (await gate.judge((POST, GET), FACTS, CONTEXT)).requests
    assert (first.safety, second.safety, second.idem_key) == (Safety.REPEAT, Safety.REPEAT, None)
    assert ["Idempotency-Key", first.idem_key] in json.loads(first.text)["headers"]
    assert first.idem_key != (await gate.judge((POST,), FACTS, CONTEXT)).requests[0].idem_key


async def test_a_key_header_that_the_tool_wrote_is_its_key(world: World) -> None:
    gate = gate_of(world, idempotency={"api.example.com": "Idempotency-Key"})
    ask = replace(POST, headers=(("idempotency-key", "order-7"),))
    request = (await gate.judge((ask,), FACTS, CONTEXT)).requests[0]
    assert (request.safety, request.idem_key) == (Safety.REPEAT, "order-7")
    assert json.loads(request.text)["headers"] == [["idempotency-key", "order-7"]]
