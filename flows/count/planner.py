"""Plan a count while workers are at it already."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from nightgrid.archive.corpus.corpus import Corpus
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.without_pandas import keep_pandas_out
from nightgrid.flows.cluster import OwnWorkers
from nightgrid.flows.count.settings import CountSettings, asked_of, first_run, run_name
from nightgrid.solvers.child_processes import pool_of
from nightgrid.solvers.errors import PermanentError, RefusalError, TransientError
from nightgrid.workers.freed_memory import keep_freed
from nightgrid.workers.logs import log_path, log_to
from nightgrid.workers.runs.damaged_runs import ensure_plan
from nightgrid.workers.runs.finishing.ended import ensure_results
from nightgrid.workers.runs.manifest import count_segments, has_plan, open_run
from nightgrid.workers.runs.plan.planner import begin_run, extend_run
from nightgrid.workers.runs.status import is_cancelled, read_run_status

Found = TypeVar("Found")
LAKE_PAUSE_S = 0.2
"""Pause after the lake failed a planner, before the next try."""
LAKE_CAME_BACK_S = 5.0
"""A try that went on for longer did not fail at once: the lake was there meanwhile."""
PLAN_WAIT_S = 0.02
"""Pause before looking again whether there is something to work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCount:
    """The run that answers a corpus."""

    run_id: str
    resumed: bool = False
    """Whether an earlier call has begun it."""
    finished: bool = False
    """Whether nothing is left to do."""


class Planner:
    """Plans a count: in a process of its own, while workers are at it.

    Planning needs the game's kernels and room for many puzzles, the driver neither.
    """

    def __init__(self, settings: CountSettings, ending: ExitStack) -> None:
        self._settings = settings
        self._ending = ending
        self._inline = settings.executor == "inline"
        self._workers: OwnWorkers | None = None
        self._pool: ProcessPoolExecutor | None = None
        self._planning: Future[None] | None = None
        self.corpus: Corpus
        """What is counted, once it is there."""

    @property
    def workers(self) -> OwnWorkers:
        """Workers of our own for the corpus's game; they end with the planner."""
        if self._workers is None:
            ours = OwnWorkers(self._settings, [self.corpus.game])
            self._workers = self._ending.enter_context(ours)
        return self._workers

    def begin(self, corpus: Corpus) -> PlannedCount:
        """Begin the run over a corpus, or take up the one that an earlier call has begun."""
        self.corpus = corpus
        if self._inline:
            return _begin(self._settings, corpus)
        begun = self._submit(_begin, self._settings, corpus)
        if corpus.is_new:
            # No earlier call can have answered it: workers will be needed.
            self.workers.begin()
        return self._result_of(begun)

    def start(self, run_id: str) -> None:
        """Plan what is missing of the run: to the end, or while others work at it.

        Raises PermanentError if the words of the count have changed.
        """
        if self._inline:
            _plan(self._settings, self.corpus, run_id)
        elif not self.is_at_it:
            self._planning = self._submit(_plan, self._settings, self.corpus, run_id)
            self._planning.add_done_callback(self._end_process)

    def check(self) -> None:
        """Raise what planning has failed with, if it has."""
        if self._planning is not None and self._planning.done():
            self._result_of(self._planning)

    @property
    def is_at_it(self) -> bool:
        """Whether planning goes on."""
        return self._planning is not None and not self._planning.done()

    def _submit(self, work: Callable[..., Found], *arguments: Any) -> Future[Found]:
        if self._pool is None:
            self._pool = self._ending.enter_context(pool_of(1, _begin_process, log_path()))
        return self._pool.submit(work, *arguments)

    def _result_of(self, future: Future[Found]) -> Found:
        try:
            return future.result()
        except BrokenProcessPool as error:
            self._pool = None
            raise TransientError("the process that planned the count was killed") from error

    def _end_process(self, planning: Future[None]) -> None:
        """End the process whose plan is complete: it holds much memory."""
        if not planning.cancelled() and planning.exception() is None and self._pool is not None:
            self._pool.shutdown(wait=False)
            self._pool = None


