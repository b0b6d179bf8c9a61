"""Arguments as models write them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ias.providers.arguments import read_arguments


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("", "{}"),
        (" \n", "{}"),
        ("null", "{}"),
        ('{ "a" :1}', '{ "a" :1}'),
        ({"a": "é"}, '{"a": "é"}'),
        ('{"a": "two\nlines\tand tabs"}', '{"a": "two\\nlines\\tand tabs"}'),
        (r'{"a": "it\'s \d+"}', r'{"a": "it' + "'" + r's \\d+"}'),
        ('"{\\"a\\": 1}"', '{"a": 1}'),
        ('{"a": "\\ud83d\\ude00"}', '{"a": "😀"}'),
        ('{"a": "\\ud83d"}', '{"a": "\ufffd"}'),
    ],
)
def test_lossless_slips_are_mended(written: str, text: str) -> None:
    read = read_arguments(written)
    assert (read.text, read.fault) == (text, None)


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        ('{"a": "b}', "unterminated string starting at at character 6"),
        ('{"a": 1', "expecting ',' delimiter at character 7"),
        ("[1]", "an array"),
        ('"hello"', "a string"),
        ("7", "a number"),
        ("true", "a boolean"),
        ('{"a": NaN}', "NaN is not a JSON number"),
        ('{"a": 1}{"a": 1}', "extra data at character 8"),
        ('{"a": ' * 100_000, "nested too deeply"),
    ],
)
def test_anything_else_is_a_fault_and_never_guessed(written: str, fault: str) -> None:
    read = read_arguments(written)
    assert read.text == "{}"
    assert read.fault is not None
    assert fault in read.fault


@given(st.text())
def test_the_text_is_always_one_object(written: str) -> None:
    assert isinstance(json.loads(read_arguments(written).text), dict)
