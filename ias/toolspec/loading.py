"""One `*.tool.yaml` as a `ToolSpec`: read strictly, checked in all 16 fields, its program found."""

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from ias.config.faults import Fault, dotted, faults_of
from ias.config.strict_yaml import MAX_BYTES, Document, YamlTextError, read_yaml
from ias.domain.tools import Example, Limits, Permission, ToolSpec, ToolType
from ias.toolspec.model import SpecFile
from ias.toolspec.parameters import Found, param_faults, parameters_of
from ias.toolspec.problems import Problem, SpecError
from ias.toolspec.variables import refusal

SPECS = "specs"
RESERVED = frozenset({"query_capabilities", "call_capability"})  # the meta-tools' own names
# What a spec needs that names no permission. Each db operation is checked for its own permission when it is asked for;
# reading is what every db tool does.
DERIVED = {
    ToolType.HTTP: (Permission.NETWORK,),
    ToolType.DB: (Permission.READ,),
    ToolType.LOCAL: (),
}


def load_spec(file: Path, *, project: Path, withheld: frozenset[str] = frozenset()) -> ToolSpec:
    """Read a tool's spec.

    Args:
        file: The `*.tool.yaml`, in the `specs` folder of the tool's folder.
        project: What a leading `/` in `path` means.
        withheld: Variables with the daemon's own credentials, which no tool may name in `env`.

    Raises:
        SpecError: With every problem that was found: file, line, field, and what to write instead.
    """
    document = _read(file)
    if document.value is None:
        fix = "begin with `name:`, `desc:`, `type:` and `path:`"
        raise SpecError((Problem(file=file, line=1, field="", message="the file is empty", fix=fix),))
    try:
        entry = SpecFile.model_validate_json(json.dumps(document.value))
    except ValidationError as error:
        raise SpecError(tuple(_problem(file, fault) for fault in faults_of(error, document, SpecFile))) from None
    folder = tool_folder(file)
    faults = [*_name_faults(entry, withheld), *param_faults(entry)]
    program = find_program(entry.path, folder=folder, project=project)
    if isinstance(program, tuple):
        faults.append((("path",), *program))
    if faults or isinstance(program, tuple):
        raise SpecError(tuple(sorted((_located(file, document, found) for found in faults), key=lambda p: p.line)))
    return _spec(entry, file=file, folder=folder, program=program)


def line_of(file: Path, field: str) -> int:
    """Give the line of a field of a spec, 1 if it cannot be told."""
    try:
        return _read(file).line((field,))
    except SpecError:
        return 1


def tool_folder(file: Path) -> Path:
    """Give the tool's folder, links resolved: the one above `specs`, or the spec's own."""
    parent = file.parent.resolve()
    return parent.parent if parent.name == SPECS else parent


def find_program(path: str, *, folder: Path, project: Path) -> Path | tuple[str, str]:
    """Give the real path of a tool's program, or what is wrong and what to do.

    Args:
        path: As the spec writes it; a leading `/` means the project's root.
        folder: The tool's folder, resolved.
        project: The project's root.
    """
    is_rooted = path.startswith("/")
    root = project.resolve() if is_rooted else folder
    if "\0" in path:
        return f"the path {path!r} has a NUL character", "remove it"
    try:
        program = (root / path.lstrip("/")).resolve()
        if not program.is_relative_to(root):
            where = "the project" if is_rooted else "the tool's folder"
            return f"the program {path!r} leads out of {where}", f"put it into {where}"
        mode = program.stat().st_mode
    except FileNotFoundError:
        return f"the program {path!r} is not there", f"create {root / path.lstrip('/')}, or correct the path"
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links, before Python 3.13
        return f"the program {path!r} cannot be reached: {error}", "correct the path"
    if not stat.S_ISREG(mode):
        return f"the program {path!r} is no regular file", "name the file that runs"
    if program.suffix != ".py" and not os.access(program, os.X_OK):
        return f"the program {path!r} is not executable", f"run `chmod +x {program}`"
    return program


def _read(file: Path) -> Document:
    try:
        state = file.stat()
        if not stat.S_ISREG(state.st_mode):  # opening a FIFO would wait for ever
            raise SpecError((Problem(file=file, line=1, field="", message="is no regular file", fix="remove it"),))
        with file.open("rb") as opened:
            return read_yaml(opened.read(MAX_BYTES + 1))
    except OSError as error:
        problem = Problem(file=file, line=1, field="", message=f"cannot be read: {error.strerror}", fix="see its mode")
        raise SpecError((problem,)) from error
    except YamlTextError as error:
        field = dotted(error.keys)
        problem = Problem(file=file, line=error.line, field=field, message=str(error), fix=error.fix)
        raise SpecError((problem,)) from error


def _problem(file: Path, fault: Fault) -> Problem:
    return Problem(file=file, line=fault.line, field=fault.key, message=fault.message, fix=fault.fix)


def _located(file: Path, document: Document, found: Found) -> Problem:
    keys, message, fix = found
    return Problem(file=file, line=document.line(keys), field=dotted(keys), message=message, fix=fix)


def _name_faults(entry: SpecFile, withheld: frozenset[str]) -> Iterator[Found]:
    if entry.name in RESERVED:
        yield ("name",), f"the name {entry.name!r} is taken by ias itself", "choose another"
    for number, name in enumerate(entry.env):
        if reason := refusal(name, withheld=withheld):
            yield ("env", number), reason, "remove it from `env`; a key that the tool needs belongs into `secrets`"
    if entry.secrets and not entry.hosts:
        yield ("secrets",), "secrets without hosts can go nowhere", "name the hosts that they are for in `hosts`"


def _spec(entry: SpecFile, *, file: Path, folder: Path, program: Path) -> ToolSpec:
    return ToolSpec(
        name=entry.name,
        desc=entry.desc.strip(),
        type=ToolType(entry.type),
        group=entry.tool or folder.name,
        program=program,
        folder=folder,
        file=file,
        command=entry.command,
        risk=entry.risk_level,
        timeout=float(entry.timeout_secs),
        env=entry.env,
        parameters=parameters_of(entry.params),
        secrets=entry.secrets,
        hosts=entry.hosts,
        permissions=DERIVED[ToolType(entry.type)] if entry.permissions is None else entry.permissions,
        keywords=entry.keywords,
        examples=tuple(Example(ask=example.ask, params=example.params) for example in entry.examples),
        limits=Limits(
            max_steps=entry.limits.max_steps,
            memory_mb=entry.limits.memory_mb,
            output_kb=entry.limits.output_kb,
            warm=entry.limits.warm,
        ),
    )
