"""Approvals in place: the question on the terminal, the answer by a key, for `ias chat` and `ias run`."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from ias.cli import words
from ias.cli.client import ApiError, Daemon
from ias.cli.exits import UsageError
from ias.cli.keyboard import forget_typed, read_line
from ias.cli.output import left, say_aside, when
from ias.cli.place import login_name, program
from ias.cli.request_view import reach, read_request, render, secrets_in
from ias.cli.specs import About, about
from ias.cli.visible import tame, visible
from ias.domain.messages import JsonObject


class Choice(StrEnum):
    """What a person can answer."""

    ONCE = "once"
    ALWAYS = "always"
    NO = "no"


@dataclass(slots=True, kw_only=True)
class Question:
    """An approval that waits: its short name, its request as stored, and whether the person saw all of it."""

    ref: str
    tool: str
    digest: str
    items: tuple[JsonObject, ...]
    expires_at: int
    home: Path
    is_seen_whole: bool = False

    def show(self, *, is_full: bool = False) -> None:
        """Print the request on stderr."""
        view = render(self.items, is_full=is_full)
        self.is_seen_whole = self.is_seen_whole or view.is_whole
        told = about(self.home, self.tool)
        say_aside(words.WANTS(ref=self.ref, tool=visible(self.tool)))
        if told.what is not None:
            say_aside(told.what)
        for line in view.lines:
            say_aside(line)
        if names := secrets_in(self.items):
            say_aside(f"secrets {words.SECRETS(names=', '.join(names))}")
        if is_full:
            self._show_facts(told)
        else:
            say_aside(words.FACTS(risk=told.risk, digest=self.digest[:16], left=left(self.expires_at)))
        for line in reach(self.items):
            say_aside(words.ALWAYS(what=line))

    def _show_facts(self, told: About) -> None:
        first = self.items[0]
        facts = {
            "risk": told.risk,
            "for": first.get("user"),
            "conversation": first.get("conversation"),
            "call": first.get("call"),
            "tool sha256": first.get("tool_sha256"),
            "digest": self.digest,
            "expires": f"{when(self.expires_at)} ({left(self.expires_at)})",
        }
        for name, value in facts.items():
            if value is not None:
                say_aside(f"{name:<14}{visible(str(value))}")

    @property
    def choices(self) -> str:
        """The keys that answer it now: a yes is offered only for what was shown whole."""
        return words.CHOICES() if self.is_seen_whole else words.CHOICES_HIDDEN()


def question_of(home: Path, *, num: int, tool: str, digest: str, request: str, expires_at: int) -> Question:
    """Make a question of a stored approval.

    Raises:
        StateError: The request does not have that digest.
    """
    items = read_request(request, digest)
    return Question(ref=f"A{num}", tool=tool, digest=digest, items=items, expires_at=expires_at, home=home)


def choose(question: Question, typed: str) -> Choice | None:
    """Read what a person typed; None if that settles nothing (after showing all of the request for `d`)."""
    match typed.strip().lower()[:1]:
        case "y" if question.is_seen_whole:
            return Choice.ONCE
        case "a" if question.is_seen_whole:
            return Choice.ALWAYS
        case "n":
            return Choice.NO
        case "d":
            question.show(is_full=True)
            return None
        case "y" | "a":
            say_aside(words.SEE_FIRST())
            return None
        case _:
            say_aside(words.KEYS())
            return None


def ask(question: Question) -> Choice:
    """Ask at the terminal until there is an answer.

    Raises:
        UsageError: Nobody is there to answer.
    """
    while True:
        forget_typed()
        sys.stderr.write(f"{question.ref} {question.choices}")
        sys.stderr.flush()
        line = read_line()
        if line is None:
            raise UsageError(f"nobody answers here; in another terminal: {program()} approve {question.ref}")
        choice = choose(question, line)
        if choice is not None:
            return choice


def decide(daemon: Daemon, question: Question, choice: Choice) -> None:
    """Send a decision for exactly the bytes that were shown; say who won where somebody else was first."""
    body = {
        "decision": "deny" if choice is Choice.NO else "approve",
        "scope": "always" if choice is Choice.ALWAYS else "once",
        "digest": question.digest,
        "by": login_name(),
        "via": "cli",
    }
    try:
        decided = daemon.post(f"/api/approvals/{question.ref}/decision", body)
    except ApiError as error:
        winner: Mapping[str, Any] = error.problem.get("winner") or {}
        if not winner:
            raise
        who = tame(str(winner.get("decided_by") or "-"))
        say_aside(words.SETTLED(ref=question.ref, state=words.state_of(tame(str(winner.get("state")))), who=who))
        return
    tell_rules(decided.get("rules") or ())


def tell_rules(refs: Sequence[str]) -> None:
    """Say which standing rules a yes left, and how to end them."""
    if refs:
        say_aside(words.RULES_MADE(rules=" ".join(refs), ias=program(), first=refs[0]))
