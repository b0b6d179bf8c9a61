"""config.yaml: defaults, what each kind of mistake is told, and values from the environment."""

from pathlib import Path

import pytest

from ias.config.load import Config, load_config
from ias.config.rules import Rule
from ias.config.settings import Settings
from ias.domain.approvals import Verdict
from ias.domain.tools import Permission
from ias.errors import ConfigError


def config_of(home: Path, text: str, env: dict[str, str] | None = None) -> Config:
    (home / "config.yaml").write_text(text, "utf-8")
    return load_config(home, env or {})


def told(home: Path, text: str, env: dict[str, str] | None = None) -> str:
    with pytest.raises(ConfigError) as caught:
        config_of(home, text, env)
    assert caught.value.file == home / "config.yaml"
    return str(caught.value).replace(f"{home}/config.yaml:", "")


@pytest.mark.parametrize("text", ["", "# nothing\n", "llm:\nqueue: {}\n"])
def test_an_empty_file_and_empty_sections_are_the_defaults(tmp_path: Path, text: str) -> None:
    assert config_of(tmp_path, text).settings == Settings()


def test_a_file_that_is_not_there_is_the_defaults(tmp_path: Path) -> None:
    config = load_config(tmp_path, {})

    assert (config.settings, config.rules, config.database) == (Settings(), (), tmp_path / "data" / "ias.db")


def test_a_home_that_is_not_there_is_told_with_what_makes_one(tmp_path: Path) -> None:
    home = tmp_path / "nothing"

    with pytest.raises(ConfigError) as caught:
        load_config(home, {})
    assert str(caught.value) == f"there is no folder {str(home)!r}; make one with `ias init {home}`"


def test_the_defaults_are_the_documented_ones() -> None:
    shown = Settings().model_dump(mode="json")

    assert shown == {
        "llm": {
            "provider": "auto", "model": None, "base_url": None, "api_key": None, "thinking": True, "max_turns": 10,
            "max_tokens": None, "timeout": 600, "idle_timeout": 120, "expose": "meta", "system_prompt": None,
            "context_tokens": 60000, "extra": {}, "prices": {},
            "budget": {"tokens_per_day": None, "money_per_day": None, "currency": "CNY"},
        },
        "tools": {"dirs": ["tools"], "watch": True, "warm": {"max": 8, "idle_secs": 300}},
        "permissions": {
            "allowed": ["read", "write", "delete", "network"], "denied": ["shell"], "allow_unspecified": True,
        },
        "approvals": {
            "low": "writes", "medium": "hosts", "high": "all", "timeout": 900, "unattended": "deny", "rules": [],
        },
        "secrets": {},
        "http": {
            "allow_private": [], "max_response": 2097152, "timeout": 20, "redirects": 3, "idempotency": {},
            "reroute": {},
        },
        "sandbox": {"level": "auto"},
        "queue": {"llm": 4, "tool": 8, "send": 4, "max_attempts": 5, "conversation_depth": 50, "depth": 5000},
        "store": {"url": "sqlite:data/ias.db", "retention": {"raw": 2592000, "runs": 7776000}},
        "api": {"host": "127.0.0.1", "port": 8787, "token_file": "data/token"},
        "channels": {},
        "mcp": {"servers": {}},
        "logs": {"dir": "logs", "level": "info", "format": "text", "rotate": 52428800, "keep": 5, "raw": True},
    }  # fmt: skip


