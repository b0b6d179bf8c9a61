"""Requests that were granted: what leaves, what comes back, and what is known when neither is whole."""

import asyncio
import base64
import json
import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from ias.domain.approvals import Grant, Safety, StepKind, canonical, digest_of
from ias.errors import Code
from ias.runtime.http_service import HttpService, HttpSettings, NotSentError, Resolve, UnknownOutcomeError, resolve
from ias.runtime.secrets import Secrets
from tests.runtime.servers import Received, Scripted, Server, ok, serving

TLS = Path(__file__).resolve().parent.parent / "fixtures" / "tls"
CANARY = "canary/9+value"
SECRETS = Secrets({"KEY": ("a.test",)}, {"KEY": CANARY})
NAMES = ("a.test", "b.test", "api.test", "other.test")


def grant(
    port: int, path: str = "/", *, safety: Safety = Safety.REPEAT, granted_by: str = "policy", **fields: Any
) -> Grant:
    """Give the grant of a request as the gate stores it: by default GET http://a.test."""
    body = {
        "v": 1,
        "kind": "http",
        "tool": "t",
        "tool_sha256": "0" * 64,
        "user": "u",
        "conversation": "k_1",
        "call": "c_1",
        "method": "GET",
        "scheme": "http",
        "host": "a.test",
        "port": port,
        "path": path,
        "query": [],
        "headers": [],
        "body": None,
        "reroute": None,
        **fields,
    }
    hosts = fields.pop("hosts", ("a.test", "b.test", "api.test", "other.test"))
    body.pop("hosts", None)
    text = canonical(body)
    return Grant(
        text=text,
        digest=digest_of((text,)),
        kind=StepKind.HTTP,
        safety=safety,
        granted_by=granted_by,
        hosts=hosts,
        secrets=("KEY",),
    )


async def loopback(_host: str, _port: int) -> tuple[str, ...]:
    """Resolve every name to this machine."""
    return ("127.0.0.1",)


@asynccontextmanager
async def service(
    port: int, *, resolver: Resolve = loopback, ssl_context: ssl.SSLContext | None = None, **settings: Any
) -> AsyncGenerator[HttpService]:
    """Give a service that may reach the test's names at `port`."""
    private = settings.pop("allow_private", tuple(f"{name}:{port}" for name in NAMES))
    made = HttpService(
        HttpSettings(allow_private=private, **settings),
        SECRETS,
        resolver=resolver,
        ssl_context=ssl_context or ssl.create_default_context(),
    )
    try:
        yield made
    finally:
        await made.close()


async def fetch(replies: Mapping[str, Scripted], path: str = "/", **fields: Any) -> tuple[Any, Server]:
    """Send one request to a server of its own."""
    settings = {name: fields.pop(name) for name in ("timeout", "max_response", "redirects") if name in fields}
    async with serving(replies) as server, service(server.port, **settings) as http:
        return await http.send(grant(server.port, path, **fields)), server


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


async def test_a_refused_connection_is_an_error_before_sending_also_for_what_must_not_be_repeated() -> None:
    async with serving({}) as server:
        port = server.port
    async with service(port) as http:
        with pytest.raises(NotSentError, match=rf"^http://a\.test:{port} cannot be reached: ") as caught:
            await http.send(grant(port, method="POST", safety=Safety.ONCE))

    assert caught.value.code is Code.HTTP_FAILED


