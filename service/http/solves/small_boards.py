"""Small boards over HTTP: solved by a process pool of the service, and filed many at a time.

A question that its game expects to take less than half a second is solved in the request that asks
it, within a small budget. What does not end within it becomes a job, as any larger board does. The
client has the answer before the lake: it is filed within half a second, by a process of the pool. A
service that is killed in between has answered, and solves the board again when it is asked again.

The body of a request goes to a process as it came, and the reply comes back as bytes, as does what
is to be filed: the event loop, which has all clients, reads neither.
"""

from __future__ import annotations

import asyncio
import gc
import json
import multiprocessing
import os
import signal
import time
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from typing import Any, NamedTuple

from pydantic_core import ValidationError, to_json

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.payloads.strict_json import read_members
from nightgrid.archive.results.asked import AskedPuzzle, keep_asked
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
from nightgrid.workers.tracing import begin_tracing, continued, trace_header

log = get_logger("nightgrid.http")

SECONDS, TABLE_BYTES = 0.5, 64 * 1024**2
"""What one board may be expected to take in a process of the service, and the bytes it may."""
SPENT_SHARE = 0.2
"""The share of these seconds that it may spend. Few boards take a tenth of them, for estimates are
high. What a board has spent here is lost when it becomes a job."""
OVERTIME_S = 3.0
"""Expected seconds of a board that did not end by then: enough to be divided at once among
processes that are idle."""
WAITING_MAX = 200
"""Boards that wait for a process; further ones become jobs."""
FILE_PAUSE_S, RETRY_S = 0.25, 1.0
"""How long answers are gathered before they are filed together, and when a failure is retried."""
UNFILED_MAX = 10_000
"""Answers kept in memory while the lake fails; boards become jobs beyond that."""
FILED_LOOK_S = 0.02


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
    """Its row, its solutions and its puzzle, as JSON."""


class SmallBoards:
    """Solves small boards in a few processes. Used by the event loop of one service."""

    def __init__(self, settings: ServiceSettings) -> None:
        self._settings = settings
        self._processes = settings.quick_processes
        self._pool: ProcessPoolExecutor | None = None
        self._warming: list[Future[None]] = []
        self._pending, self._rests_until = 0, 0.0
        self._filing: asyncio.Task[None] | None = None
        self.unfiled: dict[str, Found] = {}
        """What was answered and is not yet in the lake, by job."""
        self._has_unfiled = asyncio.Event()

    @property
    def is_ready(self) -> bool:
        """Return whether a process is warm, and there is room for another board."""
        has_room = self._pending < WAITING_MAX and len(self.unfiled) < UNFILED_MAX
        is_resting = time.monotonic() < self._rests_until
        return has_room and not is_resting and any(each.done() for each in self._warming)

    def begin(self) -> None:
        """Start the processes, which load kernels and words before their first board."""
        if self._processes:
            self._start_pool()
            self._filing = asyncio.create_task(self._file_all())

    async def end(self) -> None:
        """End the processes, and file what they have answered."""
        if self._filing is not None:
            self._filing.cancel()
        pool, self._pool = self._pool, None
        if pool is not None:
            for child in multiprocessing.active_children():
                # One that still compiles kernels would be waited for.
                child.kill()
            await asyncio.to_thread(pool.shutdown, cancel_futures=True)
        if self.unfiled:
            lake = Lake.open(self._settings.workers.lake)
            try:
                await asyncio.to_thread(_put, lake, [each.filed for each in self.unfiled.values()])
            except (NightgridError, OSError) as error:
                log.warning("answers not filed", answers=len(self.unfiled), error=str(error))

    async def solve(self, body: bytes, wait_s: float) -> Found | None:
        """Answer the body of a request within `wait_s` seconds; None if it has to become a job."""
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

    def file(self, found: Found) -> None:
        """File an answer soon."""
        self.unfiled[found.job_id] = found
        self._has_unfiled.set()

    def wait_until_filed(self, job_id: str, timeout_s: float) -> None:
        """Block until a job's answer is in the lake if it came here, at most so long."""
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
        # A process is started for each task that finds none idle.
        self._warming = [self._pool.submit(_be_warm) for _ in range(self._processes)]

    def _replace(self, broken: ProcessPoolExecutor | None) -> None:
        """Replace a pool of which a process died."""
        if broken is not None and self._pool is broken:
            log.warning("a process that solves small boards died; starting others")
            broken.shutdown(wait=False, cancel_futures=True)
            # Processes that die at their start would be replaced with every request.
            self._rests_until = time.monotonic() + RETRY_S
            self._start_pool()


# -- in a process of the pool ------------------------------------------------------------------

_settings: ServiceSettings
_lake: Lake


def _begin_process(settings: ServiceSettings) -> None:
    """Begin a process of the service, in a session of its own.

    Where sessions share cores, it has as much of them as a worker of a batch.
    """
    global _settings, _lake
    die_with_parent()
    os.setsid()
    # Ctrl-C is for the service, which ends its processes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
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


def _be_warm() -> None:
    """Run after the initializer of a process, as anything does."""


def _solve(body: bytes, seconds: float, asked_at: float, trace: dict[str, str]) -> Found | None:
    """Answer the body of a request within a small share of its budget.

    Returns None for one that is not about a small board, or whose board takes longer.
    """
    settings = _settings.workers
    try:
        read_members(body)  # The other reader takes NaN, and a key twice.
        request = SolveBody.model_validate_json(body)
        if request.words is not None:
            return None
        board, budget = posted_board(_lake, request, settings), budget_of(request, settings)
    except (Problem, ValidationError, NightgridError):
        # The route reads it again, and says what is wrong.
        return None
    asked = board.asked
    # A board with words of its own needs these in the lake.
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
    row, solutions = answer_of(question, asked.job_id, asked.puzzle_id, job_budget, outcome, values)
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
    kept = AskedPuzzle(asked.puzzle_id, question.game, dict(puzzle))
    return Found(
        job_id=asked.job_id,
        puzzle_id=asked.puzzle_id,
        game=question.game,
        status=row["status"],
        states=row["states"],
        kernel_ns=row["kernel_ns"],
        asked_at=asked_at,
        ended_at=ended_at,
        reply=to_json(told),
        filed=to_json((row, solutions, kept)),
    )


def _file(filed: Sequence[bytes]) -> None:
    _put(_lake, filed)


def _put(lake: Lake, filed: Sequence[bytes]) -> None:
    """File answers and the puzzles they are about; to file them twice does no harm."""
    items: list[tuple[Any, Any, Any]] = [json.loads(each) for each in filed]
    keep_asked(lake, [AskedPuzzle(*puzzle) for _, _, puzzle in items])
    put_answers(lake, [(row, solutions) for row, solutions, _ in items])
