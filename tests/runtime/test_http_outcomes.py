"""Requests that were sent: what is known when the answer is not whole, rerouted or not to be trusted."""

import asyncio
import json
import ssl
from pathlib import Path

import pytest

from ias.domain.approvals import Safety
from ias.errors import Code
from ias.runtime.http_service import HttpService, HttpSettings, NotSentError, UnknownOutcomeError
from tests.runtime.http_host import SECRETS, fetch, grant, service
from tests.runtime.servers import Received, Scripted, ok, serving

TLS = Path(__file__).resolve().parent.parent / "fixtures" / "tls"


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
