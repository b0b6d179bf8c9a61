"""Secrets: where they are filled in, where never, and that they do not come back."""

import base64
import html
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ias.domain.tools import ToolFacts, ToolType
from ias.errors import Code, ToolError
from ias.runtime.secrets import Secrets, Syntax, syntax_of

CANARY = 'k/9+"<ü>&=canary'
SECRETS = Secrets(
    {"KEY": ("*.a.example", "b.example"), "EMPTY": ("b.example",), "SHORT": ("b.example",), "OTHER": ("b.example",)},
    {"KEY": CANARY, "EMPTY": "", "SHORT": "abc", "OTHER": "othervalue", "PATH": "/bin"},
)


PLACE = "; its hosts are in config.yaml"


def test_a_slot_is_filled_for_its_own_host_alone() -> None:
    assert SECRETS.fill("Bearer ${KEY}!", host="x.a.example", allowed=("KEY",)) == f"Bearer {CANARY}!"


@pytest.mark.parametrize(
    ("name", "host", "allowed", "words"),
    [
        ("KEY", "a.example", ("KEY",), "the secret KEY may not be sent to 'a.example'" + PLACE),
        ("KEY", "x.a.example.evil", ("KEY",), "the secret KEY may not be sent to 'x.a.example.evil'" + PLACE),
        ("KEY", "b.example", (), "the secret KEY may not be used by this tool: its spec does not list it"),
        ("EMPTY", "b.example", ("EMPTY",), "the secret EMPTY has no value; set EMPTY in the environment or in .env"),
        ("UNKNOWN", "b.example", ("UNKNOWN",), "the secret UNKNOWN may not be sent to 'b.example'" + PLACE),
    ],
)
def test_a_slot_that_may_not_be_filled_says_why(name: str, host: str, allowed: tuple[str, ...], words: str) -> None:
    with pytest.raises(ToolError) as caught:
        SECRETS.fill(f"${{{name}}}", host=host, allowed=allowed)

    assert (caught.value.code, str(caught.value)) == (Code.SECRET_NOT_ALLOWED, words)


def test_what_is_nobodys_secret_stays_as_it_is() -> None:
    text = "${PATH} $KEY ${key} ${} {KEY} $${NOT_ONE}"

    assert SECRETS.fill(text, host="b.example", allowed=("KEY",)) == text


@pytest.mark.parametrize(
    ("content_type", "syntax"),
    [
        ("", Syntax.PLAIN),
        ("text/plain", Syntax.PLAIN),
        ("Application/JSON; charset=utf-8", Syntax.JSON),
        ("application/problem+json", Syntax.JSON),
        ("application/x-www-form-urlencoded", Syntax.FORM),
    ],
)
def test_the_content_type_says_how_a_value_is_escaped(content_type: str, syntax: Syntax) -> None:
    assert syntax_of(content_type) is syntax


def test_a_value_is_escaped_for_the_body_it_stands_in() -> None:
    body = SECRETS.fill('{"key": "${KEY}"}', host="b.example", allowed=("KEY",), syntax=Syntax.JSON)
    form = SECRETS.fill("a=%24%7BKEY%7D&b=${KEY}", host="b.example", allowed=("KEY",), syntax=Syntax.FORM)

    assert (json.loads(body), form) == ({"key": CANARY}, f"a={quote_plus(CANARY)}&b={quote_plus(CANARY)}")


def test_a_tool_is_told_the_names_that_have_a_value() -> None:
    facts = ToolFacts(name="t", sha256="", type=ToolType.HTTP, secrets=("OTHER", "EMPTY", "KEY", "UNKNOWN"))

    assert SECRETS.names_for(facts) == ("OTHER", "KEY")


@pytest.mark.parametrize(
    "echo",
    [
        CANARY,
        quote(CANARY),
        quote(CANARY, safe=""),
        quote(CANARY, safe="").lower(),
        quote_plus(f" {CANARY} "),
        json.dumps(CANARY),
        json.dumps(CANARY, ensure_ascii=False),
        json.dumps(CANARY).replace("/", "\\/"),
        html.escape(CANARY),
        base64.b64encode(CANARY.encode()).decode(),
        base64.b64encode(f"user:{CANARY}".encode()).decode(),
        base64.urlsafe_b64encode(f"u:{CANARY}:p".encode()).decode(),
        CANARY.encode().hex(),
    ],
)
def test_an_answer_that_echoes_a_value_comes_back_without_it(echo: str) -> None:
    text = SECRETS.scrub(f"before {echo} after {echo}")

    assert (text.count("${KEY}"), "canary" in text, CANARY in text) == (2, False, False)


@given(
    value=st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=12, max_size=40),
    before=st.binary(max_size=5),
    after=st.binary(max_size=5),
)
def test_base64_of_a_value_is_found_wherever_it_begins(value: str, before: bytes, after: bytes) -> None:
    secrets = Secrets({"KEY": ()}, {"KEY": value})

    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        assert b"${KEY}" in secrets.scrub_bytes(encode(before + value.encode() + after))


def test_a_value_of_three_characters_is_not_looked_for() -> None:
    assert SECRETS.scrub("abc abcabc") == "abc abcabc"


def test_nothing_is_changed_where_there_are_no_secrets() -> None:
    none = Secrets({}, {})

    assert (none.scrub("a\ud800"), none.scrub_bytes(b"\xff"), SECRETS.scrub("a\ud800")) == (
        "a\ud800",
        b"\xff",
        "a\ud800",
    )


def test_no_value_shows_in_a_secrets_own_description() -> None:
    assert CANARY not in repr(SECRETS) + str(SECRETS)
