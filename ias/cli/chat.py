"""`ias chat`: one question, or a conversation; the answer streams, tools and approvals show as they happen."""

import importlib
import secrets
import sys
from typing import Annotated, Any

import typer

from ias.cli import words
from ias.cli.client import Daemon
from ias.cli.exits import DONE, UsageError
from ias.cli.feed import Feed
from ias.cli.output import say_aside
from ias.cli.place import OPERATOR, Place, find_place, program
from ias.cli.screen import Screen
from ias.cli.turn import Settings, Turn
from ias.errors import IasError, NotFoundError

NEW = "/new"
CHANNEL = "cli"
ADDRESS_SHARED = 150  # characters of the user's name in the address of a conversation of its own


def chat(
    context: typer.Context,
    text: Annotated[list[str] | None, typer.Argument(help="One question; without it a conversation begins.")] = None,
    *,
    user: Annotated[str, typer.Option(help="Who is talking; memories belong to a user.")] = OPERATOR,
    conversation: Annotated[str | None, typer.Option(metavar="ID", help="Go on in this conversation.")] = None,
    new: Annotated[bool, typer.Option("--new", help="Begin anew; what goes on or waits before is stopped.")] = False,
    reasoning: Annotated[bool, typer.Option("--reasoning", help="Show the model's reasoning.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print events as lines of JSON.")] = False,
) -> None:
    """Talk in the terminal, or ask one question.

    Questions go on with your open conversation. While a request in it waits for approval, a single question gets a
    conversation of its own, so that it need not wait too. Exit code of a single question: 0 answered; 1 no answer, or
    the last call failed; 3 the last call was denied.
    """
    if new and conversation is not None:
        raise UsageError("--new and --conversation exclude each other; leave one out")
    settings = Settings(user_id=user, conversation=conversation, is_new=new, is_reasoning=reasoning, as_json=as_json)
    talk = Talk(find_place(context), settings)
    raise typer.Exit(talk.ask(" ".join(text)) if text else _converse(talk))


def _converse(talk: "Talk") -> int:
    talk.greet()
    is_terminal = sys.stdin.isatty()
    if is_terminal:
        importlib.import_module("readline")  # gives `input` a line editor and a history
        say_aside(words.WELCOME())
    try:
        return _turns(talk, is_terminal=is_terminal)
    except KeyboardInterrupt:  # between two prompts: there is nothing to stop but the conversation
        return DONE


def _turns(talk: "Talk", *, is_terminal: bool) -> int:
    code, interrupts = DONE, 0
    while True:
        try:
            line = input(words.PROMPT() if is_terminal else "")
        except EOFError:
            return code
        except KeyboardInterrupt:
            interrupts += 1
            say_aside("")
            if interrupts > 1:
                return DONE
            say_aside(words.LEAVE())
            continue
        interrupts = 0
        if line.strip():
            try:
                code = talk.turn(line)
            except IasError as error:
                if not is_terminal:
                    raise
                say_aside(str(error))


class Talk:
    """A person at the terminal: turn after turn, in one conversation until `/new`."""

    def __init__(self, place: Place, settings: Settings) -> None:
        self._place = place
        self._daemon = Daemon(place.socket)
        self._settings = settings
        self._address: str | None = None
        self._conversation = ""
        self._feed: Feed | None = None

    def greet(self) -> None:
        """Find out at once that no daemon runs, not after the first message; begin anew if that was asked for.

        Raises:
            DaemonNotRunningError: None does.
        """
        self._daemon.get("/healthz")
        if self._settings.is_new:
            self._post(NEW)

    def ask(self, text: str) -> int:
        """Ask a single question; where one of the person's waits for approval, in a conversation of its own."""
        if self._settings.is_new:
            self._post(NEW)
        elif self._settings.conversation is None:
            self._keep_apart()
        return self.turn(text, is_single=True)

    def turn(self, text: str, *, is_single: bool = False) -> int:
        """Post a message and show its turn to the end.

        Returns:
            0 if a reply came, 1 if not, 130 if the person left; for a single question also how its last call ended.
        """
        posted = self._post(text)
        return Turn(
            daemon=self._daemon,
            settings=self._settings,
            place=self._place,
            feed=self._follow(posted["conversation"], posted["cursor"]),
            screen=Screen(posted["turn"], is_reasoning=self._settings.is_reasoning),
            turn_id=posted["turn"],
            is_single=is_single,
        ).follow()

    def _post(self, text: str) -> dict[str, Any]:
        settings = self._settings
        body = {"user_id": settings.user_id, "text": text, "conversation": settings.conversation, "channel": CHANNEL}
        if self._address is not None:
            body["address"] = self._address
        try:
            return self._daemon.post("/api/messages", body)
        except NotFoundError as error:
            raise NotFoundError(f"{error}; --new begins one, and without either your open one goes on") from error

    def _keep_apart(self) -> None:
        user_id = self._settings.user_id
        for approval in self._daemon.get("/api/approvals?state=pending"):
            if (approval["channel"], approval["address"]) == (CHANNEL, user_id):
                self._address = f"{user_id[:ADDRESS_SHARED]}#{secrets.token_hex(4)}"
                say_aside(words.APART(ref=f"A{approval['num']}", ias=program()))
                return

    def _follow(self, conversation: str, cursor: int) -> Feed:
        """Give the conversation's feed: the one that runs, so that nothing between two turns is missed."""
        if self._feed is None or conversation != self._conversation:
            if self._feed is not None:
                self._feed.close()
            self._feed = Feed(self._daemon, conversation, cursor)
            self._conversation = conversation
        return self._feed
