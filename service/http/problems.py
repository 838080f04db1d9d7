"""Errors as problem+json (RFC 9457): one kind, one sentence, and the wrong fields.

Every route raises `Problem`, or passes on errors of the floors below, which are mapped here, in one
place. Clients never see a traceback, a path of this machine or a secret.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import Any, NamedTuple

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.routing import Match

from nightgrid.archive.lake.faults import DamagedFileError, LakeRefusesError, NotInLakeError
from nightgrid.service.web.files import FOLDER
from nightgrid.solvers.errors import InvalidPuzzleError, NightgridError, PermanentError
from nightgrid.workers.logs import get_logger

log = get_logger("nightgrid.http")

PROBLEM_TYPE = "application/problem+json"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
NO_PAGE = "no-page.html"
"""The page that a browser gets for an unknown path."""
RETRY_AFTER_S = 2
"""Retry-After, in seconds, when something outside has failed."""
HEX_ID = "^[0-9a-f]{32}$"
"""The pattern of ids."""
_PLACE = re.compile(r"[^.\[\]]+")


class Kind(NamedTuple):
    """A kind of problem; its type is /problems/ and its key in KINDS."""

    status: int
    when: str
    """When it occurs, for the docs."""


KINDS = {
    "bad-json": Kind(
        400,
        "the body is not strict JSON, which has no NaN, or is nested too deep",
    ),
    "bad-request": Kind(400, "the request is not a valid HTTP request"),
    "no-key": Kind(
        401,
        "a required key is missing, or the key is unknown or was revoked",
    ),
    "foreign-origin": Kind(403, "a page of another site would change something"),
    "no-such-game": Kind(404, "there is no such game"),
    "no-such-board": Kind(404, "the lake has no such board"),
    "no-such-solve": Kind(404, "no such job was submitted, or it ended without an answer long ago"),
    "no-such-solution": Kind(404, "the job has fewer solutions"),
    "not-found": Kind(404, "there is nothing at this path"),
    "method-not-allowed": Kind(405, "the path has other methods; `Allow` names them"),
    "not-answered": Kind(409, "the job has no answer, so it has no solutions"),
    "too-large": Kind(413, "the body is larger than `NIGHTGRID_HTTP_BODY_BYTES`"),
    "unsupported-media-type": Kind(415, "the body is not `application/json`"),
    "unknown-host": Kind(421, "the request is for a host that is not one of the service's names"),
    "bad-value": Kind(422, "a field, a parameter or a header has an invalid value"),
    "invalid-puzzle": Kind(422, "the puzzle breaks a rule of its game"),
    "no-picture": Kind(422, "the board is too large to be drawn, or its game has no pictures"),
    "board-too-large": Kind(422, "the board is larger than `NIGHTGRID_HTTP_BOARD_SIZE`"),
    "too-long": Kind(
        422,
        "the board is expected to take longer than `NIGHTGRID_HTTP_EXPECTED_SECONDS`",
    ),
    "too-many-requests": Kind(
        429,
        "the key's requests of this minute are used up; `Retry-After` says when to retry",
    ),
    "too-many-jobs": Kind(429, "the key has as many jobs open as it may"),
    "queue-full": Kind(
        429,
        "a new job is expected to wait longer than `NIGHTGRID_ONDEMAND_WAIT_SECONDS`; `Retry-"
        "After` says when to retry",
    ),
    "internal": Kind(500, "the service failed; its log says more"),
    "damaged-lake": Kind(
        500,
        "a file of the lake is damaged or unreadable; the log of the service names it, "
        "and `nightgrid lake repair` fixes what it can",
    ),
    "not-ready": Kind(503, "something that solves need is missing"),
    "unavailable": Kind(
        503,
        "the lake or the Redis server does not answer; `Retry-After` says when to retry",
    ),
}
"""Every kind of problem."""


def markdown() -> str:
    """Return the kinds as a Markdown table."""
    rows = [f"| `/problems/{slug}` | {kind.status} | {kind.when} |" for slug, kind in KINDS.items()]
    return "\n".join(["| type | status | when |", "|---|---|---|", *rows, ""])


class FieldError(BaseModel):
    """One invalid field of a request."""

    pointer: str = Field(
        description="JSON pointer (RFC 6901) into the body; `?name` for a parameter, the name of a "
        "header or of a part of the path."
    )
    detail: str


class ProblemJson(BaseModel):
    """The fault of a request, or why it cannot be answered."""

    type: str = Field(json_schema_extra={"enum": [f"/problems/{slug}" for slug in KINDS]})
    title: str
    status: int
    detail: str = Field(description="One sentence.")
    errors: list[FieldError] = Field(default=[])


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
        """Set the kind named by `slug`, which determines the status."""
        super().__init__(detail)
        self.slug, self.kind = slug, KINDS[slug]
        self.detail = detail
        self.errors = list(errors)
        self.headers = dict(headers or {})

    def __reduce__(self) -> tuple[Any, ...]:
        """Let a process of the pool raise it."""
        return partial(Problem, errors=self.errors, headers=self.headers), (self.slug, self.detail)

    def to_json(self) -> dict[str, Any]:
        """Return it as problem+json."""
        return ProblemJson(
            type=f"/problems/{self.slug}",
            title=self.slug.replace("-", " ").capitalize(),
            status=self.kind.status,
            detail=self.detail,
            errors=self.errors,
        ).model_dump(exclude_defaults=True)

    def response(self) -> JSONResponse:
        """Return it as a response."""
        return JSONResponse(
            self.to_json(), self.kind.status, headers=self.headers, media_type=PROBLEM_TYPE
        )


def problem_of(error: NightgridError) -> Problem:
    """Convert an error of the floors below."""
    if isinstance(error, InvalidPuzzleError):
        errors = [
            FieldError(pointer=pointer_of(each.place, "/puzzle"), detail=each.detail)
            for each in (error, *error.others)
        ]
        return Problem("invalid-puzzle", str(error), errors=errors)
    if isinstance(error, (DamagedFileError, LakeRefusesError)):
        # Not the client's fault, and the lake's location is not disclosed.
        log.error("lake cannot be read", error=str(error))
        return Problem(
            "damaged-lake",
            "a file of the lake is damaged or unreadable; the log of the service names it",
        )
    if isinstance(error, NotInLakeError):
        # The lake's location is only for those who run the service.
        return Problem("no-such-board", error.public)
    if isinstance(error, PermanentError):
        return Problem("bad-value", str(error))
    log.warning("unavailable", error=str(error))
    return Problem(
        "unavailable",
        "the lake or the Redis server does not answer just now; retry",
        headers={"Retry-After": str(RETRY_AFTER_S)},
    )


def wrong(pointer: str, detail: str, slug: str = "bad-value") -> Problem:
    """Return the problem of one invalid field."""
    # Kinds of their own need no prefix.
    said = f"{pointer}: {detail}" if pointer and slug == "bad-value" else detail
    return Problem(slug, said, errors=[FieldError(pointer=pointer, detail=detail)])


def pointer_of(place: str, base: str = "") -> str:
    """Convert a place such as `regions[3].indices[1]` to a JSON pointer below `base`."""
    parts = _PLACE.findall(place)
    return base + "".join(f"/{part.replace('~', '~0').replace('/', '~1')}" for part in parts)


def install(app: FastAPI) -> None:
    """Make an app answer every error as a problem."""

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
        if error.status_code == HTTPStatus.NOT_FOUND:
            if _is_of_a_browser(request):
                return FileResponse(FOLDER / NO_PAGE, error.status_code, {"Vary": "Accept"})
            return Problem("not-found", "there is nothing at this path").response()
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            allowed = ", ".join(_methods_at(request))
            return Problem(
                "method-not-allowed", f"this path has {allowed}", headers={"Allow": allowed}
            ).response()
        return Problem("bad-request", str(error.detail)).response()

    @app.exception_handler(Exception)
    async def answer_unexpected(request: Request, error: Exception) -> JSONResponse:
        # uvicorn logs the traceback too.
        log.error("unexpected", path=request.url.path, error=repr(error))
        return Problem("internal", "an unexpected error; the log says more").response()


def _methods_at(request: Request) -> list[str]:
    """List the methods of a request's path; the router only knows those of one route."""
    scopes = [{**request.scope, "method": method} for method in sorted(METHODS)]
    found = {
        str(scope["method"])
        for scope in scopes
        if any(route.matches(scope)[0] is Match.FULL for route in request.app.routes)
    }
    # HEAD is answered wherever GET is.
    return sorted(found | ({"HEAD"} if "GET" in found else set()))


def _is_of_a_browser(request: Request) -> bool:
    """Return whether a person opened this address in a browser; programs call API paths."""
    accepted = request.headers.get("accept", "")
    return "text/html" in accepted and not request.url.path.startswith("/v1/")


def _of_validation(error: RequestValidationError) -> Problem:
    """Convert pydantic's validation errors of a request."""
    errors = []
    for found in error.errors():
        where, *path = found["loc"]
        pointer = "".join(f"/{part}" for part in path)
        if where != "body":
            pointer = ("?" if where == "query" and path else "") + ".".join(map(str, path))
        said = (
            str(found["msg"]).removeprefix("Value error, ").replace("Input should be", "expected")
        )
        if found["type"].startswith("date_"):
            said = "expected a date as YYYY-MM-DD"
        errors.append(FieldError(pointer=pointer, detail=said[:1].lower() + said[1:]))
    first = errors[0]
    named = f"{first.pointer}: " if first.pointer else ""
    return Problem("bad-value", f"{named}{first.detail}", errors=errors)
