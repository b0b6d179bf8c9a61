"""Every error that `ias` raises, in one tree.

```
IasError
├── ConfigError            the operator: config.yaml is wrong (exit 78)
├── StateError             the operator: the state folder cannot be used
│   ├── StateLockedError   another process holds the folder's lock
│   ├── DiskFullError      no space left; recovers by itself
│   ├── ReadOnlyStateError
│   ├── StoreBusyError     a foreign writer holds the database
│   └── SchemaError        the database was written by a newer ias, or not by ias
├── DaemonNotRunningError  the operator: the command needs `ias serve` (exit 5)
├── NotFoundError          the operator: no such row, name or file (exit 4)
├── AmbiguousIdError       the operator: a short id fits several rows (exit 2)
├── TooDeepError           the sender: a queue is full (HTTP 429)
├── ToolError              the model: a call failed; carries a `Code`
│   ├── ToolNotFoundError, InvalidArgumentsError, PermissionDeniedError, ExecutionFailedError, ToolTimeoutError
│   └── McpError, McpNotInitializedError, McpTimeoutError
└── LlmError               the provider
    ├── RetryableLlmError  the queue tries again
    │   └── RateLimitedError, ServerFaultError, TransportError, StreamCutError, EmptyResponseError
    └── RejectedError      trying again would not help
        └── AuthenticationError, BalanceError, BadRequestError, ContextOverflowError, MaxTurnsError
```
"""

from enum import StrEnum
from pathlib import Path


class Code(StrEnum):
    """How a call ended, in the words of the tool protocol (`specs/README.md`); `OK` is a result."""

    OK = "ok"
    TOOL_FAILED = "tool_failed"
    SPAWN_FAILED = "spawn_failed"
    TIMEOUT = "timeout"
    NO_OUTPUT = "no_output"
    BAD_UTF8 = "bad_utf8"
    BAD_JSON = "bad_json"
    BAD_MESSAGE = "bad_message"
    EXTRA_OUTPUT = "extra_output"
    OUTPUT_TOO_LARGE = "output_too_large"
    TOO_MANY_STEPS = "too_many_steps"
    MEMORY_LIMIT = "memory_limit"
    KILLED = "killed"
    PERMISSION_DENIED = "permission_denied"
    APPROVAL_DENIED = "approval_denied"
    APPROVAL_EXPIRED = "approval_expired"
    HOST_NOT_ALLOWED = "host_not_allowed"
    ADDRESS_NOT_ALLOWED = "address_not_allowed"
    SECRET_NOT_ALLOWED = "secret_not_allowed"  # noqa: S105 - an error code, no password
    HTTP_TIMEOUT = "http_timeout"
    HTTP_FAILED = "http_failed"
    RESPONSE_TOO_LARGE = "response_too_large"
    OUTCOME_UNKNOWN = "outcome_unknown"
    DB_FAILED = "db_failed"
    INVALID_ARGUMENTS = "invalid_arguments"
    NOT_FOUND = "not_found"
    REPEATED_CALL = "repeated_call"
    CANCELLED = "cancelled"
    TURN_ENDED = "turn_ended"


class IasError(Exception):
    """Root of the tree: catch it to catch everything that `ias` raises on purpose."""


class ConfigError(IasError):
    """config.yaml (or `.env`) cannot be used as it is.

    Args:
        message: What is wrong and what to write instead.
        file: The file at fault, if it is known.
        line: Line in that file, from 1, if it is known.
    """

    def __init__(self, message: str, *, file: Path | None = None, line: int | None = None) -> None:
        place = "" if file is None else f"{file}: " if line is None else f"{file}:{line}: "
        super().__init__(place + message)
        self.file = file
        self.line = line


class StateError(IasError):
    """The state folder or its database cannot be used."""


class StateLockedError(StateError):
    """Another process holds the lock of the state folder; `pid` is that process, if it could be read."""

    def __init__(self, message: str, *, pid: int | None = None) -> None:
        super().__init__(message)
        self.pid = pid


