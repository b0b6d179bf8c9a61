"""Lines out of bytes that are cut anywhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ias.errors import ServerFaultError
from ias.providers.ndjson import LineParser


@given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=6))
def test_lines_do_not_depend_on_where_the_stream_is_cut(body: bytes, cuts: list[int]) -> None:
    parser = LineParser()
    ends = [*sorted(cuts), len(body)]
    pieces = [body[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]
    lines = [line for piece in pieces for line in parser.feed(piece)]
    *ended, rest = body.split(b"\n")
    assert lines == [line.decode("utf-8", "replace").strip() for line in ended]
    assert parser.pending == rest.decode("utf-8", "replace").strip()


def test_a_line_without_end_is_refused() -> None:
    parser = LineParser(limit_bytes=10)
    assert parser.feed(b"12345\n1234567890") == ["12345"]
    with pytest.raises(ServerFaultError, match="10 bytes"):
        parser.feed(b"1")
