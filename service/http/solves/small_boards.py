"""Small boards over HTTP: solved by a process pool of the service, and stored in batches.

A question that its game expects to take less than half a second is solved within its request, with
a small budget. If that runs out, it becomes a job like any larger board. The client gets the answer
before the lake does: a process of the pool stores it within half a second. A service that is killed
in between has answered, and solves the board again on the next request.

The body of a request goes to a process as it came, and the reply comes back as bytes, as does the
row to store: the event loop, which serves all clients, parses neither.
"""

from __future__ import annotations

import asyncio
import gc
import json
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from typing import NamedTuple, TypeVar

from pydantic_core import ValidationError, to_json

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.payloads.strict_json import read_members
from nightgrid.archive.results.statuses import FINAL
from nightgrid.archive.words.binding import bind_game
from nightgrid.service.http.posted_board import SolveBody, budget_of, posted_board
from nightgrid.service.http.problems import Problem
from nightgrid.service.http.settings import ServiceSettings
from nightgrid.service.http.solves.solve_json import DONE, solve_json
from nightgrid.solvers.errors import NightgridError, PermanentError
from nightgrid.workers.chunks.solution_texts import solve_whole
from nightgrid.workers.chunks.solved_rows import invalid_outcome
from nightgrid.workers.logs import get_logger
from nightgrid.workers.ondemand.answers import answer_of, put_answers
from nightgrid.workers.ondemand.budgets import JobBudget
from nightgrid.workers.ondemand.results import is_answered
from nightgrid.workers.processes import die_with_parent
from nightgrid.workers.settings import Settings
from nightgrid.workers.tracing import begin_tracing, continued, trace_header

log = get_logger("nightgrid.http")
T = TypeVar("T")

SECONDS, TABLE_BYTES = 0.5, 64 * 1024**2
"""Limits on the estimate, and on the bytes, of one board in a process of the service."""
SPENT_SHARE = 0.2
"""Share of these seconds that a board may spend. Few take a tenth of them, since estimates are
high. The time spent is lost when a board becomes a job."""
OVERTIME_S = 3.0
"""Estimate for a board that ran out of time, enough to be divided at once among idle processes."""
WAITING_MAX = 200
"""Most boards that wait for a process; further ones become jobs."""
FILE_PAUSE_S, RETRY_S = 0.25, 1.0
"""How long answers are collected before they are stored together, and the retry delay."""
UNFILED_MAX = 10_000
"""Most answers kept in memory while the lake fails; beyond that, boards become jobs."""
FILED_LOOK_S = 0.02


class Solved(NamedTuple):
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
    """The reply to the client, as JSON."""
    filed: bytes
    """Its row, its solutions and its puzzle, as JSON."""


class SmallBoards:
    """Solves small boards in a few processes. Only for the event loop of one service."""

    def __init__(self, settings: ServiceSettings) -> None:
        self._settings = settings
        self._processes = settings.quick_processes
        self._pool: ProcessPoolExecutor | None = None
        self._warming: list[Future[None]] = []
        self._pending, self._rests_until = 0, 0.0
        self._filing: asyncio.Task[None] | None = None
        self._one_call = asyncio.Semaphore(1)
        self.unfiled: dict[str, Solved] = {}
        """Answers that are not in the lake yet, by job."""
        self._has_unfiled = asyncio.Event()

    @property
    def is_ready(self) -> bool:
        """Return whether a process is warm, and another board may be added."""
        has_room = self._pending < WAITING_MAX and len(self.unfiled) < UNFILED_MAX
        is_resting = time.monotonic() < self._rests_until
        return has_room and not is_resting and any(each.done() for each in self._warming)

    def begin(self) -> None:
        """Start the processes, which load kernels and words before their first board."""
        if self._processes:
            self._start_pool()
            self._filing = asyncio.create_task(self._file_all())

    async def end(self) -> None:
        """Stop the processes, and store their answers."""
        if self._filing is not None:
            self._filing.cancel()
        pool, self._pool = self._pool, None
        if pool is not None:
            for child in multiprocessing.active_children():
                # A process that still compiles kernels would block.
                child.kill()
            await asyncio.to_thread(pool.shutdown, cancel_futures=True)
        if self.unfiled:
            lake = Lake.open(self._settings.workers.lake)
            try:
                await asyncio.to_thread(_put, lake, [each.filed for each in self.unfiled.values()])
            except (NightgridError, OSError) as error:
                log.warning("answers not filed", answers=len(self.unfiled), error=str(error))

    async def solve(self, body: bytes, wait_s: float) -> Solved | None:
        """Solve the board of a body within `wait_s` seconds; None if it has to become a job."""
        pool = self._pool
        if pool is None:
            return None
        self._pending += 1
        try:
            work = pool.submit(_solve, body, SECONDS, time.time(), trace_header())
            return await asyncio.wait_for(asyncio.wrap_future(work), wait_s)
        except TimeoutError:
            pass
        except BrokenProcessPool:
            self._replace(pool)
        except Exception as error:  # noqa: BLE001 - a worker has attempts, and words for what fails
            log.warning("board not solved here", error=repr(error))
        finally:
            self._pending -= 1
        return None

    async def call(self, work: Callable[[Lake, Settings, bytes], T], body: bytes) -> T:
        """Run other short work about the body of a request; one such at a time has a process."""
        pool = self._pool
        if pool is None:
            settings = self._settings.workers
            return await asyncio.to_thread(lambda: work(Lake.open(settings.lake), settings, body))
        async with self._one_call:
            return await asyncio.wrap_future(pool.submit(_call, work, body))

    def file(self, found: Solved) -> None:
        """Store an answer soon."""
        self.unfiled[found.job_id] = found
        self._has_unfiled.set()

    def wait_until_filed(self, job_id: str, timeout_s: float) -> None:
        """Block until an answer of this service is in the lake, at most `timeout_s`."""
        ends_at = time.monotonic() + timeout_s
        while job_id in self.unfiled and time.monotonic() < ends_at:
            time.sleep(FILED_LOOK_S)

    async def _file_all(self) -> None:
        while True:
            await self._has_unfiled.wait()
            await asyncio.sleep(FILE_PAUSE_S)
            taken = dict(self.unfiled)
            pool = self._pool
            try:
                assert pool is not None
                await asyncio.wrap_future(
                    pool.submit(_file, [each.filed for each in taken.values()])
                )
            except Exception as error:  # noqa: BLE001 - answers are kept until they are filed
                if isinstance(error, BrokenProcessPool):
                    self._replace(pool)
                log.warning("answers not filed", answers=len(taken), error=repr(error))
                await asyncio.sleep(RETRY_S)
                continue
            for job_id in taken:
                del self.unfiled[job_id]
            if not self.unfiled:
                self._has_unfiled.clear()

    def _start_pool(self) -> None:
        self._pool = ProcessPoolExecutor(
            self._processes,
            multiprocessing.get_context("spawn"),
            initializer=_begin_process,
            initargs=(self._settings,),
        )
        # The executor starts a process for each task unless one is idle.
        self._warming = [self._pool.submit(_be_warm) for _ in range(self._processes)]

    def _replace(self, broken: ProcessPoolExecutor | None) -> None:
        """Replace a pool after one of its processes died."""
        if broken is not None and self._pool is broken:
            log.warning("a process that solves small boards died; starting others")
            broken.shutdown(wait=False, cancel_futures=True)
            # Replacing processes that die at startup would repeat with every request.
            self._rests_until = time.monotonic() + RETRY_S
            self._start_pool()


