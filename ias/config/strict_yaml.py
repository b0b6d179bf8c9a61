"""YAML as the project reads it: plain trees, no surprises, and the line of every key.

Read are mappings, lists, text, numbers written as in JSON, `true`, `false` and `null`. Everything else that YAML can do
stays text (`no`, `off`, `12:30`, `0x1F`, dates) or is refused: anchors, aliases, tags, duplicate keys, a second
document, more than 64 KiB, nesting over 20.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)
from yaml.reader import ReaderError

from ias.domain.messages import JsonObject, JsonValue

MAX_BYTES = 64 * 1024  # a spec or a config is a page, not a database
MAX_DEPTH = 20
MAX_DIGITS = 18  # longer numbers would lose digits on their way through JSON: they stay text
INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
WORDS: Mapping[str, bool | None] = {"true": True, "false": False, "null": None, "~": None, "": None}

Keys: TypeAlias = tuple[str | int, ...]

# What libyaml says, and what a person does about it.
HINTS = (
    ("tab character", "indent with spaces, not tabs"),
    ("mapping values are not allowed", "put text that holds ': ' in quotes, and indent keys of one level alike"),
    (
        "found character that cannot start any token",
        "indent with spaces, not tabs, and put text beginning with %, @ or ` in quotes",
    ),
    ("did not find expected key", "indent the keys of one level alike, and close quotes and brackets"),
    ("could not find expected ':'", "write `key: value`"),
    (
        "did not find expected ',' or",
        "close the bracket, put commas between items, and `${NAME}` within braces in quotes",
    ),
    ("found unexpected end of stream", "close the quote"),
    ("did not find expected node content", "write a value here: close the bracket before it"),
    ("unknown escape character", "use 'single quotes', in which a backslash is a backslash"),
)
HINT = "look at this line and the one before it: indentation, quotes, brackets, and ': ' in text"


class YamlTextError(ValueError):
    """A text that is no YAML of ours; `line` counts from 1, `fix` says what to do."""

    def __init__(self, message: str, *, line: int, fix: str = "", keys: Keys = ()) -> None:
        super().__init__(message)
        self.line = line
        self.fix = fix
        self.keys = keys


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A text as a tree, with the line and the spelling of what stands where."""

    value: JsonValue
    lines: Mapping[Keys, int]
    plain: Mapping[Keys, str]

    def line(self, keys: Keys) -> int:
        """Give the line, from 1, of a key or of the nearest one above it."""
        while keys not in self.lines and keys:
            keys = keys[:-1]
        return self.lines.get(keys, 1)

    def spelling(self, keys: Keys) -> str | None:
        """Give how an unquoted scalar is written, None for anything else."""
        return self.plain.get(keys)


@dataclass(slots=True)
class Frame:
    """A mapping or list that is being filled."""

    keys: Keys
    items: JsonObject | list[JsonValue]
    line: int
    key: str | None = None


@dataclass(slots=True)
class Tree:
    """What has been read so far."""

    root: list[JsonValue] = field(default_factory=lambda: [])
    frames: list[Frame] = field(default_factory=lambda: [])
    lines: dict[Keys, int] = field(default_factory=lambda: {})
    plain: dict[Keys, str] = field(default_factory=lambda: {})


def read_yaml(content: bytes) -> Document:
    """Read one document.

    Raises:
        YamlTextError: With the line, and what to write instead.
    """
    if not yaml.__with_libyaml__:
        raise RuntimeError(
            "PyYAML was built without libyaml; install a wheel of pyyaml, or libyaml-dev before building it"
        )
    text = _decode(content)
    tree = Tree()
    for event in _events(text):
        _take(tree, event)
    value = tree.root[0] if tree.root else None
    return Document(value=value, lines=tree.lines, plain=tree.plain)


def scalar(text: str) -> JsonValue:
    """Give the value of an unquoted scalar: a number as JSON writes it, true, false, null, or the text itself."""
    if text in WORDS:
        return WORDS[text]
    if not NUMBER.fullmatch(text) or sum(char.isdigit() for char in text) > MAX_DIGITS:
        return text
    if INTEGER.fullmatch(text):
        return int(text)
    number = float(text)
    return number if math.isfinite(number) else text


