"""Server-sent events out of bytes that may be cut anywhere."""

from dataclasses import dataclass

from ias.errors import ServerFaultError

EVENT_LIMIT_BYTES = 4 * 1024 * 1024
"""Longest line, and longest data of one event; an answer's chunk is some hundred bytes, a whole answer below 2 MB."""

BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True)
class SseEvent:
    """One dispatched event; `name` is `message` where the stream names none."""

    data: str
    name: str = "message"


@dataclass(frozen=True, slots=True, kw_only=True)
class SseComment:
    """A comment line, which servers send to keep a quiet connection open."""


SseItem = SseEvent | SseComment


class SseParser:
    """Parse a stream incrementally (WHATWG HTML, "Interpreting an event stream").

    An event that the end of the stream leaves without its blank line is not dispatched; `pending` shows its data.
    """

    def __init__(self, *, limit_bytes: int = EVENT_LIMIT_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._line = bytearray()
        self._data: list[str] = []
        self._data_bytes = 0
        self._name = ""
        self._after_cr = False
        self._at_start = True

    @property
    def pending(self) -> str:
        """Data of the event that has not been dispatched yet, an unfinished line included."""
        data = list(self._data)
        rest = bytes(self._line)
        if rest.startswith(b"data:"):
            data.append(rest[5:].decode("utf-8", "replace").removeprefix(" "))
        return "\n".join(data)

    def feed(self, piece: bytes) -> list[SseItem]:
        """Take the next bytes and give what they complete.

        Raises:
            ServerFaultError: A line or an event is longer than the limit.
        """
        if self._after_cr and piece:
            self._after_cr = False
            piece = piece.removeprefix(b"\n")
        items: list[SseItem] = []
        lines = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._after_cr = piece.endswith(b"\r")
        for line in lines[:-1]:
            self._extend(line)
            item = self._end_line()
            if item is not None:
                items.append(item)
        self._extend(lines[-1])
        return items

    def _extend(self, part: bytes) -> None:
        self._line += part
        if len(self._line) > self._limit_bytes or self._data_bytes > self._limit_bytes:
            raise ServerFaultError(f"the provider sent an event of more than {self._limit_bytes} bytes")

    def _end_line(self) -> SseItem | None:
        line = bytes(self._line)
        self._line.clear()
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(BOM)
        if not line:
            return self._dispatch()
        if line.startswith(b":"):
            return SseComment()
        name, _, value = line.partition(b":")
        text = value.removeprefix(b" ").decode("utf-8", "replace")
        if name == b"data":
            self._data.append(text)
            self._data_bytes += len(line)
        elif name == b"event":
            self._name = text
        return None

    def _dispatch(self) -> SseEvent | None:
        event = SseEvent(data="\n".join(self._data), name=self._name or "message") if self._data else None
        self._data.clear()
        self._data_bytes = 0
        self._name = ""
        return event
