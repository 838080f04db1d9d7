"""A board is solved once more, for longer, where the machine was busy, and only there."""

from __future__ import annotations

import pytest

from nightgrid.solvers.algebra import Budget, Outcome, Statistics, Status
from nightgrid.solvers.base_game import over_budget
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.solvers.stop import Stop
from nightgrid.workers.ondemand.task.second_try import solve_twice_if_busy

SOLVED: Outcome[int] = Outcome(status=Status.SOLVED, count=1)


class Machine:
    """A machine that gives a process a share of a core, and a board that needs so much of one."""

    def __init__(self, share: float, needs_s: float, code: ReasonCode = ReasonCode.SECONDS) -> None:
        self.share, self.needs_s, self.code = share, needs_s, code
        self.spent_s = 100.0
        self.tries: list[float] = []

    def processor_s(self) -> float:
        return self.spent_s

    def solve(self, budget: Budget) -> Outcome[int]:
        self.tries.append(budget.seconds)
        had_s = budget.seconds * self.share
        self.spent_s += min(had_s, self.needs_s)
        return (
            SOLVED if had_s >= self.needs_s else over_budget(Reason(code=self.code), Statistics())
        )

    def run(self, budget: Budget, most_s: float = 3600.0) -> Outcome[int]:
        return solve_twice_if_busy(self.solve, budget, most_s, self.processor_s)


@pytest.mark.parametrize(
    ("share", "needs_s", "tries", "is_solved"),
    [
        (1.0, 3.0, [5.0], True),
        (1.0, 6.0, [5.0], False),
        (0.8, 4.5, [5.0], False),
        (0.5, 3.0, [5.0, 10.0], True),
        (0.5, 6.0, [5.0, 10.0], False),
        (0.25, 3.0, [5.0, 15.0], True),
        (0.1, 3.0, [5.0, 15.0], False),
    ],
)
def test_a_second_try_has_the_seconds_that_the_first_one_lacked(
    share: float, needs_s: float, tries: list[float], is_solved: bool
) -> None:
    machine = Machine(share, needs_s)
    outcome = machine.run(Budget(seconds=5.0))
    assert (machine.tries, outcome.status is Status.SOLVED) == (tries, is_solved)


def test_there_is_no_second_try_that_would_be_in_vain() -> None:
    machine = Machine(0.5, 3.0)
    solve_twice_if_busy(
        machine.solve, Budget(seconds=5.0), 3600.0, machine.processor_s, may_do=lambda s: s > 5.0
    )
    assert machine.tries == [5.0]


def test_other_ends_are_final() -> None:
    machine = Machine(0.5, 3.0, ReasonCode.TABLE_BYTES)
    assert machine.run(Budget(seconds=5.0)).reason_code is ReasonCode.TABLE_BYTES
    assert machine.tries == [5.0]


def test_what_is_stopped_is_not_begun_again() -> None:
    stop = Stop()
    stop.set(ReasonCode.CANCELLED)
    machine = Machine(0.5, 3.0)
    machine.run(Budget(seconds=5.0, stop=stop))
    assert machine.tries == [5.0]


def test_a_client_s_own_seconds_are_kept() -> None:
    machine = Machine(0.5, 3.0)
    machine.run(Budget(seconds=5.0), most_s=5.0)
    assert machine.tries == [5.0]
