"""Requests that were granted: what leaves, and what is refused before it could."""

import base64
import json
from typing import Any

import pytest

from ias.domain.approvals import Safety
from ias.errors import Code
from ias.runtime.http_service import NotSentError, resolve
from tests.runtime.http_host import CANARY, fetch, grant, service
from tests.runtime.servers import Received, ok, serving


async def test_what_leaves_is_what_was_granted_and_nothing_more() -> None:
    answer, server = await fetch(
        {"/a%20b/%2F": ok(b'{"x":1}', Content_Type="application/json", X_Two="1")},
        "/a%20b/%2F",
        method="POST",
        query=[["q", "北 京&x"], ["key", "${KEY}"], ["q", ""]],
        headers=[["X-Key", "Bearer ${KEY}"], ["Content-Type", "application/json"], ["user-agent", "mine"]],
        body='{"k":"${KEY}","other":"${HOME}"}',
    )  # fmt: skip  # reads as the request does

    assert answer == {
        "status": 200,
        "headers": {"content-type": "application/json", "x-two": "1"},
        "body": '{"x":1}',
    }
    (heard,) = server.heard
    assert (heard.line, heard.headers, heard.body) == (
        "POST /a%20b/%2F?q=%E5%8C%97%20%E4%BA%AC%26x&key=canary%2F9%2Bvalue&q= HTTP/1.1",
        {
            "host": f"a.test:{server.port}",
            "x-key": f"Bearer {CANARY}",
            "content-type": "application/json",
            "user-agent": "mine",
            "accept": "*/*",
            "accept-encoding": "gzip",
            "connection": "close",
            "content-length": str(len(heard.body)),
        },
        b'{"k":"canary/9+value","other":"${HOME}"}',
    )


async def test_an_answer_that_echoes_a_secret_comes_back_without_it() -> None:
    async def echo(received: Received, writer: Any) -> None:
        echoed = json.dumps({**received.headers, "b": base64.b64encode(f"u:{CANARY}".encode()).decode()}).encode()
        writer.write(ok(echoed, X_Echo=received.headers["x-key"], Location=f"/?k={CANARY}"))

    answer, server = await fetch({"/": echo}, headers=[["X-Key", "${KEY}"]])

    assert server.heard[0].headers["x-key"] == CANARY
    assert "canary" not in json.dumps(answer)
    assert (answer["headers"]["x-echo"], answer["headers"]["location"]) == ("${KEY}", "/?k=${KEY}")
    assert json.loads(answer["body"])["x-key"] == "${KEY}"


async def test_a_repeated_header_is_joined_and_what_belongs_to_the_hop_is_dropped() -> None:
    head = b"HTTP/1.1 201 Created\r\nX-A: 1\r\nx-a: 2\r\nKeep-Alive: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
    reply = head + b"2\r\nhi\r\n0\r\n\r\n"
    answer, _ = await fetch({"/": reply})

    assert answer == {"status": 201, "headers": {"x-a": "1, 2"}, "body": "hi"}


@pytest.mark.parametrize("status", ["404 Not Found", "500 Oops", "304 Not Modified"])
async def test_a_status_that_says_no_is_an_answer_too(status: str) -> None:
    answer, _ = await fetch({"/": ok(b"", status=status)})

    assert answer == {"status": int(status[:3]), "headers": {}, "body": ""}


async def test_head_has_no_body_whatever_its_headers_say() -> None:
    reply = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\nContent-Encoding: gzip\r\n\r\n"
    answer, server = await fetch({"/": reply}, method="HEAD")

    assert (answer, server.heard[0].line) == ({"status": 200, "headers": {}, "body": ""}, "HEAD / HTTP/1.1")


async def test_what_may_not_be_sent_is_refused_before_a_connection() -> None:
    cases: list[tuple[dict[str, Any], Code, str]] = [
        ({"hosts": ("b.test",)}, Code.HOST_NOT_ALLOWED, "the host 'a.test' is none of the tool's hosts"),
        ({"headers": [["Host", "b.test"]]}, Code.BAD_MESSAGE, "the header 'Host' is set by ias alone; leave it out"),
        (
            {"host": "b.test", "headers": [["X", "${KEY}"]]},
            Code.SECRET_NOT_ALLOWED,
            "the secret KEY may not be sent to 'b.test'; its hosts are in config.yaml",
        ),
        (
            {"path": "/bot${KEY}/x"},
            Code.SECRET_NOT_ALLOWED,
            "the secret KEY stands in the path; it may stand in a query or header value, or in the body",
        ),
    ]
    async with serving({"/": ok()}) as server, service(server.port) as http:
        for fields, code, words in cases:
            with pytest.raises(NotSentError) as caught:
                await http.send(grant(server.port, **fields))
            assert (caught.value.code, str(caught.value)) == (code, words)
        assert server.connections == 0


