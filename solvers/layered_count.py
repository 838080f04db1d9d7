"""The contract of a count that goes layer by layer, and may be handed out in between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from nightgrid.solvers.algebra import Budget, Statistics
from nightgrid.solvers.reasons import ReasonCode

if TYPE_CHECKING:
    # Help, asks and plugs import this contract, and no NumPy, which takes longer than they.
    import numpy as np
    import numpy.typing as npt


class LayeredCount(Protocol):
    """One board's count carried on layer by layer, whose states can be handed out in between.

    All states after k steps form layer k. A process that has some states of a layer carries their
    counts on without the others; equal states of several processes become one when gathered.
    A state falls into one bucket, which its layer and key alone decide, so that the buckets of a
    layer can be carried on by different processes, none of which needs memory for the whole layer.
    """

    layers: int
    """Number of the last layer, whose states are complete solutions; 0 if there is no solution."""
    row_words: int
    """Columns of `rows`: the words of a state's key, then its count, high half first."""
    buckets: int
    """States fall into so many buckets, 0 to buckets - 1."""
    layout: str
    """Names what the words of a row mean. Only rows of the same layout can be gathered: a process
    with other code, or on a machine that rounds otherwise, may lay a board's keys out otherwise."""

    @property
    def statistics(self) -> Statistics:
        """What it has cost so far. `states` are those carried on, and the full board where it is
        reached: over all parts the states of the whole count, if none is carried on by two.
        """

    @property
    def rows(self) -> npt.NDArray[np.uint64]:
        """States of the present layer, (states, row_words), good until the next call."""

    def begin(self) -> None:
        """Make the one state of the empty board, in layer 0, the present layer."""

    def clear(self) -> None:
        """Forget every state."""

    def renew(self, budget: Budget) -> None:
        """Forget every state and what was spent: the budget holds for what comes now.

        It differs from the one before in its stop alone.
        """

    def gather(self, rows: npt.NDArray[np.uint64]) -> bool:
        """Add states of one layer to those gathered since `clear`; False if memory runs out."""

    def hold(self, rows: npt.NDArray[np.uint64], begins: npt.NDArray[np.int64]) -> bool:
        """Keep states that are sorted by bucket for `gather_held`; False if memory runs out.

        `begins` tells where each bucket of a range begins, and where the last one ends; the range
        is the same for all that is held.
        """

    def gather_held(self) -> bool:
        """Gather the states that are held, bucket by bucket; False if memory runs out."""

    def advance(
        self, first: int, last: int, rows_max: int | None = None
    ) -> tuple[int, ReasonCode | None]:
        """Carry the present states of layer `first` on to `last`, or to the first layer after it
        that has more than `rows_max` states.

        Returns the layer reached and None, or why it could go no further; the states are lost then.
        """

    def by_bucket(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
        """Sort the states that `advance` has left by bucket: rows, which are good until the next
        call, and where each bucket begins, buckets + 1.
        """

    def total(self) -> int:
        """Add the counts of the present states up: in the last layer, the count of what they are
        the whole of.
        """
