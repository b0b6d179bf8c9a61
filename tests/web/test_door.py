"""Who gets in: the token, the names of this server, the socket, and bodies of bounded size."""

import asyncio
import json
import stat
from collections.abc import AsyncIterator, Generator
from pathlib import Path

import httpx
import pytest
from fastapi.routing import APIRoute

from ias.errors import ConfigError
from ias.logs import Logs
from ias.web.auth import BODY_MAX, read_token
from ias.web.server import bind_unix
from tests.consumers.logbook import logs_in
from tests.store.world import World
from tests.web.api import TOKEN, Api, make_api, served


@pytest.fixture
def logs(tmp_path: Path) -> Generator[Logs]:
    with logs_in(tmp_path / "logs") as found:
        yield found


@pytest.fixture
def api(world: World, logs: Logs) -> Api:
    return make_api(world, logs)


def is_problem(response: httpx.Response, status: int) -> bool:
    """Say whether an answer is a problem document of that status."""
    body = response.json()
    return (
        (response.status_code, body["status"]) == (status, status)
        and response.headers["content-type"] == "application/problem+json"
        and set(body) >= {"type", "title", "status", "detail"}
        and bool(body["detail"])
    )


def routes_of(api: Api) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for path, methods in api.app.openapi()["paths"].items():
        found.extend((method.upper(), path.replace("{", "x").replace("}", "x")) for method in methods)
    return found


async def test_no_route_but_the_probes_answers_without_the_token(api: Api) -> None:
    routes = routes_of(api)
    assert len(routes) > 15
    async with api.client(token=None) as client:
        for method, path in [*routes, ("GET", "/openapi.json"), ("GET", "/nowhere")]:
            response = await client.request(method, path)
            if path in ("/healthz", "/readyz"):
                assert response.status_code == 200
            else:
                assert is_problem(response, 401), (method, path, response.text)
                assert response.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "value", ["", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", TOKEN]
)
async def test_a_wrong_token_is_refused(api: Api, value: str) -> None:
    async with api.client(token=None) as client:
        assert is_problem(await client.get("/api/tools", headers={"Authorization": value}), 401)


async def test_the_token_opens_and_its_scheme_may_be_written_in_any_case(api: Api) -> None:
    async with api.client(token=None) as client:
        response = await client.get("/api/tools", headers={"Authorization": f"bearer {TOKEN}"})
        assert response.json() == [{"name": "echo", "desc": "does something"}]


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:8787", "127.0.0.2:8787", "", "[::2]:8787"])
async def test_a_foreign_host_name_is_misdirected_even_with_the_token(api: Api, host: str) -> None:
    async with api.client() as client:
        for path in ("/api/tools", "/healthz"):
            assert is_problem(await client.get(path, headers={"Host": host}), 421)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:8787", "LocalHost", "[::1]:8787", "[::1]"])
async def test_the_names_of_this_machine_are_let_in(api: Api, host: str) -> None:
    async with api.client() as client:
        assert (await client.get("/api/tools", headers={"Host": host})).status_code == 200


@pytest.mark.parametrize("origin", ["null", "https://evil.example", "http://localhost.evil.example", "http://[::2]"])
async def test_a_foreign_page_is_refused_even_with_the_token(api: Api, origin: str) -> None:
    async with api.client() as client:
        assert is_problem(await client.get("/api/tools", headers={"Origin": origin}), 403)
        assert is_problem(await client.post("/api/poke", headers={"Origin": origin}), 403)


async def test_a_page_of_this_server_may_call(api: Api) -> None:
    async with api.client() as client:
        assert (await client.post("/api/poke", headers={"Origin": "http://localhost:8787"})).status_code == 204
    assert api.pokes == ["poke"]


async def test_a_body_that_says_it_is_too_large_is_not_read(api: Api) -> None:
    async with api.client() as client:
        assert is_problem(await client.post("/api/messages", content=b"x" * (BODY_MAX + 1)), 413)


