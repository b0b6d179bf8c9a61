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

MARKS_LIMIT = 4096
"""Characters of a refusal that its meaning is looked for in."""
ENVELOPES = 6
"""Envelopes inside one another that are opened."""
ENVELOPE_NAMES = ("error", "errors", "metadata", "raw")
WORDS = ("message", "detail", "msg", "reason", *ENVELOPE_NAMES)
"""Where the words stand: OpenAI's and its kin's `message`, FastAPI's `detail`, OpenRouter's `metadata.raw`."""
MARKS = ("type", "code", "status", "error_code", "error_msg")

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
    # Anthropic ("Your credit balance is too low"), OpenRouter.
    r"insufficient[ _](user )?(balance|quota|credits|funds)|arrearage|overdue|budget_?limit_?exceeded"
    r"|billing_not_active|billing[ _]hard[ _]limit|freetieronly|credit balance is too low"
    r"|(out of|no|not enough) credits|payment required"
    r"|spen(d|ding) (limit|cap)|check your plan and billing|余额不足|额度不足|欠费",
    re.IGNORECASE,
)
RATE_QUOTA = re.compile(r"allocated quota exceeded|throttling", re.IGNORECASE)
"""DashScope calls a rate limit `insufficient_quota` as well."""
TRY_LATER = re.compile(r"(retry|try again) (in|after) \d", re.IGNORECASE)
"""What only a limit over time says, also in words that speak of a plan (Gemini's 429)."""
BAD_KEY = re.compile(r"(invalid|incorrect|wrong|expired|missing)[ _](api[ _]?key|authentication|token)", re.IGNORECASE)
OVERLOADED = re.compile(r"rate[ _]?limit|too many requests|concurrency|请求过于频繁", re.IGNORECASE)
BROKEN_HISTORY = re.compile(r"failed to parse tool call arguments", re.IGNORECASE)
"""llama.cpp answers 500 to a history that it cannot read; the same request fails for ever (llama.cpp#22072)."""

RETRY_STATUSES = frozenset({408, 409, 425})


def classify(status: int, body: str, *, headers: Mapping[str, str] | None = None) -> LlmError:
    """Make the error for an answer that is none.

    Args:
        status: The HTTP status, or what stands in for it inside a stream; below 300 the body alone tells.
        body: The answer's text, in whatever envelope: OpenAI's, a bare string, HTML.
        headers: For `Retry-After`; any mapping without regard to case.
    """
    words, marks = _read(body)
    wish = retry_after(headers or {})
    if status < 300:
        status = _status_told(marks)
        said = "the model provider broke its answer off" + (f": {words}" if words else "")
    else:
        said = f"the model provider answered {status}" + (f": {words}" if words else "")
    if status < 500 and status not in (401, 402, 429) and OVERFLOW.search(marks):
        return ContextOverflowError(f"{said}; start a new conversation or set llm.context_tokens lower", status=status)
    if status == 402 or (status < 500 and _is_billing(marks)):
        return BalanceError(f"{said}; top up the account, or set another key", status=status)
    if status in (401, 403):
        return AuthenticationError(f"{said}; check the API key and that it belongs to llm.base_url", status=status)
    if status == 429:
        return RateLimitedError(said, status=status, retry_after=wish)
    if (status >= 500 and not BROKEN_HISTORY.search(marks)) or status in RETRY_STATUSES:
        return ServerFaultError(said, status=status, retry_after=wish)
    return BadRequestError(said + _hint(status), status=status)


def _status_told(marks: str) -> int:
    """Give the status that the words of an error without one speak of; the server's own fault where they say little."""
    if OVERFLOW.search(marks):
        return 400
    if _is_billing(marks):
        return 402
    if BAD_KEY.search(marks):
        return 401
    return 429 if OVERLOADED.search(marks) or RATE_QUOTA.search(marks) else 500


def _is_billing(marks: str) -> bool:
    return bool(NO_BALANCE.search(marks)) and not (RATE_QUOTA.search(marks) or TRY_LATER.search(marks))


def _hint(status: int) -> str:
    if 300 <= status < 400:
        return "; it points elsewhere, so set llm.base_url to the final address"
    return {404: "; check llm.model and llm.base_url", 405: "; check llm.base_url"}.get(status, "")


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
        return _short(body), body[:MARKS_LIMIT]
    texts: dict[str, str] = {}
    _gather(parsed, "message", texts, ENVELOPES)
    words = next((texts[key] for key in WORDS if texts.get(key)), "")
    return _short(words), " ".join([words, *texts.values()])[:MARKS_LIMIT]


def _gather(value: object, key: str, texts: dict[str, str], depth: int) -> None:
    """Collect what an error's envelopes say under the names that matter; the innermost words count.

    A string may hold the JSON of another provider's error, as gateways pass it on.
    """
    if isinstance(value, list):
        value = next(iter(cast("list[object]", value)), None)
    if isinstance(value, str) and value.lstrip().startswith("{") and depth:
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            depth = 0
    if isinstance(value, dict) and depth:
        for name, inner in cast("JsonObject", value).items():
            if name in WORDS or name in MARKS:
                _gather(inner, "message" if name in ENVELOPE_NAMES else name, texts, depth - 1)
    elif isinstance(value, str | int) and not isinstance(value, bool) and (key in MARKS or str(value).strip()):
        texts[key] = str(value)


def _short(words: str) -> str:
    line = " ".join(replace_surrogates(words).split())
    return line if len(line) <= WORDS_LIMIT else line[: WORDS_LIMIT - 1] + "…"
