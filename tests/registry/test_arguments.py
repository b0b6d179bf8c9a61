"""Arguments against parameters: what is repaired, what is refused, and in which words."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ias.domain.messages import JsonObject, JsonValue
from ias.errors import Code, InvalidArgumentsError
from ias.toolspec.arguments import validate_args, value_fault


def schema(required: tuple[str, ...] = (), **properties: JsonObject) -> JsonObject:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def refusal(parameters: JsonObject, args: JsonObject) -> str:
    with pytest.raises(InvalidArgumentsError) as caught:
        validate_args(parameters, args)
    assert caught.value.code is Code.INVALID_ARGUMENTS
    return str(caught.value).removeprefix("the arguments do not fit: ")


@pytest.mark.parametrize(
    ("part", "given_value", "fitting"),
    [
        ({"type": "string"}, "北京", "北京"),
        ({"type": "string"}, 101010100, "101010100"),
        ({"type": "integer"}, 3, 3),
        ({"type": "integer"}, "3", 3),
        ({"type": "integer"}, " -3 ", -3),
        ({"type": "integer"}, 3.0, 3),
        ({"type": "number"}, "3.5", 3.5),
        ({"type": "number"}, "1e3", 1000.0),
        ({"type": "number"}, 2, 2),
        ({"type": "boolean"}, "true", True),
        ({"type": "boolean"}, "False", False),
        ({"type": "array", "items": {"type": "integer"}}, '["1", 2]', [1, 2]),
        ({"type": "array"}, [], []),
        ({"type": "object"}, '{"a": 1}', {"a": 1}),
        ({"type": ["integer", "null"]}, None, None),
        ({"type": ["integer", "string"]}, "3", "3"),
        ({"enum": ["a", 1]}, 1, 1),
        ({"type": "object", "properties": {"n": {"type": "integer"}}}, {"n": "4"}, {"n": 4}),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, {"any": "thing"}, {"any": "thing"}),
        ({}, [None], [None]),
        ({"type": "odd"}, 1, 1),
    ],
)
def test_what_loses_nothing_is_repaired(part: JsonObject, given_value: JsonValue, fitting: JsonValue) -> None:
    result = validate_args(schema(x=part), {"x": given_value})

    assert (result, type(result["x"])) == ({"x": fitting}, type(fitting))


@pytest.mark.parametrize(
    ("part", "given_value", "words"),
    [
        ({"type": "string"}, 1.5, "x must be text, not 1.5"),
        ({"type": "string"}, True, "x must be text, not true"),
        ({"type": "string"}, ["a"], "x must be text, not a list"),
        ({"type": "integer"}, "three", 'x must be a whole number, not "three"'),
        ({"type": "integer"}, "007", 'x must be a whole number, not "007"'),
        ({"type": "integer"}, 3.5, "x must be a whole number, not 3.5"),
        ({"type": "integer"}, True, "x must be a whole number, not true"),
        ({"type": "number"}, float("inf"), "x must be a number, not Infinity"),
        ({"type": "number"}, "1e999", 'x must be a number, not "1e999"'),
        ({"type": "number"}, "NaN", 'x must be a number, not "NaN"'),
        ({"type": "boolean"}, 1, "x must be true or false, not 1"),
        ({"type": "boolean"}, "yes", 'x must be true or false, not "yes"'),
        ({"type": "array"}, "a, b", 'x must be a list, not "a, b"'),
        ({"type": "array"}, "[NaN]", 'x must be a list, not "[NaN]"'),
        ({"type": "array"}, "[" * 100_000, 'x must be a list, not "' + "[" * 59 + "…"),
        ({"type": "object"}, "[1]", 'x must be an object, not "[1]"'),
        ({"type": "array", "items": {"type": "integer"}}, [1, "b"], 'x[1] must be a whole number, not "b"'),
        ({"type": "string", "enum": ["zh", "en"]}, "EN", 'x must be one of "zh", "en", not "EN"'),
        ({"type": "integer", "enum": [1]}, True, "x must be one of 1, not true"),
        ({"type": "integer", "minimum": 1}, 0, "x must be at least 1, not 0"),
        ({"type": "number", "maximum": 9.5}, 10, "x must be at most 9.5, not 10"),
        ({"type": "string", "pattern": "^a"}, "b", "x must match '^a', not be \"b\""),
        ({"type": "string", "minLength": 2}, "b", "x must have at least 2 characters, not 1"),
        ({"type": "array", "maxItems": 1}, [1, 2], "x must have at most 1 items, not 2"),
        ({"type": ["integer", "boolean"]}, "x", 'x must be a whole number or true or false, not "x"'),
        (
            {"type": "object", "properties": {"n": {"type": "integer"}}},
            {"n": "x"},
            'x.n must be a whole number, not "x"',
        ),
    ],
)
def test_what_does_not_fit_is_told(part: JsonObject, given_value: JsonValue, words: str) -> None:
    assert refusal(schema(x=part), {"x": given_value}) == words


def test_all_problems_are_told_at_once_with_near_names() -> None:
    parameters = schema(
        ("location",),
        location={"type": "string", "description": "城市名称\nmore"},
        days={"type": "integer", "minimum": 1},
        lang={"type": "string"},
    )

    assert refusal(parameters, {"dayz": 1, "days": 0, "zzz": 1}) == (
        "dayz is no argument, did you mean days?; days must be at least 1, not 0; "
        "zzz is no argument; there are location, days, lang; location is missing (text: 城市名称)"
    )


def test_null_leaves_an_optional_argument_out_and_a_required_one_missing() -> None:
    parameters = schema(("a",), a={"type": "string"}, b={"type": "string"}, c={"type": "integer", "default": 3})

    assert validate_args(parameters, {"a": "x", "b": None, "c": None}) == {"a": "x", "c": 3}
    assert refusal(parameters, {"a": None}) == "a is missing (text)"


def test_defaults_are_filled_in_and_the_given_arguments_stay_as_they_were() -> None:
    args: JsonObject = {"a": "1"}

    assert validate_args(schema(a={"type": "integer"}, b={"type": "string", "default": "x"}), args) == {
        "a": 1,
        "b": "x",
    }
    assert args == {"a": "1"}


def test_other_names_pass_only_where_the_schema_says_so() -> None:
    silent: JsonObject = {"type": "object", "properties": {"a": {"type": "string"}}}

    assert refusal(silent, {"b": 1}) == "b is no argument; there are a"
    assert validate_args(silent | {"additionalProperties": True}, {"b": 1}) == {"b": 1}
    assert validate_args({"type": "object"}, {"b": 1}) == {"b": 1}
    assert refusal(schema(), {"b": 1}) == "b is no argument; there are none"


def test_a_pattern_of_another_dialect_is_left_to_the_server() -> None:
    assert validate_args(schema(x={"type": "string", "pattern": r"^(?!a)."}), {"x": "a"}) == {"x": "a"}


def test_a_pattern_that_keeps_others_busy_for_years_is_answered_at_once() -> None:
    value = "a" * 100_000 + "!"
    assert refusal(schema(x={"type": "string", "pattern": "^(a+)+$"}), {"x": value}).startswith("x must match")
    assert refusal(schema(x={"type": "string", "pattern": "^(a|aa|a?)*$"}), {"x": value}).startswith("x must match")


def test_a_pattern_may_name_a_script() -> None:
    parameters = schema(x={"type": "string", "pattern": r"^\p{Han}+$"})
    assert validate_args(parameters, {"x": "天气"}) == {"x": "天气"}
    assert refusal(parameters, {"x": "weather"}) == "x must match '^\\\\p{Han}+$', not be \"weather\""


def test_a_value_of_a_spec_is_compared_as_it_is() -> None:
    assert value_fault({"type": "string"}, 1) == "it must be text, not 1"
    assert value_fault({"type": "integer"}, 1.0) is None
    assert value_fault({"type": "array", "items": {"type": "string"}}, ["a"]) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
PARTS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["string", "integer", "number", "boolean", "array", "object", "null", "odd"])
        | st.lists(st.sampled_from(["string", "integer", "null"]), max_size=2),
        "enum": st.lists(JSON, max_size=3),
        "minimum": st.integers() | st.floats(),
        "maximum": JSON,
        "pattern": st.text(max_size=6),
        "items": st.just({"type": "integer"}) | JSON,
        "default": JSON,
        "description": JSON,
        "properties": st.dictionaries(st.sampled_from("ab"), JSON, max_size=2),
    },
)


@given(
    parts=st.dictionaries(st.sampled_from("abc"), PARTS, max_size=3),
    required=st.lists(st.sampled_from("abcd"), max_size=2),
    args=st.dictionaries(st.sampled_from("abcd"), JSON, max_size=4),
)
def test_no_schema_and_no_arguments_raise_anything_but_their_own_error(
    parts: dict[str, JsonObject], required: list[JsonValue], args: JsonObject
) -> None:
    before = json.dumps(args)
    with contextlib.suppress(InvalidArgumentsError):
        validate_args({"type": "object", "properties": dict(parts), "required": required}, args)
    assert json.dumps(args) == before


@given(args=st.fixed_dictionaries({"n": st.integers(-99, 99), "s": st.text(max_size=9), "b": st.booleans()}))
def test_arguments_written_as_text_come_back_as_they_were_meant(args: JsonObject) -> None:
    parameters = schema(n={"type": "integer"}, s={"type": "string"}, b={"type": "boolean"})
    written: JsonObject = {"n": json.dumps(args["n"]), "s": args["s"], "b": json.dumps(args["b"])}

    assert validate_args(parameters, written) == args
