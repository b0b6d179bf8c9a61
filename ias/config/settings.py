"""What config.yaml may say: every key, its type and its default."""

import ipaddress
from typing import Annotated, Literal, cast

from pydantic import (
    BeforeValidator,
    Field,
    JsonValue,
    PlainSerializer,
    PlainValidator,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)

from ias.config.env import SecretRef
from ias.config.fields import HostPattern, Name, PermissionName, Section, Text
from ias.config.rules import Rule, check_examples
from ias.config.units import DURATION_PATTERN, SIZE_PATTERN, seconds, size_bytes
from ias.domain.approvals import Verdict
from ias.domain.tools import Permission
from ias.domain.urls import check_host, parse_url


def _secret(value: object) -> SecretRef:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("must be text like ${NAME}; numbers need quotes")
    return SecretRef(value)


def _origin(value: str) -> str:
    url = parse_url(value)
    if url.path != "/" or url.query:
        raise ValueError(f"{value!r} must be an origin alone, like https://api.example.com")
    return url.origin


def _loopback_origin(value: str) -> str:
    origin = _origin(value)
    if not _is_loopback(parse_url(origin).host):
        raise ValueError(f"{value!r} must be on this machine, like http://127.0.0.1:8080")
    return origin


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _endpoint(value: str) -> str:
    """Give `host:port` in one spelling; an IPv6 address stands in brackets."""
    host, colon, port = value.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        raise ValueError(f"{value!r} must be host:port, like nas.local:8080 or [::1]:8080")
    host = check_host(host.removeprefix("[").removesuffix("]"))
    return f"[{host}]:{int(port)}" if ":" in host else f"{host}:{int(port)}"


def _methods(value: object) -> object:
    if isinstance(value, str):
        return (value,)
    return tuple(cast("list[object]", value)) if isinstance(value, list) else value


Header = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$")]
Seconds = Annotated[
    float,
    BeforeValidator(seconds),
    WithJsonSchema({"anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": DURATION_PATTERN}]}),
]
Bytes = Annotated[
    int,
    BeforeValidator(size_bytes),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": SIZE_PATTERN}]}),
]
Secret = Annotated[
    SecretRef,
    PlainValidator(_secret),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string", "minLength": 1}),
]
Host = Annotated[Text, BeforeValidator(lambda value: check_host(value) if isinstance(value, str) else value)]
Origin = Annotated[Text, BeforeValidator(lambda value: _origin(value) if isinstance(value, str) else value)]
LoopbackOrigin = Annotated[
    Text, BeforeValidator(lambda value: _loopback_origin(value) if isinstance(value, str) else value)
]
Endpoint = Annotated[Text, BeforeValidator(lambda value: _endpoint(value) if isinstance(value, str) else value)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]
Methods = Annotated[
    tuple[Text, ...],
    BeforeValidator(_methods),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]
Currency = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]
Amount = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
Level = Literal["never", "writes", "hosts", "all", "forbid"]


class ModelPrice(Section):
    """What 1,000,000 tokens of a model cost; `cached` is for input from the provider's cache, else as `input`."""

    input: Amount
    cached: Amount | None = None
    output: Amount
    currency: Currency


class Budget(Section):
    """What all model calls of a day (in UTC) may use together; `currency` also picks among built-in prices."""

    tokens_per_day: Annotated[int, Field(ge=1, le=10**12)] | None = None
    money_per_day: Annotated[float, Field(gt=0, le=10**9, allow_inf_nan=False)] | None = None
    currency: Currency = "CNY"


class Llm(Section):
    """The model and how it is called; `timeout` is for a whole call, `idle_timeout` between two pieces of an answer."""

    provider: Text = "auto"
    model: Text | None = None
    base_url: Text | None = None
    api_key: Secret | None = None
    thinking: bool = True
    max_turns: Annotated[int, Field(ge=1, le=1000)] = 10
    max_tokens: Count | None = None
    timeout: Seconds = 600
    idle_timeout: Seconds = 120
    expose: Literal["meta", "all"] = "meta"
    system_prompt: str | None = None
    context_tokens: Annotated[int, Field(ge=1000)] = 60_000
    extra: dict[str, JsonValue] = Field(default_factory=lambda: {})
    prices: dict[Text, ModelPrice] = Field(default_factory=lambda: {})
    budget: Budget = Budget()


class Warm(Section):
    """Processes kept ready for tools that are called often."""

    max: Annotated[int, Field(ge=0, le=256)] = 8
    idle_secs: Seconds = 300


class Tools(Section):
    """Where tools are found; folders are relative to the home."""

    dirs: tuple[Text, ...] = ("tools",)
    watch: bool = True
    warm: Warm = Warm()


