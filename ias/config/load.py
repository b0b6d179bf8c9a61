"""Reading config.yaml: the file, `${NAME}`, the strict models, and errors that say where and what to write."""

import copy
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from ias.config.env import SecretRef, UnsetError, fill, load_env
from ias.config.faults import Fault, dotted, faults_of
from ias.config.home import CONFIG_NAME
from ias.config.quick import SQLITE, SQLITE_LIKE, read_document
from ias.config.rules import Rule
from ias.config.settings import Settings
from ias.config.strict_yaml import Document, Keys, scalar
from ias.domain.approvals import SLOT, slots
from ias.domain.messages import JsonObject, JsonValue
from ias.errors import ConfigError

# Filled in when they are asked for, so that an unset one hurts only who needs it, and a secret is not kept anywhere.
LAZY = (("llm", "api_key"), ("channels",), ("mcp",))
SECRET_KEY = re.compile(r"key|token|secret|password|authorization|cookie", re.IGNORECASE)
HOLDERS = frozenset({"env", "headers"})  # mappings of free names: every value may be a secret
SHOWN_FAULTS = 8  # of one file; the rest is counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The configuration of one home, checked; the sections are attributes of `settings`.

    `env` holds the environment and `.env`, secrets included: it is not shown in `repr`.
    """

    home: Path
    settings: Settings
    rules: tuple[Rule, ...]
    env: Mapping[str, str] = field(repr=False)
    document: Document = field(repr=False)

    @property
    def file(self) -> Path:
        """The config.yaml, which need not exist."""
        return self.home / CONFIG_NAME

    def path(self, relative: str) -> Path:
        """Give a path of the configuration: relative ones start at the home."""
        return self.home / Path(relative).expanduser()

    @property
    def database(self) -> Path:
        """The SQLite file.

        Raises:
            ConfigError: If `store.url` names another kind of database.
        """
        url = self.settings.store.url
        if not url.startswith(SQLITE):
            raise self.error("store.url", f"must be {SQLITE_LIKE}")
        return self.path(url.removeprefix(SQLITE))

    @property
    def secret_hosts(self) -> dict[str, tuple[str, ...]]:
        """Where each secret may go."""
        return {name: use.hosts for name, use in self.settings.secrets.items()}

    def credential_names(self) -> frozenset[str]:
        """Give the variables that the configuration takes credentials from, for the check of what tools ask for."""
        return frozenset(name for text in _texts(self.document.value) for name in slots(text))

    def reveal(self, key: str) -> str | None:
        """Give a secret setting with every `${NAME}` filled in.

        Args:
            key: Like `llm.api_key`.

        Raises:
            ConfigError: A NAME has no value; the message names key and NAME.
        """
        value: object = self.settings
        for part in key.split("."):
            value = getattr(value, part)
        try:
            return value.reveal(self.env) if isinstance(value, SecretRef) else None
        except UnsetError as error:
            raise self.error(key, str(error)) from error

    def resolve(self, key: str, value: JsonValue) -> JsonValue:
        """Fill in every `${NAME}` of a value that was kept as written, below `channels` or `mcp`.

        Raises:
            ConfigError: A NAME has no value; the message names key and NAME.
        """
        try:
            return _filled(value, self.env)
        except UnsetError as error:
            raise self.error(key, str(error)) from error

    def error(self, key: str, message: str) -> ConfigError:
        """Make the error that names a key and its line."""
        return ConfigError(f"{key} {message}", file=self.file, line=self.document.lines.get(tuple(key.split("."))))

    def shown(self) -> JsonObject:
        """Give all settings as they may be shown: secrets as `${NAME}` or `***`, free sections as written."""
        shown = self.settings.model_dump(mode="json")
        shown["store"]["url"] = _without_password(shown["store"]["url"])
        return shown | {"channels": _masked(shown["channels"]), "mcp": _masked(shown["mcp"])}


def load_config(home: Path, environ: Mapping[str, str]) -> Config:
    """Read and check the configuration of a home.

    Args:
        home: The folder; a config.yaml in it is optional.
        environ: The process's environment.

    Raises:
        ConfigError: With file, line, key, and the nearest known key or what to write instead.
    """
    if not home.is_dir():
        raise ConfigError(f"there is no folder {str(home)!r}; make one with `ias init {home}`")
    env = load_env(home, environ)
    file = home / CONFIG_NAME
    document = read_document(file)
    tree = _tree(document, file)
    faults = tuple(_fill_tree(tree, (), document, env))
    if faults:
        raise as_error(faults, file)
    try:
        settings = Settings.model_validate_json(json.dumps(tree))
    except ValidationError as error:
        raise as_error(faults_of(error, document, Settings), file) from None
    return Config(home=home, settings=settings, rules=_rules(settings, document), env=env, document=document)


def as_error(faults: tuple[Fault, ...], file: Path) -> ConfigError:
    """Make one error of all faults, the first with file and line, the others on lines of their own."""
    first, *others = faults
    lines = [str(first), *(f"{file}:{fault.line}: {fault}" for fault in others[: SHOWN_FAULTS - 1])]
    if len(faults) > SHOWN_FAULTS:
        lines.append(f"and {len(faults) - SHOWN_FAULTS} more")
    return ConfigError("\n".join(lines), file=file, line=first.line)


def _tree(document: Document, file: Path) -> JsonObject:
    value = document.value
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ConfigError("the file must be a mapping of sections, like `llm:`", file=file, line=1)
    return {key: copy.deepcopy(section) for key, section in value.items() if section is not None}


def _fill_tree(value: JsonValue, keys: Keys, document: Document, env: Mapping[str, str]) -> Iterator[Fault]:
    """Put values in the place of `${NAME}` and give a fault for each that has none."""
    if any(keys[: len(lazy)] == lazy for lazy in LAZY):
        return
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        place = (*keys, key)
        if isinstance(item, str) and "\0" in item:
            message = f"{dotted(place)} has a NUL character, which nothing here can hold"
            yield Fault(key=dotted(place), line=document.line(place), message=message)
        elif not isinstance(item, str) or not slots(item):
            yield from _fill_tree(item, place, document, env)
        elif place not in LAZY:
            try:
                text = fill(item, env)
            except UnsetError as error:
                yield Fault(key=dotted(place), line=document.line(place), message=f"{dotted(place)} {error}")
                continue
            filled = scalar(text) if document.spelling(place) else text
            if isinstance(value, dict):
                value[str(key)] = filled
            elif isinstance(value, list):
                value[int(key)] = filled


def _rules(settings: Settings, document: Document) -> tuple[Rule, ...]:
    entries = settings.approvals.rules
    return tuple(
        entry.as_rule(f"approvals.rules[{number}] (line {document.line(('approvals', 'rules', number))})")
        for number, entry in enumerate(entries)
    )


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def _filled(value: JsonValue, env: Mapping[str, str]) -> JsonValue:
    match value:
        case str():
            return fill(value, env)
        case dict():
            return {key: _filled(item, env) for key, item in value.items()}
        case list():
            return [_filled(item, env) for item in value]
        case _:
            return value


def _masked(value: JsonValue, key: str = "") -> JsonValue:
    match value:
        case str():
            return value if not SECRET_KEY.search(key) or SLOT.fullmatch(value) else "***"
        case dict():
            return {
                name: _masked(item, name if key not in HOLDERS else f"{key}_secret") for name, item in value.items()
            }
        case list():
            return [_masked(item, key) for item in value]
        case _:
            return value


def _without_password(url: str) -> str:
    return re.sub(r"(?<=://)([^:/@]*):[^@/]*@", r"\1:***@", url)
