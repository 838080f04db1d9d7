"""Answer small boards in the request that asks: no record, no queue, the lake soon afterwards."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json, to_json

from nightgrid.archive.words.binding import bind_game
from nightgrid.service.http.solves.asking.solve_request import LIGHT_BYTES, SolveRequest
from nightgrid.service.http.solves.quick.bounds import is_small
from nightgrid.service.http.solves.quick.filing import Filing
from nightgrid.service.http.solves.quick.filing_process import FilingProcess
from nightgrid.service.http.solves.quick.lines import Found, Miss, QuickRequest
from nightgrid.service.http.solves.quick.process_pool import QuickProcesses
from nightgrid.service.http.solves.views import Views
from nightgrid.solvers.errors import NightgridError
from nightgrid.solvers.registry import game_plug
from nightgrid.workers.figures import note_rows
from nightgrid.workers.settings import Settings
from nightgrid.workers.tracing import span, trace_header

PUZZLE, WORDS = b'"puzzle"', b'"words"'
"""What the body of a question about a board of its own has in it, and of one with words of its own.
A body that writes them in another way takes the route."""


@dataclass(slots=True)
class _Shared:
    """A question, and how many clients wait for its answer."""

    task: asyncio.Task[Found | Miss]
    clients: int = 0


class SmallBoards:
    """Answers small boards by processes of the service, from the event loop of one service."""

    def __init__(self, settings: Settings, views: Views, processes: int) -> None:
        self._settings = settings
        self._views = views
        self._has_processes = processes > 0
        self.processes = QuickProcesses(settings, processes)
        self.filing = Filing(FilingProcess(settings))
        self._in_flight: dict[str, _Shared] = {}

    def begin(self) -> None:
        """Begin to start the processes."""
        if self._has_processes:
            self.processes.begin()
            self.filing.begin()
            self._loading = asyncio.create_task(asyncio.to_thread(self._load))

    def _load(self) -> None:
        """Load the games, which takes a second, before the first board is read."""
        for name in self._settings.game_names:
            if not game_plug(name).words:
                with suppress(NightgridError, ImportError):
                    bind_game(name).warm_expected()

    async def end(self) -> None:
        """End the processes, and write what they have answered."""
        await self.processes.end()
        await asyncio.to_thread(self.filing.end)

    async def answer_body(self, digest: str, body: bytes, wait_s: float) -> Found | Miss:
        """Answer the body of a request, which a process reads, within so many seconds.

        It counts as not tried where the lake may know the answer: a night has brought the board.
        """
        # Others are for the route: they need not stand in line to hear that.
        may_be_small = len(body) <= LIGHT_BYTES and PUZZLE in body and WORDS not in body
        if not (may_be_small and self.processes.is_ready):
            return Miss.NOT_TRIED
        return await self._once(digest, lambda: self._answer_body(body), wait_s)

    async def answer(self, wanted: SolveRequest, wait_s: float) -> dict[str, Any] | None:
        """Answer a question that was read; None if its board is not small, or no process answers.

        Clients that ask the same question at once share one solve.
        """
        if not (is_small(wanted) and self.processes.is_ready):
            return None
        found = await self._once(wanted.job_id, lambda: self._answer(wanted), wait_s)
        return None if isinstance(found, Miss) else from_json(found.reply)

    async def _once(
        self, key: str, ask: Callable[[], Coroutine[Any, Any, Found | Miss]], wait_s: float
    ) -> Found | Miss:
        """Ask once for all clients that ask the same at once; one waits so long at most.

        What no client waits for any more is not asked: the route makes it a job.
        """
        shared = self._in_flight.get(key)
        if shared is None:
            shared = self._in_flight[key] = _Shared(asyncio.create_task(ask()))
        shared.clients += 1
        try:
            async with asyncio.timeout(wait_s):
                # A client whose time is over must not cancel the solve for the others.
                return await asyncio.shield(shared.task)
        except TimeoutError:
            return Miss.NOT_TRIED
        finally:
            shared.clients -= 1
            if not shared.clients:
                shared.task.cancel()
                del self._in_flight[key]

    async def _answer_body(self, body: bytes) -> Found | Miss:
        begun = time.time()
        with span("quick"):
            found = await self.processes.ask(
                QuickRequest(body=body, begun_at=begun, trace=trace_header()).to_bytes()
            )
        if isinstance(found, Miss):
            return found
        known = self._views.final_json(found.job_id)
        if known is None and self._views.names.of(found.puzzle_id):
            return Miss.NOT_TRIED
        return self._kept(found, begun, known)

    async def _answer(self, wanted: SolveRequest) -> Found | Miss:
        asked, begun = wanted.asked, time.time()
        message = {
            "job_id": asked.job_id,
            **asked.question.to_json(),
            "budget": (wanted.budget or self._settings.budget).limits,
            "puzzle": asked.bound.puzzle_to_json(asked.puzzle),
        }
        references = self._views.names.of(asked.puzzle_id)
        with span("quick", game=asked.question.game, job=asked.job_id):
            request = QuickRequest(
                body=to_json(message),
                is_message=True,
                begun_at=begun,
                references=references,
                # The lake has a board of a date. One that was asked before may be dropped there.
                is_kept=wanted.names_board and bool(references),
                trace=trace_header(),
            )
            found = await self.processes.ask(request.to_bytes())
        if isinstance(found, Miss):
            return found
        return self._kept(found, begun, self._views.final_json(found.job_id))

    def _kept(self, found: Found, begun: float, known: bytes | None) -> Found:
        """Keep what was found, and have it filed; what was known before stands as it is."""
        if known is not None:
            if self.filing.has_passed_over(found.job_id):
                self.filing.add(found.job_id, found.filed)
            return found._replace(reply=known)
        note_rows(found.game, {found.status: 1}, states=found.states, kernel_ns=found.kernel_ns)
        self._views.keep_final(found.job_id, found.reply, begun, found.ended_at)
        self.filing.add(found.job_id, found.filed)
        return found
