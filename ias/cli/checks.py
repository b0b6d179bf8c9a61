"""The single checks of `ias doctor`."""

import platform
import shutil
import socket
import stat
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from ias.cli.place import Place, program
from ias.cli.specs import scan_home
from ias.cli.visible import one_line
from ias.config.load import Config
from ias.errors import IasError
from ias.store import connection
from ias.store.once import read_once
from ias.store.restore import find_damage

PYTHON_MIN = (3, 11)
SPACE_LOW, SPACE_GONE = 1024**3, 100 * 1024**2  # bytes
REACH_TIMEOUT = 5.0  # seconds
HTTPS = 443
MIB = 1024**2
DAMAGE_SHOWN = 200  # characters


class Verdict(StrEnum):
    """What a check says: fine, worth knowing, or wrong."""

    GOOD = "ok"
    NOTE = "note"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one check; `todo` says what to do about it."""

    name: str
    verdict: Verdict
    text: str
    todo: str = ""


def machine() -> Iterator[Finding]:
    """Look at Python and SQLite."""
    is_new = sys.version_info >= PYTHON_MIN
    text = f"{platform.python_version()} at {sys.executable}"
    yield Finding("python", Verdict.GOOD if is_new else Verdict.WRONG, text, "" if is_new else "install 3.11 or newer")
    found = connection.sqlite3.sqlite_version_info  # the driver belongs to the store
    is_new = found >= connection.OLDEST
    text = ".".join(str(part) for part in found)
    yield Finding(
        "sqlite", Verdict.GOOD if is_new else Verdict.WRONG, text, "" if is_new else "3.35 or newer is needed"
    )


def state(config: Config, place: Place) -> Iterator[Finding]:
    """Look at the store and at who may read the state."""
    for file in (place.store.parent, place.store, config.path(config.settings.api.token_file), place.home / ".env"):
        if not file.exists():
            continue
        mode = stat.S_IMODE(file.stat().st_mode)
        if mode & 0o077:
            right = "700" if file.is_dir() else "600"
            yield Finding("modes", Verdict.WRONG, f"others may use {file} (mode {mode:o})", f"chmod {right} {file}")
    if not place.store.exists():
        yield Finding("store", Verdict.NOTE, f"{place.store} is not there yet; the first `ias serve` makes it")
        return
    try:
        counts = read_once(place.store, "pending_counts")[0]
        damage = find_damage(place.store)
    except IasError as error:
        what, _, todo = str(error).partition("; ")
        yield Finding("store", Verdict.WRONG, what, todo)
        return
    if damage is not None:
        todo = f"stop the daemon, then put a backup in its place: {program()} restore FILE"
        yield Finding("store", Verdict.WRONG, f"{place.store} is damaged: {one_line(damage, DAMAGE_SHOWN)}", todo)
        return
    waiting = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in counts.items() if count)
    yield Finding("store", Verdict.GOOD, f"{place.store}: {waiting or 'nothing waits'}")
    if number := counts["dead_letters"]:
        todo = f"look: {program()} queue dead; then queue retry ID or queue drop ID"
        yield Finding("queue", Verdict.NOTE, f"{number} dead letter{'s' if number > 1 else ''}", todo)


def disk(place: Place) -> Iterator[Finding]:
    """Look at the space where the state is."""
    folder = next(parent for parent in (place.store.parent, *place.store.parents) if parent.exists())
    free = shutil.disk_usage(folder).free
    verdict = Verdict.WRONG if free < SPACE_GONE else Verdict.NOTE if free < SPACE_LOW else Verdict.GOOD
    todo = "" if verdict is Verdict.GOOD else "free some space; without it nothing can be stored"
    yield Finding("disk", verdict, f"{free // MIB} MiB free at {folder}", todo)


def tools(config: Config) -> Iterator[Finding]:
    """Look at the specs."""
    scanned = scan_home(config)
    if not scanned.specs and not scanned.rejected:
        folders = ", ".join(config.settings.tools.dirs)
        yield Finding(
            "tools", Verdict.NOTE, f"there are none in {folders}", "ias init brings some, ias tools new makes one"
        )
    else:
        yield Finding("tools", Verdict.GOOD, f"{len(scanned.specs)} usable")
    for problem in scanned.rejected:
        place = f"{problem.file}:{problem.line}: {problem.message}"
        yield Finding("tools", Verdict.WRONG, place, problem.fix)


def model(config: Config) -> Finding:
    """Say which model answers; that its key is set was looked at with the configuration."""
    from ias.daemon.parts import llm_settings
    from ias.providers.choose import choose

    chosen = choose(llm_settings(config), config.env)
    if chosen is None:
        todo = "put DEEPSEEK_API_KEY=… into .env for a model"
        return Finding("model", Verdict.NOTE, "offline: rules answer, no language model", todo)
    key = "key set" if chosen.api_key else "needs no key"
    return Finding("model", Verdict.GOOD, f"{chosen.profile.name} {chosen.model}, {key}")


def secrets(config: Config) -> Iterator[Finding]:
    """Say which secrets of tools have a value."""
    names = sorted(config.settings.secrets)
    held = [name for name in names if config.env.get(name)]
    if names:
        missing = [name for name in names if name not in held]
        text = f"set: {', '.join(held) or 'none'}; not set: {', '.join(missing) or 'none'}"
        yield Finding("secrets", Verdict.GOOD if not missing else Verdict.NOTE, text)


def sandbox(config: Config) -> Finding:
    """Say how tools are confined."""
    text = f"off: tools are not confined yet (sandbox.level: {config.settings.sandbox.level})"
    return Finding("sandbox", Verdict.NOTE, text, "run only tools that you trust")


def daemon(place: Place) -> Finding:
    """Say whether a daemon answers."""
    from ias.cli.client import Daemon

    try:
        with Daemon(place.socket) as running:
            facts: dict[str, Any] = running.get("/healthz")
        return Finding("daemon", Verdict.GOOD, f"runs: {facts.get('status', 'ok')}")
    except IasError:
        return Finding("daemon", Verdict.NOTE, "does not run", f"start it: {program()} serve")


def clock() -> Finding:
    """Say what time it is here, as tools are told."""
    return Finding("clock", Verdict.GOOD, time.strftime("%Y-%m-%d %H:%M:%S %Z (UTC%z)"))


def reach(config: Config) -> Iterator[Finding]:
    """Open a connection to the model's host and to each host that specs name, and close it again."""
    named = {host for spec in scan_home(config).specs for host in spec.hosts if "*" not in host}
    base_url = config.settings.llm.base_url
    address = urlsplit(base_url) if base_url else None
    targets = {(host, HTTPS) for host in named}
    if address is not None and address.hostname:
        targets.add((address.hostname, address.port or HTTPS))
    for host, port in sorted(targets):
        try:
            socket.create_connection((host, port), timeout=REACH_TIMEOUT).close()
            yield Finding("reach", Verdict.GOOD, f"{host}:{port}")
        except OSError as error:
            yield Finding("reach", Verdict.NOTE, f"{host}:{port} cannot be reached: {error.strerror or error}")
