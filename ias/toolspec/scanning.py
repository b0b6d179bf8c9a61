"""All specs below the tools folders: what can be used, and what cannot and why."""

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ias.domain.tools import ToolSpec
from ias.toolspec.loading import SPECS, line_of, load_spec
from ias.toolspec.problems import Problem, SpecError

SUFFIX = ".tool.yaml"
UNWATCHED = frozenset({"__pycache__", ".git"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """What a scan found: specs in the order of their files, and every problem of every other."""

    specs: tuple[ToolSpec, ...] = ()
    rejected: tuple[Problem, ...] = ()


def scan(dirs: Iterable[Path], *, project: Path, withheld: frozenset[str] = frozenset()) -> Scan:
    """Read `*/specs/*.tool.yaml` below some folders; nothing that stands in a file makes it fail.

    Args:
        dirs: Tools folders; one that does not exist holds nothing.
        project: What a leading `/` in a spec's `path` means.
        withheld: Variables with the daemon's own credentials.
    """
    specs: dict[str, ToolSpec] = {}
    rejected: list[Problem] = []
    for file in spec_files(dirs, rejected):
        try:
            spec = load_spec(file, project=project, withheld=withheld)
        except SpecError as error:
            rejected.extend(error.problems)
            continue
        first = specs.setdefault(spec.name, spec)
        if first is not spec:
            rejected.append(_duplicate(spec, first))
    return Scan(specs=tuple(specs.values()), rejected=tuple(rejected))


def spec_files(dirs: Iterable[Path], rejected: list[Problem] | None = None) -> list[Path]:
    """Find the spec files, sorted by path; folders that cannot be read go to `rejected`."""
    found: dict[Path, None] = {}
    for top in dirs:
        for folder in _listed(top, rejected):
            for file in _listed(folder / SPECS, rejected):
                if file.name.endswith(SUFFIX):
                    found[file] = None
    return sorted(found)


def fingerprint(dirs: Iterable[Path]) -> str:
    """Give a text that changes when a file of a tool is added, removed or written; contents are not read."""
    digest = hashlib.sha256()
    for top in sorted(dirs):
        for path, state in _states(top):
            facts = (path, state.st_mtime_ns, state.st_size, state.st_mode, state.st_ino)
            digest.update(repr(facts).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _listed(folder: Path, rejected: list[Problem] | None) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        if rejected is not None:
            message = f"the folder cannot be read: {error.strerror}"
            rejected.append(Problem(file=folder, line=1, field="", message=message, fix="see its mode and owner"))
        return []


def _states(top: Path) -> Iterator[tuple[str, os.stat_result]]:
    for entry in _listed(top, None):
        yield from _below(str(entry))  # if it is a link, it is followed; one that leads nowhere holds nothing


def _below(top: str) -> Iterator[tuple[str, os.stat_result]]:
    for folder, folders, names in os.walk(top):
        folders[:] = sorted(name for name in folders if name not in UNWATCHED)
        for name in sorted(names):
            path = os.path.join(folder, name)  # noqa: PTH118 - ten thousand Path objects cost more than the walk
            try:
                yield path, os.stat(path)  # noqa: PTH116 - the same
            except OSError:  # removed meanwhile, or a broken link
                continue


def _duplicate(spec: ToolSpec, first: ToolSpec) -> Problem:
    message = f"the name {spec.name!r} is taken by {first.file}"
    return Problem(
        file=spec.file, line=line_of(spec.file, "name"), field="name", message=message, fix="choose another name"
    )
