"""Which request headers a tool may set: the rest would let it forge the request's frame or who sends it."""

import re

NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}")  # a token of RFC 9110 §5.6.2
VALUE = re.compile(r"[\x20-\x7e\t]*")
VALUE_MAX = 8192  # characters; what common servers take for all headers together
COUNT_MAX = 64
# Frame of the message, routing, and what belongs to one hop alone (RFC 9110 §7.6.1, RFC 9112 §6).
RESERVED = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-length",
        "expect",
        "forwarded",
        "host",
        "http2-settings",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "via",
    }
)
RESERVED_PREFIXES = ("proxy-", "sec-", "x-forwarded-")


def check_header(name: str, value: str) -> None:
    """Check one header of a tool's request.

    Raises:
        ValueError: With what to write instead.
    """
    if not NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no header name; use letters, digits and hyphens")
    if name.lower() in RESERVED or name.lower().startswith(RESERVED_PREFIXES):
        raise ValueError(f"the header {name!r} is set by ias alone; leave it out")
    if not VALUE.fullmatch(value):
        raise ValueError(f"the value of {name!r} must be printable ASCII on one line; percent-encode anything else")
    if len(value) > VALUE_MAX:
        raise ValueError(f"the value of {name!r} has {len(value)} characters, at most {VALUE_MAX} are allowed")
