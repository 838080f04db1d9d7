"""The option `--retry`: which unanswered jobs are solved again."""

from __future__ import annotations

from enum import StrEnum

from nightgrid.solvers.algebra import Status


class Retry(StrEnum):
    """Which jobs without a solution or a proof are solved again."""

    POISON = "poison"
    OVER_BUDGET = "over_budget"
    INVALID = "invalid"
    ALL = "all"

    @property
    def statuses(self) -> frozenset[str]:
        """The statuses of these jobs."""
        every = frozenset(map(str, (Status.POISON, Status.OVER_BUDGET, Status.INVALID)))
        return every if self is Retry.ALL else frozenset({self.value})


def statuses_of(retry: Retry | None) -> frozenset[str]:
    """Return the statuses that count as no answer."""
    return frozenset() if retry is None else retry.statuses
