"""One process that answers about small boards: questions go in, answers come out in their order.

A process has the next question at hand while it works one: it need not wait for the event loop in
between, which has other clients.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, cast

from nightgrid.service.http.solves.quick.lines import Found, Miss, read_answer
from nightgrid.workers.cluster.child_processes import child_environment
from nightgrid.workers.logs import get_logger
from nightgrid.workers.settings import Settings

log = get_logger("nightgrid.http")

MODULE = "nightgrid.service.http.solves.quick.quick_solver"
AT_HAND = 2
"""Questions that a process has at once: the one that it works, and the next."""
ANSWER_S = 2.0
"""A process that has not answered after this time is ended: its kernels look at the clock."""
LINE_BYTES = 16 * 1024**2
"""Longest answer: reply, puzzle and rows, of which a listing has `listing_row_bytes` at most."""


class Waiting(NamedTuple):
    """A question, and where its answer is waited for."""

    question: bytes
    answer: asyncio.Future[Found | Miss]

    def settle(self, value: Found | Miss) -> None:
        """Give the answer, if it is still waited for."""
        if not self.answer.done():
            self.answer.set_result(value)


class QuickProcess(asyncio.SubprocessProtocol):
    """A process, from its start to its end. Lives in one event loop."""

    def __init__(self, on_room: Callable[[QuickProcess], None]) -> None:
        """Begin as one that is not ready; `on_room` is called whenever it can take a question."""
        self._on_room = on_room
        self._loop = asyncio.get_running_loop()
        self._asked: deque[Waiting] = deque()
        self._begun_at = 0.0
        """When it began to work the first of them, as the loop's time."""
        self._timer: asyncio.TimerHandle | None = None
        self._line: list[bytes] = []
        """What has come of a line that is not whole."""
        self._is_ready = self._is_ending = False
        self.ended: asyncio.Future[None] = self._loop.create_future()
        """Done when the process is gone."""

    @property
    def has_room(self) -> bool:
        """Tell whether it can take a question."""
        return self.is_ready and len(self._asked) < AT_HAND

    @property
    def is_ready(self) -> bool:
        """Tell whether it answers questions."""
        return self._is_ready and not self._is_ending

    @property
    def busy(self) -> int:
        """Tell how many questions it has."""
        return len(self._asked)

    async def start(self, settings: Settings) -> None:
        """Start it. Raises OSError where that is not possible."""
        await self._loop.subprocess_exec(
            lambda: self,
            sys.executable,
            "-m",
            MODULE,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=None,
            env=child_environment(settings),
            start_new_session=True,
        )

    def ask(self, waiting: Waiting) -> None:
        """Have a question answered; it counts as tried where the process fails."""
        if not self._asked:
            self._begun_at = self._loop.time()
        self._asked.append(waiting)
        self._stdin.write(waiting.question)
        if self._timer is None:
            self._timer = self._loop.call_later(ANSWER_S, self._look)

    def kill(self) -> None:
        """End it. The question that it works has no answer."""
        if self._is_ending:
            return
        self._is_ending = True
        if self._asked:
            self._asked.popleft().settle(Miss.TRIED)
        with suppress(ProcessLookupError):
            os.killpg(self._transport.get_pid(), signal.SIGKILL)

    def take_back(self) -> list[Waiting]:
        """Take the questions that it has not begun."""
        left = list(self._asked)
        self._asked.clear()
        return left

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take note of the pipes."""
        self._transport = cast("asyncio.SubprocessTransport", transport)
        self._stdin = cast("asyncio.WriteTransport", self._transport.get_pipe_transport(0))

    def pipe_data_received(self, fd: int, data: bytes) -> None:  # noqa: ARG002 - one pipe is read
        """Take the lines that have come."""
        *whole, rest = data.split(b"\n")
        for part in whole:
            self._line.append(part)
            line = b"".join(self._line)
            self._line.clear()
            self._take(line)
        if rest:
            self._line.append(rest)
            if sum(map(len, self._line)) > LINE_BYTES:
                self._fail("its answer is too long")

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002
        """End with any of the pipes."""
        self._fail("it has closed a pipe")

    def process_exited(self) -> None:
        """Take note of the end."""
        self._fail("it has ended")
        if self._timer is not None:
            self._timer.cancel()
        self._transport.close()
        if not self.ended.done():
            self.ended.set_result(None)

    def _take(self, line: bytes) -> None:
        if self._is_ending:
            return
        if not self._is_ready:
            self._is_ready = True
        else:
            try:
                found = read_answer(line)
                waiting = self._asked.popleft()
            except (ValueError, TypeError, IndexError) as error:
                self._fail(repr(error))
                return
            self._begun_at = self._loop.time()
            waiting.settle(found)
        self._on_room(self)

    def _look(self) -> None:
        """End a process that takes too long; the clock is not set anew for each question."""
        self._timer = None
        if self._is_ending or not self._asked:
            return
        left_s = self._begun_at + ANSWER_S - self._loop.time()
        if left_s <= 0:
            self._fail(f"no answer after {ANSWER_S:g} s")
        else:
            self._timer = self._loop.call_later(left_s, self._look)

    def _fail(self, why: str) -> None:
        if not self._is_ending:
            log.warning("quick process ended", error=why)
            self.kill()
