"""Work one job on demand with the processes that are idle: ranges of its first choices.

The job's own worker begins alone. When the pace of what is worked says that the whole takes long
enough, it shares what is left (nightgrid.workers.broker.shares), works on, and merges what it and
the others have done. What another process does not bring back it works itself.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import redis

from nightgrid.archive.results.parts import Part
from nightgrid.solvers.algebra import Ask, Budget, Outcome, Statistics, Status
from nightgrid.solvers.base_game import as_stopped, over_budget
from nightgrid.solvers.game_contract import Game, RangedSearch
from nightgrid.solvers.reasons import BudgetSpentError, Reason, ReasonCode
from nightgrid.workers.broker.malformed import MALFORMED
from nightgrid.workers.broker.shares import Share
from nightgrid.workers.runs.plan.open_jobs import Split

Open = Callable[[int, int, int], Share | None]
"""Shares the steps from the first on, of so many, of a search of so many first choices; None while
no process is idle."""

STEPS = 96
"""Steps that a job's first choices are cut into, at most."""
SHARED_FROM_S = 0.5
"""A job that is expected to take longer is shared: to call a process takes a few milliseconds, and
it has to find the board's pieces for itself."""
PREPARED_AFTER_S = 0.03
"""Idle processes are called when a board has taken so long to take up: they take it up too, and
are ready when it is shared. What is searched in less than a tenth of a second mostly takes less."""
LOOK_SECONDS = 0.02
"""How often the worker looks at its pace while it is alone."""
OPEN_AGAIN_SECONDS = 0.5
"""How long it waits before it looks again for idle processes."""
WAIT_SECONDS = 2.0
WAIT_STEPS = 5.0
"""The last process is waited for so long, or for so many times what the longest work at once took,
if that is more; then what it has not brought is worked here."""


@dataclass(slots=True)
class Steps:
    """A search in steps of about as many first choices, and what the longest work at once took."""

    search: RangedSearch[Any]
    count: int
    longest_s: float = 0.0

    @classmethod
    def of(cls, search: RangedSearch[Any]) -> Steps:
        """Cut a search into steps."""
        return cls(search, max(1, min(STEPS, search.size)))

    def bound(self, step: int) -> int:
        """Tell with which first choice a step begins."""
        return self.search.size * step // self.count

    def work(self, low: int, high: int) -> None:
        """Work a range of steps. Raises BudgetSpentError."""
        begun = time.monotonic()
        self.search.work(self.bound(low), self.bound(high))
        self.longest_s = max(self.longest_s, time.monotonic() - begun)

    def outcome(self, low: int, high: int) -> Outcome[Any]:
        """Make the outcome of a range that was worked."""
        return self.search.outcome(self.bound(low), self.bound(high))

    def what(self, low: int, high: int) -> str:
        """Say what a range is."""
        return self.search.what(self.bound(low), self.bound(high))


@dataclass(frozen=True, slots=True, kw_only=True)
class Worked:
    """What became of a range of steps."""

    low: int
    high: int
    outcome: Outcome[Any]
    what: str
    worker: str

    def to_json(self, game: Game[Any, Any]) -> dict[str, Any]:
        """Write it as it travels to the job's worker."""
        outcome = self.outcome
        return {
            "low": self.low,
            "high": self.high,
            "what": self.what,
            "worker": self.worker,
            "status": str(outcome.status),
            "count": None if outcome.count is None else str(outcome.count),
            "solutions": [game.solution_to_json(solution) for solution in outcome.solutions],
            "reason_code": outcome.reason_code,
            "reason": outcome.reason,
            "statistics": asdict(outcome.statistics),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any], game: Game[Any, Any]) -> Worked | None:
        """Read it; None where it is no such thing."""
        try:
            code = value["reason_code"]
            outcome: Outcome[Any] = Outcome(
                status=Status(value["status"]),
                count=None if value["count"] is None else int(value["count"]),
                solutions=tuple(map(game.solution_from_json, value["solutions"])),
                reason_code=None if code is None else ReasonCode(code),
                reason=value["reason"],
                statistics=Statistics(**value["statistics"]),
            )
            return cls(
                low=int(value["low"]),
                high=int(value["high"]),
                outcome=outcome,
                what=str(value["what"]),
                worker=str(value["worker"]),
            )
        except MALFORMED:
            return None


def solve_shared(
    game: Game[Any, Any],
    puzzle: Any,
    ask: Ask,
    budget: Budget,
    *,
    split: Split,
    worker: str,
    open_share: Open,
    prepare: Callable[[], None] | None = None,
) -> tuple[Outcome[Any], list[Part]] | None:
    """Solve a job with the processes that are idle: its outcome, and its parts if it was shared.

    `prepare` calls them before it is known whether the job is shared: a board that takes long to
    take up mostly takes long to search. None for a job that is not worked by ranges.
    """
    begun_ns = time.perf_counter_ns()
    try:
        with _meanwhile(PREPARED_AFTER_S, prepare):
            search = game.ranged(puzzle, ask, budget)
    except BudgetSpentError as error:
        return _spent(error, budget, begun_ns), []
    if search is None or search.size < 2:
        return None
    job = _Job(game, puzzle, ask, budget, Steps.of(search), worker)
    try:
        share, done = _begin_alone(job.steps, split, open_share)
        if share is None:
            return as_stopped(job.steps.outcome(0, done), budget), []
        try:
            job.with_others(share, done)
        finally:
            _quietly(share.close)
    except BudgetSpentError as error:
        return _spent(error, budget, begun_ns), []
    return job.merged(), job.parts()


