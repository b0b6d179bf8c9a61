"""Sends the requests that were granted: to checked, pinned addresses, within bounds, and says what is known of each.

Order of a request: the stored bytes, its host among the tool's, secrets into their slots, all addresses of the host
checked, one of them connected to (with the host's name in TLS and Host), the answer read and decoded within bounds,
redirects checked like the first, secrets taken out of what comes back. Connections are not kept: on a kept one nobody
could tell whether a request that failed had arrived, and the next request may be for another name at that address.
"""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ias.domain.approvals import Grant, Safety
from ias.domain.messages import JsonObject
from ias.domain.urls import Url, parse_url
from ias.errors import Code, ToolError
from ias.runtime.addresses import check_addresses, is_address, parse_endpoint
from ias.runtime.answers import Body, answer
from ias.runtime.failures import ExchangeError, NotSentError, UnknownOutcomeError
from ias.runtime.requests import Outgoing, outgoing, redirected, wire_headers
from ias.runtime.secrets import Secrets

if TYPE_CHECKING:
    import httpx

__all__ = ["HttpService", "HttpSettings", "NotSentError", "UnknownOutcomeError"]

IN_FLIGHT_MAX = 24  # with more at once httpx itself becomes the slowest part
CONNECT_TIMEOUT = 5.0  # seconds for one address, so that the next has its turn
ADDRESSES_MAX = 4  # of one host that are tried
BODYLESS = frozenset({204, 304})

Resolve = Callable[[str, int], Awaitable[tuple[str, ...]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """The operator's bounds.

    Attributes:
        allow_private: `host:port` of private places that tools may reach.
        max_response: Bytes of one answer's body, decoded.
        timeout: Seconds for a request with its redirects.
        redirects: How many are followed.
        reroute: Origin to loopback origin, for tests and demos: changes the last connect alone.
        own_ports: Ports that `ias` listens on.
    """

    allow_private: tuple[str, ...] = ()
    max_response: int = 2 * 1024 * 1024
    timeout: float = 20.0
    redirects: int = 3
    reroute: Mapping[str, str] = field(default_factory=lambda: {})
    own_ports: frozenset[int] = frozenset()


@dataclass(slots=True)
class Progress:
    """How far a request has come; `sent` counts, with its redirects, the sendings that began."""

    sent: int = 0

    async def trace(self, name: str, _facts: Mapping[str, Any]) -> None:
        """Take note of what the HTTP library does."""
        if name == "http11.send_request_headers.started":
            self.sent += 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer with its decoded body."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def location(self) -> str | None:
        """Where a redirect leads."""
        return next((value for name, value in self.headers if name.lower() == "location"), None)


async def resolve(host: str, port: int) -> tuple[str, ...]:
    """Ask the system for all addresses of a host.

    Raises:
        OSError: If there are none.
    """
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))