def test_values_are_read_in_their_units(tmp_path: Path) -> None:
    settings = config_of(
        tmp_path,
        """\
llm: {timeout: 2m, api_key: sk-1}
permissions: {allowed: [read, custom:mail], denied: []}
approvals: {timeout: 90s}
secrets: {A_KEY: {hosts: ["*.A.com", b.com.]}}
http:
  max_response: 500KB
  allow_private: ["NAS.local:8080", "[::1]:80"]
  idempotency: {A.com: Idempotency-Key}
  reroute: {https://API.a.com: http://127.0.0.1:9000}
""",
    ).settings

    assert (settings.llm.timeout, settings.approvals.timeout, settings.http.max_response) == (120.0, 90.0, 500_000)
    assert settings.permissions.allowed == (Permission.READ, Permission.custom("mail"))
    assert settings.secrets["A_KEY"].hosts == ("*.a.com", "b.com")
    assert settings.http.allow_private == ("nas.local:8080", "[::1]:80")
    assert settings.http.idempotency == {"a.com": "Idempotency-Key"}
    assert settings.http.reroute == {"https://api.a.com": "http://127.0.0.1:9000"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lmm: {}", "1: unknown key 'lmm'; did you mean 'llm'?"),
        ("llm:\n  modle: x", "2: unknown key 'llm.modle'; did you mean 'model'?"),
        ("tools:\n  warm:\n    zzz: 1", "3: unknown key 'tools.warm.zzz'; known are idle_secs, max"),
        (
            "llm:\n  max_turns: ten",
            "2: llm.max_turns must be a whole number, not ten; write one like `max_turns: 10`, which is the default",
        ),
        (
            "llm:\n  max_turns: 1.5",
            "2: llm.max_turns must be a whole number, not 1.5; write one like `max_turns: 10`, which is the default",
        ),
        (
            "llm:\n  max_turns: '10'",
            "2: llm.max_turns must be a whole number, not '10'; write it without quotes and leading zeros",
        ),
        ("llm:\n  max_turns: 0", "2: llm.max_turns cannot be 0; it must be at least 1"),
        ("llm:\n  thinking: no", "2: llm.thinking must be true or false, not no; write true or false, without quotes"),
        ("llm:\n  model: 1.10", '2: llm.model must be text, not 1.10; put it in quotes: "1.10"'),
        ("llm:\n  model: ''", "2: llm.model cannot be ''; it must not be empty"),
        ("llm: fast", "1: llm must be a mapping, not fast"),
        ("llm:\n  prices:\n    m: {input: 1, currency: CNY}", "3: llm.prices.m.output is missing; add `output:`"),
        ("llm:\n  budget:\n    tokens_per_day: 0", "3: llm.budget.tokens_per_day cannot be 0; it must be at least 1"),
        ("queue: [1]", "1: queue must be a mapping, not a list"),
        ("permissions:\n  allowed: read", "2: permissions.allowed must be a list, not read; write [...] around it"),
        (
            "permissions:\n  allowed:\n    - netwrok",
            (
                "3: permissions.allowed[0]: 'netwrok' is no permission; "
                "write one of read, write, delete, network, shell, filesystem or custom:NAME"
            ),
        ),
        (
            "approvals:\n  low: sometimes",
            "2: approvals.low cannot be sometimes; it must be 'never', 'writes', 'hosts', 'all' or 'forbid'",
        ),
        (
            "approvals:\n  timeout: 15 minutes",
            "2: approvals.timeout: must be seconds or a duration like 20s, 15m, 2h or 30d, not '15 minutes'",
        ),
        (
            "http:\n  max_response: 2M",
            "2: http.max_response: must be bytes or a size like 500KB, 2MiB or 1GiB, not '2M'",
        ),
        ("secrets:\n  KEY: {hosts: []}", "2: secrets.KEY.hosts cannot be a list; it must not be empty"),
        (
            "secrets:\n  KEY: {hosts: [https://a.com]}",
            "2: secrets.KEY.hosts[0]: 'https://a.com' must be a host alone; write it without scheme, port and path",
        ),
        (
            "secrets:\n  key: {hosts: [a.com]}",
            "2: secrets.key: the name cannot be 'key'; it must match pattern '^[A-Z][A-Z0-9_]{0,63}$'",
        ),
        (
            "http:\n  allow_private: [10.0.0.1]",
            "2: http.allow_private[0]: '10.0.0.1' must be host:port, like nas.local:8080 or [::1]:8080",
        ),
        (
            "http:\n  reroute: {https://a.com: http://127.evil.com}",
            "2: http.reroute.https://a.com: 'http://127.evil.com' must be on this machine, like http://127.0.0.1:8080",
        ),
        (
            "http:\n  reroute: {https://a.com/x: http://127.0.0.1}",
            "2: http.reroute.https://a.com/x: 'https://a.com/x' must be an origin alone, like https://api.example.com",
        ),
        (
            "store: {url: mysql:x}",
            "1: store.url cannot be mysql:x; it must match pattern '^(sqlite:.|postgres(ql)?://)'",
        ),
        ("api:\n  port: 70000", "2: api.port cannot be 70000; it must be at most 65535"),
        ("logs: {format: xml}", "1: logs.format cannot be xml; it must be 'text' or 'json'"),
        ("- a", "1: the file must be a mapping of sections, like `llm:`"),
        (
            "llm: [",
            "2: no valid YAML: did not find expected node content; write a value here: close the bracket before it",
        ),
        ("llm: {}\nllm: {}", "2: the key 'llm' is there twice, first in line 1; remove one of them"),
    ],
)
def test_a_mistake_is_told_with_line_key_and_fix(tmp_path: Path, text: str, message: str) -> None:
    assert told(tmp_path, text) == message


