"""Errors as RFC 9457 problem documents."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from ias.domain.messages import replace_surrogates
from ias.errors import AmbiguousIdError, DiskFullError, IasError, NotFoundError, StateError, TooDeepError, ToolError
from ias.intake import UnfitMessageError

MEDIA_TYPE = "application/problem+json"
TITLES = {
    400: "Bad request",
    401: "Not authenticated",
    403: "Forbidden",
    404: "Not found",
    405: "Method not allowed",
    409: "Decided before",
    413: "Too large",
    421: "Misdirected request",
    422: "Not usable",
    429: "Too many messages wait",
    500: "Internal error",
    503: "Not available now",
    507: "No space left",
}


def problem(status: int, detail: str, *, headers: dict[str, str] | None = None, **more: object) -> JSONResponse:
    """Make a problem document.

    Args:
        status: The HTTP status.
        detail: What is wrong and what to do, for a person.
        headers: Further headers.
        more: Further members of the document.
    """
    told = replace_surrogates(detail)  # it may repeat what the client wrote
    body = {"type": "about:blank", "title": TITLES.get(status, "Error"), "status": status, "detail": told, **more}
    return JSONResponse(body, status_code=status, media_type=MEDIA_TYPE, headers=headers)


def add_handlers(app: FastAPI) -> None:
    """Let every error of the routes come out as a problem document."""
    app.exception_handler(IasError)(_of_ias)
    app.exception_handler(HTTPException)(_of_http)
    app.exception_handler(RequestValidationError)(_of_validation)
    app.exception_handler(Exception)(_of_bug)


def _of_ias(request: Request, error: Exception) -> JSONResponse:  # noqa: ARG001 - the framework's signature
    for kinds, status in STATUSES:
        if isinstance(error, kinds):
            headers = {"Retry-After": str(error.retry_after)} if isinstance(error, TooDeepError) else None
            return problem(status, str(error), headers=headers)
    return problem(500, str(error))


def _of_http(request: Request, error: Exception) -> JSONResponse:  # noqa: ARG001 - the framework's signature
    if not isinstance(error, HTTPException):
        raise error
    return problem(error.status_code, str(error.detail), headers=dict(error.headers or {}))


def _of_validation(request: Request, error: Exception) -> JSONResponse:  # noqa: ARG001 - the framework's signature
    if not isinstance(error, RequestValidationError):
        raise error
    faults = [_fault_text(fault) for fault in cast("list[dict[str, Any]]", error.errors())]
    return problem(422, f"{'; '.join(faults)} (all fields: GET /openapi.json)")


def _fault_text(fault: Mapping[str, Any]) -> str:
    """Say what is wrong with one field, or with the body as a whole, in the words of who wrote it."""
    where, *keys = fault["loc"]
    name = ".".join(str(key) for key in keys)
    match fault["type"]:
        case "json_invalid":
            return f"the body is no JSON: {fault.get('ctx', {}).get('error', fault['msg'])}, at character {name}"
        case _ if where == "body" and not keys:
            return "the body must be a JSON object, sent with the header Content-Type: application/json"
        case "missing":
            return f"{name} is missing: add it to the {where}"
        case "extra_forbidden":
            return f"{name} is no field of this request: leave it out"
        case _:
            return f"{name}: {fault['msg']}"


def _of_bug(request: Request, error: Exception) -> JSONResponse:
    return problem(500, f"{request.method} {request.url.path} failed: {type(error).__name__}; see logs/error.log")


STATUSES: tuple[tuple[type[IasError] | tuple[type[IasError], ...], int], ...] = (
    (UnfitMessageError, 422),
    (TooDeepError, 429),
    (NotFoundError, 404),
    (AmbiguousIdError, 409),
    (DiskFullError, 507),
    (StateError, 503),
    (ToolError, 422),
)
Handler = Callable[[Request, Exception], JSONResponse]
