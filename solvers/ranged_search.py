"""The contract of a search whose first choices are worked range by range, by one or by several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    # The algebra names this contract, and this contract an outcome.
    from nightgrid.solvers.algebra import Outcome

S = TypeVar("S")


class RangedSearch(Protocol[S]):
    """One job, of which a process works any ranges of first choices, one after the other.

    What was found in one range helps in the next: a process that works many ranges takes hardly
    longer than for all at once. Ranges are parts of the job: their outcomes, merged in order, are
    the outcome of the job.
    """

    @property
    def size(self) -> int:
        """Number of first choices: ranges lie in 0 to size."""

    def work(self, start: int, stop: int) -> None:
        """Work first choices that were not worked yet. Raises BudgetSpentError."""

    def outcome(self, start: int, stop: int) -> Outcome[S]:
        """Make the outcome of a range that was worked to its end, piece by piece.

        Statistics are of what was spent since the outcome before. Raises BudgetSpentError.
        """

    def what(self, start: int, stop: int) -> str:
        """Say in a few words what a range is, for people."""