@pytest.mark.parametrize("key", ["store: {url", "logs: {dir", "api: {token_file", "llm: {api_key"])
def test_a_nul_character_is_a_mistake_wherever_it_stands(tmp_path: Path, key: str) -> None:
    message = told(tmp_path, f'{key}: "a\\0b"}}\n')
    assert message == f"1: {key.replace(': {', '.')} has a NUL character, which nothing here can hold"


def test_all_mistakes_are_told_at_once_in_the_order_of_the_lines_up_to_a_bound(tmp_path: Path) -> None:
    text = "api:\n  prot: 1\nllm:\n" + "".join(f"  x{number}: 1\n" for number in range(9))
    lines = told(tmp_path, text).splitlines()

    assert lines[0] == "2: unknown key 'api.prot'; did you mean 'port'?"
    assert [line.partition(":")[0] for line in lines] == ["2", "4", "5", "6", "7", "8", "9", "10", "and 2 more"]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (
            "{verdict: alow, tool: a}",
            "3: approvals.rules[0].verdict cannot be alow; it must be 'allow', 'ask' or 'forbid'",
        ),
        ("{tool: a}", "3: approvals.rules[0].verdict is missing; add `verdict:`"),
        ("{verdict: ask, mehtod: GET}", "3: unknown key 'approvals.rules[0].mehtod'; did you mean 'method'?"),
        (
            "{verdict: ask}",
            "3: approvals.rules[0]: the rule has no condition; write tool: '*' if it is meant for everything",
        ),
        (
            "{verdict: ask, operation: a, host: b.com}",
            "3: approvals.rules[0]: operation is for db, method, host and path are for http: make two rules",
        ),
        (
            "{verdict: ask, host: a.com, match: [GET https://b.com]}",
            "3: approvals.rules[0]: the rule does not fit its match example 'GET https://b.com'; change one of them",
        ),
        (
            "{verdict: ask, host: '*', not_match: [GET https://b.com]}",
            "3: approvals.rules[0]: the rule fits its not_match example 'GET https://b.com'; change one of them",
        ),
        (
            "{verdict: ask, host: 'https://a'}",
            "3: approvals.rules[0].host: 'https://a' must be a host alone; write it without scheme, port and path",
        ),
    ],
)
def test_a_mistake_in_a_rule_is_told_with_its_line(tmp_path: Path, rule: str, message: str) -> None:
    assert told(tmp_path, f"approvals:\n  rules:\n    - {rule}\n") == message


def test_rules_are_labelled_with_their_place(tmp_path: Path) -> None:
    rules = ["{verdict: allow, tool: a, method: [get, Post]}", "{verdict: ask, operation: kv_*}"]
    text = "approvals:\n  rules:\n" + "".join(f"    - {rule}\n" for rule in rules)

    assert config_of(tmp_path, text).rules == (
        Rule(verdict=Verdict.ALLOW, label="approvals.rules[0] (line 3)", tool="a", methods=("GET", "POST")),
        Rule(verdict=Verdict.ASK, label="approvals.rules[1] (line 4)", operation="kv_*"),
    )