class Permissions(Section):
    """What tools may need at all; see `ias permissions explain`."""

    allowed: tuple[PermissionName, ...] = (
        Permission.READ,
        Permission.WRITE,
        Permission.DELETE,
        Permission.NETWORK,
    )
    denied: tuple[PermissionName, ...] = (Permission.SHELL,)
    allow_unspecified: bool = True


class RuleEntry(Section):
    """One approval rule, with examples that are checked whenever the file is read."""

    verdict: Verdict
    tool: Text | None = None
    method: Methods = ()
    host: HostPattern | None = None
    path: Annotated[str, StringConstraints(pattern=r"^[/*]")] | None = None
    operation: Text | None = None
    reason: Text | None = None
    match: tuple[Text, ...] = ()
    not_match: tuple[Text, ...] = ()

    @model_validator(mode="after")
    def _is_sound(self) -> "RuleEntry":
        rule = self.as_rule("")
        if not (rule.tool or rule.methods or rule.host or rule.path or rule.operation):
            raise ValueError("the rule has no condition; write tool: '*' if it is meant for everything")
        if rule.operation and (rule.methods or rule.host or rule.path):
            raise ValueError("operation is for db, method, host and path are for http: make two rules")
        check_examples(rule, match=self.match, not_match=self.not_match)
        return self

    def as_rule(self, label: str) -> Rule:
        """Give the rule as the policy reads it."""
        return Rule(
            verdict=self.verdict,
            label=label,
            tool=self.tool,
            methods=tuple(method.upper() for method in self.method),
            host=self.host,
            path=self.path,
            operation=self.operation,
        )


class Approvals(Section):
    """What a person is asked about, by the risk of the tool and by rules."""

    low: Level = "writes"
    medium: Level = "hosts"
    high: Level = "all"
    timeout: Seconds = 900
    unattended: Literal["deny"] = "deny"
    rules: tuple[RuleEntry, ...] = ()


class SecretUse(Section):
    """Where a secret may go; its value is the variable of its name, from the environment or `.env`."""

    hosts: Annotated[tuple[HostPattern, ...], Field(min_length=1)]


class Http(Section):
    """Requests on behalf of tools."""

    allow_private: tuple[Endpoint, ...] = ()
    max_response: Bytes = 2 * 1024**2
    timeout: Seconds = 20
    redirects: Annotated[int, Field(ge=0, le=20)] = 3
    idempotency: dict[Host, Header] = Field(default_factory=lambda: {})
    reroute: dict[Origin, LoopbackOrigin] = Field(default_factory=lambda: {})


class Sandbox(Section):
    """How tools are confined."""

    level: Literal["auto", "ns", "plain", "off"] = "auto"


class Queue(Section):
    """Jobs at once per queue, tries of one job, and how many messages may wait."""

    llm: Annotated[int, Field(ge=1, le=1000)] = 4
    tool: Annotated[int, Field(ge=1, le=1000)] = 8
    send: Annotated[int, Field(ge=1, le=1000)] = 4
    max_attempts: Annotated[int, Field(ge=1, le=100)] = 5
    conversation_depth: Count = 50
    depth: Count = 5000


class Retention(Section):
    """How long records are kept."""

    raw: Seconds = 30 * 86400
    runs: Seconds = 90 * 86400


class Store(Section):
    """The database; the path of a sqlite URL is relative to the home."""

    url: Annotated[str, StringConstraints(pattern=r"^(sqlite:.|postgres(ql)?://)")] = "sqlite:data/ias.db"
    retention: Retention = Retention()


class Api(Section):
    """The HTTP API and the page; the token file is made at the first start, mode 0600."""

    host: Host = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8787
    token_file: Text = "data/token"  # noqa: S105 - a path, no password


class Mcp(Section):
    """MCP servers whose tools join the registry."""

    servers: dict[str, dict[str, JsonValue]] = Field(default_factory=lambda: {})


class LogFiles(Section):
    """The three logs."""

    dir: Text = "logs"
    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["text", "json"] = "text"
    rotate: Bytes = 50 * 1024**2
    keep: Annotated[int, Field(ge=0, le=1000)] = 5
    raw: bool = True


class Settings(Section):
    """The whole file."""

    llm: Llm = Llm()
    tools: Tools = Tools()
    permissions: Permissions = Permissions()
    approvals: Approvals = Approvals()
    secrets: dict[Name, SecretUse] = Field(default_factory=lambda: {})
    http: Http = Http()
    sandbox: Sandbox = Sandbox()
    queue: Queue = Queue()
    store: Store = Store()
    api: Api = Api()
    channels: dict[str, dict[str, JsonValue]] = Field(default_factory=lambda: {})
    mcp: Mcp = Mcp()
    logs: LogFiles = LogFiles()
