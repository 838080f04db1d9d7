"""Plan a count while workers already solve it."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import dataclass, replace

from nightgrid.archive.corpus.corpus import Corpus
from nightgrid.flows.cluster import OwnWorkers
from nightgrid.flows.count.settings import CountSettings, asked_of, run_name
from nightgrid.solvers.child_processes import pool_of
from nightgrid.solvers.errors import PermanentError, TransientError
from nightgrid.workers.logs import log_path, log_to
from nightgrid.workers.runs.finishing.ended import ensure_plan
from nightgrid.workers.runs.manifest import count_segments, has_plan, open_run
from nightgrid.workers.runs.plan.planner import begin_run, extend_run
from nightgrid.workers.runs.status import is_cancelled, read_run_status

PLAN_WAIT_S = 0.02
"""Pause between checks whether there is something to solve."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCount:
    """The run that answers a corpus."""

    run_id: str
    resumed: bool = False
    """Whether an earlier call has started it."""
    finished: bool = False
    """Whether nothing is left to do."""


class Planner:
    """Plans a count in a child process, while workers solve it.

    Planning needs memory for many puzzles, the driver does not. The process ends with `ending`.
    """

    def __init__(self, settings: CountSettings, corpus: Corpus, ending: ExitStack) -> None:
        self._settings = settings
        self._corpus = corpus
        self._ending = ending
        self._planning: Future[None] | None = None
        self.workers = ending.enter_context(OwnWorkers(settings, [corpus.game]))
        """Workers of our own for the corpus's game."""

    def start(self, run_id: str) -> None:
        """Plan the rest of the run: completely, or in a process while others solve it.

        Raises PermanentError if the words of the count have changed.
        """
        if self._settings.executor == "inline":
            _plan(self._settings, self._corpus, run_id)
        elif not self.is_at_it:
            # Its events go to the log of the driver, not to the terminal.
            pool = self._ending.enter_context(pool_of(1, log_to, log_path()))
            self._planning = pool.submit(_plan, self._settings, self._corpus, run_id)
            # The process uses much memory, which is freed when its plan is complete.
            self._planning.add_done_callback(lambda _: pool.shutdown(wait=False))

    def check(self) -> None:
        """Raise the error of the planning process, if it has failed."""
        if self._planning is None or not self._planning.done():
            return
        try:
            self._planning.result()
        except BrokenProcessPool as error:
            raise TransientError("the process that planned the count was killed") from error

    @property
    def is_at_it(self) -> bool:
        """Whether planning is in progress."""
        return self._planning is not None and not self._planning.done()


def plan_count(settings: CountSettings, corpus: Corpus, planner: Planner) -> PlannedCount:
    """Start planning a count; wait until there is something to solve, or nothing left to do.

    Continues the run that an earlier call has started. Workers start meanwhile.
    """
    if corpus.is_new:
        # No earlier call can have answered it, so workers will be needed.
        planner.workers.begin()
    lake, asking = settings.lake, asked_of(settings, corpus)
    run_id = run_name(asking, corpus)
    known = ensure_plan(lake, run_id) is not None
    finished = known and read_run_status(lake, run_id).finished
    planned = PlannedCount(run_id=run_id, resumed=known, finished=finished)
    if finished or (is_cancelled(lake, run_id) and not settings.resume):
        # The next step reports a cancelled run.
        return planned
    begin_run(asking, run_id, puzzle_count=corpus.row_count)
    planner.workers.begin()
    planner.start(run_id)
    while not has_plan(lake, run_id) and not count_segments(lake, run_id):
        planner.check()
        time.sleep(PLAN_WAIT_S)
    return replace(
        planned, finished=has_plan(lake, run_id) and not open_run(lake, run_id).job_count
    )


def _plan(settings: CountSettings, corpus: Corpus, run_id: str) -> None:
    """Plan completely; a failing lake is retried for as long as a driver tolerates it.

    Raises PermanentError if the settings differ from the question of the run: each process that
    plans reads the word list.
    """
    asking = asked_of(settings, corpus)
    if run_name(asking, corpus) != run_id:
        raise PermanentError(
            f"{settings.lexicon or 'what is asked'} changed while run {run_id} was planned; "
            "expected the same words until the plan is complete. The same command starts another "
            "count"
        )
    from nightgrid.workers.driver.drive import Patience

    seconds, planned = settings.workers.broker_patience_seconds, 0
    patience = Patience("the lake", seconds, threading.Event())

    def extend() -> None:
        nonlocal planned
        try:
            extend_run(asking, corpus.tables, run_id)
        except TransientError:
            if (now := count_segments(asking.lake, run_id)) > planned:
                # It got further since the last failure: this is another outage.
                planned = now
                patience.succeeded()
            raise

    patience.insist(extend)
