"""`ias approve` and `ias deny`: look at one request, decide, tell the daemon. Nothing here may be slow to import."""

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ias.cli import words
from ias.cli.exits import DENIED, DONE, FAILED, UsageError, complain
from ias.cli.keyboard import forget_typed, read_line
from ias.cli.output import left, say, say_aside, say_json, when
from ias.cli.place import Place, find_place, login_name, program
from ias.cli.request_view import reach, read_request, render, secrets_in
from ias.cli.visible import tame, visible
from ias.domain.approvals import Scope
from ias.errors import NotFoundError
from ias.store.base import Row
from ias.store.once import read_once, run_once

if TYPE_CHECKING:
    from ias.cli.specs import About

Ref = Annotated[str, typer.Argument(metavar="ID", help="The request: A12, or its whole id.")]
ScopeOption = Annotated[Scope, typer.Option(help="How far the yes reaches.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Decide without asking.")]
Full = Annotated[bool, typer.Option("--full", help="Show long bodies whole.")]
Digest = Annotated[
    str | None, typer.Option(help="Decide only if the request's digest begins so (4 characters or more).")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def approve(
    context: typer.Context,
    ref: Ref,
    *,
    scope: ScopeOption = Scope.ONCE,
    yes: Yes = False,
    full: Full = False,
    digest: Digest = None,
    as_json: AsJson = False,
) -> None:
    """Show a waiting request and approve it."""
    place = find_place(context)
    row = find_approval(place, ref)
    if row["state"] == "pending" and not yes:
        _refuse_without_terminal(row)
        if not _is_confirmed(row, place, full=full):
            say_aside(words.NOT_DECIDED(ref=f"A{row['num']}"))
            raise typer.Exit(FAILED)
    decide(place, row, approve=True, scope=scope, reason=None, digest=digest, as_json=as_json)


def deny(
    context: typer.Context,
    ref: Ref,
    *,
    reason: Annotated[str | None, typer.Option(help="Why; the model is told.")] = None,
    digest: Digest = None,
    as_json: AsJson = False,
) -> None:
    """Deny a waiting request."""
    place = find_place(context)
    decide(
        place, find_approval(place, ref), approve=False, scope=Scope.ONCE, reason=reason, digest=digest, as_json=as_json
    )


def find_approval(place: Place, ref: str) -> Row:
    """Read an approval with its call and conversation.

    Raises:
        NotFoundError: There is none.
    """
    rows = read_once(place.store, "approval", ref=ref)
    if not rows:
        raise NotFoundError(f"there is no request {ref!r}; `ias approvals list` shows what waits")
    return rows[0]


def decide(
    place: Place, row: Row, *, approve: bool, scope: Scope, reason: str | None, digest: str | None, as_json: bool
) -> None:
    """Decide, tell the daemon, and say how it went.

    Raises:
        typer.Exit: Somebody else was first, or the time was over.
    """
    if row["state"] != "pending" and not as_json:
        raise _settled(row, approve=approve, scope=scope)
    from ias.store.transactions.approvals import decide_approval  # the words of all refusals come with it

    decision = run_once(
        place.store,
        decide_approval(
            place.terms,
            ref=row["id"],
            approve=approve,
            scope=scope,
            by=login_name(),
            via="cli",
            reason=reason,
            digest=digest,
        ),
    )
    is_up = place.poke()
    ref = f"A{row['num']}"
    if as_json:
        say_json(
            {**approval_json(dict(row) | dict(decision.approval)), "won": decision.won, "rules": list(decision.rules)}
        )
    elif decision.won:
        say(words.APPROVED(ref=ref) if approve else words.DENIED(ref=ref))
        if decision.rules:
            rules = [f"R{number}" for number in decision.rules]
            say(words.RULES_MADE(rules=" ".join(rules), ias=program(), first=rules[0]))
        if not is_up:
            say_aside(words.NOT_UP())
    if not decision.won:
        complain(words.SETTLED(ref=ref, state=words.state_of(decision.state), who=decision.decided_by or "-"))
        raise typer.Exit(DENIED if decision.state in ("denied", "expired") else FAILED)


def _settled(row: Row, *, approve: bool, scope: Scope) -> typer.Exit:
    """Say that a request was settled before; exit 0 only where all that was wanted is so."""
    ref = f"A{row['num']}"
    complain(words.SETTLED(ref=ref, state=words.state_of(row["state"]), who=row["decided_by"] or "-"))
    is_yes = row["state"] in ("approved", "consumed")
    if approve and is_yes and scope is not Scope.ONCE:
        say_aside(words.NO_RULES(ref=ref))
        return typer.Exit(FAILED)
    if approve == is_yes and row["state"] in ("approved", "consumed", "denied"):
        return typer.Exit(DONE)
    return typer.Exit(DENIED if row["state"] in ("denied", "expired") else FAILED)


def approval_json(row: Row) -> dict[str, Any]:
    """Give an approval as JSON output has it: with its short name and its request parsed."""
    return dict(row) | {"ref": f"A{row['num']}", "request": json.loads(row["request"])}


def show_request(row: Row, place: Place, *, full: bool) -> bool:
    """Print an approval for a person; False if a part of the request is not shown.

    Raises:
        StateError: The stored bytes do not fit their digest.
    """
    items = read_request(row["request"], row["digest"])
    view = render(items, is_full=full)
    told = _about(place, row["tool"])
    say(words.WANTS(ref=f"A{row['num']}", tool=visible(row["tool"])))
    if told.what is not None:
        say(told.what)
    for line in view.lines:
        say(line)
    if not view.is_whole:
        say(words.SHOW_ALL())
    facts = {
        "state": row["state"],
        "secrets": words.SECRETS(names=", ".join(secrets_in(items))) if secrets_in(items) else None,
        "risk": told.risk,
        "for": f"{visible(row['user_id'])} ({visible(row['channel'])})",
        "conversation": row["conversation_id"],
        "call": row["run_id"],
        "tool": f"{visible(row['tool'])} sha256 {row['tool_hash'][:16]}",
        "digest": row["digest"],
        "expires": f"{when(row['expires_at'])} ({left(row['expires_at'])})" if row["state"] == "pending" else None,
        "decided": f"{tame(row['decided_by'])}, {when(row['decided_at'])}" if row["decided_by"] else None,
        "reason": visible(row["reason"]) if row["reason"] else None,
    }
    for name, value in facts.items():
        if value is not None:
            say(f"{name:<14}{value}")
    for line in reach(items):
        say(f"{'wider scopes':<14}{line}")
    return view.is_whole


def _about(place: Place, tool: str) -> "About":
    from ias.cli.specs import about  # read only when a person looks

    return about(place.home, tool)


def _is_confirmed(row: Row, place: Place, *, full: bool) -> bool:
    ref = f"A{row['num']}"
    is_whole = show_request(row, place, full=full)
    if not is_whole:
        if _answer(words.CONFIRM_HIDDEN()) != "f":
            return False
        show_request(row, place, full=True)
    return _answer(words.CONFIRM(ref=ref)) == "y"


def _answer(question: str) -> str:
    forget_typed()
    sys.stdout.write(question)
    sys.stdout.flush()
    return (read_line() or "").strip().lower()[:1]


def _refuse_without_terminal(row: Row) -> None:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(f"A{row['num']} was not decided: {words.NO_TERMINAL()}")
