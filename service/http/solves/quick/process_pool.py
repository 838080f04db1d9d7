"""Small boards are solved at once, by processes of the service that are warm and do nothing else.

A question that is expected to be quick goes to one of them first. What it does not answer within
its small budget, or while all of them are busy, goes into the queue as any other.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque

from nightgrid.service.http.solves.quick.lines import Found, Miss
from nightgrid.service.http.solves.quick.quick_process import QuickProcess, Waiting
from nightgrid.workers.logs import get_logger
from nightgrid.workers.settings import Settings

log = get_logger("nightgrid.http")

WAITING_MAX = 200
"""Questions that wait for a process at most; more go into the queue."""
RESTART_S = (0.0, 0.5, 2.0, 10.0)
YOUNG_S = 10.0


class QuickProcesses:
    """A few processes that solve small boards. Lives in the event loop of one service."""

    def __init__(self, settings: Settings, processes: int) -> None:
        self._settings = settings
        self._number = processes
        self._processes: list[QuickProcess] = []
        self._waiting: deque[Waiting] = deque()
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def is_ready(self) -> bool:
        """Tell whether a process is there, and not too many questions wait for one."""
        return len(self._waiting) < WAITING_MAX and any(each.is_ready for each in self._processes)

    def begin(self) -> None:
        """Begin to start the processes."""
        self._tasks = [
            asyncio.create_task(self._keep(), name=f"quick-process-{number}")
            for number in range(self._number)
        ]

    async def end(self) -> None:
        """End the processes."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def ask(self, question: bytes) -> Found | Miss:
        """Have a question answered, where that is possible here."""
        if not self.is_ready:
            return Miss.NOT_TRIED
        answer: asyncio.Future[Found | Miss] = asyncio.get_running_loop().create_future()
        waiting = Waiting(question, answer)
        free = [each for each in self._processes if each.has_room]
        if free:
            min(free, key=lambda each: each.busy).ask(waiting)
        else:
            self._waiting.append(waiting)
        return await answer

    async def _keep(self) -> None:
        """Keep one process, and start another one when it ends."""
        young = 0
        while True:
            await asyncio.sleep(RESTART_S[min(young, len(RESTART_S) - 1)])
            begun = time.monotonic()
            try:
                await self._live()
            except OSError as error:
                log.warning("quick process ended", error=repr(error))
            young = young + 1 if time.monotonic() - begun < YOUNG_S else 0

    async def _live(self) -> None:
        """Start a process, and let it have questions until it ends."""
        process = QuickProcess(self._give)
        await process.start(self._settings)
        self._processes.append(process)
        try:
            await asyncio.shield(process.ended)
        finally:
            process.kill()
            self._processes.remove(process)
            self._hand_over(process.take_back())
            await process.ended

    def _give(self, process: QuickProcess) -> None:
        """Give a process what waits for one, while it has room."""
        while self._waiting and process.has_room:
            waiting = self._waiting.popleft()
            # A client that is gone waits for nothing.
            if not waiting.answer.done():
                process.ask(waiting)

    def _hand_over(self, left: list[Waiting]) -> None:
        """Let other processes have questions first; where there are none, the queue has all."""
        self._waiting.extendleft(reversed(left))
        for process in self._processes:
            self._give(process)
        if not any(each.is_ready for each in self._processes):
            while self._waiting:
                self._waiting.popleft().settle(Miss.NOT_TRIED)
