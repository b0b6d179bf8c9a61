"""Options that no program knows beforehand: those of a tool's parameters, between the words of `ias run`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from ias.cli.exits import UsageError
from ias.cli.visible import tame
from ias.domain.messages import JsonObject, JsonValue
from ias.domain.tools import ToolSpec

FLAGS = ("json", "help")
VALUED = ("approve", "user", "args")
OWN_HELP = (
    ("--json", "Print the outcome as JSON."),
    ("--approve once", "Approve what the call asks for, once, after showing it."),
    ("--user TEXT", "Whose memories and data it works on."),
    ("--args JSON", "All arguments as one JSON object."),
)
USAGE_LINE = "Usage: ias run [--json] [--approve once] [--user TEXT] NAME [--PARAMETER VALUE]..."


@dataclass(slots=True, kw_only=True)
class Asked:
    """What the words after `ias run` say; `given` are options after the name, each with the text after it."""

    name: str | None = None
    given: list[tuple[str, str | None]] = field(default_factory=lambda: [])
    own: dict[str, str] = field(default_factory=lambda: {})

    @property
    def is_help(self) -> bool:
        """Whether help was asked for."""
        return "help" in self.own or any(option == "help" for option, _ in self.given)

    @property
    def as_json(self) -> bool:
        """Whether the outcome is printed as JSON."""
        return "json" in self.own

    @property
    def user(self) -> str | None:
        """The user that was named."""
        return self.own.get("user")

    @property
    def approves_once(self) -> bool:
        """Whether `--approve once` stands there.

        Raises:
            UsageError: It says something else than once.
        """
        value = self.own.get("approve")
        if value not in (None, "once"):
            raise UsageError(f"--approve {value!r} is not possible here; write --approve once")
        return value is not None

    def args_for(self, parameters: JsonObject) -> JsonObject:
        """Give the arguments for a tool; what it does not declare is taken for an option of `run` itself.

        Raises:
            UsageError: An option is nobody's, or lacks its value.
        """
        properties = cast("Mapping[str, Mapping[str, Any]]", parameters.get("properties") or {})
        texts: dict[str, list[str]] = {}
        flags: JsonObject = {}
        for option, text in self.given:
            name = option.replace("-", "_")
            negated = name.removeprefix("no_") if name.startswith("no_") else ""
            if name in properties:
                if text is not None:
                    texts.setdefault(name, []).append(text)
                elif properties[name].get("type") == "boolean":
                    flags[name] = True
                else:
                    raise UsageError(f"--{option} needs a value; `ias run {self.name} --help` shows the options")
            elif negated in properties and text is None:
                flags[negated] = False
            else:
                self._take_own(option, text)
        values: JsonObject = {name: _value(found, properties[name]) for name, found in texts.items()}
        return self._whole() | flags | values

    def _take_own(self, option: str, text: str | None) -> None:
        if option in FLAGS and text is None:
            self.own[option] = ""
        elif option in VALUED and text is not None:
            self.own[option] = text
        else:
            raise UsageError(f"{self.name} has no option --{option}; `ias run {self.name} --help` shows the options")

    def _whole(self) -> JsonObject:
        text = self.own.get("args")
        if text is None:
            return {}
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"--args is no JSON: {error}; quote it as a whole") from error
        if not isinstance(value, dict):
            raise UsageError('--args must be one JSON object, like {"location": "北京"}')
        return cast("JsonObject", value)


def read_options(words: Sequence[str]) -> Asked:
    """Sort the words after `ias run`.

    Raises:
        UsageError: A word is out of place.
    """
    asked = Asked()
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if not word.startswith("--"):
            if asked.name is not None:
                raise UsageError(f"{word!r} is one word too many; give parameters as --NAME VALUE")
            asked.name = word
            continue
        option, has_value, text = word[2:].partition("=")
        value = text if has_value else None
        if not has_value and _takes_next(asked, option, words[at:]):
            value, at = words[at], at + 1
        if asked.name is None:
            _take_early(asked, option, value)
        else:
            asked.given.append((option, value))
    return asked


def help_lines(spec: ToolSpec | None) -> list[str]:
    """Give the help of `ias run`, or of one tool's call."""
    lines = [USAGE_LINE, ""]
    if spec is not None:
        lines += [f"  {tame(line)}" for line in spec.desc.splitlines()] + ["", "Parameters:"]
        lines += parameter_lines(spec)
        lines.append("")
    lines.append("Options:")
    lines += [f"  {name:<18}{text}" for name, text in OWN_HELP]
    if spec is None:
        lines += ["", "`ias tools list` shows the tools, `ias run NAME --help` the parameters of one."]
    return lines


def _takes_next(asked: Asked, option: str, rest: Sequence[str]) -> bool:
    if not rest or rest[0].startswith("--"):
        return False
    return option in VALUED if asked.name is None else option not in FLAGS


def _take_early(asked: Asked, option: str, value: str | None) -> None:
    if option in FLAGS and value is None:
        asked.own[option] = ""
    elif option in VALUED and value is not None:
        asked.own[option] = value
    else:
        raise UsageError(f"--{option} is not an option of `ias run`; parameters of a tool stand after its name")


def _value(texts: Sequence[str], schema: Mapping[str, Any]) -> JsonValue:
    """Give an argument as the schema's repairs take it: text, or a list where an option was repeated."""
    if schema.get("type") != "array":
        return texts[-1]
    if len(texts) == 1 and texts[0].lstrip().startswith("["):
        return texts[0]
    return list(texts)


def parameter_lines(spec: ToolSpec) -> list[str]:
    """Give a line or two for each parameter of a tool."""
    properties = cast("Mapping[str, Mapping[str, Any]]", spec.parameters.get("properties") or {})
    required = cast("Sequence[str]", spec.parameters.get("required") or ())
    lines: list[str] = []
    for name, schema in properties.items():
        choices = schema.get("enum")
        kind = "|".join(str(choice) for choice in choices) if choices else str(schema.get("type", "value")).upper()
        notes = ["required"] if name in required else []
        notes += [f"default {schema['default']!r}"] if "default" in schema else []
        lines.append(f"  --{name} {kind}" + (f"  ({', '.join(notes)})" if notes else ""))
        if schema.get("description"):
            lines.append(f"      {tame(str(schema['description']))}")
    return lines or ["  none"]
