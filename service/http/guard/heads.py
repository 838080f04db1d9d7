"""HEAD requests: answered as GET is, without the body, by every route that has GET."""

from __future__ import annotations

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send


async def answer_head(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Let an application answer a HEAD request as a GET request, and send the headers alone.

    A stream is not followed: the application is cancelled at the first piece of it.
    """
    scope["method"] = "GET"
    with anyio.CancelScope() as rest:

        async def send_head(message: Message) -> None:
            if message["type"] == "http.response.start":
                # The server frames an answer by the method: one to HEAD has no body to wait for.
                scope["method"] = "HEAD"
                await send(message)
            elif message.get("more_body", False):
                await send({**message, "body": b"", "more_body": False})
                rest.cancel()
            else:
                await send({**message, "body": b""})

        await app(scope, receive, send_head)
    scope["method"] = "HEAD"
