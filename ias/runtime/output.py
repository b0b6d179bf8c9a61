"""One line of output, taken piece by piece and never more of it than allowed."""

from ias.errors import Code, ToolError

CHUNK_BYTES = 64 * 1024  # what a pipe holds


class Output:
    """What a program printed so far: at most one line, within its bound."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._total = 0
        self.has_line = False

    @property
    def text(self) -> bytes:
        """Give the line without white space at its ends; empty if nothing but white space came."""
        return bytes(self._buffer).strip()

    def add(self, chunk: bytes) -> None:
        """Take what came next. Empty lines do not count.

        Raises:
            ToolError: With code extra_output after the line, or output_too_large.
        """
        self._total += len(chunk)
        if not self.has_line:
            chunk = self._add_to_line(chunk)
        if chunk.strip():
            message = "the tool printed more than one line; print one JSON object and nothing else on stdout"
            raise ToolError(message, code=Code.EXTRA_OUTPUT)
        if self._total > self._limit + CHUNK_BYTES:
            raise self._too_large()

    def _add_to_line(self, chunk: bytes) -> bytes:
        """Take the line's part of `chunk` and give back what follows the line."""
        if not self._buffer:
            chunk = chunk.lstrip()
        part, end, rest = chunk.partition(b"\n")
        self._buffer += part
        if len(self._buffer) > self._limit:
            raise self._too_large()
        self.has_line = bool(end)
        return rest

    def _too_large(self) -> ToolError:
        return ToolError(f"the tool printed more than {self._limit:,} bytes", code=Code.OUTPUT_TOO_LARGE)
