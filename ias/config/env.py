"""Values from the environment and from `.env` beside config.yaml, and `${NAME}` that stands for one."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ias.domain.approvals import SLOT
from ias.errors import ConfigError

LINE = re.compile(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)")
QUOTED = re.compile(r"""(["'])(.*)\1\s*(?:#.*)?""")
COMMENT = re.compile(r"\s+#.*$")


class UnsetError(ValueError):
    """A `${NAME}` has no value; `name` is the NAME."""

    def __init__(self, name: str) -> None:
        super().__init__(f"needs ${{{name}}}, which is not set; put {name}=… into the environment or into .env")
        self.name = name


@dataclass(frozen=True, slots=True, repr=False)
class SecretRef:
    """A secret as config.yaml writes it: `${NAME}`, or the secret itself; shown only as the former."""

    template: str

    def reveal(self, env: Mapping[str, str]) -> str:
        """Give the secret.

        Raises:
            UnsetError: If a name has no value in `env`.
        """
        return fill(self.template, env)

    def __str__(self) -> str:
        """Give what may be shown."""
        return self.template if SLOT.fullmatch(self.template) else "***"

    def __repr__(self) -> str:
        """Give what may be shown."""
        return f"SecretRef({str(self)!r})"


def fill(template: str, env: Mapping[str, str]) -> str:
    """Replace each `${NAME}` by its value.

    Raises:
        UnsetError: If one has none, or an empty one.
    """

    def value(found: re.Match[str]) -> str:
        if not env.get(found[1]):
            raise UnsetError(found[1])
        return env[found[1]]

    return SLOT.sub(value, template)


def load_env(home: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """Give the environment, with what `.env` in the home adds to it; the environment goes first.

    Raises:
        ConfigError: A line of `.env` is not `NAME=value`; the line's text is not shown.
    """
    file = home / ".env"
    try:
        text = file.read_text("utf-8-sig")
    except FileNotFoundError:
        return dict(environ)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot be read: {error}", file=file) from error
    values: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        found = LINE.fullmatch(stripped)
        if found is None:
            raise ConfigError("write NAME=value, or begin the line with #", file=file, line=number)
        values[found[1]] = _unquote(found[2])
    return values | dict(environ)


def _unquote(text: str) -> str:
    quoted = QUOTED.fullmatch(text)
    if quoted is None:
        return COMMENT.sub("", text) if not text.startswith("#") else ""
    return quoted[2]