# -- in a process of the pool ------------------------------------------------------------------

_settings: ServiceSettings
_lake: Lake


def _begin_process(settings: ServiceSettings) -> None:
    """Initialise a process of the service, in a session of its own.

    Under autogroup scheduling it gets the same share of the cores as a batch worker.
    """
    global _settings, _lake
    die_with_parent()
    os.setsid()
    # Ctrl-C is handled by the service, which stops its processes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    workers = settings.workers
    begin_tracing(workers.trace_url, "quick")
    _settings, _lake = settings, Lake.open(workers.lake)
    for name in workers.game_names:
        try:
            bind_game(name).warm()
        except Exception as error:  # noqa: BLE001 - a game that cannot be loaded costs no other
            log.warning("game not warm", game=name, error=f"{type(error).__name__}: {error}")
    # Exempt everything loaded so far from garbage collection.
    gc.collect()
    gc.freeze()


def _be_warm() -> None:
    """Do nothing: it runs after the initializer of a process, which is what matters."""


def _solve(body: bytes, seconds: float, asked_at: float, trace: dict[str, str]) -> Solved | None:
    """Solve the board of a body within a small share of its budget.

    Returns None if the body is not about a small board, or the board takes longer.
    """
    settings = _settings.workers
    try:
        read_members(body)  # The other reader takes NaN, and a key twice.
        request = SolveBody.model_validate_json(body)
        if request.words is not None:
            return None
        board, budget = posted_board(_lake, request, settings), budget_of(request, settings)
    except (Problem, ValidationError, NightgridError):
        # The route parses it again, and reports what is wrong.
        return None
    asked = board.asked
    # A board with words of its own needs them in the lake.
    has_words = getattr(asked.puzzle, "dictionary", None) is not None
    if has_words or board.expected_s > seconds:
        return None
    if request.id is not None and is_answered(_lake, asked.job_id, settings, budget):
        return None
    budget = budget or settings.budget
    question, puzzle = asked.question, asked.bound.puzzle_to_json(asked.puzzle)
    small = replace(
        budget,
        seconds=min(budget.seconds, SPENT_SHARE * seconds),
        table_bytes=min(budget.table_bytes, TABLE_BYTES),
    )
    with continued(trace, "kernel", game=question.game, ask=str(question.ask)):
        try:
            outcome = solve_whole(asked.bound, asked.puzzle, question.ask, small, settings)
        except PermanentError as error:
            outcome = invalid_outcome(error)
    if outcome.status not in FINAL:
        return None
    job_budget = JobBudget.of(settings, budget)
    values = map(asked.bound.solution_to_json, outcome.solutions)
    about = question, asked.job_id, asked.puzzle_id, puzzle
    row, solutions = answer_of(*about, job_budget, outcome, values)
    ended_at = time.time()
    told = solve_json(
        asked.job_id,
        DONE,
        question,
        asked.puzzle_id,
        puzzle,
        created_at=asked_at,
        ended_at=ended_at,
        row=row,
    )
    return Solved(
        job_id=asked.job_id,
        puzzle_id=asked.puzzle_id,
        game=question.game,
        status=row["status"],
        states=row["states"],
        kernel_ns=row["kernel_ns"],
        asked_at=asked_at,
        ended_at=ended_at,
        reply=to_json(told),
        filed=to_json((row, solutions)),
    )


def _call(work: Callable[[Lake, Settings, bytes], T], body: bytes) -> T:
    return work(_lake, _settings.workers, body)


def _file(filed: Sequence[bytes]) -> None:
    _put(_lake, filed)


def _put(lake: Lake, filed: Sequence[bytes]) -> None:
    """Store answers; storing them twice does no harm."""
    put_answers(lake, [json.loads(each) for each in filed])
