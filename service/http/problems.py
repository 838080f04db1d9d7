"""Errors as problem+json (RFC 9457): one kind, one sentence, and the fields that are wrong.

Every route raises `Problem`, or lets an error of the floors below go through: that is mapped here,
in one place. What a client sees never holds a traceback, a path of this machine or a secret.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, TypedDict

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.routing import Match

from nightgrid.archive.lake.faults import DamagedFileError, LakeRefusesError
from nightgrid.service.http.field_faults import fault_of
from nightgrid.service.http.monitoring.route_names import METHODS
from nightgrid.service.http.problem_kinds import BY_SLUG
from nightgrid.service.web.files import files
from nightgrid.solvers.errors import InvalidPuzzleError, NightgridError, PermanentError
from nightgrid.workers.logs import get_logger

log = get_logger("nightgrid.http")

PROBLEM_TYPE = "application/problem+json"
NO_PAGE = "no-page.html"
"""The file of the page that a browser gets where there is nothing."""
RETRY_AFTER_S = 2
"""What a client is told to wait where something outside has failed."""
_PLACE = re.compile(r"[^.\[\]]+")


class FieldError(TypedDict):
    """One field of a request that is wrong."""

    pointer: str
    """JSON pointer (RFC 6901) into the body; "" is the whole. A parameter is named like `?limit`, a
    header by its name."""
    detail: str


class Problem(Exception):  # noqa: N818 - the RFC's own word
    """An answer that is an error."""

    def __init__(
        self,
        slug: str,
        detail: str,
        *,
        errors: Sequence[FieldError] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Answer with the status and title of the kind that `slug` names."""
        super().__init__(detail)
        self.kind = BY_SLUG[slug]
        self.detail = detail
        self.errors = list(errors)
        self.headers = dict(headers or {})

    @property
    def status(self) -> int:
        """The status of the answer."""
        return self.kind.status

    def to_json(self) -> dict[str, Any]:
        """Write it as problem+json has it."""
        value: dict[str, Any] = {
            "type": f"/problems/{self.kind.slug}",
            "title": self.kind.title,
            "status": self.status,
            "detail": self.detail,
        }
        return value | ({"errors": self.errors} if self.errors else {})

    def response(self) -> JSONResponse:
        """Make the response."""
        return JSONResponse(
            self.to_json(), self.status, headers=self.headers, media_type=PROBLEM_TYPE
        )


def problem_of(error: NightgridError, pointer: str = "") -> Problem:
    """Map an error of the floors below; `pointer` names the field that it is about."""
    if isinstance(error, InvalidPuzzleError):
        errors = [
            FieldError(pointer=pointer_of(each.place, pointer or "/puzzle"), detail=each.detail)
            for each in (error, *error.others)
        ]
        return Problem("invalid-puzzle", str(error), errors=errors)
    if isinstance(error, (DamagedFileError, LakeRefusesError)):
        # Nothing that the client asks for can be wrong here, and where the lake lies is not told.
        log.error("lake cannot be read", error=str(error))
        return Problem(
            "damaged-lake",
            "a file of the lake is damaged, or may not be read; the log of the service names it",
        )
    if isinstance(error, PermanentError):
        errors = [FieldError(pointer=pointer, detail=str(error))] if pointer else []
        return Problem("bad-value", str(error), errors=errors)
    log.warning("unavailable", error=str(error))
    return Problem(
        "unavailable",
        "the lake or the Redis server does not answer just now; try again",
        headers={"Retry-After": str(RETRY_AFTER_S)},
    )


def pointer_of(place: str, base: str = "") -> str:
    """Write a place as `regions[3].indices[1]` as a JSON pointer, below `base`."""
    parts = _PLACE.findall(place)
    return base + "".join(f"/{part.replace('~', '~0').replace('/', '~1')}" for part in parts)


def install(app: FastAPI) -> None:
    """Let every error of an app be answered as a problem."""

    @app.exception_handler(Problem)
    async def answer_problem(_: Request, error: Problem) -> JSONResponse:
        return error.response()

    @app.exception_handler(NightgridError)
    async def answer_nightgrid(_: Request, error: NightgridError) -> JSONResponse:
        return problem_of(error).response()

    @app.exception_handler(RequestValidationError)
    async def answer_validation(_: Request, error: RequestValidationError) -> JSONResponse:
        return _of_validation(error).response()

    @app.exception_handler(HTTPException)
    async def answer_http(request: Request, error: HTTPException) -> Response:
        if error.status_code == HTTPStatus.NOT_FOUND and _is_of_a_browser(request):
            return HTMLResponse(files()[NO_PAGE].body, error.status_code, {"Vary": "Accept"})
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            # The router names the methods of one route, and a path may have several.
            methods = ", ".join(_methods_at(request))
            error.headers = {**(error.headers or {}), "Allow": methods}
        return _of_status(error).response()

    @app.exception_handler(Exception)
    async def answer_unexpected(request: Request, error: Exception) -> JSONResponse:
        # The server that runs the app writes the traceback to the log, too.
        log.error("unexpected", path=request.url.path, error=repr(error))
        return Problem("internal", "an unexpected error; the log says more").response()


def _methods_at(request: Request) -> list[str]:
    """List the methods that the path of a request has, over all of its routes."""
    scopes = [{**request.scope, "method": method} for method in sorted(METHODS)]
    return [
        str(scope["method"])
        for scope in scopes
        if any(route.matches(scope)[0] is Match.FULL for route in request.app.routes)
    ]


def _is_of_a_browser(request: Request) -> bool:
    """Tell whether a person has opened this address, and not a program a path of the API."""
    accepted = request.headers.get("accept", "")
    return "text/html" in accepted and not request.url.path.startswith("/v1/")


def _of_validation(error: RequestValidationError) -> Problem:
    errors = []
    for found in error.errors():
        where, *path = found["loc"]
        if found["type"] == "json_invalid":
            why = f"the body is not JSON: {found.get('ctx', {}).get('error', found['msg'])}"
            return Problem("bad-json", why)
        pointer = "".join(f"/{part}" for part in path)
        if where != "body":
            pointer = ("?" if where == "query" else "") + ".".join(map(str, path))
        errors.append(FieldError(pointer=pointer, detail=fault_of(found)))
    first = errors[0]
    named = f"{first['pointer']}: " if first["pointer"] else ""
    detail = f"{named}{first['detail']}"
    return Problem("bad-value", detail, errors=errors)


def _of_status(error: HTTPException) -> Problem:
    """Map what the router itself raises: routes raise problems."""
    headers = dict(error.headers or {})
    if error.status_code == HTTPStatus.NOT_FOUND:
        return Problem("not-found", "there is nothing at this path", headers=headers)
    if error.status_code != HTTPStatus.METHOD_NOT_ALLOWED:
        return Problem("bad-request", str(error.detail), headers=headers)
    allowed = headers["Allow"]
    if "GET" in allowed and "HEAD" not in allowed:
        # The guard answers HEAD wherever there is GET.
        allowed = headers["Allow"] = allowed.replace("GET", "GET, HEAD")
    return Problem("method-not-allowed", f"this path has {allowed}", headers=headers)