async def hang_up(_received: Received, writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


async def half_a_body(_received: Received, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
    await writer.drain()
    writer.transport.abort()


async def never(_received: Received, writer: asyncio.StreamWriter) -> None:
    await asyncio.wait_for(writer.wait_closed(), 10)  # noqa: TID251 - bounds a server that waits for its client


async def drips(_received: Received, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
    for _ in range(100):
        writer.write(b".")
        await writer.drain()
        await asyncio.sleep(0.05)


BROKEN: list[tuple[Scripted, Code]] = [
    (hang_up, Code.HTTP_FAILED),
    (half_a_body, Code.HTTP_FAILED),
    (b"no http at all\r\n\r\n", Code.HTTP_FAILED),
    (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000 + b"\r\n\r\n", Code.HTTP_FAILED),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", Code.HTTP_FAILED),
    (ok(b"x", Content_Encoding="br"), Code.HTTP_FAILED),
    (ok(b"x", Content_Encoding="gzip"), Code.HTTP_FAILED),
    (never, Code.HTTP_TIMEOUT),
    (drips, Code.HTTP_TIMEOUT),
]


@pytest.mark.parametrize(("reply", "code"), BROKEN, ids=range(len(BROKEN)))
async def test_a_request_that_may_be_repeated_fails_with_an_error_for_the_tool(reply: Scripted, code: Code) -> None:
    answer, server = await fetch({"/": reply}, timeout=0.3)

    assert (list(answer), answer["error"]["code"], len(server.heard)) == (["error"], code, 1)


@pytest.mark.parametrize(("reply", "code"), BROKEN, ids=range(len(BROKEN)))
async def test_a_request_that_must_not_be_repeated_fails_with_nobody_knowing(reply: Scripted, code: Code) -> None:
    async with serving({"/": reply}) as server, service(server.port, timeout=0.3) as http:
        with pytest.raises(
            UnknownOutcomeError, match=r"; the request was sent and may have been carried out$"
        ) as caught:
            await http.send(grant(server.port, method="POST", body="x", safety=Safety.ONCE))

        assert (caught.value.code, len(server.heard), code) == (Code.OUTCOME_UNKNOWN, 1, code)


@pytest.mark.parametrize("safety", list(Safety))
async def test_an_answer_that_is_too_large_is_an_error_and_not_an_unknown_outcome(safety: Safety) -> None:
    answer, _ = await fetch({"/": ok(b"x" * 1001)}, max_response=1000, safety=safety, method="POST")

    assert answer == {
        "error": {
            "code": "response_too_large",
            "message": "the answer has more than 1,000 bytes (http.max_response); ask for less of it",
        }
    }


async def test_an_answer_of_exactly_the_allowed_size_is_taken() -> None:
    answer, _ = await fetch({"/": ok(b"x" * 1000)}, max_response=1000)

    assert answer["body"] == "x" * 1000


async def test_an_error_never_shows_a_secret() -> None:
    async with serving({"/": hang_up}) as server, service(server.port) as http:
        answer = await http.send(grant(server.port, headers=[["X", "${KEY}"]], query=[["k", "${KEY}"]]))

    assert "canary" not in json.dumps(answer)


async def test_cancelling_ends_the_exchange() -> None:
    async with serving({"/": never}) as server, service(server.port) as http:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await http.send(grant(server.port, method="POST", safety=Safety.ONCE))


async def test_a_host_that_is_rerouted_gets_everything_but_the_connection() -> None:
    asked: list[str] = []

    async def nowhere(host: str, _port: int) -> tuple[str, ...]:
        asked.append(host)
        return ()

    async with serving({"/x": ok(b"rerouted")}) as server, service(1, resolver=nowhere, allow_private=()) as http:
        target = f"http://localhost:{server.port}"
        answer = await http.send(grant(443, "/x", scheme="https", reroute=target, query=[["k", "${KEY}"]]))
        with pytest.raises(NotSentError) as caught:
            await http.send(grant(443, "/x", scheme="https", reroute=target, hosts=("b.test",)))
        with pytest.raises(NotSentError) as denied:
            await http.send(grant(443, host="169.254.169.254", reroute=target, hosts=("*",)))

    (heard,) = server.heard
    assert (answer["body"], heard.target, heard.headers["host"], asked) == (
        "rerouted",
        "/x?k=canary%2F9%2Bvalue",
        "a.test",
        [],
    )
    assert (caught.value.code, denied.value.code) == (Code.HOST_NOT_ALLOWED, Code.ADDRESS_NOT_ALLOWED)


@pytest.mark.parametrize("target", ["http://93.184.216.34", "http://a.test", "http://10.0.0.1:80", "nonsense"])
def test_a_reroute_off_this_machine_is_refused(target: str) -> None:
    with pytest.raises(ValueError, match=r"must be on this machine|must begin with"):
        HttpService(HttpSettings(reroute={"https://a.test": target}), SECRETS)


def server_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS / "api.test.crt", TLS / "api.test.key")
    return context


async def test_tls_is_verified_for_the_name_and_not_for_the_address() -> None:
    names: list[str | None] = []
    context = server_context()
    context.sni_callback = lambda _socket, name, _context: names.append(name)
    trusting = ssl.create_default_context(cafile=str(TLS / "api.test.crt"))
    async with (
        serving({"/": ok(b"secure")}, ssl_context=context) as server,
        service(server.port, ssl_context=trusting) as http,
    ):
        answer = await http.send(grant(server.port, scheme="https", host="api.test"))
        with pytest.raises(NotSentError, match=r"certificate is not valid for 'other\.test'") as caught:
            await http.send(grant(server.port, scheme="https", host="other.test", method="POST", safety=Safety.ONCE))

    assert (answer["body"], caught.value.code, names, len(server.heard)) == (
        "secure",
        Code.HTTP_FAILED,
        ["api.test", "other.test"],
        1,
    )


async def test_an_unknown_authority_is_refused_before_sending() -> None:
    async with serving({"/": ok()}, ssl_context=server_context()) as server, service(server.port) as http:
        with pytest.raises(NotSentError, match=r"certificate verify failed"):
            await http.send(grant(server.port, scheme="https", host="api.test"))
