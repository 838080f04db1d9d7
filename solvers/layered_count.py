"""The contract of a count by layers, whose states may be distributed in between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from nightgrid.solvers.algebra import Budget, Statistics
from nightgrid.solvers.reasons import ReasonCode

if TYPE_CHECKING:
    # Help, asks and plugs import this contract, and no NumPy, which takes longer than they.
    import numpy as np
    import numpy.typing as npt


class LayeredCount(Protocol):
    """One board's count, advanced layer by layer, whose states can be distributed in between.

    All states after k steps form layer k. A process with some states of a layer can advance them
    without the others; equal states of several processes are merged when gathered. A state belongs
    to one bucket, determined by its layer and key, so that different processes can advance the
    buckets of a layer, none of which needs memory for the whole layer.
    """

    layers: int
    """Number of the last layer, whose states are complete solutions; 0 if there is no solution."""
    row_words: int
    """Columns of `rows`: the words of a state's key, then its count, high half first."""
    buckets: int
    """Number of buckets."""
    layout: str
    """Identifies the meaning of the words in a row. Only rows with the same layout can be gathered:
    a process with other code, or on a machine that rounds differently, may use another one."""

    @property
    def statistics(self) -> Statistics:
        """Cost so far. `states` counts the advanced states, and the full board if reached: summed
        over all parts, the states of the whole count, if each is advanced by only one.
        """

    @property
    def rows(self) -> npt.NDArray[np.uint64]:
        """States of the current layer, (states, row_words), valid until the next call."""

    def begin(self) -> None:
        """Create the single state of the empty board, in layer 0, the current layer."""

    def clear(self) -> None:
        """Delete all states."""

    def renew(self, budget: Budget) -> None:
        """Delete all states and reset the cost: the new budget starts now.

        It may differ from the previous one only in its stop.
        """

    def gather(self, rows: npt.NDArray[np.uint64]) -> bool:
        """Add states of one layer to those gathered since `clear`; False if memory runs out."""

    def hold(self, rows: npt.NDArray[np.uint64], begins: npt.NDArray[np.int64]) -> bool:
        """Keep states sorted by bucket for `gather_held`; False if memory runs out.

        `begins` has the start of each bucket of a range, and the end of the last one; the range is
        the same for everything held.
        """

    def gather_held(self) -> bool:
        """Gather the held states bucket by bucket; False if memory runs out."""

    def advance(
        self, first: int, last: int, rows_max: int | None = None
    ) -> tuple[int, ReasonCode | None]:
        """Advance the current states of layer `first` to `last`, or to the first layer after it
        with more than `rows_max` states.

        Returns the layer reached and None, or the code of why it stopped early; then the states are
        lost.
        """

    def by_bucket(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
        """Sort the states left by `advance` by bucket: rows, valid until the next call, and the
        start of each bucket, buckets + 1.
        """

    def total(self) -> int:
        """Sum up the counts of the current states: in the last layer, the count of their whole
        board or part.
        """
