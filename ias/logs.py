"""The three logs and the operator's terminal: one line an event, escaped, scrubbed, rotated by size.

`msg` is for people to follow, `raw` holds what goes to and comes from the model, `error` what went wrong; `ops` are
short lines on stderr. Writing never raises: a full disk is told once on the terminal, and once more when it is over.
"""

import errno
import json
import logging
import os
import re
import sys
import threading
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn, Protocol, TextIO, cast

import structlog
from structlog.contextvars import merge_contextvars
from structlog.typing import FilteringBoundLogger, WrappedLogger

from ias.errors import ConfigError

SHORT_ID = 10  # characters: the prefix and 40 random bits, enough to tell ids apart and to type them
IDS = ("conversation_id", "turn_id", "run_id")
UNSAFE = re.compile(  # what would break a line, move the cursor, reorder the text or not encode
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
FOREIGN_LOGGERS = ("asyncio", "uvicorn")  # libraries that warn through the standard library's logging
LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}

Scrub = Callable[[str], str]


class LogSettings(Protocol):
    """The keys of `logs` in config.yaml that matter here; `rotate` is in bytes."""

    @property
    def level(self) -> str:
        """Give the least level that is written: debug, info, warning, error."""
        ...

    @property
    def format(self) -> str:
        """Give `text` or `json`."""
        ...

    @property
    def rotate(self) -> int:
        """Give the size in bytes at which a file is set aside; 0 means never."""
        ...

    @property
    def keep(self) -> int:
        """Give the number of files set aside that are kept."""
        ...

    @property
    def raw(self) -> bool:
        """Say whether raw.log is written."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Logs:
    """The four places to log to.

    `logs.msg.info("tool_call", tag="LLM", text="…", other="fact")`: the event is a constant snake_case word, `tag` what
    stands in brackets, `text` what a person reads. Ids come from structlog's context variables.
    """

    msg: FilteringBoundLogger
    raw: FilteringBoundLogger
    error: FilteringBoundLogger
    ops: FilteringBoundLogger
    close: Callable[[], None]


class LogFile:
    """A file that is appended to line by line and set aside when it grows: `msg.log`, then `msg.log.1`, `msg.log.2`.

    Args:
        path: The file; made with mode 0600 at the first line, and again where it was deleted or moved away.
        rotate: Size in bytes at which it is set aside, 0 for never.
        keep: Number of files set aside that are kept.
        complain: Told once when writing begins to fail, and once when it works again.
    """

    def __init__(self, path: Path, *, rotate: int, keep: int, complain: Callable[[str], None]) -> None:
        self._path = path
        self._rotate = rotate
        self._keep = keep
        self._complain = complain
        self._file: int | None = None  # its descriptor
        self._size = 0
        self._is_failing = False
        self._lock = threading.Lock()  # the store's thread logs too

    def write(self, line: str) -> None:
        """Append one line. It is lost, and `complain` told, if the file cannot be written."""
        with self._lock:
            try:
                self._append((line + "\n").encode("utf-8", "backslashreplace"))
            except OSError as error:
                self._drop()
                if not self._is_failing:
                    self._is_failing = True
                    self._complain(f"cannot write {self._path}: {error.strerror}; lines are lost until that is mended")
                return
            if self._is_failing:
                self._is_failing = False
                self._complain(f"{self._path} is written again")

    def close(self) -> None:
        """Close the file; a later line opens it again."""
        with self._lock:
            self._drop()

    def _append(self, line: bytes) -> None:
        if self._file is not None and not self._is_there(self._file):
            self._drop()
        if self._file is not None and self._rotate and self._size and self._size + len(line) > self._rotate:
            self._set_aside()
        file = self._open() if self._file is None else self._file
        written = os.write(file, line)
        if written < len(line):
            os.ftruncate(file, self._size)  # half a line would run into the next one
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._size += written

    def _is_there(self, file: int) -> bool:
        with suppress(FileNotFoundError):
            return os.path.samestat(self._path.stat(), os.fstat(file))
        return False

    def _open(self) -> int:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._size = os.fstat(self._file).st_size
        return self._file

    def _set_aside(self) -> None:
        self._drop()
        for number in range(self._keep, 0, -1):
            older = self._path if number == 1 else self._numbered(number - 1)
            if older.exists():
                older.replace(self._numbered(number))
        if not self._keep:
            self._path.unlink(missing_ok=True)

    def _numbered(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}")

    def _drop(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):  # what failed was told when it was written
                os.close(file)


class Terminal:
    """Short lines for the operator, on stderr or another stream; a terminal that is gone is ignored."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def write(self, line: str) -> None:
        """Print one line."""
        with self._lock:
            try:
                self._stream.write(line + "\n")
                self._stream.flush()
            except (OSError, ValueError):  # closed, or the reader went away: the daemon goes on
                return


