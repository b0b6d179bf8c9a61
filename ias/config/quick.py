"""The few settings that short commands need, read without the models: loading those takes longer than the commands."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ias.config.env import UnsetError, fill, load_env
from ias.config.home import CONFIG_NAME
from ias.config.strict_yaml import Document, YamlTextError, read_yaml
from ias.config.units import seconds
from ias.domain.approvals import slots
from ias.domain.messages import JsonValue
from ias.errors import ConfigError

T = TypeVar("T")
SQLITE = "sqlite:"
SQLITE_LIKE = "an address like sqlite:data/ias.db; other databases are not in this version"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quick:
    """What `ias approve` and its like need; the defaults are those of `settings`."""

    database: Path
    approval_timeout: float = 900.0


def read_quick(home: Path, environ: Mapping[str, str]) -> Quick:
    """Read them; the rest of the file is only checked to be YAML.

    Raises:
        ConfigError: The file cannot be read, or one of these settings is wrong.
    """
    file = home / CONFIG_NAME
    document = read_document(file)
    reader = Reader(home=home, file=file, document=document, environ=environ)
    return Quick(
        database=home / Path(reader.read("store", "url", _sqlite_path, "data/ias.db")).expanduser(),
        approval_timeout=reader.read("approvals", "timeout", seconds, 900.0),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """One file, asked key by key."""

    home: Path
    file: Path
    document: Document
    environ: Mapping[str, str]

    def read(self, section: str, key: str, convert: Callable[[object], T], default: T) -> T:
        """Give a setting.

        Raises:
            ConfigError: With its line.
        """
        tree = self.document.value if isinstance(self.document.value, dict) else {}
        held = tree.get(section)
        if not isinstance(held, dict) or key not in held:
            return default
        try:
            return convert(self._filled(held[key]))
        except UnsetError as error:
            message = f"{section}.{key} {error}"
        except ValueError as error:
            message = f"{section}.{key} {error}"
        raise ConfigError(message, file=self.file, line=self.document.line((section, key)))

    def _filled(self, value: JsonValue) -> JsonValue:
        if isinstance(value, str) and slots(value):
            return fill(value, load_env(self.home, self.environ))
        return value


def read_document(file: Path) -> Document:
    """Read a config.yaml as a tree; one that does not exist is empty.

    Raises:
        ConfigError: It cannot be read, or is no YAML of ours.
    """
    try:
        return read_yaml(file.read_bytes())
    except FileNotFoundError:
        return Document(value={}, lines={}, plain={})
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", file=file) from error
    except YamlTextError as error:
        message = f"{error}; {error.fix}" if error.fix else str(error)
        raise ConfigError(message, file=file, line=error.line) from error


def _sqlite_path(value: object) -> str:
    if not isinstance(value, str) or not value.startswith(SQLITE) or value == SQLITE:
        raise ValueError(f"must be {SQLITE_LIKE}")  # the value may hold a password
    return value.removeprefix(SQLITE)
