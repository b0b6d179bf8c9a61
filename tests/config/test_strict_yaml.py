"""The strict reader of YAML: what stays text, what is refused, and on which line."""

import json
import math

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from ias.config.strict_yaml import MAX_DEPTH, Document, YamlTextError, read_yaml, scalar
from ias.domain.messages import JsonValue


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("false", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("0", 0),
        ("-17", -17),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("999999999999999999", 999999999999999999),
        *(
            (text, text)
            for text in [
                "no", "off", "yes", "on", "True", "NULL", "12:30", "010", "0x1F", "0o17", "1_000", "+1", ".5", "5.",
                ".inf", ".nan", "2026-12-01", "<<", "=", "1000000000000000000", "1e999", "北京",
            ]
        ),
    ],
)  # fmt: skip
def test_only_json_numbers_true_false_and_null_are_more_than_text(text: str, value: JsonValue) -> None:
    read = read_yaml(f"a: {text}\n".encode())

    assert (read.value, type(scalar(text))) == ({"a": value}, type(value))


def test_quoted_scalars_are_always_text_and_keys_too() -> None:
    assert read_yaml(b"1: 'no'\nno: \"1\"\ntrue: |\n  5\n").value == {"1": "no", "no": "1", "true": "5\n"}


def test_lines_and_spellings_are_kept_for_every_place() -> None:
    text = "a: 1.10\nb:\n  - x\n  - {c: 'q', d: no}\n"

    assert read_yaml(text.encode()) == Document(
        value={"a": 1.1, "b": ["x", {"c": "q", "d": "no"}]},
        lines={("a",): 1, ("b",): 2, ("b", 0): 3, ("b", 1): 4, ("b", 1, "c"): 4, ("b", 1, "d"): 4},
        plain={("a",): "1.10", ("b", 0): "x", ("b", 1, "d"): "no"},
    )


def test_a_place_that_is_not_there_has_the_line_of_what_is_above_it() -> None:
    document = read_yaml(b"\na:\n  b: 1\n")

    assert [document.line(keys) for keys in [("a", "b"), ("a", "x", 0), ("x",), ()]] == [3, 2, 1, 1]


@pytest.mark.parametrize("text", ["", "\n# a comment\n", "---\n", "\ufeff"])
def test_an_empty_file_is_nothing(text: str) -> None:
    assert read_yaml(text.encode()).value is None


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a: &x 1", 1, "the anchor &x is not allowed"),
        ("a: &x [1]", 1, "the anchor &x is not allowed"),
        ("a: 1\nb: *x", 2, "the alias *x is not allowed"),
        ("a: !!str 1", 1, "the tag tag:yaml.org,2002:str is not allowed"),
        ("a: !env X", 1, "the tag !env is not allowed"),
        ("a: ! x", 1, "the tag ! is not allowed"),
        ("a: 1\nb: 2\na: 3", 3, "the key 'a' is there twice, first in line 1"),
        ("x:\n  a: 1\n  'a': 3", 3, "the key 'a' is there twice, first in line 2"),
        ("a: 1\n---\nb: 2", 2, "a second document begins"),
        ("? [a]\n: 1", 1, "a mapping or list stands where a key should be"),
        ("{{a: 1}: 2}", 1, "a mapping or list stands where a key should be"),
        ("a: 1\nb: \x01", 2, "the character '\\x01' may not stand in YAML"),
        ("a: 1\n\tb: 2", 2, "no valid YAML: found a tab character that violates indentation"),
        ("a: b: c", 1, "no valid YAML: mapping values are not allowed in this context"),
        ("a: {b: ${X}}", 1, "no valid YAML: did not find expected ',' or '}'"),
        ("a: 'b", 1, "no valid YAML: found unexpected end of stream"),
        ('a: "\\ud800"', 1, "no valid YAML: found invalid Unicode character escape code"),
        ("[" * (MAX_DEPTH + 1), 1, f"the file is nested deeper than {MAX_DEPTH} levels"),
        ("[" * 60_000, 1, "no valid YAML: exceeded maximum nesting depth"),
        ("#" * 65_537, 1, "the file has 65537 bytes, at most 65536 are read"),
    ],
)
def test_what_is_no_plain_tree_is_refused_with_its_line(text: str, line: int, message: str) -> None:
    with pytest.raises(YamlTextError) as caught:
        read_yaml(text.encode())
    assert (caught.value.line, str(caught.value)) == (line, message)


def test_bytes_that_are_no_utf8_are_refused_with_their_line() -> None:
    with pytest.raises(YamlTextError, match=r"^the file is not UTF-8$") as caught:
        read_yaml(b"a: 1\nb: \xff\n")
    assert (caught.value.line, caught.value.fix) == (2, "save it as UTF-8")


def test_twenty_levels_are_read() -> None:
    value = read_yaml(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH).value

    assert json.dumps(value) == "[" * MAX_DEPTH + "]" * MAX_DEPTH


@given(content=st.binary(max_size=80) | st.text("ab:-[]{}'\"&*!#|>%@`\t\n 1~", max_size=60).map(str.encode))
@example(content=b"a: \xef\xbf\xbe")
def test_no_bytes_raise_anything_but_the_readers_own_error(content: bytes) -> None:
    try:
        document = read_yaml(content)
    except YamlTextError:
        return
    assert json.loads(json.dumps(document.value)) == document.value


# Without characters beyond the basic plane: JSON escapes those as two, which YAML does not know.
WORDS = st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=("Cs",)), max_size=8)
TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=10,
)


@given(tree=TREES)
def test_json_is_read_as_what_it_says(tree: JsonValue) -> None:
    read = read_yaml(json.dumps(tree).encode())

    assert read.value == _as_written(tree)


@given(tree=st.dictionaries(st.text("abc", min_size=1), st.lists(st.text("abc 1:no-#", max_size=8)), max_size=4))
def test_what_another_writer_quotes_as_text_stays_text(tree: dict[str, list[str]]) -> None:
    assert read_yaml(yaml.safe_dump(tree, allow_unicode=True).encode()).value == (tree or {})


def _as_written(tree: JsonValue) -> JsonValue:
    """Give numbers with too many digits as the text that they stay."""
    match tree:
        case bool() | None | str():
            return tree
        case int() | float():
            return scalar(json.dumps(tree)) if math.isfinite(tree) else tree
        case list():
            return [_as_written(item) for item in tree]
        case dict():
            return {key: _as_written(item) for key, item in tree.items()}
