"""The guard around an application: what is refused before a route sees it, in which order."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from nightgrid.service.http.guard.access import Access
from nightgrid.service.http.guard.bodies import (
    ROOM_BYTES,
    ClientLeftError,
    Room,
    Take,
    check_media_type,
    draining,
    needs_body,
    read_body,
    read_json,
    replaying,
)
from nightgrid.service.http.guard.headers import with_headers
from nightgrid.service.http.guard.heads import answer_head
from nightgrid.service.http.guard.limits import Limits
from nightgrid.service.http.guard.origins import check_host, check_origin
from nightgrid.service.http.problems import Problem, problem_of
from nightgrid.solvers.errors import NightgridError

EarlyReply = Callable[[Scope, Headers, bytes], Awaitable[ASGIApp | None]]
"""Returns the reply to a body that needs no route, None where one has to answer."""


async def no_reply(_scope: Scope, _headers: Headers, _data: bytes) -> None:
    """Leave every body to its route."""


class Guard:
    """An ASGI application around another one.

    It puts headers on every answer, and refuses, in this order: other hosts, pages of other sites,
    clients without a key or over their rate, bodies of other types, too large, too deep or not
    strict JSON. What it lets through has `request.state.client`, and `request.state.body` as the
    object that the body was read as, once for all. A body that has an early reply is not read.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        access: Access,
        hosts: frozenset[str] | None,
        limits: Limits,
        early_reply: EarlyReply = no_reply,
    ) -> None:
        self._app = app
        self._access = access
        self._hosts = hosts
        self._limits = limits
        self._early_reply = early_reply
        self._room = Room(max(ROOM_BYTES, 4 * limits.body_bytes))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let it through."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        send = with_headers(send)
        with self._room.share() as take:
            problem = await self._answer(scope, receive, send, take)
        if problem is not None:
            # What was read of the body has left the room.
            if problem.headers.get("Connection") == "close":
                send = draining(receive, send)
            await problem.response()(scope, receive, send)

    async def _answer(
        self, scope: Scope, receive: Receive, send: Send, take: Take
    ) -> Problem | None:
        """Have a request answered, or return why it is refused."""
        try:
            app, receive = await self._checked(scope, receive, take)
        except Problem as problem:
            return problem
        except NightgridError as error:
            return problem_of(error)
        except ClientLeftError:
            return None
        if scope["method"] == "HEAD":
            await answer_head(app, scope, receive, send)
        else:
            await app(scope, receive, send)
        return None

    async def _checked(self, scope: Scope, receive: Receive, take: Take) -> tuple[ASGIApp, Receive]:
        """Tell what answers a request, and how it reads the body."""
        headers, method = Headers(scope=scope), scope["method"]
        check_host(headers, self._hosts)
        check_origin(method, headers)
        client = await self._access.client(scope["path"], headers)
        scope.setdefault("state", {})["client"] = client
        if not needs_body(method):
            return self._app, receive
        check_media_type(headers)
        data = await read_body(headers, receive, self._limits.body_bytes, take)
        reply = await self._early_reply(scope, headers, data)
        if reply is not None:
            return reply, receive
        scope["state"]["body"] = read_json(data, self._limits.depth)
        return self._app, replaying(data, receive)