class DiskFullError(StateError):
    """The file system has no space left; nothing was stored, and the next try may succeed."""


class ReadOnlyStateError(StateError):
    """The state folder or the database cannot be written."""


class StoreBusyError(StateError):
    """Another program held the database's write lock for longer than the busy timeout."""


class SchemaError(StateError):
    """The database's schema is not one that this version can use."""


class DaemonNotRunningError(IasError):
    """The command needs a running daemon and none answers on the socket."""


class NotFoundError(IasError):
    """No row, name or file fits what was asked for."""


class AmbiguousIdError(IasError):
    """A short id fits more than one row; `candidates` holds their ids."""

    def __init__(self, message: str, *, candidates: tuple[str, ...]) -> None:
        super().__init__(message)
        self.candidates = candidates


class TooDeepError(IasError):
    """A message was not accepted because too many wait; `retry_after` is in seconds."""

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ToolError(IasError):
    """A call that failed: its text goes to the model, its `code` to the record.

    Args:
        message: What went wrong, and what to do next.
        code: How it failed; by default the class's own.

    Example:
        ```python
        raise ToolError("there is no city 'Atlantis'; write its English name", code=Code.NOT_FOUND)
        ```
    """

    code = Code.TOOL_FAILED

    def __init__(self, message: str, *, code: Code | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code


class ToolNotFoundError(ToolError):
    """No tool of that name is registered."""

    code = Code.NOT_FOUND


class InvalidArgumentsError(ToolError):
    """The arguments do not fit the tool's parameters."""

    code = Code.INVALID_ARGUMENTS


class PermissionDeniedError(ToolError):
    """The configuration forbids what the tool needs."""

    code = Code.PERMISSION_DENIED


class ExecutionFailedError(ToolError):
    """The tool ran and failed."""


class ToolTimeoutError(ToolError):
    """The tool did not answer within its `timeout_secs`."""

    code = Code.TIMEOUT


class McpError(ToolError):
    """An MCP server broke the protocol or answered with an error."""


class McpNotInitializedError(McpError):
    """An MCP client was used before `connect`."""


class McpTimeoutError(McpError):
    """An MCP server did not answer in time."""

    code = Code.TIMEOUT


class LlmError(IasError):
    """A model call failed.

    Args:
        message: What the provider said.
        status: The HTTP status, if there was one.

    Example:
        ```python
        try:
            await cycle.submit_with_tools("hello", registry)
        except LlmError as error:
            print(type(error).__name__, error.status, error)
        ```
    """

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class RetryableLlmError(LlmError):
    """The same call may succeed later; `retry_after` is the provider's wish in seconds, if it gave one."""

    def __init__(self, message: str, *, status: int | None = None, retry_after: float | None = None) -> None:
        super().__init__(message, status=status)
        self.retry_after = retry_after


class RateLimitedError(RetryableLlmError):
    """Too many calls at once or in a span of time (429)."""


class ServerFaultError(RetryableLlmError):
    """The provider failed or is overloaded (5xx, `insufficient_system_resource`, `aborted`)."""


class TransportError(RetryableLlmError):
    """The connection failed, or nothing came in time."""


class StreamCutError(RetryableLlmError):
    """The answer's stream ended before its end mark."""


class EmptyResponseError(RetryableLlmError):
    """The model answered with neither text nor a call."""


class RejectedError(LlmError):
    """The provider refused the request; the same request would be refused again."""


class AuthenticationError(RejectedError):
    """The API key is missing or wrong (401, 403)."""


class BalanceError(RejectedError):
    """The account has no balance (402)."""


class BadRequestError(RejectedError):
    """The provider cannot use the request (400, 404, 413, 422)."""


class ContextOverflowError(BadRequestError):
    """The request is longer than the model's context."""


class MaxTurnsError(RejectedError):
    """The tool loop reached `max_turns` model steps without a final answer."""
