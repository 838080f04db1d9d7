"""Small boards over HTTP: solved by a process pool of the service, and filed many at a time.

A question that its game expects to take less than half a second is solved in the request that asks
it, within a small budget. What does not end within it becomes a job, as any larger board does. The
client has the answer before the lake: it is filed within half a second. A service that is killed in
between has answered, and solves the board again when it is asked again.

The body of a request goes to a process as it came, and the reply comes back as bytes, as does what
is to be filed: the event loop, which has all clients, reads neither.
"""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import time
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import replace
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple

from fastapi.exceptions import RequestValidationError
from pydantic_core import to_json

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.asked import AskedPuzzle
from nightgrid.archive.results.statuses import FINAL
from nightgrid.archive.words.binding import bind_game, game_of
from nightgrid.service.http.guard.bodies import read_json
from nightgrid.service.http.problems import Problem
from nightgrid.service.http.settings import ServiceSettings
from nightgrid.service.http.solves.filing import (
    Filing,
    FilingProcess,
    be_warm,
    begin_process,
    to_item,
)
from nightgrid.service.http.solves.solve_json import DONE, Subject, solve_json
from nightgrid.service.http.solves.solve_request import LIGHT_BYTES, SolveRequest, read_request
from nightgrid.solvers.algebra import Budget
from nightgrid.solvers.errors import NightgridError, PermanentError
from nightgrid.solvers.game_contract import Game
from nightgrid.workers.chunks.solution_texts import solve_whole
from nightgrid.workers.chunks.solved_rows import invalid_outcome
from nightgrid.workers.logs import get_logger
from nightgrid.workers.ondemand.answers import answer_of
from nightgrid.workers.ondemand.budgets import JobBudget
from nightgrid.workers.tracing import begin_tracing, continued, trace_header

log = get_logger("nightgrid.http")

SECONDS, TABLE_BYTES = 0.5, 64 * 1024**2
"""What one board may be expected to take in a process of the service, and the bytes it may."""
SPENT_SHARE = 0.5
"""The share of these seconds that it may spend. Few boards take a tenth of them: estimates are
high, and other processes may have the cores meanwhile."""
OVERTIME_S = 3.0
"""What a board is expected to take that did not end by then: enough to be divided at once among
processes that are idle."""
WAITING_MAX = 200
"""Boards that wait for a process; further ones become jobs."""
RESTART_S = 1.0
"""Pause before a pool whose process died is replaced."""
PUZZLE, WORDS = b'"puzzle"', b'"words"'
"""What a body about a board of its own has in it, and one with words of its own. A body that writes
them in another way is read by the route."""


class Found(NamedTuple):
    """A final answer."""

    job_id: str
    puzzle_id: str
    game: str
    status: str
    states: int
    kernel_ns: int
    asked_at: float
    ended_at: float
    """Both Unix time."""
    reply: bytes
    """What the client is told, as JSON."""
    filed: bytes
    """Its rows and its puzzle, see `filing.to_item`."""


def may_be_small(body: bytes) -> bool:
    """Return whether the body of a request is worth a look in a process of the pool."""
    return len(body) <= LIGHT_BYTES and PUZZLE in body and WORDS not in body


def is_small(wanted: SolveRequest, seconds: float) -> bool:
    """Return whether a question, expected to take so long at most, is worth a try at once."""
    # A board with words of its own needs these in the lake.
    has_words = getattr(wanted.asked.puzzle, "dictionary", None) is not None
    return wanted.expected.seconds <= seconds and not has_words


def _subject_of(wanted: SolveRequest, references: tuple[str, ...] = ()) -> Subject:
    asked = wanted.asked
    return Subject(
        question=asked.question,
        puzzle_id=asked.puzzle_id,
        puzzle=asked.bound.puzzle_to_json(asked.puzzle),
        references=references,
    )