@contextmanager
def _meanwhile(after_s: float, act: Callable[[], None] | None) -> Iterator[None]:
    """Act in another thread if the body takes longer."""
    if act is None:
        yield
        return
    timer = threading.Timer(after_s, act)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


def _spent(error: BudgetSpentError, budget: Budget, begun_ns: int) -> Outcome[Any]:
    # A run that the job becomes is divided by what it is expected to take.
    spent = Statistics(kernel_ns=time.perf_counter_ns() - begun_ns)
    return as_stopped(over_budget(Reason(code=error.reason_code), spent), budget)


def _begin_alone(steps: Steps, split: Split, open_share: Open) -> tuple[Share | None, int]:
    """Work until the job is done or shared; tell how it is shared, and how many steps are done."""
    begun, look_at, done = time.monotonic(), 0.0, 0
    at_once = 1
    while True:
        elapsed = time.monotonic() - begun
        expected_s = elapsed * steps.count / done if done else 0.0
        wanted = expected_s >= SHARED_FROM_S and elapsed >= LOOK_SECONDS
        if (wanted or split == "ahead") and elapsed >= look_at and done < steps.count:
            share = open_share(done, steps.count, steps.search.size)
            if share is not None:
                return share, done
            look_at = elapsed + OPEN_AGAIN_SECONDS
        if done == steps.count:
            return None, done
        steps.work(done, min(done + at_once, steps.count))
        done = min(done + at_once, steps.count)
        pace_s = (time.monotonic() - begun) / done
        at_once = max(1, min(int(LOOK_SECONDS / max(pace_s, 1e-9)), steps.count))


def _quietly(act: Callable[[], Any]) -> Any:
    """Do something in Redis; None where it does not answer."""
    try:
        return act()
    except redis.RedisError:
        return None


def work_ranges(
    steps: Steps, share: Share, worker: str, *, low: int = 0, high: int = 0
) -> Iterator[Worked]:
    """Take steps as long as there are any, and yield each range that ends.

    `low` and `high` are the range that was worked before. Raises BudgetSpentError.
    """

    def ended() -> Worked:
        return Worked(
            low=low,
            high=high,
            outcome=steps.outcome(low, high),
            what=steps.what(low, high),
            worker=worker,
        )

    while taken := _quietly(share.take):
        if low < high and high != taken.start and low != taken.stop:
            yield ended()
            low = high
        if low == high:
            low = high = taken.start
        steps.work(taken.start, taken.stop)
        low, high = min(low, taken.start), max(high, taken.stop)
    if low < high:
        yield ended()


@dataclass(slots=True)
class _Job:
    game: Game[Any, Any]
    puzzle: Any
    ask: Ask
    budget: Budget
    steps: Steps
    worker: str
    worked: list[Worked] = field(default_factory=list)

    def with_others(self, share: Share, done: int) -> None:
        """Work with other processes until every step is worked."""
        for one in work_ranges(self.steps, share, self.worker, high=done):
            self.worked.append(one)
        heard = time.monotonic()
        while self._gaps() and self.budget.stopped is None:
            patience_s = max(WAIT_SECONDS, WAIT_STEPS * self.steps.longest_s)
            brought = _quietly(lambda: share.brought(0.5))
            if brought is None or time.monotonic() - heard > patience_s:
                break
            for value in brought:
                heard = time.monotonic()
                self._accept(Worked.from_json(value, self.game))
        for low, high in self._gaps():
            self.steps.work(low, high)
            outcome, what = self.steps.outcome(low, high), self.steps.what(low, high)
            self.worked.append(
                Worked(low=low, high=high, outcome=outcome, what=what, worker=self.worker)
            )

    def _accept(self, one: Worked | None) -> None:
        if one is None or one.low >= one.high:
            return
        if any(low <= one.low and one.high <= high for low, high in self._gaps()):
            self.worked.append(one)

    def _gaps(self) -> list[tuple[int, int]]:
        """Tell which ranges of steps have no outcome."""
        gaps, at = [], 0
        for one in sorted(self.worked, key=lambda one: one.low):
            if one.low > at:
                gaps.append((at, one.low))
            at = max(at, one.high)
        return gaps + ([(at, self.steps.count)] if at < self.steps.count else [])

    def _in_order(self) -> list[Worked]:
        return sorted(self.worked, key=lambda one: one.low)

    def merged(self) -> Outcome[Any]:
        """Merge what was worked into the outcome of the job."""
        outcomes = [one.outcome for one in self._in_order()]
        return as_stopped(self.game.merge(self.puzzle, self.ask, outcomes), self.budget)

    def parts(self) -> list[Part]:
        """Say what the job was divided into."""
        return [
            Part(
                path=str(number),
                what=one.what,
                status=str(one.outcome.status),
                count=one.outcome.count,
                states=one.outcome.statistics.states,
                seconds=one.outcome.statistics.kernel_ns / 1e9,
                worker=one.worker,
            )
            for number, one in enumerate(self._in_order())
        ]
