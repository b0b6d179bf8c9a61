"""Redirects: which are followed, with what, and which go back to the tool."""

from typing import Any

import pytest

from ias.domain.approvals import Safety
from ias.errors import Code
from ias.runtime.requests import Outgoing
from tests.runtime.servers import Received, ok, redirect, serving
from tests.runtime.test_http_service import CANARY, fetch, grant, service


async def test_redirects_are_followed_within_their_number() -> None:
    chain = {"/": redirect("/1"), "/1": redirect("2?x=%2F&flag", "307 Temporary Redirect"), "/2": ok(b"end")}

    answer, server = await fetch(chain, redirects=2, headers=[["X-Key", "${KEY}"]])
    assert (answer["body"], [heard.target for heard in server.heard], server.heard[2].headers["x-key"]) == (
        "end",
        ["/", "/1", "/2?x=%2F&flag"],
        CANARY,
    )

    answer, _ = await fetch(chain, redirects=1)
    assert answer == {
        "error": {"code": "http_failed", "message": "the server redirects more than 1 times (http.redirects)"}
    }


async def test_another_origin_gets_no_secret_and_no_header_that_could_carry_one() -> None:
    async def away(received: Received, writer: Any) -> None:
        port = received.headers["host"].partition(":")[2]
        writer.write(redirect(f"http://b.test:{port}/there"))

    headers = [
        ["X-Key", "${KEY}"],
        ["Authorization", "Bearer x"],
        ["Cookie", "a=b"],
        ["X-Plain", "p"],
        ["Accept-Language", "zh"],
    ]
    answer, server = await fetch({"/": away, "/there": ok(b"end")}, headers=headers)

    assert (answer["body"], server.heard[1].headers) == (
        "end",
        {
            "host": f"b.test:{server.port}",
            "accept-language": "zh",
            "accept": "*/*",
            "user-agent": "ias",
            "accept-encoding": "gzip",
            "connection": "close",
        },
    )


@pytest.mark.parametrize(
    ("location", "code", "words"),
    [
        (
            "http://c.test:{port}/",
            Code.HOST_NOT_ALLOWED,
            "the server redirects to 'c.test', which is none of the tool's hosts",
        ),
        (
            "http://a.test.evil.test/",
            Code.HOST_NOT_ALLOWED,
            "the server redirects to 'a.test.evil.test', which is none of the tool's hosts",
        ),
        (
            "http://b.test:{port}/?echo=canary%2F9%2Bvalue",
            Code.SECRET_NOT_ALLOWED,
            "the server redirects to 'b.test' with a secret in the address",
        ),
        ("http://2130706433/", Code.HTTP_FAILED, "the server redirects to something that is no proper URL"),
        ("file:///etc/passwd", Code.HTTP_FAILED, "the server redirects to something that is no proper URL"),
        ("http://user@b.test/", Code.HTTP_FAILED, "the server redirects to something that is no proper URL"),
    ],
)
async def test_a_redirect_that_leads_astray_is_an_error(location: str, code: Code, words: str) -> None:
    async def away(received: Received, writer: Any) -> None:
        port = received.headers["host"].partition(":")[2]
        writer.write(redirect(location.format(port=port)))

    answer, server = await fetch({"/": away}, query=[["k", "${KEY}"]])

    assert (answer, len(server.heard)) == ({"error": {"code": code, "message": words}}, 1)


async def test_a_redirect_to_a_private_address_is_refused() -> None:
    async with serving({"/": redirect("http://b.test:1/")}) as server, service(server.port) as http:
        answer = await http.send(grant(server.port))

    assert answer["error"] == {
        "code": "address_not_allowed",
        "message": "the address 127.0.0.1 of 'b.test' is private; "
        "the operator may add it to http.allow_private as 'b.test:1'",
    }


@pytest.mark.parametrize(
    "fields",
    [
        {"method": "POST", "body": "x", "safety": Safety.ONCE},
        {"method": "DELETE", "safety": Safety.ONCE},
        {"granted_by": "a_0123"},
    ],
)
async def test_what_was_approved_or_changes_something_comes_back_as_a_redirect(fields: dict[str, Any]) -> None:
    answer, server = await fetch({"/": redirect("http://b.test/x", "307 Temporary Redirect")}, **fields)

    assert (answer, len(server.heard)) == (
        {"status": 307, "headers": {"location": "http://b.test/x"}, "body": "moved"},
        1,
    )


async def test_what_was_approved_is_followed_at_its_own_origin() -> None:
    answer, _ = await fetch({"/": redirect("/x"), "/x": ok(b"end")}, granted_by="a_0123")

    assert answer["body"] == "end"


async def test_a_redirect_follows_the_reroute_of_its_new_origin() -> None:
    async with serving({"/": redirect("https://b.test/x"), "/x": ok(b"end")}) as server:
        target = f"http://127.0.0.1:{server.port}"
        async with service(
            1, allow_private=(), reroute={"https://a.test": target, "https://b.test:443": target}
        ) as http:
            answer = await http.send(grant(443, scheme="https", reroute=target))

    assert (answer["body"], [heard.headers["host"] for heard in server.heard]) == ("end", ["a.test", "b.test"])


async def test_a_redirect_from_https_to_http_comes_back_to_the_tool() -> None:
    async with serving({"/": redirect("http://a.test/x")}) as server:
        target = f"http://127.0.0.1:{server.port}"
        async with service(1, allow_private=()) as http:
            answer: Any = await http.send(grant(443, scheme="https", reroute=target))

    assert (answer["status"], answer["headers"]["location"]) == (302, "http://a.test/x")


async def test_a_redirect_without_a_location_is_an_answer() -> None:
    answer, _ = await fetch({"/": ok(b"where?", status="302 Found")})

    assert answer == {"status": 302, "headers": {}, "body": "where?"}


def test_a_request_never_shows_its_secrets() -> None:
    request = Outgoing(
        method="GET", scheme="https", host="::1", port=8443, target=f"/?k={CANARY}", headers=(("X", CANARY),)
    )

    assert (repr(request), request.authority) == ("Outgoing(GET https://[::1]:8443)", "[::1]:8443")
