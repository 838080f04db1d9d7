"""Connections: how long a request may take to come, and how many clients may be connected.

uvicorn waits for ever for a client that connects and sends nothing or a byte now and then, keeps
the head of a request and what follows a body whatever its size, and takes any number of clients.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable
from http import HTTPStatus
from operator import attrgetter
from typing import Literal, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from nightgrid.service.http.guard.bodies import BODY_SECONDS
from nightgrid.service.http.guard.headers import HEADERS
from nightgrid.service.http.problems import PROBLEM_TYPE, Problem

HEAD_SECONDS = 10.0
"""A head that is not there after this time is not waited for."""
REST_SECONDS = BODY_SECONDS + 5.0
"""A body is waited for so long where no route reads it."""
WRITE_SECONDS = 60.0
"""A client that takes nothing of an answer for so long is disconnected."""
HEAD_BYTES = 32 * 1024
"""Largest head of a request. Behind a body there may be as much that is none of it."""
PIPELINED = 16
"""Requests that a client may send before the answer to an earlier one."""
LINGER_SECONDS = 1.0
"""How long a client that is refused has for reading why."""
RETRY_AFTER_S = 2

Waits = Literal["head", "body", ""]
"""What a connection waits for its client to send; nothing while a request is answered."""
Note = Callable[[str], None]
"""Takes note of a client that is refused or disconnected: of the kind of problem."""
# The event loop's time is the same for all clients that it takes at once.
_turns = itertools.count(1)


class Connection(HttpToolsProtocol):
    """uvicorn's connection, with bounds.

    Over `most` connections the one whose client is waited for the longest is ended. Where all are
    being answered, a new one is refused.
    """

    most: int
    note: Note
    turn: int = 0
    """Increases with when its client began to be waited for; of one that is refused it is 0."""
    _number: int = 0
    """Requests that have begun to come."""
    _timed: tuple[int, Waits] = (0, "")
    """The request, and what of it, that the timer is about."""
    _timer: asyncio.TimerHandle | None = None
    _write_timer: asyncio.TimerHandle | None = None
    _unread: int = 0
    """Bytes that have come since the last that were part of a body or ended a head."""
    _is_coming: bool = False
    _in_head: bool = False
    _is_refused: bool = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection; end another one, or this one, where there are too many."""
        super().connection_made(transport)
        self._time()
        if len(self.connections) <= self.most:
            return
        all_of_us = cast("set[Connection]", self.connections)
        waiting = (each for each in all_of_us if each.is_waited_for)
        oldest = min(waiting, key=attrgetter("turn"))
        if oldest is self:
            self._refuse(too_many())
        else:
            oldest.drop()

    @property
    def is_waited_for(self) -> bool:
        """Tell whether nothing is being answered here, or what was is not taken."""
        return self._is_refused or self.transport.is_closing() or bool(self._waits_for())

    def drop(self) -> None:
        """End the connection without a word."""
        self.note(too_many().kind.slug)
        self.connections.discard(self)
        self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timers with the connection."""
        for timer in (self._timer, self._write_timer):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what has come, unless too much of it is of no use."""
        if self._is_refused or self.transport.is_closing():
            return
        self._unread += len(data)
        super().data_received(data)
        if self._unread > HEAD_BYTES:
            self._refuse(_TOO_LARGE)
        if not self.transport.is_closing():
            self._time()

    def on_message_begin(self) -> None:
        """Begin a request."""
        self._number += 1
        self._is_coming = self._in_head = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """End a head: the request is answered from now on, while its body comes."""
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        self._in_head, self._unread = False, 0
        if size > HEAD_BYTES:
            self._refuse(_TOO_LARGE)
        elif len(self.pipeline) >= PIPELINED:
            self._refuse(too_many())
        if not self._is_refused:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a piece of a body."""
        self._unread = 0
        if not self._is_refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request."""
        self._is_coming, self._unread = False, 0
        if not self._is_refused:
            super().on_message_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self.turn = next(_turns)

    def pause_writing(self) -> None:
        """Wait for a client that takes nothing of an answer, but not for ever."""
        super().pause_writing()
        if self._write_timer is None:
            self._write_timer = self.loop.call_later(WRITE_SECONDS, self._stalled)

    def resume_writing(self) -> None:
        """Go on with an answer."""
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's own words
        """Refuse what is no HTTP."""
        self._refuse(_NO_HTTP)

    def _waits_for(self) -> Waits:
        if self._is_coming:
            return "head" if self._in_head else "body"
        return "head" if self._is_answered() else ""

    def _is_answered(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return (cycle is None or cycle.response_complete) and not self.pipeline

    def _time(self) -> None:
        """Let a time run for what the client is to send, unless it runs already."""
        waits = self._waits_for()
        if (self._number, waits) == self._timed:
            return
        self._timed = (self._number, waits)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if waits:
            self.turn = next(_turns)
            most_s = HEAD_SECONDS if waits == "head" else REST_SECONDS
            self._timer = self.loop.call_later(most_s, self._late)

    def _late(self) -> None:
        """End a connection whose client is not waited for any longer."""
        if self._is_refused or self._timed != (self._number, self._waits_for()):
            return
        if self._in_head:
            self._refuse(_TOO_SLOW)
            return
        if self._is_coming:
            self.note(_BODY_TOO_SLOW)
        self.transport.close()

    def _stalled(self) -> None:
        self.note(_STALLED)
        self.transport.abort()

    def _refuse(self, problem: Problem) -> None:
        """Read no more, and say why, after what is being answered."""
        if self._is_refused:
            return
        self._is_refused = True
        self.note(problem.kind.slug)
        if self._is_answered():
            self.turn = 0
            self.transport.write(_written(problem))
            # Closed at once, with bytes that were not read, the client would not see the answer.
            self.transport.write_eof()
            self.loop.call_later(LINGER_SECONDS, self.transport.close)
        else:
            self.cycle.keep_alive = False


def too_many() -> Problem:
    """Make the problem of a client that is one too many."""
    return Problem(
        "too-many-connections",
        "as many clients are connected, or wait for jobs, as the service takes; try again",
        headers={"Retry-After": str(RETRY_AFTER_S)},
    )


def connections(most: int, note: Note) -> type[Connection]:
    """Make the class of the connections of one server."""
    return type("Connection", (Connection,), {"most": most, "note": staticmethod(note)})


def _written(problem: Problem) -> bytes:
    """Write an answer as it is sent where no application has seen the request."""
    body = json.dumps(problem.to_json()).encode()
    headers = {
        "Content-Type": PROBLEM_TYPE,
        "Content-Length": str(len(body)),
        "Connection": "close",
        **problem.headers,
        **HEADERS,
    }
    lines = [f"HTTP/1.1 {problem.status} {HTTPStatus(problem.status).phrase}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("ascii") + body


_STALLED = "answer-not-taken"
_BODY_TOO_SLOW = "body-too-slow"
_NO_HTTP = Problem("bad-request", "what was sent is no HTTP/1.1 request")
_TOO_SLOW = Problem(
    "head-too-slow",
    f"the head of the request did not come within {HEAD_SECONDS:g} s",
)
_TOO_LARGE = Problem(
    "head-too-large",
    f"the head of the request, or what follows its body, is larger than {HEAD_BYTES:,} bytes",
)
