"""Answer small boards in the request that asks: no record, no queue, the lake soon afterwards."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import Any

from nightgrid.archive.results.asked import AskedPuzzle
from nightgrid.archive.words.binding import bind_game
from nightgrid.service.http.solves.quick.filing import Filing
from nightgrid.service.http.solves.quick.filing_process import FilingProcess
from nightgrid.service.http.solves.quick.process_pool import QUICK_S, QuickProcesses
from nightgrid.service.http.solves.solve_request import SolveRequest
from nightgrid.service.http.solves.views import Subject, Views
from nightgrid.solvers.errors import NightgridError
from nightgrid.solvers.registry import game_plug
from nightgrid.workers.figures import note_rows
from nightgrid.workers.ondemand.answers import Answer
from nightgrid.workers.ondemand.jobs.status import JobStatus
from nightgrid.workers.ondemand.quick_solver import TRACE
from nightgrid.workers.settings import Settings
from nightgrid.workers.tracing import span, trace_header


class SmallBoards:
    """Answers small boards by processes of the service, from the event loop of one service."""

    def __init__(self, settings: Settings, views: Views, processes: int) -> None:
        self._settings = settings
        self._views = views
        self._has_processes = processes > 0
        self.processes = QuickProcesses(settings, processes)
        self.filing = Filing(FilingProcess(settings))
        self._in_flight: dict[str, asyncio.Task[dict[str, Any] | None]] = {}

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

    async def answer(self, wanted: SolveRequest) -> dict[str, Any] | None:
        """Answer a question; None if its board is not small, or no process answers it.

        Clients that ask the same question at once share one solve.
        """
        if not (self._is_small(wanted) and self.processes.is_ready):
            return None
        job_id = wanted.job_id
        task = self._in_flight.get(job_id)
        if task is None:
            task = asyncio.create_task(self._solve(wanted))
            self._in_flight[job_id] = task
            task.add_done_callback(lambda _: self._in_flight.pop(job_id, None))
        # A client that disconnects must not cancel the solve for the others.
        return await asyncio.shield(task)

    def _is_small(self, wanted: SolveRequest) -> bool:
        # A board with words of its own, or played with others than usual, needs these in the lake.
        has_words = getattr(wanted.asked.puzzle, "dictionary", None) is not None
        return wanted.expected.seconds <= QUICK_S and wanted.split != "ahead" and not has_words

    async def _solve(self, wanted: SolveRequest) -> dict[str, Any] | None:
        asked, begun = wanted.asked, time.time()
        puzzle = asked.bound.puzzle_to_json(asked.puzzle)
        budget = wanted.budget or self._settings.budget
        message = {
            "job_id": asked.job_id,
            **asked.question.to_json(),
            "budget": budget.limits,
            "puzzle": puzzle,
        }
        with span("quick", game=asked.question.game, job=asked.job_id):
            found = await self.processes.ask(message | {TRACE: trace_header()})
        if found is None:
            return None
        answer = Answer(row=found["row"], solutions=found["solutions"])
        took = {name: found["row"][name] for name in ("states", "kernel_ns")}
        note_rows(asked.question.game, {found["row"]["status"]: 1}, **took)
        subject = subject_of(wanted, self._views, puzzle)
        self._views.remember(asked.job_id, subject)
        self._views.note_times(asked.job_id, begun, time.time())
        status = JobStatus(job_id=asked.job_id, state="done")
        solve = self._views.show(asked.job_id, status, answer.row, parts=())
        kept = AskedPuzzle(asked.puzzle_id, asked.question.game, puzzle)
        # The lake has a board of a date. One that was asked before may be dropped there meanwhile.
        has_date = wanted.names_board and bool(subject.references)
        self.filing.add(answer, None if has_date else kept)
        return solve


def subject_of(wanted: SolveRequest, views: Views, puzzle: dict[str, Any]) -> Subject:
    """Describe the puzzle and the question of a request."""
    asked = wanted.asked
    return Subject(
        question=asked.question,
        puzzle_id=asked.puzzle_id,
        puzzle=puzzle,
        references=views.names.of(asked.puzzle_id),
    )