async def test_a_body_in_chunks_is_bounded_as_well(api: Api) -> None:
    sent = 0

    async def chunks() -> AsyncIterator[bytes]:
        nonlocal sent
        for _ in range(64):
            sent += 1
            yield b"x" * 65536

    async with api.client() as client:
        response = await client.post("/api/messages", content=chunks())
    assert is_problem(response, 413)
    assert sent == BODY_MAX // 65536 + 1


async def test_over_the_wire_a_body_in_chunks_is_bounded_as_well(api: Api, tmp_path: Path) -> None:
    async with served(api, tmp_path) as (port, _):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(
            b"POST /api/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n"
            b"Content-Type: application/json\r\nAuthorization: Bearer " + TOKEN.encode() + b"\r\n\r\n"
        )
        for _ in range(BODY_MAX // 65536 + 1):
            writer.write(b"10000\r\n" + b"x" * 65536 + b"\r\n")
        head = await reader.readuntil(b"\r\n\r\n")
        writer.close()
    assert head.startswith(b"HTTP/1.1 413 ")
    assert b"application/problem+json" in head


async def test_the_unix_socket_needs_no_token_and_is_for_its_owner_alone(api: Api, tmp_path: Path) -> None:
    async with served(api, tmp_path) as (_, path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        transport = httpx.AsyncHTTPTransport(uds=str(path))
        async with httpx.AsyncClient(transport=transport, base_url="http://ias") as client:
            assert (await client.get("/api/tools")).status_code == 200
            assert (await client.post("/api/messages", content=b"x" * (BODY_MAX + 1))).status_code == 413


async def test_the_stream_needs_the_token_over_tcp(api: Api, tmp_path: Path) -> None:
    stored = await api.world.submit("hi")
    path = f"/api/conversations/{stored.conversation_id}/events"
    async with served(api, tmp_path) as (port, _), httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        assert (await client.get(path)).status_code == 401
        run = api.bus.begin_step(stored.conversation_id, turn_id=stored.turn_id, step=1, attempt=1)
        api.bus.add_text(run, "hello")
        headers = {"Authorization": f"Bearer {TOKEN}", "Last-Event-ID": "0"}
        async with client.stream("GET", path, headers=headers) as response:
            assert response.headers["content-type"].startswith("text/event-stream")
            assert response.headers["cache-control"] == "no-store"
            lines = response.aiter_lines()
            assert await anext(lines) == "event: AssistantTextDelta"
            assert json.loads((await anext(lines)).removeprefix("data: "))["text"] == "hello"


def test_a_token_is_made_once_and_kept_from_others(tmp_path: Path) -> None:
    file = tmp_path / "data" / "token"
    token = read_token(file)
    assert len(token) >= 43
    assert (read_token(file), stat.S_IMODE(file.stat().st_mode)) == (token, 0o600)

    file.chmod(0o640)
    with pytest.raises(ConfigError, match="chmod 600"):
        read_token(file)
    file.chmod(0o600)
    file.write_text("\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="empty"):
        read_token(file)


def test_a_socket_replaces_a_dead_one_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "ias.sock"
    bind_unix(path).close()
    bind_unix(path).close()
    notes = tmp_path / "notes.txt"
    notes.write_text("mine", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"notes\.txt"):
        bind_unix(notes)
    assert notes.read_text(encoding="utf-8") == "mine"
    with pytest.raises(ConfigError, match="longer than"):
        bind_unix(tmp_path / ("x" * 120))
    with pytest.raises(ConfigError, match=r"no/folder/ias\.sock.*--socket"):
        bind_unix(Path("no/folder/ias.sock"))


async def test_every_route_is_an_api_route_or_a_probe(api: Api) -> None:
    paths = {route.path for route in api.app.routes if isinstance(route, APIRoute)}
    assert {path for path in paths if not path.startswith("/api/")} == {"/healthz", "/readyz"}
