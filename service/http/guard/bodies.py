"""Bodies of requests: of bounded size, depth and time, strict JSON, before any route sees them."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

from starlette.datastructures import Headers
from starlette.types import Message, Receive

from nightgrid.archive.payloads.strict_json import read_members
from nightgrid.service.http.problems import FieldError, Problem, pointer_of
from nightgrid.solvers.errors import InvalidPuzzleError

BODY_SECONDS = 30.0
"""A body that is not there after this time is not waited for."""
DEPTH = 32
"""How deep JSON may be nested: boards need less than ten levels."""
JSON = "application/json"
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_BRACKETS = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_KINDS = {"not-an-object": "bad-value", "too-deep": "too-deep"}


class ClientLeftError(Exception):
    """The client has closed the connection before its request was there."""


def check_media_type(headers: Headers) -> None:
    """Raise Problem for a body whose type is not JSON.

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
    errors = [FieldError(pointer=header, detail=detail)]
    return Problem("unsupported-media-type", detail, errors=errors, headers={"Accept": accept})


async def read_body(headers: Headers, receive: Receive, most: int) -> bytes:
    """Read a body of at most `most` bytes; of a longer one no more is kept.

    Raises Problem for one that is too long or does not come, ClientLeftError for a client that has
    gone.
    """
    announced = headers.get("content-length", "")
    if announced.isdecimal() and (len(announced) > 18 or int(announced) > most):
        raise _too_large(most)
    data = b""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            more = True
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientLeftError
                data += message.get("body", b"")
                if len(data) > most:
                    raise _too_large(most)
                more = message.get("more_body", False)
    except TimeoutError:
        detail = f"the whole body did not come within {BODY_SECONDS:g} s"
        raise Problem("body-too-slow", detail) from None
    return data


def _too_large(most: int) -> Problem:
    return Problem("too-large", f"the body is larger than {most:,} bytes")


def read_json(data: bytes) -> dict[str, Any]:
    """Read a body as a JSON object.

    Raises Problem for one that is not strict JSON, or is nested too deep. Refused are duplicate
    keys, NaN and infinities, integers of more than 20 digits, a byte order mark, what is not UTF-8
    and half a character as an escape.
    """
    try:
        members = read_members(data)
    except InvalidPuzzleError as fault:
        errors = [FieldError(pointer="", detail=str(fault))]
        raise Problem(_KINDS.get(fault.rule, "bad-json"), str(fault), errors=errors) from None
    _check_depth(data)
    faults = [member.fault for member in members.values() if member.fault]
    if faults:
        errors = [FieldError(pointer=pointer_of(f.place), detail=str(f)) for f in faults]
        raise Problem("bad-json", errors[0]["detail"], errors=errors)
    value = {key: member.value for key, member in members.items()}
    try:
        # Only an escape can be half a character.
        if b"\\" in data:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise Problem("bad-json", "the body has half a character as an escape") from None
    return value


def _check_depth(data: bytes) -> None:
    """Raise Problem for sound JSON that is nested too deep."""
    left = _STRING.sub(b"", data).translate(_BRACKETS, _NO_BRACKETS)
    for _ in range(DEPTH):
        left = left.replace(b"[]", b"")
    if left:
        raise Problem("too-deep", f"the body is nested deeper than {DEPTH} levels")


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
