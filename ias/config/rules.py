"""Approval rules as the operator writes them, and the examples that prove what they mean."""

import posixpath
import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote

from ias.domain.approvals import RequestView, StepKind, Verdict
from ias.domain.urls import host_matches, parse_url

CALL = "call"  # how an example writes a whole call


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A verdict on the requests that fit all of its conditions; None leaves a condition out.

    `tool`, `path` and `operation` are patterns: `*` stands for any characters but `/`, `**` for any at all, `?` for
    one. A rule with a method, host or path speaks about http requests alone, one with an operation about `db` alone,
    one with neither about everything that the tool does. `label` is how people find it.
    """

    verdict: Verdict
    label: str = ""
    tool: str | None = None
    methods: tuple[str, ...] = ()
    host: str | None = None
    path: str | None = None
    operation: str | None = None

    def fits(self, view: RequestView) -> bool:
        """Say whether it speaks about a request."""
        if self.tool is not None and not _glob(self.tool).fullmatch(view.tool):
            return False
        is_http_only = bool(self.methods or self.host or self.path)
        match view.kind:
            case StepKind.HTTP:
                return self.operation is None and self._fits_http(view)
            case StepKind.DB:
                return not is_http_only and (self.operation is None or _fits(self.operation, view.method))
            case StepKind.START | StepKind.CALL:
                return not is_http_only and self.operation is None

    def _fits_http(self, view: RequestView) -> bool:
        if self.methods and view.method not in self.methods:
            return False
        if self.host is not None and not host_matches(view.host, self.host):
            return False
        return self.path is None or self._fits_path(self.path, view.path)

    def _fits_path(self, pattern: str, path: str) -> bool:
        """Compare both the path as written and what a server may make of it (`%2e`, `..`, `//`), on the safe side."""
        found = [_fits(pattern, spelling) for spelling in (path, _plain(path))]
        return all(found) if self.verdict is Verdict.ALLOW else any(found)


def check_examples(rule: Rule, *, match: tuple[str, ...], not_match: tuple[str, ...]) -> None:
    """Prove a rule by its examples.

    Args:
        rule: The rule.
        match: Requests that it must fit: `[TOOL] METHOD URL`, `[TOOL] OPERATION` or `[TOOL] call`.
        not_match: Requests that it must not fit.

    Raises:
        ValueError: An example cannot be read, or the rule does not do what it says.
    """
    for text in match:
        if not rule.fits(read_example(text, tool=rule.tool)):
            raise ValueError(f"the rule does not fit its match example {text!r}; change one of them")
    for text in not_match:
        if rule.fits(read_example(text, tool=rule.tool)):
            raise ValueError(f"the rule fits its not_match example {text!r}; change one of them")


def read_example(text: str, *, tool: str | None) -> RequestView:
    """Read an example of a request; `tool` stands where it names none.

    Raises:
        ValueError: It is none.
    """
    words = text.split()
    is_http = bool(words) and "://" in words[-1]
    if len(words) - is_http not in (1, 2):
        raise ValueError(f"the example {text!r} must be '[TOOL] METHOD URL', '[TOOL] OPERATION' or '[TOOL] call'")
    named = words[0] if len(words) - is_http == 2 else tool or ""
    if is_http:
        url = parse_url(words[-1])
        return RequestView(tool=named, kind=StepKind.HTTP, method=words[-2].upper(), host=url.host, path=url.path)
    if words[-1] == CALL:
        return RequestView(tool=named, kind=StepKind.CALL)
    return RequestView(tool=named, kind=StepKind.DB, method=words[-1])


def _fits(pattern: str, text: str) -> bool:
    return _glob(pattern).fullmatch(text) is not None


@lru_cache(maxsize=1024)
def _glob(pattern: str) -> re.Pattern[str]:
    parts = re.split(r"(\*\*|\*|\?)", pattern)
    known = {"**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(known.get(part) or re.escape(part) for part in parts), re.DOTALL)


def _plain(path: str) -> str:
    decoded = unquote(unquote(path))
    plain = posixpath.normpath(re.sub(r"[/\\]+", "/", decoded))
    return plain + "/" if decoded.endswith("/") and plain != "/" else plain