class Sink(Protocol):
    """Where finished lines go."""

    def write(self, line: str) -> None:
        """Take one line without its end; never raises."""
        ...


class Nowhere:
    """The sink of a log that is switched off."""

    def write(self, line: str) -> None:
        """Drop the line."""


class Standard:
    """Hands lines to a logger of the standard library, all of one level."""

    def __init__(self, name: str, level: int) -> None:
        self._logger = logging.getLogger(name)
        self._level = level

    def write(self, line: str) -> None:
        """Log one line."""
        self._logger.log(self._level, "%s", line)


class Render:
    """The last processor: turns an event into its line, writes it, and stops there."""

    def __init__(self, name: str, sink: Sink, *, form: Callable[[str, Mapping[str, Any]], str], scrub: Scrub) -> None:
        self._name = name
        self._sink = sink
        self._form = form
        self._scrub = scrub

    def __call__(self, _logger: WrappedLogger, method: str, event: MutableMapping[str, Any]) -> NoReturn:
        """Write the line of an event.

        Raises:
            structlog.DropEvent: Always: nothing is left to do.
        """
        scrubbed = {key: _scrubbed(value, self._scrub) for key, value in event.items()}  # before escapes hide a secret
        scrubbed.setdefault("level", method)
        self._sink.write(self._scrub(self._form(self._name, scrubbed)))
        raise structlog.DropEvent


class Forward(logging.Handler):
    """Hands warnings of libraries, logged through the standard library, to `error` and `ops`."""

    def __init__(self, error: FilteringBoundLogger, ops: FilteringBoundLogger) -> None:
        super().__init__(logging.WARNING)
        self._error = error
        self._ops = ops

    def emit(self, record: logging.LogRecord) -> None:
        """Log a record under the name of its library."""
        tag = record.name.partition(".")[0]
        try:
            text = record.getMessage()
        except (TypeError, ValueError):  # arguments that do not fit the library's own message
            text = str(record.msg)
        self._error.error("library_warning", tag=tag, text=text, exc_info=record.exc_info)
        self._ops.warning("library_warning", text=f"{tag}: {text}")


def open_logs(settings: LogSettings, folder: Path, scrub: Scrub, *, terminal: TextIO | None = None) -> Logs:
    """Open the logs of a daemon or command; each file is made at its first line.

    Args:
        settings: `logs` of the configuration.
        folder: Where the three files are.
        scrub: Takes the values of secrets out of a text.
        terminal: Where the operator's lines go, stderr if not given.

    Raises:
        ConfigError: If the folder cannot be used.
    """
    _check_folder(folder)
    level = LEVELS.get(settings.level.lower(), logging.INFO)
    screen = Terminal(terminal or sys.stderr)
    ops = _logger("ops", screen, level=level, form=short_line, scrub=scrub)
    files = {
        name: LogFile(
            folder / f"{name}.log",
            rotate=settings.rotate,
            keep=settings.keep,
            complain=lambda text: ops.warning("log_file", text=text),
        )
        for name in ("msg", "raw", "error")
    }
    form = json_line if settings.format == "json" else text_line
    error = _logger("error", files["error"], level=level, form=form, scrub=scrub)
    handler = Forward(error, ops)
    for name in FOREIGN_LOGGERS:
        logging.getLogger(name).addHandler(handler)

    def close() -> None:
        for name in FOREIGN_LOGGERS:
            logging.getLogger(name).removeHandler(handler)
        for file in files.values():
            file.close()

    return Logs(
        msg=_logger("msg", files["msg"], level=level, form=form, scrub=scrub),
        raw=_logger("raw", files["raw"] if settings.raw else Nowhere(), level=level, form=form, scrub=scrub),
        error=error,
        ops=ops,
        close=close,
    )


