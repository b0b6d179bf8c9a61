"""What is said of each kind of bad spec: line, field, what is wrong, and what to write instead."""

from pathlib import Path

import pytest

from ias.toolspec.patterns import SYNTAX
from tests.registry.spec_folder import GOOD, told


@pytest.mark.parametrize(
    ("text", "place", "message", "fix"),
    [
        ("", "1 ", "the file is empty", "begin with `name:`, `desc:`, `type:` and `path:`"),
        ("- a\n", "1 ", "the file must be a mapping, not a list", ""),
        (
            "name: [",
            "2 ",
            "no valid YAML: did not find expected node content",
            "write a value here: close the bracket before it",
        ),
        (
            GOOD + "x: a: b\n",
            "5 ",
            "no valid YAML: mapping values are not allowed in this context",
            "put text that holds ': ' in quotes, and indent keys of one level alike",
        ),
        (GOOD.encode() + b"tool: \xff\n", "5 ", "the file is not UTF-8", "save it as UTF-8"),
        (GOOD + "#" * 65536, "1 ", "the file has 65537 bytes, at most 65536 are read", "make it shorter"),
        (GOOD + "name: other\n", "5 name", "the key 'name' is there twice, first in line 1", "remove one of them"),
        (GOOD + "tool: &x y\n", "5 ", "the anchor &x is not allowed", "write the value out where it is needed"),
        (GOOD + "tool: *x\n", "5 ", "the alias *x is not allowed", "write the value out"),
        (
            GOOD + "tool: !!str y\n",
            "5 ",
            "the tag tag:yaml.org,2002:str is not allowed",
            "put text that begins with '!' in quotes",
        ),
        (GOOD + "params: " + "[" * 21 + "]" * 21, "5 ", "the file is nested deeper than 20 levels", "make it flatter"),
        (GOOD + "timeout: 5\n", "5 timeout", "unknown key 'timeout'", "did you mean 'timeout_secs'?"),
        (GOOD + "limits: {steps: 5}\n", "5 limits.steps", "unknown key 'limits.steps'", "did you mean 'max_steps'?"),
        (GOOD.replace("name: greet\n", ""), "1 name", "name is missing", "add `name:`"),
        (GOOD.replace("type: local\n", ""), "1 type", "type is missing", "add `type:`"),
        (
            GOOD.replace("name: greet", "name: 1.10"),
            "1 name",
            "name must be text, not 1.10",
            'put it in quotes: "1.10"',
        ),
        (
            GOOD.replace("name: greet", "name: Greet!"),
            "1 name",
            "name cannot be Greet!",
            "it must match pattern '^[a-z][a-z0-9_]{0,63}$'",
        ),
        (
            GOOD.replace("name: greet", "name: call_capability"),
            "1 name",
            "the name 'call_capability' is taken by ias itself",
            "choose another",
        ),
        (GOOD.replace("local", "shell"), "3 type", "type cannot be shell", "it must be 'http', 'db' or 'local'"),
        (GOOD + "command: 5\n", "5 command", "command must be text, not 5", 'put it in quotes: "5"'),
        (
            GOOD + "risk_level: none\n",
            "5 risk_level",
            "risk_level cannot be none",
            "it must be 'low', 'medium' or 'high'",
        ),
        (GOOD + "timeout_secs: 601\n", "5 timeout_secs", "timeout_secs cannot be 601", "it must be at most 600"),
        (GOOD + "timeout_secs: 0.5\n", "5 timeout_secs", "timeout_secs cannot be 0.5", "it must be at least 1"),
        (
            GOOD + "timeout_secs: 010\n",
            "5 timeout_secs",
            "timeout_secs must be a number, not 010",
            "write it without quotes and leading zeros",
        ),
        (
            GOOD + "env: [LD_PRELOAD]\n",
            "5 env[0]",
            "the variable LD_PRELOAD changes what a program loads or where it connects",
            "remove it from `env`; a key that the tool needs belongs into `secrets`",
        ),
        (
            GOOD + "env: [A, DEEPSEEK_API_KEY]\n",
            "5 env[1]",
            "the variable DEEPSEEK_API_KEY holds a credential of ias itself",
            "remove it from `env`; a key that the tool needs belongs into `secrets`",
        ),
        (GOOD + "env: HOME\n", "5 env", "env must be a list, not HOME", "write [...] around it"),
        (
            GOOD + "secrets: [KEY]\n",
            "5 secrets",
            "secrets without hosts can go nowhere",
            "name the hosts that they are for in `hosts`",
        ),
        (
            GOOD + "secrets: [key]\nhosts: [a.com]\n",
            "5 secrets[0]",
            "secrets[0] cannot be key",
            "it must match pattern '^[A-Z][A-Z0-9_]{0,63}$'",
        ),
        (
            GOOD + "hosts:\n  - https://a.com\n",
            "6 hosts[0]",
            "hosts[0]: 'https://a.com' must be a host alone",
            "write it without scheme, port and path",
        ),
        (
            GOOD + "hosts: [a.*.com]\n",
            "5 hosts[0]",
            "hosts[0]: 'a.*.com': a star may only stand for the first labels, as in '*.example.com'",
            "",
        ),
        (
            GOOD + "permissions: [netwrok]\n",
            "5 permissions[0]",
            "permissions[0]: 'netwrok' is no permission",
            "write one of read, write, delete, network, shell, filesystem or custom:NAME",
        ),
        (GOOD + "keywords: [天气, 5]\n", "5 keywords[1]", "keywords[1] must be text, not 5", 'put it in quotes: "5"'),
        (
            GOOD + "limits: {max_steps: 0}\n",
            "5 limits.max_steps",
            "limits.max_steps cannot be 0",
            "it must be at least 1",
        ),
        (GOOD + "limits: {warm: no}\n", "5 limits.warm", "limits.warm cannot be no", "it must be 'auto' or 'off'"),
    ],
)
def test_a_bad_field_is_told_with_line_and_fix(
    tmp_path: Path, text: str | bytes, place: str, message: str, fix: str
) -> None:
    assert told(tmp_path, text) == [f"{place}: {message}" + (f"; {fix}" if fix else "")]


