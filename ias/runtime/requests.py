"""Requests on their way out: stored bytes with the secrets filled in, and what becomes of them when redirected."""

import json
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote, urlencode, urljoin, urlsplit

from ias.domain.approvals import SLOT, Grant
from ias.domain.urls import PORTS, any_matches, parse_url
from ias.errors import Code, ToolError
from ias.runtime.headers import check_header
from ias.runtime.secrets import Secrets, Syntax, syntax_of

REDIRECTS = frozenset({301, 302, 303, 307, 308})
APPROVAL_ID = "a_"  # how ids of approvals begin
READING = ("GET", "HEAD")
DEFAULT_HEADERS = (("Accept", "*/*"), ("User-Agent", "ias"))
OWN_HEADERS = (("Accept-Encoding", "gzip"), ("Connection", "close"))
KEPT_ACROSS_ORIGINS = frozenset({"accept", "accept-language", "user-agent"})
# All that a path or query may hold as it is (RFC 3986 §3.3, §3.4), and what is encoded already.
AS_IT_IS = "!$&'()*+,;=:@/?-._~%[]|"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A request as it goes on the wire; `target` is path and query, encoded. Holds secrets: never log one."""

    method: str
    scheme: str
    host: str
    port: int
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes | None = None
    reroute: str | None = None

    def __repr__(self) -> str:
        """Show where it goes, and nothing that may be a secret."""
        return f"Outgoing({self.method} {self.origin})"

    @property
    def authority(self) -> str:
        """Give the value of the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Give `scheme://host[:port]`."""
        return f"{self.scheme}://{self.authority}"


def outgoing(grant: Grant, secrets: Secrets, *, allow_private: frozenset[tuple[str, int]] = frozenset()) -> Outgoing:
    """Make the request that a grant allows, with its secrets.

    Args:
        grant: The proof, with the stored bytes.
        secrets: Where values come from.
        allow_private: Hosts and ports to which a secret may travel unencrypted; elsewhere it does so only in a request
            that is rerouted, and so stays on this machine.

    Raises:
        ToolError: If the stored bytes name a host, a header or a secret that this tool may not use.
    """
    stored: dict[str, Any] = json.loads(grant.text)
    host: str = stored["host"]
    if not any_matches(host, grant.hosts):
        raise ToolError(f"the host {host!r} is none of the tool's hosts", code=Code.HOST_NOT_ALLOWED)
    _check_path(stored["path"], grant, secrets)
    may_be_plain = stored["scheme"] == "https" or stored["reroute"] or (host, stored["port"]) in allow_private

    def fill(text: str, syntax: Syntax = Syntax.PLAIN) -> str:
        filled = secrets.fill(text, host=host, allowed=grant.secrets, syntax=syntax)
        if filled != text and not may_be_plain:
            message = f"a secret may not be sent to {host!r} over http; use https"
            raise ToolError(message, code=Code.SECRET_NOT_ALLOWED)
        return filled

    headers = tuple((name, fill(value)) for name, value in stored["headers"])
    for (name, value), (_, written) in zip(headers, stored["headers"], strict=True):
        _check(name, value, is_filled=value != written)
    content_type = next((value for name, value in headers if name.lower() == "content-type"), "")
    query = [(name, fill(value)) for name, value in stored["query"]]
    path = quote(stored["path"], safe=AS_IT_IS)
    return Outgoing(
        method=stored["method"],
        scheme=stored["scheme"],
        host=host,
        port=stored["port"],
        target=f"{path}?{urlencode(query, quote_via=quote)}" if query else path,
        headers=headers,
        body=None if stored["body"] is None else fill(stored["body"], syntax_of(content_type)).encode("utf-8"),
        reroute=stored["reroute"],
    )


def redirected(request: Outgoing, status: int, location: str | None, grant: Grant, secrets: Secrets) -> Outgoing | None:
    """Give the request that a redirect leads to, or None where the answer goes to the tool as it is.

    Followed are GET and HEAD alone; to another origin only if nobody approved this very request, never from https to
    http, and without anything that could carry a secret.

    Raises:
        ToolError: If it leads to a host that the tool may not reach, or would hand a secret to one.
    """
    if status not in REDIRECTS or location is None or request.method not in READING:
        return None
    joined = urljoin(f"{request.origin}{request.target}", location)
    try:
        url = parse_url(joined)
    except ValueError as error:
        raise ToolError("the server redirects to something that is no proper URL", code=Code.HTTP_FAILED) from error
    parts = urlsplit(joined)
    target = quote(parts.path or "/", safe=AS_IT_IS) + (f"?{quote(parts.query, safe=AS_IT_IS)}" if parts.query else "")
    if url.origin == request.origin:
        return replace(request, target=target, body=None)
    if grant.granted_by.startswith(APPROVAL_ID) or (request.scheme, url.scheme) == ("https", "http"):
        return None
    if not any_matches(url.host, grant.hosts):
        message = f"the server redirects to {url.host!r}, which is none of the tool's hosts"
        raise ToolError(message, code=Code.HOST_NOT_ALLOWED)
    if secrets.scrub(joined) != joined:
        message = f"the server redirects to {url.host!r} with a secret in the address"
        raise ToolError(message, code=Code.SECRET_NOT_ALLOWED)
    kept = tuple((name, value) for name, value in request.headers if name.lower() in KEPT_ACROSS_ORIGINS)
    return Outgoing(method=request.method, scheme=url.scheme, host=url.host, port=url.port, target=target, headers=kept)


def wire_headers(request: Outgoing) -> list[tuple[str, str]]:
    """Give all headers in order: Host first, the tool's own, then what it left out."""
    names = {name.lower() for name, _ in request.headers}
    defaults = [(name, value) for name, value in DEFAULT_HEADERS if name.lower() not in names]
    return [("Host", request.authority), *request.headers, *defaults, *OWN_HEADERS]


def _check(name: str, value: str, *, is_filled: bool) -> None:
    try:
        check_header(name, value)
    except ValueError as error:
        # With a secret in it the value must not be shown, so neither is the reason.
        reason = f"the value of {name!r} cannot be sent with its secret filled in" if is_filled else str(error)
        raise ToolError(reason, code=Code.BAD_MESSAGE) from None


def _check_path(path: str, grant: Grant, secrets: Secrets) -> None:
    for name in SLOT.findall(path):
        if name in grant.secrets or name in secrets.names:
            message = f"the secret {name} stands in the path; it may stand in a query or header value, or in the body"
            raise ToolError(message, code=Code.SECRET_NOT_ALLOWED)