class SmallBoards:
    """Solves small boards in a few processes. Used by the event loop of one service."""

    def __init__(self, settings: ServiceSettings) -> None:
        self._settings = settings
        self._processes = settings.quick_processes
        self._pool: ProcessPoolExecutor | None = None
        self._warming: list[Future[None]] = []
        self._children: list[BaseProcess] = []
        self._in_flight: dict[str, asyncio.Future[Found | None]] = {}
        self._restart: asyncio.Task[None] | None = None
        self._filing_process = FilingProcess(settings.workers)
        self.filing = Filing(self._filing_process.put)

    @property
    def is_ready(self) -> bool:
        """Return whether a process is warm, and there is room for another board."""
        has_room = len(self._in_flight) < WAITING_MAX and self.filing.has_room
        return self._pool is not None and has_room and any(each.done() for each in self._warming)

    def begin(self) -> None:
        """Start the processes, which load kernels and words before their first board."""
        if self._processes:
            self._start_pool()
            # Before the first answer, which would wait for its start.
            self._filing_process.start()
            self.filing.begin()

    async def end(self) -> None:
        """End the processes, and file what they have answered."""
        if self._restart is not None:
            self._restart.cancel()
        pool, self._pool = self._pool, None
        if pool is not None:
            for child in self._children:
                # One that still compiles kernels would be waited for.
                child.kill()
            await asyncio.to_thread(pool.shutdown, cancel_futures=True)
        await asyncio.to_thread(self.filing.end)

    async def solve_body(self, digest: str, body: bytes, wait_s: float) -> Found | None:
        """Answer the body of a request within `wait_s` seconds; None if the route has to."""
        return await self._once(digest, wait_s, _solve_body, body)

    async def solve(
        self, wanted: SolveRequest, references: tuple[str, ...], wait_s: float
    ) -> Found | None:
        """Solve a small board within `wait_s` seconds; None if it has to become a job."""
        if not is_small(wanted, SECONDS):
            return None
        subject = _subject_of(wanted, references)
        budget = wanted.budget or self._settings.workers.budget
        return await self._once(wanted.job_id, wait_s, _solve_subject, subject, budget)

    async def _once(
        self, key: str, wait_s: float, function: Callable[..., Found | None], *about: Any
    ) -> Found | None:
        """Ask a process once for all clients that ask the same at once."""
        shared = self._in_flight.get(key)
        if shared is None:
            if not self.is_ready:
                return None
            shared = asyncio.ensure_future(self._call(function, *about))
            self._in_flight[key] = shared
            shared.add_done_callback(lambda _: self._in_flight.pop(key))
        with suppress(TimeoutError):
            # A client whose time is over must not cancel the solve for the others.
            return await asyncio.wait_for(asyncio.shield(shared), wait_s)
        return None

    async def _call(self, function: Callable[..., Found | None], *about: Any) -> Found | None:
        pool = self._pool
        assert pool is not None
        try:
            work = pool.submit(function, *about, SECONDS, time.time(), trace_header())
            found = await asyncio.wrap_future(work)
        except (BrokenProcessPool, RuntimeError):
            self._replace(pool)
            return None
        except Exception as error:  # noqa: BLE001 - a worker has attempts, and words for what fails
            log.warning("board not solved here", error=repr(error))
            return None
        return found

    def _start_pool(self) -> None:
        self._pool = ProcessPoolExecutor(
            self._processes,
            multiprocessing.get_context("spawn"),
            initializer=_begin_process,
            initargs=(self._settings,),
        )
        others = set(multiprocessing.active_children())
        # A process is started for each task that finds none idle.
        self._warming = [self._pool.submit(be_warm) for _ in range(self._processes)]
        self._children = [each for each in multiprocessing.active_children() if each not in others]

    def _replace(self, broken: ProcessPoolExecutor) -> None:
        """Replace a pool of which a process died: what it worked becomes jobs."""
        if self._pool is broken:
            log.warning("a process that solves small boards died; starting others")
            self._pool = None
            broken.shutdown(wait=False, cancel_futures=True)
            self._restart = asyncio.create_task(self._restart_soon())

    async def _restart_soon(self) -> None:
        await asyncio.sleep(RESTART_S)
        self._start_pool()


# -- in a process of the pool ------------------------------------------------------------------

_settings: ServiceSettings
_lake: Lake


def _begin_process(settings: ServiceSettings) -> None:
    global _settings, _lake
    begin_process()
    workers = settings.workers
    begin_tracing(workers.trace_url, "quick")
    _settings, _lake = settings, Lake.open(workers.lake)
    for name in workers.game_names:
        try:
            bind_game(name).warm()
        except Exception as error:  # noqa: BLE001 - a game that cannot be loaded costs no other
            log.warning("game not warm", game=name, error=f"{type(error).__name__}: {error}")
    # What is loaded by now stays: no collection of garbage looks at it again.
    gc.collect()
    gc.freeze()


def _solve_body(
    body: bytes, seconds: float, asked_at: float, trace: dict[str, str]
) -> Found | None:
    """Answer the body of a request; None for one that is not about a small board."""
    try:
        value = read_json(body, _settings.limits.depth)
        wanted = read_request(_lake, _settings, body, value)
    except (Problem, RequestValidationError, NightgridError):
        # The route reads it once more, and says what is wrong.
        return None
    if not is_small(wanted, seconds):
        return None
    asked, subject = wanted.asked, _subject_of(wanted)
    budget = wanted.budget or _settings.workers.budget
    return _solve(asked.bound, asked.puzzle, subject, budget, seconds, asked_at, trace)


def _solve_subject(
    subject: Subject, budget: Budget, seconds: float, asked_at: float, trace: dict[str, str]
) -> Found | None:
    """Solve the board of a question that the route has read."""
    game = game_of(_lake, subject.question)
    puzzle = game.puzzle_from_json(subject.puzzle)
    return _solve(game, puzzle, subject, budget, seconds, asked_at, trace)


def _solve(
    game: Game[Any, Any],
    puzzle: Any,
    subject: Subject,
    budget: Budget,
    seconds: float,
    asked_at: float,
    trace: dict[str, str],
) -> Found | None:
    """Solve a board within a small share of its budget; None if that does not do."""
    question, settings = subject.question, _settings.workers
    small = replace(
        budget,
        seconds=min(budget.seconds, SPENT_SHARE * seconds),
        table_bytes=min(budget.table_bytes, TABLE_BYTES),
    )
    with continued(trace, "kernel", game=question.game, ask=str(question.ask)):
        try:
            outcome = solve_whole(game, puzzle, question.ask, small, settings)
        except PermanentError as error:
            outcome = invalid_outcome(error)
    if outcome.status not in FINAL:
        return None
    answer = answer_of(game, puzzle, question, JobBudget.of(settings, budget), outcome)
    row, ended_at = answer.row, time.time()
    told = solve_json(answer.job_id, DONE, subject, created_at=asked_at, ended_at=ended_at, row=row)
    assert subject.puzzle is not None
    kept = AskedPuzzle(subject.puzzle_id, question.game, dict(subject.puzzle))
    return Found(
        job_id=answer.job_id,
        puzzle_id=subject.puzzle_id,
        game=question.game,
        status=row["status"],
        states=row["states"],
        kernel_ns=row["kernel_ns"],
        asked_at=asked_at,
        ended_at=ended_at,
        reply=to_json(told),
        filed=to_item(answer, kept),
    )
