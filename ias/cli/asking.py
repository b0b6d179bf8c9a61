"""Approvals in place: the question on the terminal, the answer by a key, for `ias chat` and `ias run`."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ias.cli import words
from ias.cli.client import ApiError, Daemon
from ias.cli.exits import UsageError
from ias.cli.keyboard import forget_typed, read_line
from ias.cli.output import left, say_aside
from ias.cli.place import login_name, program
from ias.cli.request_view import reach, read_request, render, secrets_in
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
    is_seen_whole: bool = False

    def show(self, *, is_full: bool = False) -> None:
        """Print the request on stderr."""
        view = render(self.items, is_full=is_full)
        self.is_seen_whole = self.is_seen_whole or view.is_whole
        say_aside(words.WANTS(ref=self.ref, tool=visible(self.tool)))
        for line in view.lines:
            say_aside(line)
        if names := secrets_in(self.items):
            say_aside(f"secrets {words.SECRETS(names=', '.join(names))}")
        say_aside(f"digest {self.digest[:16]}  expires in {left(self.expires_at)}")
        if is_full:
            for line in reach(self.items):
                say_aside(f"always: {line}")

    @property
    def choices(self) -> str:
        """The keys that answer it now: a yes is offered only for what was shown whole."""
        return words.CHOICES() if self.is_seen_whole else words.CHOICES_HIDDEN()


def question_of(*, num: int, tool: str, digest: str, request: str, expires_at: int) -> Question:
    """Make a question of a stored approval.

    Raises:
        StateError: The request does not have that digest.
    """
    items = read_request(request, digest)
    return Question(ref=f"A{num}", tool=tool, digest=digest, items=items, expires_at=expires_at)


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
        case _:
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
        daemon.post(f"/api/approvals/{question.ref}/decision", body)
    except ApiError as error:
        winner: Mapping[str, Any] = error.problem.get("winner") or {}
        if not winner:
            raise
        who = tame(str(winner.get("decided_by") or "-"))
        say_aside(words.SETTLED(ref=question.ref, state=tame(str(winner.get("state"))), who=who))
