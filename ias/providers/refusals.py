"""A provider's refusal, read from status and body and made one of our errors."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import cast

from ias.domain.messages import JsonObject, replace_surrogates
from ias.errors import (
    AuthenticationError,
    BadRequestError,
    BalanceError,
    ContextOverflowError,
    LlmError,
    RateLimitedError,
    ServerFaultError,
)

WORDS_LIMIT = 300
"""Characters of the provider's words that an error repeats."""

OVERFLOW = re.compile(
    # DeepSeek and OpenAI; DeepSeek's terse form, whose code speaks of a quota (deepseek-harness discussion 3399);
    # llama.cpp; Qwen; Anthropic's two; Ollama's new engine.
    r"maximum context length|context_length_exceeded|input token exceed the limit"
    r"|exceed_context_size|exceeds the available context|range of input length|prompt is too long"
    r"|exceed context limit|input length exceeds",
    re.IGNORECASE,
)
NO_BALANCE = re.compile(
    # 400, 403 and 429 bodies that waiting does not mend: OpenAI, DashScope's billing states, Zhipu, common gateways,
    # Anthropic ("Your credit balance is too low").
    r"insufficient[ _]balance|insufficient_quota|arrearage|overdue|budgetlimitexceeded|billing_not_active"
    r"|billing hard limit|freetieronly|credit balance is too low|余额不足|欠费",
    re.IGNORECASE,
)
RATE_QUOTA = re.compile(r"allocated quota exceeded|throttling", re.IGNORECASE)
"""DashScope calls a rate limit `insufficient_quota` as well."""
BROKEN_HISTORY = re.compile(r"failed to parse tool call arguments", re.IGNORECASE)
"""llama.cpp answers 500 to a history that it cannot read; the same request fails for ever (llama.cpp#22072)."""

RETRY_STATUSES = frozenset({408, 409, 425})


def classify(status: int, body: str, *, headers: Mapping[str, str] | None = None) -> LlmError:
    """Make the error for an answer that is none.

    Args:
        status: The HTTP status, or what stands in for it inside a stream.
        body: The answer's text, in whatever envelope: OpenAI's, a bare string, HTML.
        headers: For `Retry-After`; any mapping without regard to case.
    """
    words, marks = _read(body)
    said = f"the model provider answered {status}" + (f": {words}" if words else "")
    if status < 500 and status not in (401, 402, 429) and OVERFLOW.search(marks):
        return ContextOverflowError(f"{said}; start a new conversation or set llm.context_tokens lower", status=status)
    if status == 402 or (status < 500 and NO_BALANCE.search(marks) and not RATE_QUOTA.search(marks)):
        return BalanceError(f"{said}; top up the account, or set another key", status=status)
    if status in (401, 403):
        return AuthenticationError(f"{said}; check the API key and that it belongs to llm.base_url", status=status)
    wish = retry_after(headers or {})
    if status == 429:
        return RateLimitedError(said, status=status, retry_after=wish)
    if (status >= 500 and not BROKEN_HISTORY.search(marks)) or status in RETRY_STATUSES:
        return ServerFaultError(said, status=status, retry_after=wish)
    hint = {404: "; check llm.model and llm.base_url", 405: "; check llm.base_url"}.get(status, "")
    if 300 <= status < 400:
        hint = "; it points elsewhere, so set llm.base_url to the final address"
    return BadRequestError(said + hint, status=status)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Read the wish in seconds from `Retry-After` (a number or an HTTP date) or `retry-after-ms`."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after", "").strip()
    seconds = _number(text)
    if seconds is not None or not text:
        return seconds
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text.strip()) else None


def _read(body: str) -> tuple[str, str]:
    """Give the provider's words, and all that its meaning can be told from."""
    try:
        parsed: object = json.loads(body)
    except (ValueError, RecursionError):
        return _short(body), body[:4096]
    envelope = parsed
    if isinstance(parsed, list):
        envelope = next(iter(cast("list[object]", parsed)), None)
    if isinstance(envelope, str):
        return _short(envelope), envelope[:4096]
    if not isinstance(envelope, dict):
        return "", ""
    outer = cast("JsonObject", envelope)
    inner = outer.get("error")
    fields = inner if isinstance(inner, dict) else outer
    texts = {key: str(value) for key, value in fields.items() if isinstance(value, str | int)}
    if isinstance(inner, str):
        texts.setdefault("message", inner)
    words = texts.get("message") or texts.get("detail") or texts.get("msg") or texts.get("error") or ""
    return _short(words), " ".join([words, *(texts.get(key, "") for key in ("type", "code", "status"))])


def _short(words: str) -> str:
    line = " ".join(replace_surrogates(words).split())
    return line if len(line) <= WORDS_LIMIT else line[: WORDS_LIMIT - 1] + "…"
