"""The event stream parser, cut anywhere."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ias.errors import ServerFaultError
from ias.providers.sse import SseComment, SseEvent, SseItem, SseParser
from tests.providers.loopback import RECORDED

STREAM = (
    "\ufeff: keep-alive\r\ndata: 北京\r\ndata:second line\r\n\r\n:\nevent: error\ndata: {}\n\nid: 7\nretry: 3\n\n"
    "data\rdata:  two spaces\r\rdata: [DONE]\n\ndata: never ended"
).encode()
ITEMS = [
    SseComment(),
    SseEvent(data="北京\nsecond line"),
    SseComment(),
    SseEvent(data="{}", name="error"),
    SseEvent(data="\n two spaces"),
    SseEvent(data="[DONE]"),
]


def parse(*pieces: bytes) -> list[SseItem]:
    parser = SseParser()
    return [item for piece in pieces for item in parser.feed(piece)]


def test_a_stream_of_every_form_is_parsed() -> None:
    assert parse(STREAM) == ITEMS


def test_a_cut_at_any_byte_changes_nothing() -> None:
    for cut in range(len(STREAM) + 1):
        assert parse(STREAM[:cut], STREAM[cut:]) == ITEMS, cut


def test_single_bytes_change_nothing() -> None:
    assert parse(*(STREAM[i : i + 1] for i in range(len(STREAM)))) == ITEMS


@given(st.lists(st.integers(min_value=0, max_value=3000), max_size=30))
def test_a_recorded_stream_cut_anywhere_gives_the_same_events(cuts: list[int]) -> None:
    body = (RECORDED / "deepseek/chat_stream_plain_answer.sse").read_bytes()
    edges = [0, *sorted(cut for cut in cuts if cut <= len(body)), len(body)]
    pieces = [body[start:end] for start, end in pairwise(edges)]
    assert parse(*pieces) == parse(body)


@given(st.lists(st.binary(max_size=200), max_size=20))
def test_garbage_is_parsed_without_a_failure(pieces: list[bytes]) -> None:
    assert parse(*pieces) == parse(b"".join(pieces))


@pytest.mark.parametrize("flood", [b"data: " + b"x" * 400, b"data: x\n" * 400], ids=["one line", "many lines"])
def test_an_event_without_end_is_refused(flood: bytes) -> None:
    parser = SseParser(limit_bytes=300)
    pieces = [flood[start : start + 50] for start in range(0, len(flood), 50)]
    with pytest.raises(ServerFaultError, match="more than 300 bytes"):
        list(map(parser.feed, pieces))


def test_the_unfinished_event_can_be_looked_at() -> None:
    parser = SseParser()
    parser.feed(b"data: [DO")
    parser.feed(b"NE]")
    assert parser.pending == "[DONE]"
    parser.feed(b"\n")
    assert parser.pending == "[DONE]"
    parser.feed(b"\n")
    assert parser.pending == ""