@pytest.mark.parametrize(
    ("params", "place", "message", "fix"),
    [
        (
            "- {name: a, required: yes}",
            "6 params[0].required",
            "params[0].required must be true or false, not yes",
            "write true or false, without quotes",
        ),
        (
            "- {name: a, type: int}",
            "6 params[0].type",
            "params[0].type cannot be int",
            "it must be 'string', 'integer', 'number', 'boolean', 'array' or 'object'",
        ),
        (
            "- {name: a, kind: string}",
            "6 params[0].kind",
            "unknown key 'params[0].kind'",
            "known are default, desc, enum, items, maximum, minimum, name, pattern, required, type",
        ),
        ("- {name: a}\n  - {name: a}", "7 params[1].name", "the parameter 'a' is there twice", "remove one of them"),
        (
            "- {name: a, enum: [1.10, no]}",
            "6 params[0].enum[0]",
            "the parameter 'a' has the choice 1.1: it must be text, not 1.1",
            "put it in quotes",
        ),
        (
            "- {name: a, type: boolean, default: no}",
            "6 params[0].default",
            "the parameter 'a' has the default 'no': it must be true or false, not \"no\"",
            "write true or false",
        ),
        (
            "- {name: a, enum: [x], default: y}",
            "6 params[0].default",
            "the parameter 'a' has the default 'y': it must be one of \"x\", not \"y\"",
            "",
        ),
        (
            "- {name: a, type: integer, minimum: 5, default: 1}",
            "6 params[0].default",
            "the parameter 'a' has the default 1: it must be at least 5, not 1",
            "",
        ),
        (
            "- {name: a, required: true, default: x}",
            "6 params[0].default",
            "the parameter 'a' is required and has a default",
            "remove one of them",
        ),
        (
            "- {name: a, minimum: 1}",
            "6 params[0].minimum",
            "the parameter 'a' has minimum, which is for a number",
            "remove it, or change type 'string'",
        ),
        (
            "- {name: a, type: integer, minimum: 2, maximum: 1}",
            "6 params[0].minimum",
            "the parameter 'a' has a minimum 2 above its maximum 1",
            "exchange them",
        ),
        (
            "- {name: a, pattern: '('}",
            "6 params[0].pattern",
            "the parameter 'a' has a pattern that is no regular expression: unclosed group",
            SYNTAX,
        ),
        (
            "- {name: a}\nexamples:\n  - ask: q\n    params: {b: 1}",
            "9 examples[0].params",
            "the arguments do not fit: b is no argument",
            "there are a; make the example fit the params",
        ),
    ],
)
def test_a_bad_parameter_is_told_with_line_and_fix(
    tmp_path: Path, params: str, place: str, message: str, fix: str
) -> None:
    text = f"{GOOD}params:\n  {params}\n"

    assert told(tmp_path, text) == [f"{place}: {message}" + (f"; {fix}" if fix else "")]
