"""URLs as tools may write them, and host patterns as specs and config write them: strict, and never guessed."""

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

URL_MAX = 4096  # characters; longer ones are nobody's API call
SAFE_URL = re.compile(r"[\x21-\x7e]+")
LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True, kw_only=True)
class Url:
    """A parsed http or https URL; `host` is lower-case ASCII (an IPv6 address: no brackets), `query` decoded pairs."""

    scheme: str
    host: str
    port: int
    path: str
    query: tuple[tuple[str, str], ...] = ()

    @property
    def origin(self) -> str:
        """Give `scheme://host[:port]`, without a default port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + ("" if self.port == PORTS[self.scheme] else f":{self.port}")


def parse_url(text: str) -> Url:
    r"""Parse a URL strictly.

    Refused are: anything but http and https, user names, control characters, spaces and `\`, `%00` in the host, hosts
    that look like numbers without being a plain address (`0x7f.1`, `2130706433`), bad labels, bad ports. One trailing
    dot of the host is removed, an internationalised host becomes its ASCII form, the fragment is dropped.

    Args:
        text: At most 4,096 characters.

    Raises:
        ValueError: With what is wrong, in words for the author of the request.
    """
    if len(text) > URL_MAX:
        raise ValueError(f"the URL has {len(text)} characters, at most {URL_MAX} are allowed")
    if "\\" in text or any(ord(char) <= 0x20 or ord(char) == 0x7F for char in text):
        raise ValueError(f"the URL {text!r} has a space, a backslash or a control character; percent-encode it")
    text = _ascii_url(text)
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise ValueError(f"the URL {text!r} cannot be read: {error}") from error
    scheme = parts.scheme.lower()
    if scheme not in PORTS:
        raise ValueError(f"the URL {text!r} must begin with https:// or http://")
    if "@" in parts.netloc:
        raise ValueError("the URL must not carry a user name or password")
    if port == 0 or parts.netloc.endswith(":"):
        raise ValueError(f"the URL {text!r} has an empty or zero port")
    if _bracketed(parts.netloc) != (":" in (parts.hostname or "")):
        raise ValueError(f"the URL {text!r} has brackets around something that is no IPv6 address")
    host = check_host(parts.hostname or "")
    query = tuple(parse_qsl(parts.query, keep_blank_values=True))
    return Url(scheme=scheme, host=host, port=port or PORTS[scheme], path=parts.path or "/", query=query)


def check_host(host: str) -> str:
    """Give a host name or address in its one spelling.

    Raises:
        ValueError: If it is neither a proper name nor a plain address.
    """
    host = host.lower().removesuffix(".")
    if not host:
        raise ValueError("the URL has no host")
    if ":" in host:
        if "%" in host:
            raise ValueError(f"the address {host!r} must not carry a zone")
        return str(ipaddress.IPv6Address(host))
    if _looks_numeric(host):
        try:
            return str(ipaddress.IPv4Address(host))
        except ValueError as error:
            raise ValueError(f"the host {host!r} looks like a number but is no plain IPv4 address") from error
    if len(host) > 253 or not all(LABEL.fullmatch(label) for label in host.split(".")):
        raise ValueError(f"the host {host!r} is not a proper name")
    return host


def check_pattern(pattern: str) -> str:
    """Give a host pattern in its one spelling: `*`, `*.example.com`, `example.com`, an address.

    Raises:
        ValueError: With what to write instead.
    """
    if pattern == "*":
        return pattern
    if "/" in pattern or (":" in pattern and not _is_v6(pattern)):
        raise ValueError(f"{pattern!r} must be a host alone; write it without scheme, port and path")
    rest = pattern.removeprefix("*.")
    if "*" in rest:
        raise ValueError(f"{pattern!r}: a star may only stand for the first labels, as in '*.example.com'")
    try:
        host = check_host(_ascii_host(rest))
    except ValueError as error:
        raise ValueError(f"{pattern!r} is no host pattern: {error}") from error
    return host if rest == pattern else f"*.{host}"


def host_matches(host: str, pattern: str) -> bool:
    """Say whether a host fits a pattern, label by label: `*.example.com` fits `a.example.com`, not `example.com`.

    Args:
        host: As `check_host` gives it.
        pattern: As `check_pattern` gives it; `*` fits every host (whether its address is public is another check).
    """
    if pattern == "*":
        return True
    if pattern.startswith("*."):
        return host.endswith(pattern[1:]) and len(host) > len(pattern) - 1
    return host == pattern


def any_matches(host: str, patterns: tuple[str, ...]) -> bool:
    """Say whether a host fits one of the patterns."""
    return any(host_matches(host, pattern) for pattern in patterns)


def _looks_numeric(host: str) -> bool:
    last = host.rsplit(".", 1)[-1]
    return last.isdigit() or re.fullmatch(r"0x[0-9a-f]*", last) is not None


def _bracketed(netloc: str) -> bool:
    return "[" in netloc or "]" in netloc


def _is_v6(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


def _ascii_host(host: str) -> str:
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode("ascii")
    except UnicodeError as error:
        raise ValueError(f"the host {host!r} has no ASCII form") from error


def _ascii_url(text: str) -> str:
    if text.isascii():
        return text
    scheme, mark, rest = text.partition("://")
    cut = min((at for char in "/?#" if (at := rest.find(char)) >= 0), default=len(rest))
    host, tail = rest[:cut], rest[cut:]
    name, colon, port = host.partition(":")
    ascii_tail = "".join(
        char if char.isascii() else "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "replace")) for char in tail
    )
    ascii_text = f"{scheme}{mark}{_ascii_host(name)}{colon}{port}{ascii_tail}"
    if not SAFE_URL.fullmatch(ascii_text):
        raise ValueError(f"the URL {text!r} has characters that no URL may have")
    return ascii_text
