"""Tool calls that a model wrote into its text: found in the stream before anybody sees half of one."""

import json
import re

HOLD_LIMIT = 96
"""Characters that may be held back while it is open whether they begin a leaked call; the longest opening has 40."""

CALL_LIMIT = 400
"""The same for calls of bare JSON, which models like to write over several lines."""

OPENINGS = (
    "<|dsml",  # DeepSeek V3.2 and V4 (vllm#40801), with any bars, one or many (vllm PR#54686)
    "</|dsml",  # its closing alone, where a server kept the opening (GenericAgent#804)
    "|dsml|toolcalls",  # without the bracket; a table may have a cell `| DSML |`
    "|dsml|functioncalls",
    "|dsml|invoke",
    "|dsml|parameter",
    "<dsml|",  # without the first bar
    "<|toolcallsbegin|>",  # DeepSeek V3.1
    "<|toolcallbegin|>",  # the same, and Kimi
    "<|tooloutputsbegin|>",  # V3.1 going on to make the result up as well
    "<|toolcallssectionbegin|>",  # Kimi
    "<|toolcallargumentbegin|>",
    "<|toolsep|>",
    "<|toolcall|>",  # Granite, Phi
    "<|pythontag|>",  # Llama 3
    "<|channel|>",  # Harmony (mlxcel#654)
    "<|start|>assistant",
    "<|constrain|>",
    "<invokename=",
    "<minimax:toolcall>",
    "<toolcallname=",
    "<functioncallname=",
    "<function=",
    "[toolcalls]",  # Mistral
)
"""Openings of calls, in the form that `_canonical` gives."""
TAGS = ("<toolcall>", "<toolcalls>", "<functioncall>", "<functioncalls>", "<tool>")
"""Tags that are a call only where JSON, another tag or a tool's name follows, or nothing: prose may name them."""
JSON_CALLS = (
    '{"name":NAME,"arguments":',
    '{"name":NAME,"parameters":',
    '{"type":"function","name":NAME,"arguments":',
    '{"type":"function","name":NAME,"parameters":',
    '{"type":"function","function":{"name":NAME,',
    '{"type":"function","function":NAME,',
    '{"function":{"name":NAME,',
    '{"function":NAME,"arguments":',
    '{"function":NAME,"parameters":',
    '{"tool":NAME,"arguments":',
    '{"tool":NAME,"parameters":',
    '{"tool_name":NAME,',
    '{"tool_call":{"name":NAME,',
    '{"function_call":{"name":NAME,',
)
"""Calls of bare JSON without their blanks, at the beginning of a line; Qwen2.5, Llama 3 and small models write them."""
LATE_NAMES = ('{"arguments":{', '{"parameters":{', '{"id":"', '{"tool_calls":[{')
"""Beginnings of an answer that is a call if a tool's name follows; held back until the answer's end."""

BARS = re.compile(r"\s*[|\u00a6\u01c0\u2016\u2223\u2225\u2502\u2551\u2758\uff5c\uffe8]+\s*")
"""ASCII, fullwidth, double and other bars."""
FILLERS = re.compile(r"[▁_\- ]")
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
SPECIAL = re.compile(r"[<\[\n{|\u00a6\u01c0\u2016\u2223\u2225\u2502\u2551\u2758\uff5c\uffe8]")


class LeakGate:
    """Let text through, but for a tool call written as text; that one and all after it is swallowed.

    What stands in a code fence or between backticks is quoted and goes through. A piece that may be the beginning of a
    call is held back until the next pieces decide.

    Args:
        names: Tools that were offered: JSON that names one of them and its arguments is a call too.
    """

    def __init__(self, names: tuple[str, ...] = ()) -> None:
        self._names = names
        self._calls: tuple[str, ...] = ()
        self._held = ""
        self._line = ""
        self._fence = ""
        self._has_begun = not names
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
        if self._is_suspect and _is_call(self._held, self._names):
            self._leak()
            return ""
        self._has_begun = True
        return self._drain(is_end=True)

    def _begin(self) -> bool:
        """Say whether the answer can be looked at piece by piece: not while it may be JSON that names a tool late."""
        if self._is_suspect:
            return False
        written = _compact(self._held[: HOLD_LIMIT * 2])
        self._is_suspect = any(written.startswith(opening) for opening in LATE_NAMES)
        may_grow = len(self._held) < HOLD_LIMIT * 2 and any(opening.startswith(written) for opening in LATE_NAMES)
        self._has_begun = not (self._is_suspect or may_grow)
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
        """Look at what is held, which begins with a special character; say whether it was decided."""
        verdict = None if self._is_quoted() else self._verdict(is_end=is_end)
        if verdict is None:
            self._pass(1, shown)
        elif verdict:
            self._leak()
        return verdict is None or verdict

    def _verdict(self, *, is_end: bool) -> bool | None:
        """Say True for a leaked call, None for harmless text, False while it is open."""
        verdict = None if self._held[0] == "{" else _markup(self._held, self._names, is_end=is_end)
        if verdict is None and self._held[0] in "{[" and not self._line.strip():
            self._calls = self._calls or _json_calls(self._names)
            verdict = _json_call(self._held, self._calls, is_end=is_end)
        return verdict

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


def _markup(text: str, names: tuple[str, ...], *, is_end: bool) -> bool | None:
    """Judge text that may open a call by markup."""
    head = text[:HOLD_LIMIT]
    written = _canonical(head)
    if any(written.startswith(opening) for opening in OPENINGS):
        return True
    may_grow = len(text) < HOLD_LIMIT and not is_end
    if any(written.startswith(tag) for tag in TAGS):
        after = head.partition(">")[2].strip()
        # An answer may hold other XML; `<tool>` is too common a name for more than JSON to follow.
        follows = ("{", "[") if written.startswith("<tool>") else ("{", "[", "<")
        if after.startswith(follows) or any(after.startswith(name) for name in names):
            return True
        if may_grow and any(name.startswith(after) for name in ("", *names)):
            return False
        return True if is_end and not after else None
    return False if may_grow and any(opening.startswith(written) for opening in OPENINGS + TAGS) else None


def _json_calls(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(call.replace("NAME", json.dumps(name)) for call in JSON_CALLS for name in names)


def _json_call(text: str, calls: tuple[str, ...], *, is_end: bool) -> bool | None:
    """Judge a line that may be a call of bare JSON, or a list of them."""
    written = _compact(text[:CALL_LIMIT]).removeprefix("[")
    if any(written.startswith(call) for call in calls):
        return True
    may_grow = len(text) < CALL_LIMIT and not is_end
    return False if may_grow and any(call.startswith(written) for call in calls) else None


def _canonical(text: str) -> str:
    """Give the opening's letters alone: one ASCII bar for any bars, no fillers between words."""
    return FILLERS.sub("", BARS.sub("|", text)).lower()


def _compact(text: str) -> str:
    return "".join(text.split())


def _is_call(text: str, names: tuple[str, ...]) -> bool:
    """Say whether a text that began like a call names a tool, or was cut before it could."""
    try:
        json.loads(text, strict=False)
    except (ValueError, RecursionError):
        written = _compact(text)
        return written.startswith(('{"arguments"', '{"parameters"', '{"tool_calls"'))
    return any(f'"name":{json.dumps(name)}' in _compact(text) for name in names)
