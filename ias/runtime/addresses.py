"""Which addresses a tool's request may reach: public ones, and the few private ones that the operator named."""

import errno
import ipaddress
import socket
from collections.abc import Iterable

from ias.domain.urls import check_host
from ias.errors import Code, ToolError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# Ranges in which an IPv4 address is embedded, with the number of bits that stand to its right.
EMBEDDING = (
    (ipaddress.IPv6Network("::ffff:0:0/96"), 0),  # IPv4-mapped, RFC 4291
    (ipaddress.IPv6Network("::ffff:0:0:0/96"), 0),  # IPv4-translated, RFC 2765
    (ipaddress.IPv6Network("::/96"), 0),  # IPv4-compatible, RFC 4291
    (ipaddress.IPv6Network("64:ff9b::/96"), 0),  # NAT64, RFC 6052
    (ipaddress.IPv6Network("2002::/16"), 80),  # 6to4, RFC 3056
)
# Never public, whatever `is_global` of some Python version says (3.11 calls most of these global).
DENIED = tuple(
    ipaddress.ip_network(net)
    for net in (
        "0.0.0.0/8",  # this network; Linux connects 0.0.0.0 to itself
        "100.64.0.0/10",  # carrier-grade NAT; clouds keep metadata at 100.100.100.200
        "192.0.0.0/24",  # protocol assignments
        "192.88.99.0/24",  # 6to4 relays
        "198.18.0.0/15",  # benchmarks
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved
        "64:ff9b:1::/48",  # local-use NAT64: anything may stand behind it
        "2001::/23",  # protocol assignments, Teredo among them
        "3fff::/20",  # documentation
        "5f00::/16",  # segment routing
        "fec0::/10",  # site-local
        "ff00::/8",  # multicast
    )
)


def is_address(host: str) -> bool:
    """Say whether a host, as URLs are parsed into, is an address and no name."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def is_public(text: str) -> bool:
    """Say whether an address, written plainly, is one of the public Internet; an embedded IPv4 address counts."""
    address = ipaddress.ip_address(text.partition("%")[0])
    inner = _embedded(address)
    if inner is not None:
        return _is_public(inner)
    return _is_public(address)


def is_local(text: str) -> bool:
    """Say whether an address is one of this machine: whether something could listen there."""
    address = _unwrapped(text)
    if address.is_loopback or address.is_unspecified:
        return True
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((str(address), 0))
    except OSError as error:
        return error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.EINVAL, errno.EACCES)
    return True


def check_addresses(
    host: str,
    port: int,
    addresses: Iterable[str],
    *,
    allow_private: frozenset[tuple[str, int]],
    own_ports: frozenset[int],
) -> None:
    """Check all addresses of a host; one bad one among good ones spoils them all.

    Args:
        host: The name or address in the URL.
        port: The port in the URL.
        addresses: All that the name resolves to.
        allow_private: Pairs of host and port that the operator allows although they are private.
        own_ports: Ports that `ias` itself listens on: never allowed on this machine, whatever the operator names.

    Raises:
        ToolError: With code address_not_allowed.
    """
    for address in addresses:
        if port in own_ports and is_local(address):
            raise _refusal(f"{host!r} is ias itself ({address}, port {port}); no tool may call it")
        if (host, port) not in allow_private and (not is_public(address) or is_local(address)):
            words = "is private; the operator may add it to http.allow_private"
            raise _refusal(f"the address {address} of {host!r} {words} as '{_endpoint_text(host, port)}'")


def parse_endpoint(text: str) -> tuple[str, int]:
    """Read `host:port` as `http.allow_private` has it.

    Raises:
        ValueError: With what to write instead.
    """
    host, colon, port = text.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        raise ValueError(f"{text!r} must be a host and a port, as in 'localhost:8000' or '[::1]:8000'")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    return check_host(host), int(port)


def _is_public(address: Address) -> bool:
    return address.is_global and not any(address in net for net in DENIED if net.version == address.version)


def _embedded(address: Address) -> ipaddress.IPv4Address | None:
    if isinstance(address, ipaddress.IPv4Address):
        return None
    for net, shift in EMBEDDING:
        if address in net:
            return ipaddress.IPv4Address((int(address) >> shift) & 0xFFFFFFFF)
    return None


def _unwrapped(text: str) -> Address:
    address = ipaddress.ip_address(text.partition("%")[0])
    if address.version == 6 and (address.is_loopback or address.is_unspecified):
        return address
    return _embedded(address) or address


def _endpoint_text(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _refusal(message: str) -> ToolError:
    return ToolError(message, code=Code.ADDRESS_NOT_ALLOWED)
