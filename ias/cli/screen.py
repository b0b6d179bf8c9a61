"""One turn on the terminal: the answer on stdout as it comes, everything about it on stderr."""

import os
import sys
from collections.abc import Mapping
from typing import Any

from ias.cli import words
from ias.cli.client import ServerEvent
from ias.cli.output import say_aside, say_json
from ias.cli.request_view import readable
from ias.cli.visible import one_line, tame

INPUT_SHOWN = 160  # characters of a call's arguments
DIM, PLAIN = "\x1b[2m", "\x1b[0m"


class Screen:
    """Shows the events of one turn.

    Args:
        turn_id: The turn; notices and questions of others in the conversation are shown too.
        is_reasoning: Whether the model's reasoning is shown.
    """

    def __init__(self, turn_id: str, *, is_reasoning: bool) -> None:
        self._turn_id = turn_id
        self._is_reasoning = is_reasoning
        self._is_styled = sys.stderr.isatty() and "NO_COLOR" not in os.environ
        self._texts: dict[int, str] = {}
        self._attempts: dict[int, int] = {}
        self._is_line_open = False
        self._errors: list[str] = []
        self.reason: str | None = None
        self.last_code = "ok"

    def note(self, event: ServerEvent) -> None:
        """Keep how the turn and its last call ended, printing nothing."""
        body = event.body
        if body.get("turn_id") != self._turn_id:
            return
        if event.name == "ToolExecutionCompleted":
            self.last_code = str(body["code"])
        elif event.name == "TurnComplete":
            self.reason = None if body["reason"] == "tool_calls" else str(body["reason"])

    def show(self, event: ServerEvent) -> None:
        """Show an event; `reason` is set by the one that closes the turn."""
        self.note(event)
        body = event.body
        is_ours = body.get("turn_id") in (self._turn_id, "", None)
        match event.name:
            case "AssistantTextDelta" if is_ours:
                self._text(body, is_stored=event.id is not None)
            case "ReasoningDelta" if is_ours and self._is_reasoning:
                self._reasoning(str(body["text"]))
            case "ToolExecutionStarted" if is_ours:
                self.aside(f"→ {tame(body['tool_name'])} {one_line(readable(str(body['input'])), INPUT_SHOWN)}")
            case "ToolExecutionCompleted" if is_ours:
                failed = f": {tame(str(body['code']))}" if body["is_error"] else ""
                self.aside(f"{'✗' if body['is_error'] else '✓'} {tame(body['tool_name'])}{failed}")
            case "ApprovalResolved":
                self.aside(words.RESOLVED(ref=f"A{body['num']}", state=words.state_of(tame(str(body["state"])))))
            case "Error" if is_ours:
                self._errors.append(str(body["text"]))
            case "Notice" | "Error":
                self.aside(tame(str(body["text"])))
            case "TurnComplete" if body.get("turn_id") == self._turn_id:
                self.end_line()
                self._tell_errors()
            case _:
                return

    def aside(self, line: str) -> None:
        """Print a line beside the answer."""
        self.end_line()
        say_aside(self._dim(line))

    def end_line(self) -> None:
        """Begin a new line if one is open."""
        if self._is_line_open:
            sys.stdout.write("\n")
            sys.stdout.flush()
            self._is_line_open = False

    def _tell_errors(self) -> None:
        """Tell what went wrong, unless the answer's own words did."""
        said = "".join(self._texts.values())
        for error in self._errors:
            if error not in said:
                self.aside(tame(error))
        self._errors.clear()

    def _text(self, body: Mapping[str, Any], *, is_stored: bool) -> None:
        """Print what is new of the answer's text; text of another attempt is marked and begins anew."""
        step, attempt, offset, text = body["step"], body.get("attempt", 1), body.get("offset", 0), str(body["text"])
        known = self._texts.get(step, "")
        if attempt != self._attempts.setdefault(step, attempt) and not is_stored:
            known = self._begin_anew(known)
        if offset > len(known):
            return  # something was missed: the stored text brings it
        if not (known[offset:].startswith(text) or text.startswith(known[offset:])):
            if not is_stored:
                return
            known = self._begin_anew(known)
        self._attempts[step] = attempt
        fresh = text[len(known) - offset :]
        self._texts[step] = known + fresh
        if fresh:
            self._is_line_open = not fresh.endswith("\n")
            sys.stdout.write(tame(fresh))
            sys.stdout.flush()

    def _begin_anew(self, known: str) -> str:
        if known:
            self.aside(words.AGAIN())
        return ""

    def _reasoning(self, text: str) -> None:
        sys.stderr.write(self._dim(tame(text)))
        sys.stderr.flush()

    def _dim(self, text: str) -> str:
        return f"{DIM}{text}{PLAIN}" if self._is_styled else text


def print_event(event: ServerEvent) -> None:
    """Print an event as one line of JSON, for programs."""
    if event.name:
        say_json({"id": event.id, "event": event.name, "data": event.body}, indent=None)
        sys.stdout.flush()