def test_values_from_the_environment_are_typed_as_if_they_were_written_there(tmp_path: Path) -> None:
    text = "api:\n  port: ${PORT}\n  host: ${HOST}\nllm:\n  model: '${PORT}'\n  base_url: https://${HOST}/v1\n"
    settings = config_of(tmp_path, text, {"PORT": "9000", "HOST": "a.com"}).settings

    assert (settings.api.port, settings.api.host) == (9000, "a.com")
    assert (settings.llm.model, settings.llm.base_url) == ("9000", "https://a.com/v1")


def test_an_unset_value_is_told_with_its_key(tmp_path: Path) -> None:
    assert told(tmp_path, "api:\n  port: ${PORT}\n", {"PORT": ""}) == (
        "2: api.port needs ${PORT}, which is not set; put PORT=… into the environment or into .env"
    )


def test_an_unset_secret_hurts_only_who_needs_it(tmp_path: Path) -> None:
    config = config_of(tmp_path, "llm:\n  api_key: ${MY_KEY}\nchannels:\n  telegram: {token: '${BOT}'}\n")

    with pytest.raises(ConfigError) as caught:
        config.reveal("llm.api_key")
    assert str(caught.value) == (
        f"{tmp_path}/config.yaml:2: llm.api_key needs ${{MY_KEY}}, which is not set; "
        "put MY_KEY=… into the environment or into .env"
    )
    with pytest.raises(ConfigError, match=r"config\.yaml:4: channels\.telegram needs \$\{BOT\}, which is not set"):
        config.resolve("channels.telegram", config.settings.channels["telegram"])


def test_secrets_are_filled_in_when_they_are_asked_for(tmp_path: Path) -> None:
    text = "llm: {api_key: 'x-${MY_KEY}'}\nmcp: {servers: {a: {env: {T: '${MY_KEY}'}, args: ['${MY_KEY}', 1]}}}\n"
    config = config_of(tmp_path, text, {"MY_KEY": "s3cret"})

    assert config.reveal("llm.api_key") == "x-s3cret"
    assert config.reveal("llm.base_url") is None
    assert config.resolve("mcp.servers.a", config.settings.mcp.servers["a"]) == {
        "env": {"T": "s3cret"},
        "args": ["s3cret", 1],
    }
    assert config.credential_names() == {"MY_KEY"}


def test_no_secret_is_shown(tmp_path: Path) -> None:
    text = """\
llm: {api_key: sk-literal}
store: {url: "postgresql://ias:pa55@db/ias"}
channels: {telegram: {token: "t0ken", name: bot}}
mcp: {servers: {a: {env: {X: "s3cret", Y: "${REF}"}, command: run, args: ["--api-key", plain]}}}
"""
    config = config_of(tmp_path, text, {"OTHER": "envs3cret"})
    shown = config.shown()

    assert (shown["llm"], shown["store"], shown["channels"], shown["mcp"]) == (
        Settings().model_dump(mode="json")["llm"] | {"api_key": "***"},
        Settings().model_dump(mode="json")["store"] | {"url": "postgresql://ias:***@db/ias"},
        {"telegram": {"token": "***", "name": "bot"}},
        {"servers": {"a": {"env": {"X": "***", "Y": "${REF}"}, "command": "run", "args": ["--api-key", "plain"]}}},
    )
    for secret in ("sk-literal", "envs3cret"):
        assert secret not in repr(config)


def test_a_secret_of_the_wrong_type_is_not_shown_in_the_error(tmp_path: Path) -> None:
    assert told(tmp_path, "llm:\n  api_key: 12345\n") == (
        "2: llm.api_key: must be text like ${NAME}; numbers need quotes"
    )


def test_paths_start_at_the_home(tmp_path: Path) -> None:
    config = config_of(tmp_path, "store: {url: sqlite:/var/x.db}\n")

    assert (config.path("logs"), config.path("/a"), config.database) == (
        tmp_path / "logs",
        Path("/a"),
        Path("/var/x.db"),
    )


def test_another_kind_of_database_has_no_file(tmp_path: Path) -> None:
    config = config_of(tmp_path, "store:\n  url: postgresql://db/x\n")

    with pytest.raises(ConfigError, match=r"config\.yaml:2: store\.url must be an address like sqlite:"):
        assert config.database


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").mkdir()

    with pytest.raises(ConfigError, match=r"config\.yaml: cannot be read: Is a directory"):
        load_config(tmp_path, {})