def _decode(content: bytes) -> str:
    if len(content) > MAX_BYTES:
        raise YamlTextError(
            f"the file has {len(content)} bytes, at most {MAX_BYTES} are read", line=1, fix="make it shorter"
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise YamlTextError("the file is not UTF-8", line=line, fix="save it as UTF-8") from error


def _events(text: str) -> Iterator[Event]:
    try:
        parser = yaml.CSafeLoader(text)
        while (event := parser.get_event()) is not None:
            yield event
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        message = f"the character {chr(error.character)!r} may not stand in YAML"
        raise YamlTextError(message, line=line, fix="remove it") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = error.problem or str(error)
        fix = next((hint for part, hint in HINTS if part in problem), HINT)
        raise YamlTextError(f"no valid YAML: {problem}", line=mark.line + 1 if mark else 1, fix=fix) from error


def _take(tree: Tree, event: Event) -> None:
    match event:
        case AliasEvent():
            raise _refusal(event, f"the alias *{event.anchor} is not allowed", "write the value out")
        case MappingStartEvent() | SequenceStartEvent():
            _open(tree, event)
        case MappingEndEvent() | SequenceEndEvent():
            tree.frames.pop()
        case ScalarEvent():
            _refuse_extras(event)
            _add_scalar(tree, event)
        case DocumentStartEvent():
            if tree.root:
                raise _refusal(event, "a second document begins", "remove the line '---'")
        case _:
            return


def _open(tree: Tree, event: MappingStartEvent | SequenceStartEvent) -> None:
    _refuse_extras(event)
    if len(tree.frames) >= MAX_DEPTH:
        raise _refusal(event, f"the file is nested deeper than {MAX_DEPTH} levels", "make it flatter")
    items: JsonObject | list[JsonValue] = {} if isinstance(event, MappingStartEvent) else []
    line = _line(event)
    keys = _place(tree, event, items)
    tree.frames.append(Frame(keys=keys, items=items, line=line))


def _add_scalar(tree: Tree, event: ScalarEvent) -> None:
    frame = tree.frames[-1] if tree.frames else None
    if frame is not None and isinstance(frame.items, dict) and frame.key is None:
        _begin_key(tree, frame, event)
        return
    is_plain = event.implicit[0]
    keys = _place(tree, event, scalar(event.value) if is_plain else event.value)
    if is_plain:
        tree.plain[keys] = event.value


def _begin_key(tree: Tree, frame: Frame, event: ScalarEvent) -> None:
    keys = (*frame.keys, event.value)
    if event.value in frame.items:
        first = tree.lines[keys]
        message = f"the key {event.value!r} is there twice, first in line {first}"
        raise YamlTextError(message, line=_line(event), fix="remove one of them", keys=keys)
    frame.key = event.value
    tree.lines[keys] = _line(event)


def _place(tree: Tree, event: Event, value: JsonValue) -> Keys:
    if not tree.frames:
        tree.root.append(value)
        return ()
    frame = tree.frames[-1]
    if isinstance(frame.items, list):
        keys = (*frame.keys, len(frame.items))
        tree.lines[keys] = _line(event)
        frame.items.append(value)
        return keys
    if frame.key is None:
        raise _refusal(event, "a mapping or list stands where a key should be", "put `{...}` or `[...]` in quotes")
    keys = (*frame.keys, frame.key)
    frame.items[frame.key] = value
    frame.key = None
    return keys


def _refuse_extras(event: ScalarEvent | MappingStartEvent | SequenceStartEvent) -> None:
    if event.anchor is not None:
        raise _refusal(event, f"the anchor &{event.anchor} is not allowed", "write the value out where it is needed")
    if event.tag is not None:
        raise _refusal(event, f"the tag {event.tag} is not allowed", "put text that begins with '!' in quotes")


def _refusal(event: Event, message: str, fix: str) -> YamlTextError:
    return YamlTextError(message, line=_line(event), fix=fix)


def _line(event: Event) -> int:
    return event.start_mark.line + 1
