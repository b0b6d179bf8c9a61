"""`ias chat`: one question, or a conversation; the answer streams, tools and approvals show as they happen."""

import importlib
import signal
import sys
from dataclasses import dataclass, field
from types import FrameType
from typing import Annotated

import typer

from ias.cli import words
from ias.cli.asking import Question, choose, decide, question_of
from ias.cli.client import Daemon, ServerEvent
from ias.cli.exits import DONE, FAILED, INTERRUPTED
from ias.cli.feed import Feed, Mark
from ias.cli.keyboard import forget_typed, read_line
from ias.cli.output import say_aside
from ias.cli.place import OPERATOR, find_place, program
from ias.cli.screen import Screen, print_event
from ias.errors import IasError

REPLIED = ("reply", "command", "max_turns", "loop")  # endings with words for the person


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Who talks, where, and what is shown."""

    user_id: str
    conversation: str | None
    is_reasoning: bool
    as_json: bool


def chat(
    context: typer.Context,
    text: Annotated[list[str] | None, typer.Argument(help="One question; without it a conversation begins.")] = None,
    *,
    user: Annotated[str, typer.Option(help="Who is talking; memories belong to a user.")] = OPERATOR,
    conversation: Annotated[str | None, typer.Option(help="Go on in this conversation.")] = None,
    reasoning: Annotated[bool, typer.Option("--reasoning", help="Show the model's reasoning.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print events as lines of JSON.")] = False,
) -> None:
    """Talk in the terminal, or ask one question."""
    settings = Settings(user_id=user, conversation=conversation, is_reasoning=reasoning, as_json=as_json)
    talk = Talk(Daemon(find_place(context).socket), settings)
    raise typer.Exit(talk.turn(" ".join(text)) if text else _converse(talk))


def _converse(talk: "Talk") -> int:
    talk.greet()
    is_terminal = sys.stdin.isatty()
    if is_terminal:
        importlib.import_module("readline")  # gives `input` a line editor and a history
        say_aside(words.WELCOME())
    code = DONE
    while True:
        try:
            line = input(words.PROMPT() if is_terminal else "")
        except EOFError:
            return code
        except KeyboardInterrupt:
            say_aside("")
            return INTERRUPTED
        if line.strip():
            try:
                code = talk.turn(line)
            except IasError as error:
                if not is_terminal:
                    raise
                say_aside(str(error))


class Talk:
    """A person at the terminal: turn after turn, in one conversation until `/new`."""

    def __init__(self, daemon: Daemon, settings: Settings) -> None:
        self._daemon = daemon
        self._settings = settings
        self._conversation = ""
        self._feed: Feed | None = None

    def greet(self) -> None:
        """Find out at once that no daemon runs, not after the first message.

        Raises:
            DaemonNotRunningError: None does.
        """
        self._daemon.get("/healthz")

    def turn(self, text: str) -> int:
        """Post a message and show its turn to the end.

        Returns:
            0 if a reply came, 1 if not, 130 if the person left.
        """
        settings = self._settings
        posted = self._daemon.post(
            "/api/messages",
            {"user_id": settings.user_id, "text": text, "conversation": settings.conversation, "channel": "cli"},
        )
        return Turn(
            daemon=self._daemon,
            settings=settings,
            conversation=posted["conversation"],
            feed=self._follow(posted["conversation"], posted["cursor"]),
            screen=Screen(posted["turn"], is_reasoning=settings.is_reasoning),
        ).follow()

    def _follow(self, conversation: str, cursor: int) -> Feed:
        """Give the conversation's feed: the one that runs, so that nothing between two turns is missed."""
        if self._feed is None or conversation != self._conversation:
            if self._feed is not None:
                self._feed.close()
            self._feed = Feed(self._daemon, conversation, cursor)
            self._conversation = conversation
        return self._feed


@dataclass(slots=True, kw_only=True)
class Turn:
    """One turn as it goes on."""

    daemon: Daemon
    settings: Settings
    conversation: str
    feed: Feed
    screen: Screen
    questions: list[Question] = field(default_factory=lambda: [])
    is_stopping: bool = False

    def follow(self) -> int:
        """Show events and ask questions until the turn is over; Ctrl-C stops it, a second one leaves."""
        before = signal.signal(signal.SIGINT, self._on_interrupt)
        try:
            while self.screen.reason is None:
                self._step()
        except KeyboardInterrupt:
            return INTERRUPTED
        finally:
            signal.signal(signal.SIGINT, before)
        reason = self.screen.reason
        if reason in REPLIED:
            return DONE
        if not self.settings.as_json:
            self.screen.aside(words.ENDED(reason=reason))
        return INTERRUPTED if self.is_stopping else FAILED

    def _step(self) -> None:
        can_ask = bool(self.questions) and sys.stdin.isatty() and not self.settings.as_json
        event = self.feed.wait(sys.stdin.fileno() if can_ask else None)
        match event:
            case None:
                self._on_line(read_line())
            case Mark.LOST:
                self.screen.aside(words.LOST_CONNECTION())
            case Mark.INTERRUPT:
                self.screen.aside(words.STOPPING())
                self.daemon.post(f"/api/conversations/{self.conversation}/cancel", {})
            case ServerEvent():
                self._on_event(event)

    def _on_interrupt(self, _number: int, _frame: FrameType | None) -> None:
        """Handle Ctrl-C between two events: an event that is being shown is not torn."""
        if self.is_stopping:
            raise KeyboardInterrupt
        self.is_stopping = True
        self.feed.interrupt()

    def _on_event(self, event: ServerEvent) -> None:
        if self.settings.as_json:
            print_event(event)
            self._watch_end(event)
        else:
            self.screen.show(event)
        match event.name:
            case "ApprovalRequested":
                self._ask(event)
            case "ApprovalResolved":
                self.questions = [other for other in self.questions if other.ref != f"A{event.body['num']}"]
                self._prompt()
            case _:
                return

    def _watch_end(self, event: ServerEvent) -> None:
        if event.name == "TurnComplete":
            self.screen.show(event)

    def _ask(self, event: ServerEvent) -> None:
        body = event.body
        question = question_of(
            num=body["num"],
            tool=body["tool_name"],
            digest=body["digest"],
            request=body["request"],
            expires_at=body["expires_at"],
        )
        self.screen.end_line()
        if not self.settings.as_json:
            question.show()
        if self.settings.as_json or not sys.stdin.isatty():
            say_aside(words.ELSEWHERE(ref=question.ref, ias=program()))
            return
        self.questions.append(question)
        if len(self.questions) == 1:
            self._prompt()

    def _on_line(self, typed: str | None) -> None:
        question = self.questions[0]
        if typed is None:  # the terminal was closed for input: the question stays for another one
            self.questions.clear()
            say_aside(words.ELSEWHERE(ref=question.ref, ias=program()))
            return
        choice = choose(question, typed)
        if choice is None:
            self._prompt()
        else:
            self.questions.pop(0)
            decide(self.daemon, question, choice)

    def _prompt(self) -> None:
        if self.questions:
            forget_typed()
            sys.stderr.write(f"{self.questions[0].ref} {self.questions[0].choices}")
            sys.stderr.flush()
