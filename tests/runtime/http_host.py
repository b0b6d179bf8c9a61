"""A service that may reach the names of a test, and the grants that it is given."""

import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from ias.domain.approvals import Grant, Safety, StepKind, canonical, digest_of
from ias.runtime.http_service import HttpService, HttpSettings, Resolve
from ias.runtime.secrets import Secrets
from tests.runtime.servers import Scripted, Server, serving

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
