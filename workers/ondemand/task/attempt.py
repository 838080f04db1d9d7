"""One attempt at a job in one task: with processes that are idle, with their cores, or alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nightgrid.archive.results.parts import Part
from nightgrid.solvers.algebra import Budget, Expected, Outcome, Statistics
from nightgrid.solvers.game_contract import Game
from nightgrid.workers.chunks.inline_solutions import solve_whole
from nightgrid.workers.ondemand.budgets import RUN_FROM
from nightgrid.workers.ondemand.jobs.task_progress import TaskProgress
from nightgrid.workers.ondemand.record import Record
from nightgrid.workers.ondemand.sharing.idle_processes import IdleProcesses
from nightgrid.workers.ondemand.sharing.layer_threads import count_with_threads
from nightgrid.workers.ondemand.sharing.ranges import solve_shared
from nightgrid.workers.ondemand.task.second_try import solve_twice_if_busy
from nightgrid.workers.runs.plan.open_jobs import Split
from nightgrid.workers.settings import Settings


def attempt(
    game: Game[Any, Any],
    puzzle: Any,
    record: Record,
    budget: Budget,
    settings: Settings,
    idle: IdleProcesses | None,
) -> tuple[Outcome[Any], list[Part]]:
    """Solve a job within a budget, with idle processes where that pays; list its parts, if any."""
    split = split_of(record, settings)
    ask, worker = record.question.ask, record.worker or ""
    with_idle = idle if split != "never" else None
    if with_idle is not None:
        opening = with_idle.opening(record)
        try:
            shared = solve_shared(
                game,
                puzzle,
                ask,
                budget,
                split=split,
                worker=worker,
                open_share=opening,
                prepare=opening.prepare,
            )
        finally:
            opening.close()
        if shared is not None:
            return shared
    parts: list[Part] = []
    far = _Far(record, None if with_idle is None else with_idle.telling(record))

    def solve(each: Budget) -> Outcome[Any]:
        if with_idle is not None:
            counted = count_with_threads(
                game,
                puzzle,
                ask,
                each,
                split=split,
                worker=worker,
                borrow=with_idle.borrowing(record),
                tell=far.reached,
            )
            if counted is not None:
                parts[:] = counted[1]
                return counted[0]
        return solve_whole(game, puzzle, ask, each, settings)

    most_s = record.budget.part.seconds
    return solve_twice_if_busy(solve, budget, most_s, may_do=far.may_end_within), parts


class _Far:
    """How far a count by layers has come."""

    def __init__(self, record: Record, tell: Callable[[TaskProgress], None] | None) -> None:
        self._expected = record.expected or Expected(seconds=0.0)
        self._started_at = record.started_at or 0.0
        self._tell = tell

    def reached(self, layer: int, spent: Statistics) -> None:
        """Tell of a layer that was reached."""
        if self._tell is None:
            return
        shares = self._expected.passed
        passed = shares[layer] if layer < len(shares) else 0.0
        kernel_s = spent.kernel_ns / 1e9
        self._tell(
            TaskProgress(
                started_at=self._started_at,
                states=spent.states,
                kernel_s=kernel_s,
                passed=passed,
            )
        )

    def may_end_within(self, seconds: float) -> bool:
        """Tell whether so much of a core may do for the whole job.

        Only what a game says after a close look at the board counts.
        """
        return not self._expected.passed or self._expected.seconds <= RUN_FROM * seconds


def split_of(record: Record, settings: Settings) -> Split:
    """Tell whether a job may be divided: as its client says, else as the settings do."""
    split: Any = record.split or settings.split
    return split
