"""Lines of JSON out of bytes that may be cut anywhere."""

from ias.errors import ServerFaultError

LINE_LIMIT_BYTES = 4 * 1024 * 1024
"""Longest line; a chunk is some hundred bytes, a whole answer below 2 MB."""


class LineParser:
    """Cut a stream into lines.

    A line that the end of the stream leaves without its newline is not given; `pending` shows it.
    """

    def __init__(self, *, limit_bytes: int = LINE_LIMIT_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._rest = bytearray()

    @property
    def pending(self) -> str:
        """The line that has not ended yet."""
        return self._rest.decode("utf-8", "replace").strip()

    def feed(self, piece: bytes) -> list[str]:
        """Take the next bytes and give the lines that they complete, blank ones as empty strings.

        Raises:
            ServerFaultError: A line is longer than the limit.
        """
        *ended, rest = piece.split(b"\n")
        lines: list[str] = []
        for part in ended:
            self._extend(part)
            lines.append(self.pending)
            self._rest.clear()
        self._extend(rest)
        return lines

    def _extend(self, part: bytes) -> None:
        self._rest += part
        if len(self._rest) > self._limit_bytes:
            raise ServerFaultError(f"the provider sent a line of more than {self._limit_bytes} bytes")
