"""One turn at the terminal: events as they come, questions, and the ways in which a person leaves."""

import signal
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

from ias.cli import words
from ias.cli.asking import Question, choose, decide, question_of
from ias.cli.client import Daemon, ServerEvent
from ias.cli.exits import DENIED, DONE, FAILED, INTERRUPTED, exit_code
from ias.cli.feed import Feed, Mark
from ias.cli.keyboard import forget_typed, read_line
from ias.cli.output import say_aside
from ias.cli.place import Place, program
from ias.cli.screen import Screen, print_event
from ias.errors import IasError

REPLIED = ("reply", "command", "max_turns", "loop")  # endings with words for the person
SAID = ("provider_error", "dead", "cancelled")  # endings whose closing words say why
LEAVING = (signal.SIGTERM, signal.SIGHUP)  # a bound of the caller's, a terminal that is closed
KILLED = 128  # added to a signal's number, as shells do


class Left(Exception):  # noqa: N818 - not an error: somebody ends this program
    """A signal that ends the program came; its number."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Who talks, where, and what is shown."""

    user_id: str
    conversation: str | None
    is_new: bool
    is_reasoning: bool
    as_json: bool


@dataclass(slots=True, kw_only=True)
class Turn:
    """One turn as it goes on."""

    daemon: Daemon
    settings: Settings
    place: Place
    feed: Feed
    screen: Screen
    turn_id: str
    is_single: bool
    questions: list[Question] = field(default_factory=lambda: [])
    is_stopping: bool = False

    def follow(self) -> int:
        """Show events and ask questions until the turn is over; Ctrl-C stops it, a second one leaves."""
        try:
            with _signals(self._on_interrupt):
                while self.screen.reason is None:
                    self._step()
        except KeyboardInterrupt:
            return INTERRUPTED
        except Left as left:
            self._unqueue()
            return KILLED + left.number
        reason = self.screen.reason
        if reason in REPLIED:
            return self._code() if self.is_single else DONE
        if reason not in SAID and not self.settings.as_json:
            self.screen.aside(words.ENDED(reason=reason))
        return INTERRUPTED if self.is_stopping else FAILED

    def _code(self) -> int:
        code = exit_code(self.screen.last_code)
        return code if code in (DONE, DENIED) else FAILED

    def _unqueue(self) -> None:
        """Take the message back if it was not begun; what was begun goes on, and its answer is kept."""
        try:
            done = self.daemon.post(f"/api/turns/{self.turn_id}/cancel?only_queued=true", {})
        except IasError as error:
            self.screen.aside(str(error))
            return
        if done["cancelled"]:
            self.screen.aside(words.UNQUEUED())

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
                self.daemon.post(f"/api/turns/{self.turn_id}/cancel", {})
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
            self.screen.note(event)
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

    def _ask(self, event: ServerEvent) -> None:
        body = event.body
        question = question_of(
            self.place.home,
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


@contextmanager
def _signals(on_interrupt: Callable[[int, FrameType | None], None]) -> Generator[None]:
    """Handle Ctrl-C, and what ends the program, while a turn goes on."""

    def leave(number: int, _frame: FrameType | None) -> None:
        raise Left(number)

    handlers = {signal.SIGINT: on_interrupt, **dict.fromkeys(LEAVING, leave)}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
