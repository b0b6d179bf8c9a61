"""Tool calls that a model wrote into its text: found in the stream before anybody sees half of one."""

import json
import re

HOLD_LIMIT = 96
"""Characters that may be held back while it is open whether they begin a leaked call; the longest opening has 40."""

OPENINGS = (
    "<|dsml",  # DeepSeek V3.2 and V4 (vllm#40801), with ASCII, doubled and wide bars (vllm PR#54686)
    "<|toolcallsbegin|>",  # DeepSeek V3.1
    "<|toolcallbegin|>",  # the same, and Kimi
    "<|toolcallssectionbegin|>",  # Kimi
    "<|toolsep|>",
    "<invokename=",
    "<function=",
    "[toolcalls]",  # Mistral
)
"""Openings of calls, in the form that `_canonical` gives."""
TAGS = ("<toolcall>", "<toolcalls>", "<functioncall>", "<functioncalls>")
"""Tags that are a call only where JSON or another tag follows, or nothing at all: prose may name them."""

BARS = re.compile(r"\s*[|\uff5c\u2016]+\s*")
"""ASCII, fullwidth and double bars."""
FILLERS = re.compile(r"[▁_\- ]")
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
SPECIAL = re.compile(r"[<\[\n]")
JSON_START = re.compile(r'\{\s*"name"\s*:\s*"')


class LeakGate:
    """Let text through, but for a tool call written as text; that one and all after it is swallowed.

    What stands in a code fence or between backticks is quoted and goes through. A piece that may be the beginning of a
    call is held back until the next pieces decide.

    Args:
        names: Tools that were offered: an answer that is nothing but `{"name": "<one of these>", …}` is a call too.
    """

    def __init__(self, names: tuple[str, ...] = ()) -> None:
        self._names = names
        self._held = ""
        self._line = ""
        self._fence = ""
        self._has_begun = False
        self._is_suspect = False
        self.has_leaked = False

    def feed(self, text: str) -> str:
        """Take a piece of text and give what may be shown of it and of what was held back."""
        if self.has_leaked or not text:
            return ""
        self._held += text
        if not self._has_begun and not self._begin():
            return ""
        return self._drain(is_end=False)

    def finish(self) -> str:
        """Give what was held back, at the end of the answer."""
        if self.has_leaked:
            return ""
        if self._is_suspect and _is_call(self._held):
            self._leak()
            return ""
        self._has_begun = True
        return self._drain(is_end=True)

    def _begin(self) -> bool:
        """Decide whether the answer's first characters can be looked at: not while they may be a bare JSON call."""
        start = self._held.lstrip()
        if not self._names or self._is_suspect:
            return not self._is_suspect
        if not start:
            return False
        openings = [f'{{"name":"{name}"' for name in self._names]
        written = "".join(start[: HOLD_LIMIT * 2].split())
        if any(written.startswith(opening) for opening in openings):
            self._is_suspect = True
            return False
        self._has_begun = not any(opening.startswith(written) for opening in openings)
        return self._has_begun

    def _drain(self, *, is_end: bool) -> str:
        shown: list[str] = []
        while self._held and not self.has_leaked:
            found = SPECIAL.search(self._held)
            if found is None:
                self._pass(len(self._held), shown)
            elif found.start() > 0:
                self._pass(found.start(), shown)
            elif found[0] == "\n":
                self._pass(1, shown)
                self._end_line()
            elif not self._judge(shown, is_end=is_end):
                break
        return "".join(shown)

    def _judge(self, shown: list[str], *, is_end: bool) -> bool:
        """Look at a `<` or `[` at the head of what is held; say whether it was decided."""
        verdict = None if self._is_quoted() else _verdict(self._held, is_end=is_end)
        if verdict is None:
            self._pass(1, shown)
        elif verdict:
            self._leak()
        return verdict is None or verdict

    def _is_quoted(self) -> bool:
        return bool(self._fence) or FENCE.match(self._line) is not None or self._line.count("`") % 2 == 1

    def _pass(self, length: int, shown: list[str]) -> None:
        piece, self._held = self._held[:length], self._held[length:]
        self._line += piece
        shown.append(piece)

    def _end_line(self) -> None:
        fence = FENCE.match(self._line)
        self._line = ""
        if fence is None:
            return
        if not self._fence:
            self._fence = fence[1]
        elif fence[1].startswith(self._fence) and not fence[2].strip():
            self._fence = ""

    def _leak(self) -> None:
        self.has_leaked = True
        self._held = ""


def _verdict(text: str, *, is_end: bool) -> bool | None:
    """Say True for a leaked call, None for harmless text, False while it is open."""
    head = text[:HOLD_LIMIT]
    written = _canonical(head)
    if any(written.startswith(opening) for opening in OPENINGS):
        return True
    for tag in TAGS:
        if written.startswith(tag):
            after = head.partition(">")[2].lstrip()
            if after[:1] in ("{", "<", "["):
                return True
            is_open = not after and len(text) < HOLD_LIMIT
            return is_end if is_open else None
    may_grow = len(text) < HOLD_LIMIT and any(opening.startswith(written) for opening in OPENINGS + TAGS)
    return False if may_grow and not is_end else None


def _canonical(text: str) -> str:
    """Give the opening's letters alone: one ASCII bar for any bars, no fillers between words."""
    return FILLERS.sub("", BARS.sub("|", text)).lower()


def _is_call(text: str) -> bool:
    """Say whether a text that began like a call is one, or was cut inside one."""
    try:
        value: object = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return JSON_START.match(text.lstrip()) is not None
    return isinstance(value, dict) and ("arguments" in value or "parameters" in value)
