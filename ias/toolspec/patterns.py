"""Regular expressions of strangers: matched in a time that grows with the text alone, never with its square or worse.

Python's `re` can be kept busy for years by `(a+)+$` and thirty letters, and the whole daemon with it. The expressions
are therefore those of Rust's `regex`, which pydantic brings along: no look-around, no references back.
"""

from functools import lru_cache

from pydantic_core import SchemaError, SchemaValidator, ValidationError, core_schema

CACHED = 64  # expressions; a compiled one may have up to 10 MB
SYNTAX = "see https://docs.rs/regex/#syntax; look-around and references back are not there"


def find_pattern_fault(pattern: str) -> str | None:
    """Say why a text is no regular expression; None where it is one."""
    try:
        _compiled(pattern)
    except ValueError as error:
        return str(error)
    return None


def matches(pattern: str, text: str) -> bool:
    """Say whether an expression fits somewhere in a text.

    Raises:
        ValueError: The expression cannot be read, with the reason.
    """
    try:
        _compiled(pattern).validate_python(text)
    except ValidationError:
        return False
    return True


@lru_cache(maxsize=CACHED)
def _compiled(pattern: str) -> SchemaValidator:
    try:
        return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))
    except SchemaError as error:
        reason = str(error).splitlines()[-1].strip()
        raise ValueError(reason.removeprefix("error: ").removeprefix("SchemaError: ")) from error
