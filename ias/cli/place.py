"""Where a command works: the home, its store and socket, and what of the configuration the quick commands need."""

import os
import pwd
import socket
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import typer

from ias.config.home import CONFIG_NAME, find_home
from ias.store.base import Terms

SOCKET = "ias.sock"
DATABASE = "data/ias.db"  # the default of store.url
PATH_MAX = 107  # bytes that the kernel takes as the path of a Unix socket
POKE_TIMEOUT = 1.0  # seconds; the daemon finds out by itself a little later
POKE = b"POST /api/poke HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
OPERATOR = "operator"  # the user whose calls and messages come from this command line, unless --user says


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A home and what lies in it."""

    home: Path
    store: Path
    terms: Terms

    @property
    def socket(self) -> Path:
        """Give the daemon's socket: beside the store, or where IAS_SOCKET says (for `ias serve --socket`)."""
        named = os.environ.get("IAS_SOCKET")
        return Path(named) if named else self.store.parent / SOCKET

    def poke(self) -> bool:
        """Tell a running daemon to look at the store; False if none answers."""
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(POKE_TIMEOUT)
                connection.connect(socket_address(self.socket))
                connection.sendall(POKE)
                return connection.recv(64).startswith(b"HTTP/1.1 2")
        except OSError:
            return False


def home_of(context: typer.Context) -> Path:
    """Give the home that the command was told, or the usual one."""
    return find_home(cast("Path | None", context.obj), env=os.environ, cwd=Path.cwd())


def find_place(context: typer.Context) -> Place:
    """Find the home and read the two settings that quick commands need; the daemon reads and checks all of them.

    Raises:
        ConfigError: config.yaml is no YAML, or one of the two is wrong.
    """
    return place_at(home_of(context))


def place_at(home: Path) -> Place:
    """Find what lies in a home.

    Raises:
        ConfigError: As `find_place`.
    """
    if not (home / CONFIG_NAME).is_file():
        return Place(home=home, store=home / DATABASE, terms=Terms())
    from ias.config.quick import read_quick  # reads YAML: only where there is some

    quick = read_quick(home, os.environ)
    return Place(home=home, store=quick.database, terms=Terms(approval_timeout_ms=round(quick.approval_timeout * 1000)))


def socket_address(path: Path) -> str:
    """Give a path that the kernel takes: a long one goes through a descriptor of its folder."""
    if len(os.fsencode(path)) <= PATH_MAX:
        return str(path)
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    return f"/proc/self/fd/{folder}/{path.name}"


def program() -> str:
    """Give how this program was called, for commands that people are told to type."""
    called = Path(sys.argv[0])
    if called.parent.name == "bin" and called.parent.parent.name == ".venv":
        return f".venv/bin/{called.name}"
    return "ias"


def login_name() -> str:
    """Give the name of the person at this terminal, for the record."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # an account without an entry, as in containers
        return str(os.getuid())