async def test_a_secret_does_not_travel_unencrypted_to_a_public_host() -> None:
    async with service(1, allow_private=()) as http:
        with pytest.raises(NotSentError) as caught:
            await http.send(grant(80, query=[["k", "${KEY}"]]))

    assert (caught.value.code, str(caught.value)) == (
        Code.SECRET_NOT_ALLOWED,
        "a secret may not be sent to 'a.test' over http; use https",
    )


async def test_a_private_address_is_refused_before_a_connection() -> None:
    async with serving({"/": ok()}) as server, service(server.port, allow_private=()) as http:
        with pytest.raises(NotSentError) as caught:
            await http.send(grant(server.port))

        assert (caught.value.code, server.connections) == (Code.ADDRESS_NOT_ALLOWED, 0)


async def test_ias_itself_is_refused_even_where_the_operator_allows_it() -> None:
    async with serving({"/": ok()}) as server, service(server.port, own_ports=frozenset({server.port})) as http:
        with pytest.raises(NotSentError, match=r"is ias itself") as caught:
            await http.send(grant(server.port))

        assert (caught.value.code, server.connections) == (Code.ADDRESS_NOT_ALLOWED, 0)


async def test_a_name_with_a_public_and_a_private_address_is_refused() -> None:
    async def mixed(_host: str, _port: int) -> tuple[str, ...]:
        return ("93.184.216.34", "127.0.0.1")

    async with serving({"/": ok()}) as server, service(server.port, allow_private=(), resolver=mixed) as http:
        with pytest.raises(NotSentError) as caught:
            await http.send(grant(server.port))

        assert (caught.value.code, server.connections) == (Code.ADDRESS_NOT_ALLOWED, 0)


async def test_a_name_is_looked_up_once_and_the_checked_address_is_used() -> None:
    asked: list[str] = []

    async def rebinding(host: str, _port: int) -> tuple[str, ...]:
        asked.append(host)
        return ("127.0.0.1",) if len(asked) == 1 else ("127.0.0.99",)

    async with serving({"/": ok()}) as server, service(server.port, resolver=rebinding) as http:
        answer = await http.send(grant(server.port))

    assert (answer["status"], asked) == (200, ["a.test"])


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (OSError(-2, "Name or service not known"), "the host 'a.test' has no address: Name or service not known"),
        (UnicodeError("label too long"), "the host 'a.test' has no address: no proper name"),
        (None, "http://a.test:1 cannot be reached: it has no address"),
    ],
)
async def test_a_name_without_an_address_is_an_error_before_sending(failure: Exception | None, words: str) -> None:
    async def nowhere(_host: str, _port: int) -> tuple[str, ...]:
        if failure is not None:
            raise failure
        return ()

    async with service(1, resolver=nowhere) as http:
        with pytest.raises(NotSentError) as caught:
            await http.send(grant(1, method="POST", safety=Safety.ONCE))

    assert (caught.value.code, str(caught.value)) == (Code.HTTP_FAILED, words)


async def test_the_system_knows_where_this_machine_is() -> None:
    found = await resolve("localhost", 80)

    assert set(found) & {"127.0.0.1", "::1"}


async def test_an_address_in_the_url_is_not_looked_up() -> None:
    async with serving({"/": ok()}) as server, service(1, allow_private=(f"127.0.0.1:{server.port}",)) as http:
        answer = await http.send(grant(server.port, host="127.0.0.1", hosts=("*",)))

    assert (answer["status"], server.heard[0].headers["host"]) == (200, f"127.0.0.1:{server.port}")


async def test_the_next_address_is_tried_where_one_takes_no_connection() -> None:
    async def two(_host: str, _port: int) -> tuple[str, ...]:
        return ("127.0.0.77", "127.0.0.1")

    async with serving({"/": ok()}) as server, service(server.port, resolver=two) as http:
        answer = await http.send(grant(server.port))

    assert answer["status"] == 200
