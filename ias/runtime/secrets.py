"""The operator's secrets: filled into requests to the hosts they belong to, taken out of everything that comes back."""

import base64
import html
import json
import re
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from urllib.parse import quote, quote_plus

from ias.domain.approvals import SLOT
from ias.domain.tools import ToolFacts
from ias.domain.urls import any_matches
from ias.errors import Code, ToolError

SCRUB_MIN = 4  # characters; shorter values would be found everywhere
BASE64_MIN = 8  # characters of an encoded value that do not depend on what stands beside it
# Characters in which the bytes beside a value have a part, by how many bytes stand in an unfinished group of three.
BASE64_HEAD = (0, 2, 3)
BASE64_TAIL = (0, 3, 2)
FORM_SLOT = re.compile(r"%24%7B([A-Z][A-Z0-9_]{0,63})%7D", re.IGNORECASE)


class Syntax(StrEnum):
    """What a slot stands in; a value is escaped for it."""

    PLAIN = "plain"
    JSON = "json"
    FORM = "form"


ESCAPES: Mapping[Syntax, Callable[[str], str]] = {
    Syntax.PLAIN: str,
    Syntax.JSON: lambda value: json.dumps(value)[1:-1],
    Syntax.FORM: quote_plus,
}


def syntax_of(content_type: str) -> Syntax:
    """Give the syntax of a body by its content type."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind == "application/json" or kind.endswith("+json"):
        return Syntax.JSON
    return Syntax.FORM if kind == "application/x-www-form-urlencoded" else Syntax.PLAIN


class Secrets:
    """Secrets by name. Values are never shown, logged or stored; `repr` of this object holds none.

    Args:
        hosts: For each configured secret the host patterns it may be sent to (`secrets` in config.yaml).
        values: Where values are looked up: the environment, `.env`.
    """

    def __init__(self, hosts: Mapping[str, tuple[str, ...]], values: Mapping[str, str]) -> None:
        self._hosts = dict(hosts)
        self._values = {name: values[name] for name in hosts if values.get(name)}
        self._spellings = {
            spelling: name
            for name, value in self._values.items()
            if len(value) >= SCRUB_MIN
            for spelling in _spellings(value)
        }
        longest_first = sorted(self._spellings, key=len, reverse=True)
        self._pattern = re.compile(b"|".join(map(re.escape, longest_first))) if longest_first else None

    @property
    def names(self) -> frozenset[str]:
        """Give the names of all configured secrets, with a value or without."""
        return frozenset(self._hosts)

    def names_for(self, facts: ToolFacts) -> tuple[str, ...]:
        """Give the names of a tool's secrets that have a value, in the order of its spec."""
        return tuple(name for name in facts.secrets if name in self._values)

    def fill(self, text: str, *, host: str, allowed: tuple[str, ...], syntax: Syntax = Syntax.PLAIN) -> str:
        """Put values in the place of `${NAME}`. A name that is nobody's secret stays as it is.

        Args:
            text: One value of the query or of a header, or the body.
            host: Where it will be sent.
            allowed: The secrets that the tool's spec lists.
            syntax: What the text is.

        Raises:
            ToolError: With code secret_not_allowed, if the tool or the host may not have it, or it has no value.
        """

        def value(found: "re.Match[str]") -> str:
            name = found[1].upper()
            if name not in self._hosts and name not in allowed:
                return found[0]
            return ESCAPES[syntax](self._value(name, host, allowed))

        text = SLOT.sub(value, text)
        return FORM_SLOT.sub(value, text) if syntax is Syntax.FORM else text

    def scrub(self, text: str) -> str:
        """Put `${NAME}` in the place of each value in a text, also where it is encoded."""
        if self._pattern is None:
            return text
        return self.scrub_bytes(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def scrub_bytes(self, content: bytes) -> bytes:
        """Put `${NAME}` in the place of each value: as it is, or in the URL, JSON, HTML, base64 and hex encodings."""
        if self._pattern is None:
            return content
        return self._pattern.sub(lambda found: b"${%s}" % self._spellings[found[0]].encode(), content)

    def _value(self, name: str, host: str, allowed: tuple[str, ...]) -> str:
        if name not in allowed:
            raise _refusal(f"the secret {name} may not be used by this tool: its spec does not list it")
        if not any_matches(host, self._hosts.get(name, ())):
            raise _refusal(f"the secret {name} may not be sent to {host!r}; its hosts are in config.yaml")
        if name not in self._values:
            raise _refusal(f"the secret {name} has no value; set {name} in the environment or in .env")
        return self._values[name]


def _refusal(message: str) -> ToolError:
    return ToolError(message, code=Code.SECRET_NOT_ALLOWED)


def _spellings(value: str) -> Iterator[bytes]:
    raw = value.encode()
    escaped = json.dumps(value)[1:-1]
    texts = {
        value,
        html.escape(value),
        escaped,
        escaped.replace("/", r"\/"),
        json.dumps(value, ensure_ascii=False)[1:-1],
    }
    for encoded in (quote(value), quote(value, safe=""), quote_plus(value)):
        texts |= {encoded, re.sub(r"%[0-9A-F]{2}", lambda found: found[0].lower(), encoded)}
    texts |= {raw.hex(), raw.hex().upper()}
    yield from (text.encode() for text in texts)
    for shift in range(3):  # a value's base64 depends on where in a group of three bytes it begins
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            inner = encode(b"\0" * shift + raw)[BASE64_HEAD[shift] :]
            inner = inner[: len(inner) - BASE64_TAIL[(shift + len(raw)) % 3]]
            if len(inner) >= BASE64_MIN:
                yield inner
