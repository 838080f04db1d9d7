"""Errors as problem+json (RFC 9457): one kind, one sentence, and the fields that are wrong.

Every route raises `Problem`, or lets an error of the floors below go through: that is mapped here,
in one place. What a client sees never holds a traceback, a path of this machine or a secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from http import HTTPStatus
from typing import Any, NamedTuple, TypedDict

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.routing import Match

from nightgrid.archive.lake.faults import DamagedFileError, LakeRefusesError
from nightgrid.service.web.files import files
from nightgrid.solvers.errors import InvalidPuzzleError, NightgridError, PermanentError
from nightgrid.workers.logs import get_logger

log = get_logger("nightgrid.http")

PROBLEM_TYPE = "application/problem+json"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
NO_PAGE = "no-page.html"
"""The file of the page that a browser gets where there is nothing."""
RETRY_AFTER_S = 2
"""What a client is told to wait where something outside has failed."""
HEX_ID = "^[0-9a-f]{32}$"
"""The pattern of ids, which has a sentence of its own."""
_PLACE = re.compile(r"[^.\[\]]+")


class Kind(NamedTuple):
    """A kind of problem; its type is /problems/ and its key in KINDS."""

    status: int
    when: str
    """When it is answered, for the pages."""


KINDS = {
    "bad-json": Kind(
        400,
        "the body is not JSON in the strict sense: a duplicate key, NaN, a number above "
        "1.8e308, an integer of more than 20 digits",
    ),
    "too-deep": Kind(400, "it is nested more than 32 levels deep"),
    "bad-host": Kind(400, "the `Host` header is no name"),
    "bad-request": Kind(400, "the request is no HTTP request of this service"),
    "no-key": Kind(
        401,
        "a key is wanted and there is none, or the key that is given is unknown or was revoked",
    ),
    "foreign-origin": Kind(403, "a page of another site would change something"),
    "no-such-game": Kind(404, "there is no such game"),
    "no-such-board": Kind(404, "the lake has no such board"),
    "no-such-solve": Kind(404, "no such job was submitted, or it ended without an answer long ago"),
    "no-such-solution": Kind(404, "the job has fewer solutions"),
    "not-found": Kind(404, "there is nothing at this path"),
    "method-not-allowed": Kind(405, "the path has other methods; `Allow` names them"),
    "not-acceptable": Kind(406, "the path has none of the representations that `Accept` takes"),
    "body-too-slow": Kind(408, "the body did not come within 30 s"),
    "not-answered": Kind(409, "the job has no answer, so it has no solutions"),
    "too-large": Kind(413, "the body is larger than `NIGHTGRID_HTTP_BODY_BYTES`"),
    "unsupported-media-type": Kind(415, "the body is not `application/json`, or compressed"),
    "unknown-host": Kind(421, "the request is for a host that is none of the service's names"),
    "bad-value": Kind(422, "a field, a parameter or a header has a value that it cannot have"),
    "invalid-puzzle": Kind(422, "the puzzle breaks a rule of its game"),
    "no-picture": Kind(422, "the board is too large to be drawn, or its game has no pictures"),
    "board-too-large": Kind(
        422,
        "the board or the word list is larger than `NIGHTGRID_HTTP_BOARD_SIZE` or "
        "`NIGHTGRID_HTTP_WORDS_BYTES`",
    ),
    "too-long": Kind(
        422,
        "the board is expected to take longer than `NIGHTGRID_HTTP_EXPECTED_SECONDS`",
    ),
    "too-many-requests": Kind(
        429,
        "the key's requests of this minute are spent; `Retry-After` says when to try again",
    ),
    "too-many-jobs": Kind(429, "the key has as many jobs open as it may"),
    "queue-full": Kind(
        429,
        "a new job is expected to wait longer than `NIGHTGRID_ONDEMAND_WAIT_SECONDS`; `Retry-"
        "After` says when to try again",
    ),
    "internal": Kind(500, "the service failed; its log says more"),
    "damaged-lake": Kind(
        500,
        "a file of the lake is damaged, or may not be read; the log of the service names it, "
        "and `nightgrid lake repair` mends what can be mended",
    ),
    "not-ready": Kind(503, "something that solves need is missing"),
    "unavailable": Kind(
        503,
        "the lake or the Redis server does not answer; `Retry-After` says when to try again",
    ),
}
"""Every kind of problem."""


def markdown() -> str:
    """Write the kinds as a table."""
    rows = [f"| `/problems/{slug}` | {kind.status} | {kind.when} |" for slug, kind in KINDS.items()]
    return "\n".join(["| type | status | when |", "|---|---|---|", *rows, ""])


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
        """Answer with the status of the kind that `slug` names."""
        super().__init__(detail)
        self.slug, self.kind = slug, KINDS[slug]
        self.detail = detail
        self.errors = list(errors)
        self.headers = dict(headers or {})

    def to_json(self) -> dict[str, Any]:
        """Write it as problem+json has it."""
        value: dict[str, Any] = {
            "type": f"/problems/{self.slug}",
            "title": self.slug.replace("-", " ").capitalize(),
            "status": self.kind.status,
            "detail": self.detail,
        }
        return value | ({"errors": self.errors} if self.errors else {})

    def response(self) -> JSONResponse:
        """Make the response."""
        return JSONResponse(
            self.to_json(), self.kind.status, headers=self.headers, media_type=PROBLEM_TYPE
        )


def problem_of(error: NightgridError) -> Problem:
    """Map an error of the floors below."""
    if isinstance(error, InvalidPuzzleError):
        errors = [
            FieldError(pointer=pointer_of(each.place, "/puzzle"), detail=each.detail)
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
        return Problem("bad-value", str(error))
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
    async def answer_validation(request: Request, error: RequestValidationError) -> JSONResponse:
        return _of_validation(request, error).response()

    @app.exception_handler(HTTPException)
    async def answer_http(request: Request, error: HTTPException) -> Response:
        if error.status_code == HTTPStatus.NOT_FOUND:
            if _is_of_a_browser(request):
                return HTMLResponse(files()[NO_PAGE].body, error.status_code, {"Vary": "Accept"})
            return Problem("not-found", "there is nothing at this path").response()
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            allowed = ", ".join(_methods_at(request))
            return Problem(
                "method-not-allowed", f"this path has {allowed}", headers={"Allow": allowed}
            ).response()
        return Problem("bad-request", str(error.detail)).response()

    @app.exception_handler(Exception)
    async def answer_unexpected(request: Request, error: Exception) -> JSONResponse:
        # The server that runs the app writes the traceback to the log, too.
        log.error("unexpected", path=request.url.path, error=repr(error))
        return Problem("internal", "an unexpected error; the log says more").response()


def _methods_at(request: Request) -> list[str]:
    """List the methods of the path of a request: the router names those of one route alone."""
    scopes = [{**request.scope, "method": method} for method in sorted(METHODS)]
    found = {
        str(scope["method"])
        for scope in scopes
        if any(route.matches(scope)[0] is Match.FULL for route in request.app.routes)
    }
    # HEAD is answered wherever there is GET.
    return sorted(found | ({"HEAD"} if "GET" in found else set()))


def _is_of_a_browser(request: Request) -> bool:
    """Return whether a person has opened this address, not a program a path of the API."""
    accepted = request.headers.get("accept", "")
    return "text/html" in accepted and not request.url.path.startswith("/v1/")


# -- fields that are wrong, in the words of all other sentences instead of pydantic's -----------

Found = Mapping[str, Any]
_FIXED = {
    "missing": "is missing",
    "bool_type": "expected true or false",
    "bool_parsing": "expected true or false",
    "int_type": "expected a whole number",
    "int_parsing": "expected a whole number",
    "int_parsing_size": "expected a smaller number",
    "int_from_float": "expected a whole number",
    "float_type": "expected a number",
    "float_parsing": "expected a number",
    "finite_number": "expected a finite number",
    "string_type": "expected a text",
    "string_unicode": "expected a text in UTF-8",
    "list_type": "expected a list",
    "dict_type": "expected an object",
    "model_type": "expected an object",
    "model_attributes_type": "expected an object",
}
_BOUNDED: dict[str, Callable[[Found], str]] = {
    "greater_than": lambda told: f"expected more than {told['gt']:g}",
    "greater_than_equal": lambda told: f"expected at least {told['ge']:g}",
    "less_than": lambda told: f"expected less than {told['lt']:g}",
    "less_than_equal": lambda told: f"expected at most {told['le']:g}",
    "literal_error": lambda told: f"expected one of {told['expected']}",
    "string_too_long": lambda told: f"expected at most {told['max_length']} characters",
    "string_too_short": lambda told: f"expected at least {told['min_length']} characters",
    "value_error": lambda told: str(told["error"]),
}
UNKNOWN_FIELD = "extra_forbidden"
"""What pydantic calls a field that the model does not have."""


def _of_validation(request: Request, error: RequestValidationError) -> Problem:
    errors = []
    for found in error.errors():
        where, *path = found["loc"]
        if found["type"] == "json_invalid":
            why = f"the body is not JSON: {found.get('ctx', {}).get('error', found['msg'])}"
            return Problem("bad-json", why)
        pointer = "".join(f"/{part}" for part in path)
        if where != "body":
            pointer = ("?" if where == "query" else "") + ".".join(map(str, path))
        errors.append(FieldError(pointer=pointer, detail=_fault_of(request, found)))
    first = errors[0]
    named = f"{first['pointer']}: " if first["pointer"] else ""
    return Problem("bad-value", f"{named}{first['detail']}", errors=errors)


def _fault_of(request: Request, error: Found) -> str:
    kind, told = error["type"], error.get("ctx", {})
    if kind == "string_pattern_mismatch" and told["pattern"] == HEX_ID:
        return "expected 32 hexadecimal digits"
    if kind == UNKNOWN_FIELD:
        known = parameters_of(request) if error["loc"][0] == "query" else _fields_of(request.app)
        meant = get_close_matches(str(error["loc"][-1]), known, 1)
        return "is unknown here" + (f"; did you mean {meant[0]}?" if meant else "")
    if kind in _BOUNDED:
        return _BOUNDED[kind](told)
    return _FIXED.get(kind) or str(error["msg"])


def parameters_of(request: Request) -> list[str]:
    """List the parameters that the query of a request may have."""
    route = request.scope["route"]
    operations = request.app.openapi()["paths"].get(f"/v1{route.path_format}", {})
    parameters = operations.get(request.method.lower(), {}).get("parameters", ())
    return [each["name"] for each in parameters if each["in"] == "query"]


def _fields_of(app: Any) -> list[str]:
    """List the fields that bodies have."""
    models = app.openapi()["components"]["schemas"]
    bodies = [model for name, model in models.items() if name.endswith("Body")]
    return [field for model in bodies for field in model["properties"]]


async def refuse_unknown(request: Request) -> None:
    """Raise RequestValidationError for parameters that the route of a request does not have."""
    if not request.scope["query_string"]:
        return
    known = parameters_of(request)
    unknown = [name for name in dict.fromkeys(request.query_params.keys()) if name not in known]
    if unknown:
        raise RequestValidationError(
            [{"type": UNKNOWN_FIELD, "loc": ("query", name), "msg": ""} for name in unknown]
        )
