"""The drivers of the runs that large on-demand jobs became: a few at once, each for its turn."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.errors import NightgridError
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.driver.driver import AllRefuseError, drive
from nightgrid.workers.driver.outbox import CeleryOutbox
from nightgrid.workers.driver.progress import Progress
from nightgrid.workers.logs import get_logger
from nightgrid.workers.ondemand.budgets import JobBudget
from nightgrid.workers.runs.staged.frontier import frontier_folder
from nightgrid.workers.settings import Settings

log = get_logger("nightgrid.keeper")

RUNS_AT_ONCE = 8
"""Runs that are driven at once, each by a thread. Others wait for their turn."""
TURN_SECONDS = 90.0
"""How long a run is driven while others wait: longer than a driver bears with a dead broker or with
workers that refuse."""
RUN_PAUSE_SECONDS = 30.0
"""Pause before a run that could not be driven to its end is taken up again."""
SIZE_POLL_SECONDS = 5.0
"""How often the states of a run are measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """A run has cost what its job may cost altogether."""

    reason: Reason
    budget: JobBudget
    """Which budget it was."""
    kernel_ns: int


class WantedRun(NamedTuple):
    """A run that is to be driven, for one submission of its job."""

    run_id: str
    budget: JobBudget
    submitted_at: float


@dataclass(slots=True, kw_only=True)
class _Turn:
    """A run that is driven."""

    begun: float
    budget: JobBudget
    submitted_at: float
    stop: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None
    over: Spent | None = None
    refused: str = ""
    """Why no worker can work it, if none could for as long as a driver bears with that."""
    poll_at: float = 0.0


class RunDrivers:
    """Drives runs side by side, so that none waits for the end of another.

    Runs that are driven share the queue evenly (`CeleryOutbox.window`), and those that wait take
    the places of those that were driven longest.
    """

    def __init__(self, lake: Lake, settings: Settings) -> None:
        self._lake = lake
        self._settings = settings
        self._turns: dict[str, _Turn] = {}
        self._ended: dict[str, float] = {}
        """When the last turn of a run ended."""
        self._not_before: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._turns)

    def spent(self) -> dict[str, Spent]:
        """Tell which runs are over their jobs' budget, and are driven no more."""
        ended = {run: turn.over for run, turn in self._turns.items() if not _lives(turn)}
        return {run: over for run, over in ended.items() if over is not None}

    def refused(self) -> dict[str, str]:
        """Tell which runs no worker can work, and why; they are driven no more."""
        turns = self._turns.items()
        return {run: turn.refused for run, turn in turns if turn.refused and not _lives(turn)}

    def give_turns(self, wanted: Iterable[WantedRun]) -> None:
        """Drive the runs that are wanted, each with what its job may cost, in turn."""
        now, runs = time.monotonic(), {run.run_id: run for run in wanted}
        for run_id, turn in list(self._turns.items()):
            run = runs.get(run_id)
            turn.budget = turn.budget if run is None else run.budget
            # A run that was cancelled and asked again at once is another one by the same name: what
            # its driver waits for was given up by the workers.
            if run is None or run.submitted_at != turn.submitted_at:
                turn.stop.set()
            if not _lives(turn):
                self._ended[run_id] = now
                del self._turns[run_id]
        self._ended = {run_id: at for run_id, at in self._ended.items() if run_id in runs}
        ready = [
            run_id
            for run_id in runs
            if run_id not in self._turns and now >= self._not_before.get(run_id, 0.0)
        ]
        # The run that was driven longest ago goes first, and before it one that never was.
        ready.sort(key=lambda run_id: self._ended.get(run_id, 0.0))
        for run_id in ready[: max(0, RUNS_AT_ONCE - len(self._turns))]:
            self._begin(runs[run_id])
        waiting = len(ready) - sum(run_id in self._turns for run_id in ready)
        longest = sorted(self._turns.values(), key=lambda turn: turn.begun)
        for turn in longest[:waiting]:
            if now - turn.begun > TURN_SECONDS:
                # What is in flight is worked all the same; the next turn finds its results.
                turn.stop.set()

    def _begin(self, run: WantedRun) -> None:
        turn = _Turn(begun=time.monotonic(), budget=run.budget, submitted_at=run.submitted_at)
        turn.thread = threading.Thread(target=self._drive, args=(run.run_id, turn), daemon=True)
        self._turns[run.run_id] = turn
        turn.thread.start()

    def _drive(self, run_id: str, turn: _Turn) -> None:
        try:
            with closing(CeleryOutbox(self._settings, runs=self.__len__)) as outbox:
                drive(
                    self._lake,
                    run_id,
                    outbox,
                    lambda progress: self._weigh(turn, progress),
                    settings=self._settings,
                    stopping=turn.stop,
                )
        except AllRefuseError as error:
            turn.refused = str(error)
        except Exception as error:  # noqa: BLE001
            # Whatever it is, this thread is alone with it: pause, lest it fails every second.
            self._not_before[run_id] = time.monotonic() + RUN_PAUSE_SECONDS
            log.warning("run not driven to its end", run=run_id, error=str(error))

    def _weigh(self, turn: _Turn, progress: Progress) -> None:
        """Stop a run that has cost what its job may cost altogether."""
        if progress.ended:
            return
        reason = self._spent_of(turn, progress)
        if reason is not None:
            turn.over = Spent(reason=reason, budget=turn.budget, kernel_ns=progress.kernel_ns)
            turn.stop.set()

    def _spent_of(self, turn: _Turn, progress: Progress) -> Reason | None:
        budget, now = turn.budget, time.monotonic()
        if progress.kernel_s > budget.total_seconds:
            why = f"the job's total of {budget.total_seconds:,g} s ran out"
            return Reason(code=ReasonCode.SECONDS, sentence=why)
        if now < turn.poll_at:
            return None
        turn.poll_at = now + SIZE_POLL_SECONDS
        # A lake that fails just now is asked again soon.
        with suppress(NightgridError):
            lie_there = sum(self._lake.sizes(frontier_folder(progress.run_id)).values())
            if lie_there > budget.total_bytes:
                why = f"the job's total of {budget.total_bytes:,} bytes of states ran out"
                return Reason(code=ReasonCode.TABLE_BYTES, sentence=why)
        return None


def _lives(turn: _Turn) -> bool:
    return turn.thread is not None and turn.thread.is_alive()
