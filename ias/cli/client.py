"""The daemon as commands speak to it: HTTP over its Unix socket."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

import httpx

from ias.cli import words
from ias.cli.place import program, socket_address
from ias.errors import DaemonNotRunningError, IasError, NotFoundError, StateError, TooDeepError

CONNECT_TIMEOUT = 5.0  # seconds
ANSWER_TIMEOUT = 30.0  # seconds for an ordinary request
SILENCE = 45.0  # seconds without a line after which an event stream is dead: the daemon sends one every 15
CALL_TIMEOUT = 700.0  # seconds for a tool call that is waited for: longer than any tool's own timeout
BASE = "http://ias"  # the host does not matter on a Unix socket


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerEvent:
    """One event of a conversation; live ones have no `id`. A name of `""` only moves the number on."""

    id: int | None
    name: str
    body: Mapping[str, Any]


class ApiError(IasError):
    """The daemon refused a request; `status` is the HTTP status, `problem` its document."""

    def __init__(self, message: str, *, status: int, problem: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.status = status
        self.problem = problem


class Daemon:
    """A running daemon.

    Args:
        socket: Its Unix socket.
    """

    def __init__(self, socket: Path) -> None:
        self._socket = socket
        try:
            address = socket_address(socket)
        except OSError as error:
            raise self._not_running() from error
        self._client = httpx.Client(
            transport=httpx.HTTPTransport(uds=address),
            base_url=BASE,
            timeout=httpx.Timeout(ANSWER_TIMEOUT, connect=CONNECT_TIMEOUT),
            trust_env=False,
        )

    def __enter__(self) -> Self:
        """Use the daemon."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connections."""
        self._client.close()

    def get(self, path: str) -> Any:
        """Ask for a document.

        Raises:
            DaemonNotRunningError: Nobody answers.
            IasError: The daemon refuses.
        """
        return self._request("GET", path, None, ANSWER_TIMEOUT)

    def post(self, path: str, body: Mapping[str, object], *, timeout: float = ANSWER_TIMEOUT) -> Any:
        """Post a document and give the answer.

        Raises:
            DaemonNotRunningError: Nobody answers.
            IasError: The daemon refuses.
        """
        return self._request("POST", path, body, timeout)

    def events(self, conversation_id: str, after: int) -> Iterator[ServerEvent]:
        """Give the events of a conversation from a number on, until the connection ends.

        Raises:
            DaemonNotRunningError: The connection cannot be made, or it was lost.
            IasError: The daemon refuses.
        """
        path = f"/api/conversations/{conversation_id}/events?after={after}"
        try:
            with self._client.stream("GET", path, timeout=httpx.Timeout(SILENCE, connect=CONNECT_TIMEOUT)) as answer:
                if answer.status_code >= httpx.codes.BAD_REQUEST:
                    answer.read()
                    raise _refusal(answer)
                yield from parse_events(answer.iter_lines())
        except httpx.HTTPError as error:
            raise self._not_running() from error

    def _request(self, method: str, path: str, body: Mapping[str, object] | None, timeout: float) -> Any:
        content = None if body is None else json.dumps(body).encode("ascii")  # lone surrogates stay escaped
        headers = None if body is None else {"Content-Type": "application/json"}
        try:
            answer = self._client.request(
                method, path, content=content, headers=headers, timeout=httpx.Timeout(timeout, connect=CONNECT_TIMEOUT)
            )
        except httpx.TimeoutException as error:
            raise StateError(f"the daemon did not answer within {timeout:g} seconds; see logs/error.log") from error
        except httpx.HTTPError as error:
            raise self._not_running() from error
        if answer.status_code >= httpx.codes.BAD_REQUEST:
            raise _refusal(answer)
        return answer.json() if answer.content else None

    def _not_running(self) -> DaemonNotRunningError:
        return DaemonNotRunningError(words.NO_DAEMON(socket=self._socket, ias=program()))


def parse_events(lines: Iterator[str]) -> Iterator[ServerEvent]:
    """Read server-sent events; comments and broken ones are left out."""
    fields: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(":")
            if name:
                fields[name] = value.removeprefix(" ")
            continue
        event = _event(fields)
        fields = {}
        if event is not None:
            yield event


def _event(fields: Mapping[str, str]) -> ServerEvent | None:
    try:
        number = int(fields["id"]) if "id" in fields else None
        body = json.loads(fields.get("data", "{}"))
    except ValueError:
        return None
    if not fields or not isinstance(body, dict):
        return None
    return ServerEvent(id=number, name=fields.get("event", ""), body=cast("dict[str, Any]", body))


def _refusal(answer: httpx.Response) -> IasError:
    try:
        document = answer.json()
    except ValueError:
        document = None
    problem = cast("dict[str, Any]", document) if isinstance(document, dict) else {}
    detail = str(problem.get("detail") or f"the daemon answered {answer.status_code}")
    match answer.status_code:
        case httpx.codes.NOT_FOUND:
            return NotFoundError(detail)
        case httpx.codes.TOO_MANY_REQUESTS:
            after = answer.headers.get("Retry-After", "1")
            seconds = int(after) if after.isdigit() else 1
            return TooDeepError(f"{detail}; try again in {seconds} seconds", retry_after=seconds)
        case _:
            return ApiError(detail, status=answer.status_code, problem=problem)
