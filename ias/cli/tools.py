"""`ias tools`: what tools there are, whether their specs are right, new ones, and their examples as tests."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ias.cli.exits import DONE, FAILED
from ias.cli.output import say, say_facts, say_json, say_table
from ias.cli.place import find_place, home_of, program
from ias.cli.specs import configuration, find_spec, in_our_language, problem_json, scan_home
from ias.cli.visible import one_line, tame
from ias.domain.tools import ToolSpec
from ias.errors import NotFoundError
from ias.toolspec.problems import Problem
from ias.toolspec.scanning import SUFFIX, Scan

DESC_SHOWN = 100  # characters of a description in a list
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="The tool.")]

app = typer.Typer(rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def tools(context: typer.Context) -> None:
    """List tools, or do something with one."""
    if context.invoked_subcommand is None:
        _list(context, as_json=False)


@app.command("list")
def list_(context: typer.Context, *, as_json: AsJson = False) -> None:
    """List the tools whose specs are right, and what is wrong with the others."""
    _list(context, as_json=as_json)


@app.command()
def show(context: typer.Context, name: Name, *, as_json: AsJson = False) -> None:
    """Show one tool: what it may do, its parameters and examples."""
    spec = find_spec(configuration(home_of(context)), name)
    if as_json:
        say_json(spec_json(spec))
        return
    say_facts(
        {
            "name": spec.name,
            "what": spec.desc.strip(),
            "group": spec.group,
            "type": spec.type,
            "risk": spec.risk,
            "hosts": ", ".join(spec.hosts) or None,
            "secrets": ", ".join(spec.secrets) or None,
            "permissions": ", ".join(str(permission) for permission in spec.permissions) or "none",
            "timeout": f"{spec.timeout:g} s",
            "program": f"{spec.program} {spec.command or ''}".rstrip(),
            "spec": spec.file,
            "keywords": ", ".join(spec.keywords) or None,
        }
    )
    from ias.cli.options import parameter_lines

    say("parameters")
    for line in parameter_lines(spec):
        say(line)
    for example in spec.examples:
        say(f"example       {tame(example.ask)}  {one_line(str(dict(example.params)), 100)}")


@app.command()
def check(
    context: typer.Context,
    path: Annotated[Path | None, typer.Argument(help="A tool's folder or one spec; without it all.")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Check specs: file, line, field and what to write instead."""
    config = configuration(home_of(context))
    scanned = scan_home(config) if path is None else _scan_path(path, config.home)
    if as_json:
        say_json(
            {
                "specs": [spec.name for spec in scanned.specs],
                "rejected": [problem_json(problem) for problem in scanned.rejected],
            }
        )
    else:
        for problem in scanned.rejected:
            say(tame(str(problem)))
        files = {problem.file for problem in scanned.rejected}
        say(f"{len(scanned.specs)} right, {len(files)} rejected")
    raise typer.Exit(FAILED if scanned.rejected else DONE)


@app.command()
def reload(context: typer.Context, *, as_json: AsJson = False) -> None:
    """Let the daemon scan the folders again; say what changed."""
    from ias.cli.client import Daemon

    with Daemon(find_place(context).socket) as daemon:
        done: dict[str, Any] = daemon.post("/api/tools/reload", {})
    if as_json:
        say_json(done)
    else:
        for word in ("added", "changed", "removed"):
            say(f"{word:<9} {', '.join(done[word]) or '-'}")
        for problem in done["rejected"]:
            fix = f"; {problem['fix']}" if problem["fix"] else ""
            say(tame(f"rejected  {problem['file']}:{problem['line']}: {problem['field']}: {problem['message']}{fix}"))
    raise typer.Exit(FAILED if done["rejected"] else DONE)


@app.command()
def new(
    context: typer.Context,
    name: Name,
    *,
    lang: Annotated[str, typer.Option(help="python, sh or node.")] = "python",
) -> None:
    """Make a small working tool to begin with."""
    from ias.cli.templates import make_tool

    config = configuration(home_of(context))
    folder = config.path(config.settings.tools.dirs[0])
    made = make_tool(folder, name, lang)
    for file in made:
        say(str(file))
    say(f"next: {program()} tools test {name}, then {program()} run {name} --text hello")


@app.command("test")
def run_examples(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="One tool; without it all with examples.")] = None,
    *,
    approve: Annotated[str | None, typer.Option(help="`once`: approve what the examples ask for.")] = None,
    as_json: AsJson = False,
) -> None:
    """Run the examples of specs as real calls."""
    from ias.cli.run import call
    from ias.toolspec.arguments import validate_args

    place = find_place(context)
    config = configuration(place.home)
    specs = scan_home(config).specs if name is None else (find_spec(config, name),)
    results: list[dict[str, object]] = []
    for spec in specs:
        for example in spec.examples:
            args = validate_args(spec.parameters, dict(example.params))
            outcome = call(place, spec, args, user_id="test", approve_once=approve == "once")
            results.append(
                {"tool": spec.name, "ask": example.ask, "code": outcome["code"], "content": outcome["content"]}
            )
            if not as_json:
                say(f"{outcome['code']:<18} {spec.name}: {tame(example.ask)}")
                say(f"    {one_line(str(outcome['content']), 200)}")
    if as_json:
        say_json(results)
    if not results:
        raise NotFoundError("no examples to run; write some under `examples` in the spec")
    raise typer.Exit(DONE if all(result["code"] == "ok" for result in results) else FAILED)


def spec_json(spec: ToolSpec) -> dict[str, object]:
    """Give a spec as JSON output has it."""
    return {
        "name": spec.name,
        "desc": spec.desc,
        "group": spec.group,
        "type": spec.type,
        "risk": spec.risk,
        "parameters": spec.parameters,
        "hosts": list(spec.hosts),
        "secrets": list(spec.secrets),
        "permissions": [str(permission) for permission in spec.permissions],
        "timeout": spec.timeout,
        "keywords": list(spec.keywords),
        "examples": [{"ask": example.ask, "params": dict(example.params)} for example in spec.examples],
        "program": str(spec.program),
        "command": spec.command,
        "file": str(spec.file),
    }


def _list(context: typer.Context, *, as_json: bool) -> None:
    scanned = scan_home(configuration(home_of(context)))
    if as_json:
        say_json(
            {
                "tools": [spec_json(spec) for spec in scanned.specs],
                "rejected": [problem_json(problem) for problem in scanned.rejected],
            }
        )
        return
    say_table(
        ("TOOL", "TYPE", "RISK", "WHAT"),
        [(spec.name, spec.type, spec.risk, one_line(in_our_language(spec.desc), DESC_SHOWN)) for spec in scanned.specs],
    )
    for problem in scanned.rejected:
        say(f"rejected: {tame(str(problem))}")


def _scan_path(path: Path, project: Path) -> Scan:
    """Check one spec, or all of a tool's folder."""
    from ias.toolspec.loading import load_spec
    from ias.toolspec.problems import SpecError

    if path.is_dir():
        files = sorted([*path.glob(f"*{SUFFIX}"), *path.glob(f"specs/*{SUFFIX}"), *path.glob(f"*/specs/*{SUFFIX}")])
    else:
        files = [path]
    if not files or not files[0].exists():
        raise NotFoundError(f"no spec is at {str(path)!r}; name a tool's folder or a *{SUFFIX}")
    specs: list[ToolSpec] = []
    rejected: list[Problem] = []
    for file in files:
        try:
            specs.append(load_spec(file, project=project))
        except SpecError as error:
            rejected.extend(error.problems)
    return Scan(specs=tuple(specs), rejected=tuple(rejected))
