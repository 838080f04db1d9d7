"""Every kind of problem that the service answers with, and which requests may meet it."""

from __future__ import annotations

from typing import NamedTuple

ANY, API, WRITE, BODY = "any", "api", "write", "body"
"""Requests that may meet a problem: any; those that may want a key; those that change something;
those with a body. Other words are parts of the names of operations."""


class Kind(NamedTuple):
    """A kind of problem."""

    slug: str
    """Its type is /problems/<slug>."""
    status: int
    title: str
    when: str
    """When it is met, for the pages."""
    of: tuple[str, ...]
    """Which operations may meet it: see ANY; or the names of operations."""


KINDS: tuple[Kind, ...] = (
    Kind(
        "bad-json",
        400,
        "The body is no strict JSON",
        "the body is not JSON in the strict sense: a key stands twice, NaN, a number above "
        "1.8e308, an integer of more than 20 digits",
        (BODY,),
    ),
    Kind(
        "too-deep",
        400,
        "The body is nested too deep",
        "the body is nested more than 32 levels deep",
        (BODY,),
    ),
    Kind("bad-host", 400, "The Host header is wrong", "the `Host` header is no name", (ANY,)),
    Kind(
        "bad-request",
        400,
        "Bad Request",
        "the request is no HTTP request of this service",
        (ANY,),
    ),
    Kind(
        "no-key",
        401,
        "A key is wanted",
        "a key is wanted and there is none, or the key that is given is unknown or was revoked",
        (ANY,),
    ),
    Kind(
        "foreign-origin",
        403,
        "The request comes from another site",
        "a page of another site would change something",
        (WRITE,),
    ),
    Kind(
        "no-such-game",
        404,
        "There is no such game",
        "there is no such game",
        ("calendar", "boards_of_date", "picture_of_date"),
    ),
    Kind(
        "no-such-board",
        404,
        "There is no such board",
        "the lake has no such board",
        ("boards_of_date", "picture", "post_solve"),
    ),
    Kind(
        "no-such-solve",
        404,
        "There is no such solve",
        "no such job was submitted, or it ended without an answer long ago",
        ("get_solve", "get_events", "get_picture", "get_solutions", "delete_solve"),
    ),
    Kind(
        "no-such-solution",
        404,
        "No such solution",
        "the job has fewer solutions",
        ("get_picture",),
    ),
    Kind("not-found", 404, "Not Found", "there is nothing at this path", ()),
    Kind(
        "method-not-allowed",
        405,
        "Method Not Allowed",
        "the path has other methods; `Allow` names them",
        (),
    ),
    Kind(
        "not-acceptable",
        406,
        "No such representation",
        "the path has none of the representations that `Accept` takes",
        ("results",),
    ),
    Kind(
        "body-too-slow",
        408,
        "The body did not come",
        "the body did not come within 30 s",
        (BODY,),
    ),
    Kind(
        "head-too-slow",
        408,
        "The request did not come",
        "the head of the request did not come within 10 s",
        (),
    ),
    Kind(
        "not-answered",
        409,
        "There is no answer yet",
        "the job has no answer, so it has no solutions",
        ("get_solutions", "get_picture"),
    ),
    Kind(
        "too-large",
        413,
        "The body is too large",
        "the body is larger than `NIGHTGRID_HTTP_BODY_BYTES`",
        (BODY,),
    ),
    Kind(
        "unsupported-media-type",
        415,
        "The body is of an unsupported type",
        "the body is not `application/json`, or compressed",
        (BODY,),
    ),
    Kind(
        "unknown-host",
        421,
        "The service goes by another name",
        "the request is for a host that is none of the service's names",
        (ANY,),
    ),
    Kind(
        "bad-value",
        422,
        "A value is wrong",
        "a field, a parameter or a header has a value that it cannot have",
        (API,),
    ),
    Kind(
        "invalid-puzzle",
        422,
        "The puzzle is invalid",
        "the puzzle breaks a rule of its game",
        (BODY,),
    ),
    Kind(
        "no-picture",
        422,
        "There is no picture",
        "the board is too large to be drawn, or its game has no pictures",
        ("picture",),
    ),
    Kind(
        "replayed-key",
        422,
        "The key was used before",
        "the `Idempotency-Key` was used with another body in the last 24 hours",
        ("post_solve",),
    ),
    Kind(
        "board-too-large",
        422,
        "The request is too large",
        "the board or the word list is larger than `NIGHTGRID_HTTP_BOARD_SIZE` or "
        "`NIGHTGRID_HTTP_WORDS_BYTES`",
        (BODY,),
    ),
    Kind(
        "too-long",
        422,
        "The solve would take long",
        "the board is expected to take longer than `NIGHTGRID_HTTP_EXPECTED_SECONDS`",
        (BODY,),
    ),
    Kind(
        "too-many-requests",
        429,
        "Too many requests",
        "the key's requests of this minute are spent; `Retry-After` says when to try again",
        (ANY,),
    ),
    Kind(
        "too-many-jobs",
        429,
        "Too many open jobs",
        "the key has as many jobs open as it may",
        ("post_solve",),
    ),
    Kind(
        "queue-full",
        429,
        "Too many jobs wait",
        "a new job is expected to wait longer than `NIGHTGRID_ONDEMAND_WAIT_SECONDS`; "
        "`Retry-After` says when to try again",
        ("post_solve",),
    ),
    Kind(
        "head-too-large",
        431,
        "The head is too large",
        "the head of the request, or what follows its body, is larger than 32 KiB",
        (),
    ),
    Kind(
        "internal",
        500,
        "The service failed",
        "the service failed; its log says more",
        (ANY,),
    ),
    Kind(
        "damaged-lake",
        500,
        "A file of the lake cannot be read",
        "a file of the lake is damaged, or may not be read; the log of the service names it, and "
        "`nightgrid lake repair` mends what can be mended",
        (ANY,),
    ),
    Kind(
        "not-ready",
        503,
        "The service is not ready",
        "something that solves need is missing",
        ("readyz",),
    ),
    Kind(
        "too-many-connections",
        503,
        "Too many connections",
        "as many clients are connected as `NIGHTGRID_HTTP_CONNECTIONS` allows, or half as many "
        "wait for jobs",
        ("get_events",),
    ),
    Kind(
        "no-room",
        503,
        "The service has no room for the body",
        "the bodies of other requests that are under way take 64 MiB; bodies up to 64 KiB are "
        "taken all the same",
        (BODY,),
    ),
    Kind(
        "unavailable",
        503,
        "Something outside does not answer",
        "the lake or the Redis server does not answer; `Retry-After` says when to try again",
        (ANY,),
    ),
)
BY_SLUG = {kind.slug: kind for kind in KINDS}


def kinds_of(name: str, *, path: str, method: str) -> list[Kind]:
    """List the problems that an operation may answer with, by its name."""
    groups = {ANY}
    if path.startswith("/v1/"):
        groups.add(API)
    if method in ("post", "delete"):
        groups.add(WRITE)
    if method == "post":
        groups.add(BODY)
    return [
        kind
        for kind in KINDS
        if any(of in groups or (of not in (ANY, API, WRITE, BODY) and of in name) for of in kind.of)
    ]


def markdown() -> str:
    """Write them as a table."""
    rows = [f"| `/problems/{kind.slug}` | {kind.status} | {kind.when} |" for kind in KINDS]
    return "\n".join(["| type | status | when |", "|---|---|---|", *rows, ""])
