"""Bodies of requests: of bounded size, depth and time, strict JSON, before any route sees them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from starlette.datastructures import Headers
from starlette.types import Message, Receive, Send

from nightgrid.archive.payloads.strict_json import read_members
from nightgrid.service.http.problems import FieldError, Problem, pointer_of
from nightgrid.solvers.errors import InvalidPuzzleError

BODY_SECONDS = 30.0
"""A body that is not there after this time is not waited for."""
ROOM_BYTES = 64 * 1024**2
"""What the bodies of requests may take together, until those are answered."""
SMALL_BYTES = 64 * 1024
"""What a body may take beside that: large bodies keep no small one out."""
DRAINED_BYTES = 64 * 1024**2
DRAIN_SECONDS = 5.0
"""What a client that is refused may send on, and how long, until it is disconnected."""
RETRY_AFTER_S = 2
Take = Callable[[int], None]
"""Takes room for so many bytes more of a body."""
WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
JSON = "application/json"
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_BRACKETS = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)


def check_media_type(headers: Headers) -> None:
    """Raise Problem for a body that does not say that it is JSON.

    A form of another site can send other types without asking first; JSON it cannot.
    """
    given = headers.get("content-type", "")
    media_type, _, rest = given.partition(";")
    parameters = rest.strip().lower().replace('"', "")
    if media_type.strip().lower() != JSON or parameters not in ("", "charset=utf-8"):
        shown = f"is {given!r:.80}" if given else "is missing"
        raise _unsupported("Content-Type", f"Content-Type {shown}; expected {JSON}", JSON)
    encoding = headers.get("content-encoding", "identity").strip().lower()
    if encoding != "identity":
        detail = f"Content-Encoding is {encoding!r:.40}; expected none"
        raise _unsupported("Content-Encoding", detail, JSON)


def _unsupported(header: str, detail: str, accept: str) -> Problem:
    return Problem(
        "unsupported-media-type",
        detail,
        errors=[FieldError(pointer=header, detail=detail)],
        headers={"Accept": accept},
    )


class Room:
    """Room for the bodies of all requests that are read or answered. Lives in an event loop."""

    def __init__(self, most: int = ROOM_BYTES) -> None:
        self._left = most

    @contextmanager
    def share(self) -> Iterator[Take]:
        """Give what takes room for one body, which is free again after the block.

        It raises Problem where there is none.
        """
        size = taken = 0

        def take(more: int) -> None:
            nonlocal size, taken
            size += more
            wanted = max(0, size - SMALL_BYTES) - taken
            if wanted > self._left:
                raise Problem(
                    "no-room",
                    "other requests with large bodies are under way; try again",
                    headers={"Retry-After": str(RETRY_AFTER_S), "Connection": "close"},
                )
            taken += wanted
            self._left -= wanted

        try:
            yield take
        finally:
            self._left += taken


async def read_body(headers: Headers, receive: Receive, most: int, take: Take) -> bytes:
    """Read a body of at most `most` bytes, and `take` room for it.

    Of a longer one no more is kept, and a length that is announced is believed before any of it is
    read. Raises Problem for one that is too long, does not come, or has no room; ClientLeftError
    for a client that has gone.
    """
    announced = headers.get("content-length", "")
    if announced.isdecimal() and (len(announced) > 18 or int(announced) > most):
        raise _too_large(most)
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            more = True
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientLeftError
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > most:
                    raise _too_large(most)
                take(len(parts[-1]))
                more = message.get("more_body", False)
    except TimeoutError:
        raise Problem(
            "body-too-slow",
            f"the whole body did not come within {BODY_SECONDS:g} s",
            headers={"Connection": "close"},
        ) from None
    return b"".join(parts)


class ClientLeftError(Exception):
    """The client has closed the connection before its request was there."""


def _too_large(most: int) -> Problem:
    return Problem(
        "too-large",
        f"the body is larger than {most:,} bytes",
        # What is still on its way is not read.
        headers={"Connection": "close"},
    )


def draining(receive: Receive, send: Send) -> Send:
    """End an answer only when the client has stopped to send, and keep nothing of what it sends.

    The server closes the connection with the end. Closed while bytes come that nothing has read,
    the client would see a reset in the place of the answer (RFC 9112, 9.6). The answer itself is
    sent at once.
    """

    async def send_and_drain(message: Message) -> None:
        is_end = message["type"] == "http.response.body" and not message.get("more_body", False)
        if not is_end:
            await send(message)
            return
        await send({**message, "more_body": True})
        await _drain(receive)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    return send_and_drain


async def _drain(receive: Receive) -> None:
    """Read what a client still sends, within bounds of bytes and time, and drop it."""
    left, more = DRAINED_BYTES, True
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            while more and left > 0:
                message = await receive()
                more = message["type"] == "http.request" and message.get("more_body", False)
                left -= len(message.get("body", b""))


def read_json(data: bytes, depth: int) -> dict[str, Any]:
    """Read a body as a JSON object.

    Raises Problem for one that is none in the strict sense, or is nested too deep.

    Refused are keys that stand twice, NaN and infinities, integers of more than 20 digits, a byte
    order mark and what is not UTF-8.
    """
    if _depth_of(data, depth) > depth:
        raise Problem(
            "too-deep",
            f"the body is nested deeper than {depth} levels",
        )
    try:
        keyed = read_members(data)
    except InvalidPuzzleError as fault:
        kind = "bad-value" if fault.rule == "not-an-object" else "bad-json"
        errors = [FieldError(pointer="", detail=str(fault))]
        raise Problem(kind, str(fault), errors=errors) from None
    faults = [member.fault for member in keyed.values() if member.fault]
    if faults:
        errors = [FieldError(pointer=pointer_of(f.place), detail=str(f)) for f in faults]
        raise Problem("bad-json", errors[0]["detail"], errors=errors)
    return {key: member.value for key, member in keyed.items()}


def _depth_of(data: bytes, most: int) -> int:
    """Tell how deep brackets are nested, up to one more than `most`; never less than they are."""
    # Each round takes the innermost brackets away: a fifth of the time of looking at each.
    left = _STRING.sub(b"", data).translate(_BRACKETS, _NO_BRACKETS)
    for depth in range(most + 1):
        if not left:
            return depth
        left = left.replace(b"[]", b"")
    deepest = depth = 0
    for token in _TOKEN.finditer(data):
        if token[0] in b"[{":
            depth += 1
            deepest = max(deepest, depth)
            if deepest > most:
                break
        elif token[0] in b"]}":
            depth -= 1
    return deepest


def replaying(data: bytes, receive: Receive) -> Receive:
    """Hand a body that was read to the next reader, and then what comes after it."""
    is_given = False

    async def receive_again() -> Message:
        nonlocal is_given
        if is_given:
            return await receive()
        is_given = True
        return {"type": "http.request", "body": data, "more_body": False}

    return receive_again


def needs_body(method: str) -> bool:
    """Tell whether a request of this method brings a JSON body."""
    return method in WITH_BODY