def _begin_process(log: Path | None) -> None:
    keep_pandas_out()
    # The process ends with its plan: until then its memory is used again and again.
    keep_freed()
    # Its events go to the log of the driver, not to the terminal.
    log_to(log)


class _UnwantedError(Exception):
    """The rest of the plan is not wanted."""


@contextmanager
def planner_of(settings: CountSettings) -> Iterator[Planner]:
    """Open a planner; it ends with the block, however far it is, and so do workers of our own."""
    with suppress(_UnwantedError), ExitStack() as ending:
        planner = Planner(settings, ending)
        yield planner
        if planner.is_at_it:
            raise _UnwantedError


def plan_count(settings: CountSettings, corpus: Corpus, planner: Planner) -> PlannedCount:
    """Begin to plan a count, and wait until there is something to work, or nothing left to do.

    Workers start meanwhile.
    """
    finished = None if corpus.is_new else finished_count(settings, corpus)
    if finished is not None:
        # No process that plans is needed to see that.
        return finished
    planned = planner.begin(corpus)
    lake, run_id = settings.lake, planned.run_id
    if planned.finished or (is_cancelled(lake, run_id) and not settings.resume):
        # Of a cancelled run the next step says so.
        return planned
    planner.start(run_id)
    planner.workers.begin()
    while not has_plan(lake, run_id) and not count_segments(lake, run_id):
        planner.check()
        time.sleep(PLAN_WAIT_S)
    return replace(
        planned, finished=has_plan(lake, run_id) and not open_run(lake, run_id).job_count
    )


def finished_count(settings: CountSettings, corpus: Corpus) -> PlannedCount | None:
    """Look for the run of this very count; None unless it has ended.

    Results that are lost are made again first, before it is asked which of them were dropped.
    """
    lake, asking = settings.lake, asked_of(settings, corpus)
    first = first_run(asking, corpus)
    if not _made_whole(lake, first):
        return None
    run_id = run_name(asking, corpus)
    # Most often it is the first one; to look at all its results takes a while.
    if run_id != first and not _made_whole(lake, run_id):
        return None
    if not read_run_status(lake, run_id).finished:
        return None
    return PlannedCount(run_id=run_id, resumed=True, finished=True)


def _made_whole(lake: Lake, run_id: str) -> bool:
    """Make again what a run has lost of its plan and its results; False for one without a plan."""
    if ensure_plan(lake, run_id) is None:
        return False
    ensure_results(lake, run_id)
    return True


def _begin(settings: CountSettings, corpus: Corpus) -> PlannedCount:
    asking = asked_of(settings, corpus)
    lake, run_id = asking.lake, run_name(asking, corpus)
    known = ensure_plan(lake, run_id) is not None
    begin_run(asking, run_id, puzzle_count=corpus.row_count)
    finished = known and read_run_status(lake, run_id).finished
    return PlannedCount(run_id=run_id, resumed=known, finished=finished)


def _plan(settings: CountSettings, corpus: Corpus, run_id: str) -> None:
    """Plan to the end; a lake that fails is tried again for as long as a driver tolerates it.

    Raises PermanentError if the settings ask for something else than the run answers: each process
    that plans reads the word list.
    """
    asking = asked_of(settings, corpus)
    if run_name(asking, corpus) != run_id:
        raise PermanentError(
            f"{settings.lexicon or 'what is asked'} changed while run {run_id} was planned; "
            "expected the same words until the plan is complete. The same command begins another "
            "count"
        )
    failed_at: float | None = None
    while True:
        begun = time.monotonic()
        try:
            extend_run(asking, corpus.tables, run_id)
            return
        except RefusalError:
            raise
        except TransientError:
            if failed_at is None or time.monotonic() - begun > LAKE_CAME_BACK_S:
                failed_at = time.monotonic()
            if time.monotonic() - failed_at > settings.workers.broker_patience_seconds:
                raise
            time.sleep(LAKE_PAUSE_S)
