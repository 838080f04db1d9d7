"""Count one job on demand by layers, with a thread on each core that an idle process lends.

A process that has a part of a layer's states to itself carries many on that another has too, and
states change hands behind every layer: too much for messages. Threads of one process exchange them
in memory. So processes that are idle on the same machine lend their cores
(nightgrid.workers.broker.loans).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import redis

from nightgrid.archive.results.parts import Part
from nightgrid.solvers.algebra import Ask, Budget, Outcome, Statistics, Status
from nightgrid.solvers.base_game import as_stopped, over_budget
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.layered_count import LayeredCount
from nightgrid.solvers.layered_count.threads import ThreadedCount
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.broker.loans import Loan, machine_id
from nightgrid.workers.runs.plan.open_jobs import Split
from nightgrid.workers.settings import Settings

Borrow = Callable[[], Loan | None]
"""Asks the processes that are idle for their cores; None while there are none."""
Tell = Callable[[int, Statistics], None]
"""Is told each layer that the count has reached, and what it has cost so far."""

ALONE_ROWS = 30_000
"""States of a layer from which on a job asks for cores: most boards that take a tenth of a second
have fewer."""
LENT_WITHIN_S = 0.01
"""A job waits so long, once, for the cores that it has asked for. Idle processes lend theirs after
2 or 3 ms; the next layer may take 40 to 70 ms."""


@dataclass(frozen=True, slots=True)
class _Job:
    game: Game[Any, Any]
    puzzle: Any
    ask: Ask
    budget: Budget
    worker: str
    tell: Tell | None

    def ended(self, totals: Sequence[int], spent: Statistics) -> Outcome[Any]:
        """Make the outcome of a count that came to its end; the game knows what is too many."""
        parts: list[Outcome[Any]] = [
            Outcome(status=_status(total), count=total) for total in totals
        ]
        return replace(self.game.merge(self.puzzle, self.ask, parts), statistics=spent)

    def stopped(self, why: ReasonCode, spent: Statistics) -> Outcome[Any]:
        """Make the outcome of a count that ended early."""
        return as_stopped(over_budget(Reason(code=self.budget.stopped or why), spent), self.budget)

    def with_threads(
        self, alone: LayeredCount, layer: int, lenders: Sequence[str]
    ) -> tuple[Outcome[Any], list[Part]]:
        """Carry a count on with the cores that are lent."""
        threads = ThreadedCount.divide(
            alone, self._take_up, self.budget, min(1 + len(lenders), os.cpu_count() or 1)
        )
        if threads is None:
            return self._whole(), []
        tell = self.tell
        why = threads.advance(
            layer, None if tell is None else lambda at: tell(at, threads.statistics)
        )
        if why is ReasonCode.TABLE_BYTES and self.budget.stopped is None:
            # In one piece it may have room.
            return self._whole(), []
        if why is not None:
            return self.stopped(why, threads.statistics), []
        totals = threads.totals()
        many = len(totals)
        workers = [self.worker, *lenders][:many]
        parts = [
            Part(
                path=str(number),
                what=f"thread {number + 1} of {many}, from layer {layer} on",
                status=str(_status(total)),
                count=total,
                states=spent.states,
                seconds=spent.kernel_ns / 1e9,
                worker=worker,
            )
            for number, (total, spent, worker) in enumerate(
                zip(totals, threads.parts, workers, strict=True)
            )
        ]
        return self.ended(totals, threads.statistics), parts

    def _take_up(self, budget: Budget) -> LayeredCount | None:
        return self.game.layered(self.puzzle, budget)

    def _whole(self) -> Outcome[Any]:
        return self.game.solve(self.puzzle, self.ask, None, self.budget)


def count_with_threads(
    game: Game[Any, Any],
    puzzle: Any,
    ask: Ask,
    budget: Budget,
    *,
    split: Split,
    worker: str,
    borrow: Borrow,
    tell: Tell | None = None,
) -> tuple[Outcome[Any], list[Part]] | None:
    """Count with the cores that are lent: the outcome, and its parts if there were any.

    None for a job that is not counted by layers.
    """
    count = game.layered(puzzle, budget) if ask.kind == "count" else None
    if count is None:
        return None
    job = _Job(game, puzzle, ask, budget, worker, tell)
    loan: Loan | None = None
    layer, rows_max = 0, 0 if split == "ahead" else ALONE_ROWS
    count.begin()
    try:
        while layer < count.layers:
            layer, why = count.advance(layer, count.layers, rows_max)
            if why is not None:
                return job.stopped(why, count.statistics), []
            if layer == count.layers:
                break
            if tell is not None:
                tell(layer, count.statistics)
            # From here on it looks behind each layer who lends a core.
            rows_max = 0
            wait_s = 0.0 if loan else LENT_WITHIN_S
            loan = loan or borrow()
            lenders = _lenders(loan, wait_s)
            if lenders:
                return job.with_threads(count, layer, lenders)
        return job.ended([count.total() if count.layers else 0], count.statistics), []
    finally:
        _close(loan)


def _lenders(loan: Loan | None, wait_s: float) -> list[str]:
    try:
        return [] if loan is None else loan.lenders(wait_s)
    except redis.RedisError:
        return []


def _close(loan: Loan | None) -> None:
    try:
        if loan is not None:
            loan.close()
    except redis.RedisError:
        # Those that lend look whether this process lives, and for how long a loan lasts at most.
        return


def _status(total: int) -> Status:
    return Status.SOLVED if total else Status.UNSOLVABLE


def lend_core(
    call: Mapping[str, Any], client: redis.Redis, settings: Settings, worker: str
) -> bool:
    """Do nothing while a job on this machine has the core of this process; tell whether it had.

    `call` has the loan's token, the machine of the job's process and its id there.
    """
    if call["machine"] != machine_id():
        return False
    return Loan.of(client, settings, str(call["token"])).lend(worker, int(call["borrower"]))
