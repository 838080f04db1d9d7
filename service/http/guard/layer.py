"""The guard around an application: rejects requests before any route sees them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from pydantic_core import from_json
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nightgrid.archive.payloads.strict_json import read_members
from nightgrid.service.http.guard.access import Access
from nightgrid.service.http.guard.origins import check_host, check_origin
from nightgrid.service.http.problems import FieldError, Problem, problem_of
from nightgrid.solvers.errors import InvalidPuzzleError, NightgridError

JSON = "application/json"
CONTENT_SECURITY = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    # The page generates the pictures that it offers for download.
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "font-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
)
"""What the page may load: only its own files, from this service, and nothing inline."""
UNUSED = "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()"
"""Features of a browser that the page does not use."""
HEADERS = {
    "Content-Security-Policy": "; ".join(CONTENT_SECURITY),
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": UNUSED,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}
"""Headers of every answer, unless its route sets them."""

_RAW = tuple(
    (name.lower().encode("ascii"), value.encode("ascii")) for name, value in HEADERS.items()
)

EarlyReply = Callable[[Scope, Headers, bytes], Awaitable[ASGIApp | None]]
"""Returns the reply to a body that needs no route, None if its route has to answer."""


def with_headers(send: Send) -> Send:
    """Add the headers to every answer that is sent."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = message.get("headers", ())
            names = {name for name, _ in own}
            # A new list, since a cached response is sent again.
            more = (pair for pair in _RAW if pair[0] not in names)
            message = {**message, "headers": [*own, *more]}
        await send(message)

    return send_with_headers


class Guard:
    """ASGI middleware that adds headers to every answer and validates requests.

    Rejects, in this order: other hosts, pages of other sites, clients without a key or over their
    rate, bodies of other types, too large or not strict JSON. Accepted requests have
    `request.state.key`. A body that has an early reply is not parsed.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        access: Access,
        hosts: frozenset[str] | None,
        body_bytes: int,
        early_reply: EarlyReply,
    ) -> None:
        self._app = app
        self._access = access
        self._hosts = hosts
        self._body_bytes = body_bytes
        self._early_reply = early_reply

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        send = with_headers(send)
        try:
            app, receive = await self._checked(scope, receive)
        except Problem as problem:
            app = problem.response()
        except NightgridError as error:
            app = problem_of(error).response()
        except ClientDisconnect:
            return
        await app(scope, receive, send)

    async def _checked(self, scope: Scope, receive: Receive) -> tuple[ASGIApp, Receive]:
        """Return the app that answers a request, and the receive function for its body."""
        headers, method = Headers(scope=scope), scope["method"]
        check_host(headers, self._hosts)
        check_origin(method, headers)
        scope.setdefault("state", {})["key"] = await self._access.key(scope["path"], headers)
        # Other methods have no body here: the router answers 405.
        if method != "POST":
            return self._app, receive
        _check_media_type(headers)
        data = await _read_body(Request(scope, receive), self._body_bytes)
        reply = await self._early_reply(scope, headers, data)
        if reply is not None:
            return reply, receive
        try:
            # Python's own parser, which FastAPI uses, accepts NaN and lone surrogates.
            from_json(data, allow_inf_nan=False)
            read_members(data)
        except ValueError as error:
            raise Problem("bad-json", f"the body is not JSON: {error}") from None
        except InvalidPuzzleError as fault:
            raise Problem("bad-json", str(fault)) from None
        return self._app, _replaying(data, receive)


def _check_media_type(headers: Headers) -> None:
    """Raise Problem for a body whose type is not JSON.

    Forms of other sites can send other types without a preflight request, but not JSON.
    """
    given = headers.get("content-type", "")
    if given.partition(";")[0].strip().lower() != JSON:
        shown = f"is {given!r:.80}" if given else "is missing"
        detail = f"Content-Type {shown}; expected {JSON}"
        errors = [FieldError(pointer="Content-Type", detail=detail)]
        raise Problem("unsupported-media-type", detail, errors=errors, headers={"Accept": JSON})


async def _read_body(request: Request, most: int) -> bytes:
    """Read a body. Raises Problem for one of more than `most` bytes, without reading it all."""
    data = b""
    is_too_large = int(request.headers.get("content-length", 0)) > most
    if not is_too_large:
        async for piece in request.stream():
            data += piece
            if is_too_large := len(data) > most:
                break
    if is_too_large:
        raise Problem("too-large", f"the body is larger than {most:,} bytes")
    return data


def _replaying(data: bytes, receive: Receive) -> Receive:
    """Replay a body to the next reader, and then whatever follows it."""
    messages: list[Message] = [{"type": "http.request", "body": data, "more_body": False}]

    async def receive_again() -> Message:
        return messages.pop() if messages else await receive()

    return receive_again