class HttpService:
    """Carries out http grants.

    Args:
        settings: The operator's bounds.
        secrets: Filled in and scrubbed.
        resolver: Gives a host's addresses.
        ssl_context: For https; by default one that trusts the usual authorities, made at the first https request.

    Raises:
        ValueError: If `allow_private` or `reroute` cannot be read, or a reroute leads off this machine.
    """

    def __init__(
        self,
        settings: HttpSettings,
        secrets: Secrets,
        *,
        resolver: Resolve = resolve,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self._settings = settings
        self._secrets = secrets
        self._resolve = resolver
        self._wire = Wire(settings.max_response, ssl_context)
        self._allow_private = frozenset(parse_endpoint(text) for text in settings.allow_private)
        self._reroute = {
            parse_url(origin).origin: _loopback(target).origin for origin, target in settings.reroute.items()
        }

    async def send(self, grant: Grant) -> JsonObject:
        """Send a granted request and give the tool's `response`.

        Returns:
            `{status, headers, body | body_base64}`, or `{error: {code, message}}` where it was sent, failed, and may
            be repeated or was answered.

        Raises:
            NotSentError: No byte left; its code says why.
            UnknownOutcomeError: It must not be repeated, bytes left, and no answer came.
        """
        progress = Progress()
        try:
            async with asyncio.timeout(self._settings.timeout):
                reply = await self._follow(grant, progress)
        except TimeoutError:
            seconds = self._settings.timeout
            error = ToolError(f"no whole answer came within {seconds:g} s", code=Code.HTTP_TIMEOUT)
            return self._failed(grant, progress, error)
        except ToolError as error:
            return self._failed(grant, progress, error)
        return answer(reply.status, reply.headers, reply.body, self._secrets)

    async def close(self) -> None:
        """Close what is open."""
        await self._wire.close()

    async def _follow(self, grant: Grant, progress: Progress) -> Reply:
        request = outgoing(grant, self._secrets, allow_private=self._allow_private)
        for _ in range(self._settings.redirects + 1):
            reply = await self._exchange(request, progress)
            following = redirected(request, reply.status, reply.location, grant, self._secrets)
            if following is None:
                return reply
            if following.origin != request.origin:
                following = replace(following, reroute=self._reroute.get(following.origin))
            request = following
        message = f"the server redirects more than {self._settings.redirects} times (http.redirects)"
        raise ToolError(message, code=Code.HTTP_FAILED)

    async def _exchange(self, request: Outgoing, progress: Progress) -> Reply:
        place = None if request.reroute is None else _loopback(request.reroute)
        # A rerouted name need not exist; a rerouted address is checked like any other.
        if place is None or is_address(request.host):
            addresses = await self._addresses(request)
            check_addresses(
                request.host,
                request.port,
                addresses,
                allow_private=self._allow_private,
                own_ports=self._settings.own_ports,
            )
            if place is None:
                return await self._wire.exchange(request, request.scheme, addresses, request.port, progress)
        return await self._wire.exchange(request, place.scheme, (place.host,), place.port, progress)

    async def _addresses(self, request: Outgoing) -> tuple[str, ...]:
        if is_address(request.host):
            return (request.host,)
        try:
            return await self._resolve(request.host, request.port)
        except (OSError, UnicodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "no proper name"
            message = f"the host {request.host!r} has no address: {reason}"
            raise ToolError(message, code=Code.HTTP_FAILED) from error

    def _failed(self, grant: Grant, progress: Progress, error: ToolError) -> JsonObject:
        """Say what a failure means: unsent, unknown, or something the tool may see."""
        message = self._secrets.scrub(str(error))
        if not progress.sent:
            raise NotSentError(message, code=error.code) from error
        is_unanswered = isinstance(error, ExchangeError) or error.code is Code.HTTP_TIMEOUT
        if grant.safety is Safety.ONCE and is_unanswered:
            raise UnknownOutcomeError(f"{message}; the request was sent and may have been carried out") from error
        return {"error": {"code": error.code, "message": message}}


class Wire:
    """Speaks HTTP/1.1 to one pinned address; everything that httpx does for `ias` is here."""

    def __init__(self, limit: int, ssl_context: ssl.SSLContext | None) -> None:
        self._limit = limit
        self._ssl_context = ssl_context
        self._transport: httpx.AsyncHTTPTransport | None = None

    async def exchange(
        self, request: Outgoing, scheme: str, addresses: tuple[str, ...], port: int, progress: Progress
    ) -> Reply:
        """Send a request to the first of the addresses that takes a connection, and read the answer.

        Raises:
            ToolError: If nothing was sent.
            ExchangeError: If it was sent and no usable answer came.
        """
        import httpx  # noqa: PLC0415 - 100 ms that a daemon without such requests need not spend before it is ready

        before = progress.sent
        unreached: Exception = OSError("it has no address")
        for address in addresses[:ADDRESSES_MAX]:
            try:
                return await self._once(_wire_request(request, scheme, address, port, progress))
            except (httpx.HTTPError, httpx.StreamError, ssl.SSLError) as error:
                if progress.sent > before:
                    raise ExchangeError(f"{request.origin} broke the exchange off: {_reason(error)}") from error
                unreached = error
        code = Code.HTTP_TIMEOUT if isinstance(unreached, httpx.TimeoutException) else Code.HTTP_FAILED
        raise ToolError(f"{request.origin} cannot be reached: {_reason(unreached)}", code=code) from unreached

    async def close(self) -> None:
        """Close what is open."""
        if self._transport is not None:
            await self._transport.aclose()
            self._transport = None

    async def _once(self, request: "httpx.Request") -> Reply:
        response = await self._open().handle_async_request(request)
        try:
            headers = tuple((name, value) for name, value in response.headers.multi_items())
            body = Body(response.headers.get("content-encoding", ""), self._limit)
            if request.method != "HEAD" and response.status_code not in BODYLESS:
                async for chunk in response.aiter_raw():
                    body.add(chunk)
            return Reply(status=response.status_code, headers=headers, body=body.finish())
        finally:
            await response.aclose()

    def _open(self) -> "httpx.AsyncHTTPTransport":
        import httpx  # noqa: PLC0415 - see exchange

        if self._transport is None:
            self._transport = httpx.AsyncHTTPTransport(
                verify=self._ssl_context or httpx.create_ssl_context(),
                trust_env=False,
                limits=httpx.Limits(max_connections=IN_FLIGHT_MAX, max_keepalive_connections=0),
            )
        return self._transport


def _wire_request(request: Outgoing, scheme: str, address: str, port: int, progress: Progress) -> "httpx.Request":
    import httpx  # noqa: PLC0415 - see Wire.exchange

    host = f"[{address}]" if ":" in address else address
    extensions: dict[str, Any] = {
        "target": request.target.encode("ascii"),
        "timeout": {"connect": CONNECT_TIMEOUT},
        "trace": progress.trace,
    }
    if scheme == "https" and request.host != address:
        extensions["sni_hostname"] = request.host
    return httpx.Request(
        request.method,
        f"{scheme}://{host}:{port}/",
        headers=wire_headers(request),
        content=request.body,
        extensions=extensions,
    )


def _loopback(origin: str) -> Url:
    """Read a reroute's target.

    Raises:
        ValueError: If it leads off this machine.
    """
    url = parse_url(origin)
    host = "127.0.0.1" if url.host == "localhost" else url.host
    if not is_address(host) or not ipaddress.ip_address(host).is_loopback:
        raise ValueError(f"{origin!r} in http.reroute must be on this machine, such as http://127.0.0.1:8000")
    return replace(url, host=host)


def _reason(error: Exception) -> str:
    """Give an error's own words, or its kind: some of httpx's have none. They never hold a header or a body."""
    return str(error) or type(error).__name__
