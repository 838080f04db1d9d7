"""Small boards are solved at once, by processes of the service that are warm and do nothing else.

A question that is expected to be quick goes to one of them first. What it does not answer within
its small budget, or while all of them are busy, goes into the queue as any other.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from typing import Any

from nightgrid.workers.cluster.child_processes import child_environment
from nightgrid.workers.logs import get_logger
from nightgrid.workers.ondemand.quick_solver import TRY_SECONDS
from nightgrid.workers.settings import Settings

log = get_logger("nightgrid.http")

MODULE = "nightgrid.workers.ondemand.quick_solver"
ANSWER_S = 2.0
"""A process that has not answered after this time is ended: its kernels look at the clock."""
WAITING_MAX = 200
"""Questions that wait for a process at most; more go into the queue."""
LINE_BYTES = 16 * 1024**2
"""Longest answer: a listing has `listing_row_bytes` at most."""
RESTART_S = (0.0, 0.5, 2.0, 10.0)
YOUNG_S = 10.0
QUICK_S = 10 * TRY_SECONDS
"""What is expected to take longer is not tried. Of generated hard boards of Pips one in 300 is
expected to take longer than a try, and takes a tenth of that: in the queue it would wait for as
long as the largest one before it."""

_Question = tuple[bytes, "asyncio.Future[dict[str, Any] | None]"]


class QuickProcesses:
    """A few processes that solve small boards. Lives in the event loop of one service."""

    def __init__(self, settings: Settings, processes: int) -> None:
        self._settings = settings
        self._processes = processes
        self._questions: asyncio.Queue[_Question] = asyncio.Queue()
        self._tasks: list[asyncio.Task[None]] = []
        self._ready = 0

    @property
    def is_ready(self) -> bool:
        """Tell whether a process is there, and not too many questions wait for one."""
        return self._ready > 0 and self._questions.qsize() < WAITING_MAX

    def begin(self) -> None:
        """Begin to start the processes."""
        self._tasks = [
            asyncio.create_task(self._keep(), name=f"quick-process-{number}")
            for number in range(self._processes)
        ]

    async def end(self) -> None:
        """End the processes."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def ask(self, message: Mapping[str, Any]) -> dict[str, Any] | None:
        """Have the question of a message answered; None where that was not possible here."""
        if not self.is_ready:
            return None
        answer: asyncio.Future[dict[str, Any] | None] = asyncio.get_running_loop().create_future()
        line = json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"
        self._questions.put_nowait((line, answer))
        return await answer

    async def _keep(self) -> None:
        """Keep one process, and start another one when it ends."""
        young = 0
        while True:
            await asyncio.sleep(RESTART_S[min(young, len(RESTART_S) - 1)])
            begun = time.monotonic()
            try:
                await self._live()
            except (OSError, ValueError, TimeoutError) as error:
                log.warning("quick process ended", error=repr(error))
            young = young + 1 if time.monotonic() - begun < YOUNG_S else 0

    async def _live(self) -> None:
        """Start a process, and give it questions until it ends."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            MODULE,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=LINE_BYTES,
            env=child_environment(self._settings),
            start_new_session=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        is_ready = False
        died = asyncio.create_task(process.wait())
        try:
            if not await process.stdout.readline():
                return
            is_ready = True
            self._ready += 1
            while (question := await self._next(died)) is not None:
                await self._answer(question, process.stdin, process.stdout)
        finally:
            self._ready -= is_ready
            died.cancel()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
            if not self._ready:
                self._hand_back()

    async def _next(self, died: asyncio.Task[int]) -> _Question | None:
        """Wait for a question; None when the process has died meanwhile."""
        if not self._questions.empty() and not died.done():
            return self._questions.get_nowait()
        asking = asyncio.create_task(self._questions.get())
        try:
            await asyncio.wait({asking, died}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not asking.done():
                asking.cancel()
        return asking.result() if asking.done() else None

    async def _answer(
        self, question: _Question, asked: asyncio.StreamWriter, told: asyncio.StreamReader
    ) -> None:
        """Have one question answered. Raises OSError or TimeoutError when the process fails."""
        line, answer = question
        value: dict[str, Any] | None = None
        try:
            if answer.cancelled():
                return
            asked.write(line)
            async with asyncio.timeout(ANSWER_S):
                text = await told.readline()
            if not text:
                raise OSError("it has ended")
            value = json.loads(text)
        finally:
            if not answer.done():
                answer.set_result(value)

    def _hand_back(self) -> None:
        """Let what waits go into the queue: no process is there."""
        while not self._questions.empty():
            _, answer = self._questions.get_nowait()
            if not answer.done():
                answer.set_result(None)
