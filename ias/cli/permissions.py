"""`ias permissions explain`: which rule decides about a tool or one of its requests, and why."""

from dataclasses import replace
from typing import Annotated, Any

import typer

from ias.cli.exits import UsageError
from ias.cli.output import say, say_json, say_table
from ias.cli.place import Place, find_place, program
from ias.cli.specs import configuration, find_spec
from ias.cli.visible import tame
from ias.config.load import Config
from ias.config.rules import read_example
from ias.domain.approvals import RequestView, StandingRule, StepKind, Verdict
from ias.domain.tools import ToolFacts, ToolSpec, ToolType
from ias.domain.urls import any_matches
from ias.errors import IasError, StateError
from ias.permissions import PermissionChecker, PermissionConfig
from ias.policy import Level, decide
from ias.store.once import read_once
from ias.store.transactions.operations import OPERATIONS

EXAMPLE_PATH = "/"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
KINDS = {ToolType.HTTP: (StepKind.HTTP,), ToolType.DB: (StepKind.DB,)}
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

app = typer.Typer(rich_markup_mode=None)


@app.callback()
def permissions() -> None:
    """Which rule decides, and why."""


@app.command()
def explain(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The tool.")],
    request: Annotated[
        list[str] | None, typer.Argument(metavar="[ARGS]", help="`POST https://…`, an operation, or `call`.")
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Explain what decides about a tool's requests, or about one that is given."""
    place = find_place(context)
    config = configuration(place.home)
    spec = find_spec(config, name)
    facts = _facts(spec, place)
    ruling = PermissionChecker(
        PermissionConfig(
            allowed=config.settings.permissions.allowed,
            denied=config.settings.permissions.denied,
            allow_unspecified=config.settings.permissions.allow_unspecified,
        )
    ).explain(spec.permissions)
    views = [_given(request, spec)] if request else _usual(spec)
    judged = [_judge(view, facts, config, place) for view in views]
    if as_json:
        say_json({"tool": name, "permitted": ruling.is_allowed, "rule": ruling.rule, "requests": judged})
        return
    say(f"{name} {'may be used' if ruling.is_allowed else 'may not be used'}: {ruling.rule}")
    if ruling.is_allowed:
        cells = [(item["request"], item["verdict"], item["rule"]) for item in judged]
        say_table(("REQUEST", "VERDICT", "DECIDED BY"), [tuple(tame(cell) for cell in row) for row in cells])
        if not facts.sha256 and _standing(facts, place):
            say("standing rules count for the version that the daemon runs, which is not known while it is down")
        if not request and (hint := _hint(spec)):
            say(f"one request: {program()} permissions explain {name} {hint}")


def _given(request: list[str], spec: ToolSpec) -> RequestView:
    """Read a request that somebody asks about.

    Raises:
        UsageError: It is none, or none that this kind of tool makes.
    """
    hint = _hint(spec) or "call"
    if len(request) > 1 and request[-2].upper() in METHODS and "://" not in request[-1]:
        raise UsageError(f"{request[-1]!r} is no whole address; write for example: {hint}")
    try:
        view = replace(read_example(" ".join(request), tool=spec.name), tool=spec.name)
    except ValueError as error:
        raise UsageError(f"{error}; write for example: {hint}") from error
    kinds = KINDS.get(spec.type, (StepKind.CALL, StepKind.START))
    if view.kind not in kinds:
        raise UsageError(f"{spec.name} is of type {spec.type} and makes no such request; write for example: {hint}")
    if view.kind is not StepKind.DB:
        return view
    if view.method not in OPERATIONS:
        raise UsageError(f"there is no operation {view.method!r}; there are {', '.join(OPERATIONS)}")
    return replace(view, deletes=OPERATIONS[view.method].deletes)


def _hint(spec: ToolSpec) -> str | None:
    """Give a request of the kind that this tool makes; None where there is but one, which is shown anyway."""
    match spec.type:
        case ToolType.HTTP:
            host = next((host for host in spec.hosts if host != "*"), "example.com")
            return f"POST https://{host.replace('*', 'api')}/path"
        case ToolType.DB:
            return "kv_put"
        case _:
            return None


def _usual(spec: ToolSpec) -> list[RequestView]:
    """Give what such a tool asks for: reading and writing at each host, operations it declares, or the call."""
    match spec.type:
        case ToolType.DB:
            return [
                RequestView(tool=spec.name, kind=StepKind.DB, method=name, deletes=operation.deletes)
                for name, operation in OPERATIONS.items()
                if not spec.permissions or operation.permission in spec.permissions
            ]
        case ToolType.HTTP:
            return [
                RequestView(tool=spec.name, kind=StepKind.HTTP, method=method, host=host, path=EXAMPLE_PATH)
                for host in spec.hosts
                for method in ("GET", "POST")
            ]
        case _:
            return [RequestView(tool=spec.name, kind=StepKind.START)]


def _judge(view: RequestView, facts: ToolFacts, config: Config, place: Place) -> dict[str, str]:
    shown = _shown(view)
    if view.kind is StepKind.HTTP and "*" not in view.host and not any_matches(view.host, facts.hosts):
        named = ", ".join(facts.hosts) or "none"
        return {"request": shown, "verdict": str(Verdict.FORBID), "rule": f"hosts of the spec: {named}"}
    decision = decide(
        view,
        facts,
        written=config.rules,
        standing=_standing(facts, place),
        level=Level(getattr(config.settings.approvals, facts.risk)),
        is_new_host=True,
    )
    return {"request": shown, "verdict": str(decision.verdict), "rule": decision.rule}


def _shown(view: RequestView) -> str:
    match view.kind:
        case StepKind.HTTP:
            return f"{view.method} {view.host}{view.path}"
        case StepKind.DB:
            return view.method
        case StepKind.START | StepKind.CALL:
            return "call"


def _standing(facts: ToolFacts, place: Place) -> tuple[StandingRule, ...]:
    """Read the rules that count in every conversation, for the version that the daemon has loaded."""
    try:
        rows = read_once(place.store, "rules")
    except StateError:
        return ()
    names = StandingRule.__dataclass_fields__
    return tuple(
        StandingRule(**{name: row[name] for name in names})
        for row in rows
        if row["tool"] == facts.name and row["conversation_id"] is None
    )


def _facts(spec: ToolSpec, place: Place) -> ToolFacts:
    return ToolFacts(
        name=spec.name,
        sha256=_version(spec.name, place),
        type=spec.type,
        risk=spec.risk,
        group=spec.group,
        hosts=spec.hosts,
        secrets=spec.secrets,
        permissions=spec.permissions,
    )


def _version(name: str, place: Place) -> str:
    """Ask the daemon which version of a tool runs; standing rules count for one version only."""
    from ias.cli.client import Daemon

    try:
        with Daemon(place.socket) as daemon:
            tool: dict[str, Any] = daemon.get(f"/api/tools/{name}")
            return str(tool["sha256"])
    except IasError:
        return ""
