"""Requests as they are judged, approved and sent: canonical bytes, verdicts, rules and grants."""

import hashlib
import json
import re
from dataclasses import dataclass
from enum import StrEnum

from ias.domain.messages import JsonObject, JsonValue

SLOT = re.compile(r"\$\{([A-Z][A-Z0-9_]{0,63})\}")  # where the host fills in a secret


class Verdict(StrEnum):
    """What the policy says of a request, from mild to strict."""

    ALLOW = "allow"
    ASK = "ask"
    FORBID = "forbid"


class Scope(StrEnum):
    """How far a yes reaches: this request, the same kind in this conversation, the same kind from now on."""

    ONCE = "once"
    CONVERSATION = "conversation"
    ALWAYS = "always"


class Safety(StrEnum):
    """Whether a request may be sent again when nobody knows if it arrived."""

    REPEAT = "repeat"
    ONCE = "once"


class StepKind(StrEnum):
    """What a step row stands for."""

    START = "start"
    HTTP = "http"
    DB = "db"
    CALL = "call"


@dataclass(frozen=True, slots=True, kw_only=True)
class CanonicalRequest:
    """A request in the exact bytes that are shown, digested, stored and sent.

    `text` is JSON with sorted keys, ASCII only, no floats; `digest` is its SHA-256, as hex. `facts` are the fields
    a rule can match: method, host (its `place`), path, operation or arguments. `idem_key` is the value of the
    idempotency header, the same in each sending, where the operator's config names one for the host.
    """

    kind: StepKind
    text: str
    digest: str
    safety: Safety
    method: str = ""
    host: str = ""
    path: str = ""
    idem_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingRule:
    """A yes that was given for more than once: `R<num>`.

    For http `method`, `host` (the request's `place`), `path` are exact; for db `method` is the operation; for a whole
    call `path` is the digest of its arguments. `conversation_id` None means always.
    """

    id: str
    num: int
    tool: str
    tool_hash: str
    method: str
    host: str
    path: str
    conversation_id: str | None = None
    user_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The gate's answer on all requests of one step: the strictest verdict, and the rule that decided.

    `rule_id` is set where a standing rule allowed it: it must still stand when the step starts. `code` and `reason` say
    why it is forbidden.
    """

    verdict: Verdict
    requests: tuple[CanonicalRequest, ...]
    digest: str
    rule: str
    rule_id: str | None = None
    code: str = "permission_denied"
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """The proof that a stored request may be carried out now. Only `gate` makes one; host services take nothing else.

    `text` are the stored bytes. `hosts` and `secrets` are the tool's own, for the checks of redirects and slots.
    """

    text: str
    digest: str
    kind: StepKind
    safety: Safety
    granted_by: str
    hosts: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestView:
    """What a rule can look at in a request.

    For http `method`, `scheme`, `host`, `port`, `path`; for db `method` is the operation and `deletes` says what it
    does; for a whole call `path` is the digest of its arguments.
    """

    tool: str
    kind: StepKind
    method: str = ""
    host: str = ""
    path: str = ""
    deletes: bool = False
    scheme: str = "https"
    port: int = 443

    @property
    def place(self) -> str:
        """Give what a yes is about: the host; what is not https at its usual port is another place of that host."""
        if (self.scheme, self.port) == ("https", 443):
            return self.host
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


def slots(text: str) -> tuple[str, ...]:
    """Give the names written as `${NAME}` in a text, in order."""
    return tuple(SLOT.findall(text))


def canonical(body: JsonObject) -> str:
    """Give the one text of a JSON value that digests are made of.

    Raises:
        ValueError: For a float: numbers in requests travel as text or integers.
    """
    _refuse_floats(body)
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def digest_of(texts: tuple[str, ...]) -> str:
    """Give the digest of one request, or of a batch: SHA-256 over the requests' own digests."""
    digests = [hashlib.sha256(text.encode("ascii")).hexdigest() for text in texts]
    return digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode("ascii")).hexdigest()


def _refuse_floats(value: JsonValue) -> None:
    match value:
        case float():
            raise ValueError(f"a canonical request holds no floats, found {value!r}")
        case dict():
            for item in value.values():
                _refuse_floats(item)
        case list():
            for item in value:
                _refuse_floats(item)
        case _:
            return
