"""What a person types at a question."""

import os
import sys
import termios

LINE_MAX = 1024  # bytes of an answer that are read


def forget_typed() -> None:
    """Drop what was typed before the question was there: a key pressed ahead must not approve anything."""
    if sys.stdin.isatty():
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def read_line() -> str | None:
    """Wait for one line from the terminal, past Python's buffer; None if the terminal was closed for input."""
    typed = os.read(sys.stdin.fileno(), LINE_MAX)
    return typed.decode("utf-8", "replace") if typed else None
