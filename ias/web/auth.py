"""Who may call: anybody on the Unix socket (its mode says who that is), a bearer token on TCP."""

import re
import secrets
from pathlib import Path

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ias.errors import ConfigError
from ias.web.problems import problem

TOKEN_BYTES = 32
OPEN_PATHS = frozenset({"/healthz", "/readyz"})
BODY_MAX = 1 << 20  # bytes of one request's body
TOO_LARGE = f"a body may have at most {BODY_MAX} bytes"
PORT = re.compile(r":[0-9]*$")


def read_token(file: Path) -> str:
    """Read the API's token, or make one at the first start (file mode 0600).

    Raises:
        ConfigError: If the file is empty or can be read by others.
    """
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.touch(mode=0o600)
        file.write_text(secrets.token_urlsafe(TOKEN_BYTES) + "\n", encoding="ascii")
    if file.stat().st_mode & 0o077:
        raise ConfigError(f"others can read the API's token; run chmod 600 {file}", file=file)
    token = file.read_text(encoding="utf-8").strip()
    if not token:
        raise ConfigError("the token file is empty; delete it and a new one is made at the next start", file=file)
    return token


class Door:
    """ASGI middleware: lets the Unix socket in, asks TCP for the token, and bounds bodies."""

    def __init__(self, app: ASGIApp, *, token: str, hosts: frozenset[str]) -> None:
        self._app = app
        self._token = token
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve or refuse one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = None if is_local_socket(scope) else self._refusal(scope["path"], headers)
        length = headers.get("content-length", "0")
        if refusal is None and length.isdecimal() and int(length) > BODY_MAX:
            refusal = (413, TOO_LARGE)
        if refusal is not None:
            status, detail = refusal
            more = {"WWW-Authenticate": "Bearer"} if status == 401 else None
            await problem(status, detail, headers=more)(scope, receive, send)
            return
        await self._app(scope, _bounded(receive), send)

    def _refusal(self, path: str, headers: Headers) -> tuple[int, str] | None:
        host = _host_of(headers.get("host", ""))
        if host not in self._hosts:
            return 421, f"this server is not {host!r}; call it by {min(self._hosts)}"
        origin = headers.get("origin")
        if origin is not None and _host_of(origin.partition("://")[2]) not in self._hosts:
            return 403, f"pages of {origin!r} may not call this API"
        if path in OPEN_PATHS:
            return None
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not secrets.compare_digest(token.strip().encode(), self._token.encode()):
            return (
                401,
                "send the header Authorization: Bearer TOKEN; the token is in the file that api.token_file names",
            )
        return None


def _host_of(authority: str) -> str:
    """Give the host of `host[:port]`, in lower case."""
    return PORT.sub("", authority).lower()


def _bounded(receive: Receive) -> Receive:
    """Count a body as it arrives: one sent in chunks says no length beforehand."""
    count = 0

    async def counting() -> Message:
        nonlocal count
        message = await receive()
        count += len(message.get("body", b""))
        if count > BODY_MAX:
            raise HTTPException(413, TOO_LARGE)
        return message

    return counting


def is_local_socket(scope: Scope) -> bool:
    """Say whether a request came over the Unix socket: its server has no port."""
    server = scope.get("server")
    return server is not None and server[1] is None