def embedded_logs(scrub: Scrub) -> Logs:
    """Give the logs of an embedded `ias`: the loggers `ias.msg`, `ias.raw`, `ias.error` and `ias.ops` of `logging`."""
    levels = {"msg": logging.INFO, "raw": logging.DEBUG, "error": logging.ERROR, "ops": logging.INFO}
    root = logging.getLogger("ias")
    if not root.handlers:
        root.addHandler(logging.NullHandler())  # silent where the program did not set up logging
    made = {
        name: _logger(name, Standard(f"ias.{name}", level), level=logging.DEBUG, form=_bare_line, scrub=scrub)
        for name, level in levels.items()
    }
    return Logs(**made, close=lambda: None)


def escape(text: str) -> str:
    r"""Escape what would break a line or deceive its reader: control characters, text direction, lone surrogates.

    A backslash stays as it is, so that JSON in a line can be read.
    """
    return UNSAFE.sub(lambda match: NAMED.get(match[0]) or _code_point(match[0]), text)


def text_line(name: str, event: Mapping[str, Any]) -> str:
    """Give an event as a line of a log: time, tag, conversation, turn, run, text, further facts."""
    ids = " ".join(short_id(event.get(key)) for key in IDS)
    return f"{_now()} [{escape(str(event.get('tag', name)))}] {ids} {_words(event)}"


def short_line(_name: str, event: Mapping[str, Any]) -> str:
    """Give an event as the operator reads it on the terminal: local time of day, text, further facts."""
    mark = "" if event["level"] in ("debug", "info") else f"{event['level']}: "
    return f"{datetime.now().astimezone():%H:%M:%S} {mark}{_words(event)}"


def _bare_line(_name: str, event: Mapping[str, Any]) -> str:
    """Give an event without the time, which the program's own handlers add."""
    return f"[{escape(str(event.get('tag', '-')))}] {short_id(event.get('run_id'))} {_words(event)}"


def json_line(name: str, event: Mapping[str, Any]) -> str:
    """Give an event as one JSON object, ASCII only, with whole ids."""
    known = ("tag", "level", *IDS, "event", "text", "exception")
    body: dict[str, Any] = {"time": _now(), "log": name}
    body |= {key: event[key] for key in known if key in event}
    body |= {key: value for key, value in event.items() if key not in known and not key.startswith("_")}
    return json.dumps(body, default=str)


def short_id(value: object) -> str:
    """Give an id as logs show it; `-` if there is none."""
    return escape(str(value))[:SHORT_ID] if value else "-"


def _logger(
    name: str, sink: Sink, *, level: int, form: Callable[[str, Mapping[str, Any]], str], scrub: Scrub
) -> FilteringBoundLogger:
    made = structlog.wrap_logger(
        None,
        processors=[
            merge_contextvars,
            structlog.processors.format_exc_info,
            Render(name, sink, form=form, scrub=scrub),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        context_class=dict,
        cache_logger_on_first_use=True,
    )
    return cast("FilteringBoundLogger", made.bind())


def _check_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"the folder of the logs {str(folder)!r} cannot be made: {error.strerror}; set logs.dir to one that can"
        ) from error


def _scrubbed(value: object, scrub: Scrub) -> object:
    if isinstance(value, str):
        return scrub(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return scrub(str(value))


def _words(event: Mapping[str, Any]) -> str:
    """Join the text (the event's name where there is none) and the facts that have no place of their own."""
    shown = ("event", "text", "tag", "level", "exception", *IDS)
    facts = [f"{key}={_fact(value)}" for key, value in event.items() if key not in shown and not key.startswith("_")]
    if "exception" in event:
        facts.append(f"exception={event['exception']}")
    return escape(" ".join([str(event.get("text") or event["event"]), *facts]))


def _fact(value: object) -> str:
    text = str(value)
    return json.dumps(text, ensure_ascii=False) if not text or re.search(r'[\s"=]', text) else text


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _code_point(char: str) -> str:
    return f"\\x{ord(char):02x}" if ord(char) < 0x100 else f"\\u{ord(char):04x}"
