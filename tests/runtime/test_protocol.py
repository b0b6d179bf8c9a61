"""The two lines of the protocol: what a program is given, and what its answer may be."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ias.domain.approvals import StepKind
from ias.domain.tools import Answer, Asks, DbAsk, HttpAsk, Result, StepInput
from ias.errors import Code, ToolError
from ias.runtime.protocol import envelope, parse_line

BASE = {"params": {"location": "北京"}, "approved": True, "user_id": "wxid", "call_id": "c_01"}
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)

GOOD: list[tuple[object, Asks | Result]] = [
    ({"type": "result", "content": "晴"}, Result(content="晴")),
    ({"type": "result", "content": "x", "data": {"a": [1.5, None]}}, Result(content="x", data={"a": [1.5, None]})),
    ({"type": "result", "content": "no", "is_error": True}, Result(content="no", code=Code.TOOL_FAILED)),
    (
        {"type": "http", "method": "get", "url": "https://a.example/x?y=1", "desc": "看天气"},
        Asks(asks=(HttpAsk(method="GET", url="https://a.example/x?y=1", desc="看天气"),)),
    ),
    (
        {
            "type": "http",
            "method": "POST",
            "url": "https://a.example/",
            "query": {"q": "北 京", "n": 3, "f": 0.5, "b": True, "none": None, "many": ["x", 2]},
            "headers": {"X-Key": "${KEY}", "X-Number": 7, "X-None": None},
            "body": "text",
            "state": [1, {"a": None}],
        },
        Asks(
            asks=(
                HttpAsk(
                    method="POST",
                    url="https://a.example/",
                    query=(("q", "北 京"), ("n", "3"), ("f", "0.5"), ("b", "true"), ("many", "x"), ("many", "2")),
                    headers=(("X-Key", "${KEY}"), ("X-Number", "7")),
                    body="text",
                ),
            ),
            state=[1, {"a": None}],
        ),
    ),
    (
        {"type": "http", "method": "POST", "url": "https://a.example/", "json": {"b": "北", "a": [1]}},
        Asks(
            asks=(
                HttpAsk(
                    method="POST",
                    url="https://a.example/",
                    headers=(("Content-Type", "application/json"),),
                    body='{"a":[1],"b":"北"}',
                ),
            )
        ),
    ),
    (
        {
            "type": "http",
            "method": "PUT",
            "url": "https://a/",
            "json": [],
            "headers": {"content-type": "application/x+json"},
        },
        Asks(
            asks=(
                HttpAsk(method="PUT", url="https://a/", headers=(("content-type", "application/x+json"),), body="[]"),
            )
        ),
    ),
    (
        {"type": "db", "operation": "kv_get", "params": {"key": "k"}},
        Asks(asks=(DbAsk(operation="kv_get", params={"key": "k"}),)),
    ),
    (
        {
            "type": "batch",
            "requests": [
                {"type": "http", "method": "GET", "url": "https://a.example/"},
                {"type": "db", "operation": "kv_list", "desc": "d"},
            ],
            "state": "s",
        },
        Asks(
            asks=(HttpAsk(method="GET", url="https://a.example/"), DbAsk(operation="kv_list", desc="d")),
            state="s",
            is_batch=True,
        ),
    ),
]

URL = "https://a.example/"
BAD_MESSAGES: list[tuple[object, str]] = [
    (3, "it is 3; print one JSON object with a `type`"),
    ([], "it is []; print one JSON object with a `type`"),
    ({}, "`type` is None; it must be one of http, db, batch, result"),
    ({"type": ["http"]}, "`type` is ['http']; it must be one of http, db, batch, result"),
    ({"type": "HTTP"}, "`type` is 'HTTP'; it must be one of http, db, batch, result"),
    ({"type": "result"}, "`content` is missing"),
    ({"type": "result", "content": {"a": 1}}, "`content` is {'a': 1}; it must be text"),
    ({"type": "result", "content": "", "is_error": "yes"}, "`is_error` is 'yes'; it must be true or false"),
    (
        {"type": "result", "content": "", "dat": 1},
        "`dat` is no field of a result message; its fields are type, content, data, is_error",
    ),
    ({"type": "http", "url": URL}, "`method` is missing"),
    ({"type": "http", "method": "GET"}, "`url` is missing"),
    (
        {"type": "http", "method": "TRACE", "url": URL},
        "`method` is 'TRACE'; it must be one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS",
    ),
    (
        {"type": "http", "method": "POST", "url": URL, "body": "x", "json": 1},
        "`body` and `json` exclude each other; keep one",
    ),
    (
        {"type": "http", "method": "POST", "url": URL, "body": {"a": 1}},
        "`body` is {'a': 1}; it must be text (use `json` for anything else)",
    ),
    (
        {"type": "http", "method": "POST", "url": URL, "body": "x" * 1_048_577},
        "`body` has more than 1,048,576 bytes",
    ),
    (
        {"type": "http", "method": "GET", "url": URL, "query": "a=b"},
        "`query` is 'a=b'; it must be an object of names and values",
    ),
    (
        {"type": "http", "method": "GET", "url": URL, "query": {"a": {"b": 1}}},
        "`query.a` is {'b': 1}; it must be text, a number, true or false",
    ),
    (
        {"type": "http", "method": "GET", "url": URL, "headers": {"Host": "b.example"}},
        "`headers`: the header 'Host' is set by ias alone; leave it out",
    ),
    (
        {"type": "http", "method": "GET", "url": URL, "headers": {"Transfer-Encoding": "chunked"}},
        "`headers`: the header 'Transfer-Encoding' is set by ias alone; leave it out",
    ),
    (
        {"type": "http", "method": "GET", "url": URL, "headers": {"Proxy-Authorization": "x"}},
        "`headers`: the header 'Proxy-Authorization' is set by ias alone; leave it out",
    ),
    (
        {"type": "http", "method": "GET", "url": URL, "headers": {"X-A": "b\r\nHost: c"}},
        "`headers`: the value of 'X-A' must be printable ASCII on one line; percent-encode anything else",
    ),
    (
        {"type": "http", "method": "GET", "url": URL, "headers": {"X A": "b"}},
        "`headers`: 'X A' is no header name; use letters, digits and hyphens",
    ),
    (
        {"type": "http", "method": "GET", "url": URL, "headers": {"X-A": "b" * 8193}},
        "`headers`: the value of 'X-A' has 8193 characters, at most 8192 are allowed",
    ),
    (
        {"type": "http", "method": "GET", "url": URL, "headers": {"X-A": "1", "x-a": "2"}},
        "`headers` has a name twice, in different letters; keep one",
    ),
    (
        {"type": "http", "method": "GET", "url": URL, "headers": {f"X-{number}": "1" for number in range(65)}},
        "`headers` has 65 entries, at most 64 are allowed",
    ),
    (
        {"type": "http", "method": "GET", "url": URL, "state": "x" * 65_535},
        "`state` has 65,537 bytes, at most 65,536 are allowed",
    ),
    ({"type": "db", "params": {}}, "`operation` is missing"),
    (
        {"type": "db", "operation": "SELECT 1"},
        "`operation` is 'SELECT 1'; it must be the name of an operation, such as kv_get",
    ),
    ({"type": "db", "operation": "kv_get", "params": []}, "`params` is []; it must be an object"),
    ({"type": "batch", "requests": []}, "`requests` must be a list of at least one http or db message"),
    (
        {"type": "batch", "requests": [{"type": "db", "operation": "a"}] * 33},
        "`requests` has 33 items, at most 32 are allowed",
    ),
    ({"type": "batch", "requests": [1]}, "`requests[0]` is 1; it must be an http or db message"),
    ({"type": "batch", "requests": [{"type": "batch"}]}, "`requests[0].type` is 'batch'; it must be http or db"),
    (
        {"type": "batch", "requests": [{"type": "db", "operation": "a", "state": 1}]},
        "`requests[0].state` is no field of a db message; its fields are type, operation, params, desc",
    ),
    ({"type": "batch", "requests": [{"type": "http", "url": URL}]}, "`requests[0].method` is missing"),
]

BAD_JSON = [
    (b"", "the tool's line is no JSON: Expecting value at character 0: ''"),
    (
        b"{'a': 1}",
        "the tool's line is no JSON: Expecting property name enclosed in double quotes at character 1: \"{'a': 1}\"",
    ),
    (b'{"a": NaN}', "the tool's line is no JSON: NaN is no JSON; write null or leave the field out"),
    (b'{"a": -Infinity}', "the tool's line is no JSON: -Infinity is no JSON; write null or leave the field out"),
    (b'{"a": 1e999}', "the tool's line is no JSON: the number '1e999' is too large"),
    (
        b'{"a": ' + b"9" * 50 + b"}",
        f"the tool's line is no JSON: the number '{'9' * 50}' has 50 digits; write it as text",
    ),
    (b'{"a": 1, "b": 2, "a": 3}', "the tool's line is no JSON: the name 'a' stands twice in one object; keep one"),
    (b'{"a": ' + b"[" * 64 + b"]" * 64 + b"}", "the tool's line nests deeper than 64"),
    (b"[" * 100_000, "the tool's line nests deeper than 64"),
]


@pytest.mark.parametrize(("message", "meant"), GOOD)
def test_a_message_is_read_as_it_was_meant(message: object, meant: Asks | Result) -> None:
    assert parse_line(json.dumps(message).encode()) == meant


@pytest.mark.parametrize(("message", "words"), BAD_MESSAGES)
def test_a_message_that_breaks_a_rule_says_which_and_what_to_write(message: object, words: str) -> None:
    with pytest.raises(ToolError) as caught:
        parse_line(json.dumps(message).encode())

    assert (caught.value.code, str(caught.value)) == (
        Code.BAD_MESSAGE,
        f"the tool's message cannot be used: {words}",
    )


@pytest.mark.parametrize(("line", "words"), BAD_JSON)
def test_what_is_no_strict_json_is_refused(line: bytes, words: str) -> None:
    with pytest.raises(ToolError) as caught:
        parse_line(line)

    assert (caught.value.code, str(caught.value)) == (Code.BAD_JSON, words)


def test_what_is_no_utf8_is_refused_with_its_place() -> None:
    with pytest.raises(ToolError) as caught:
        parse_line('{"type":"result","content":"天气"}'.encode("gbk"))

    assert (caught.value.code, str(caught.value)) == (
        Code.BAD_UTF8,
        "the tool's line is no UTF-8: byte 0xcc at 28; write UTF-8",
    )


def test_lone_surrogates_are_replaced() -> None:
    line = rb'{"type":"result","content":"a\ud800b","data":{"\udc00":["\ud83d\ude00"]}}'

    assert parse_line(line) == Result(content="a\ufffdb", data={"\ufffd": ["😀"]})


def test_sixty_four_levels_are_allowed() -> None:
    line = b'{"type":"result","content":"","data":' + b"[" * 63 + b"]" * 63 + b"}"

    assert isinstance(parse_line(line), Result)


@given(JSON)
def test_any_json_travels_as_data(value: object) -> None:
    line = json.dumps({"type": "result", "content": "", "data": value}).encode()

    assert parse_line(line) == Result(content="", data=json.loads(json.dumps(value)))


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_a_tool_error(line: bytes) -> None:
    try:
        assert isinstance(parse_line(line), Asks | Result)
    except ToolError as error:
        assert error.code in {Code.BAD_UTF8, Code.BAD_JSON, Code.BAD_MESSAGE}  # noqa: PT017 - either end is right


ENVELOPES = [
    (StepInput(), {"step": 0}),
    (
        StepInput(step=1, answers=(Answer(kind=StepKind.HTTP, body={"status": 200}),), state={"a": 1}),
        {"step": 1, "response": {"status": 200}, "state": {"a": 1}},
    ),
    (
        StepInput(step=2, answers=(Answer(kind=StepKind.DB, body={"rows": []}),), state=0),
        {"step": 2, "db_response": {"rows": []}, "state": 0},
    ),
    (
        StepInput(step=1, answers=(Answer(kind=StepKind.HTTP, body={"status": 204}),), is_batch=True),
        {"step": 1, "responses": [{"status": 204}]},
    ),
]


@pytest.mark.parametrize(("step", "fields"), ENVELOPES)
def test_the_envelope_holds_what_the_step_needs(step: StepInput, fields: dict[str, object]) -> None:
    line = envelope({"location": "北京"}, step, user_id="wxid", call_id="c_01", secrets=("KEY",))

    assert json.loads(line) == {**BASE, "secrets": ["KEY"], **fields}


def test_the_envelope_is_one_line_of_plain_utf8_in_a_fixed_order() -> None:
    line = envelope({"location": "北\n京\u2028\ud800"}, StepInput(), user_id="u", call_id="c")

    assert line.decode() == (
        '{"params":{"location":"北\\n京\u2028\ufffd"},"approved":true,"user_id":"u","call_id":"c","step":0,"secrets":[]}'
    )
