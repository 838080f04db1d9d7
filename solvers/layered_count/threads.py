"""A count by layers that several threads of one process carry on side by side.

The states of a layer are sorted by bucket and cut into as many parts of the same size as there are
threads. Each thread gathers the states of its buckets, wherever they were reached, and carries them
on by one layer. So every state is carried on once, as in a count by one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier, BrokenBarrierError
from typing import TYPE_CHECKING

from nightgrid.solvers.algebra import Budget, Statistics
from nightgrid.solvers.layered_count import LayeredCount
from nightgrid.solvers.reasons import ReasonCode

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Sorted = tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]
    """Rows sorted by bucket, and where each bucket begins."""

TakeUp = Callable[[Budget], LayeredCount | None]
TABLE_SHARE = 0.75
"""The tables' part of the budget; the rest is for the states on their way between threads."""


class ThreadedCount:
    """One board's count, carried on by threads from a layer on that one count has reached."""

    def __init__(self, alone: LayeredCount, counts: Sequence[LayeredCount], budget: Budget) -> None:
        self._alone, self._counts = alone, counts
        self._budget = budget
        self._found: dict[int, list[Sorted]] = {}
        """The states of each layer, as the threads have reached them."""

    @classmethod
    def divide(
        cls, alone: LayeredCount, take_up: TakeUp, budget: Budget, threads: int
    ) -> ThreadedCount | None:
        """Take the board up once more for each thread; None where it is laid out otherwise.

        `budget` is that of the whole count, of which `alone` has spent a part.
        """
        spent_s = alone.statistics.kernel_ns / 1e9
        each = replace(
            budget,
            table_bytes=max(int(budget.table_bytes * TABLE_SHARE / threads), 1),
            seconds=max(budget.seconds - spent_s, 1e-3),
        )
        with ThreadPoolExecutor(threads) as pool:
            counts = list(pool.map(take_up, [each] * threads))
        ready = [each for each in counts if each is not None and each.layout == alone.layout]
        return cls(alone, ready, budget) if len(ready) == threads else None

    @property
    def statistics(self) -> Statistics:
        """What it has cost so far, all threads and what was spent before them together."""
        parts = self.parts
        tables = sum(part.table_bytes for part in parts)
        spent = sum(parts, self._alone.statistics)
        return replace(spent, table_bytes=max(spent.table_bytes, tables))

    @property
    def parts(self) -> list[Statistics]:
        """What each thread has cost so far."""
        return [count.statistics for count in self._counts]

    def totals(self) -> list[int]:
        """Add the counts of each thread's states up."""
        return [count.total() for count in self._counts]

    def advance(
        self, first: int, reached: Callable[[int], None] | None = None
    ) -> ReasonCode | None:
        """Carry the states of layer `first` on to the last one; tell why it could not be done.

        `first` comes before the last layer. `reached` is told each layer, by one of the threads.
        """
        many = len(self._counts)
        self._found = {first: [self._alone.by_bucket()]}
        self._found |= {layer: [] for layer in range(first + 1, self._counts[0].layers)}
        together = Barrier(many)
        with ThreadPoolExecutor(many, "layer") as pool:
            ended = [
                pool.submit(self._carry_on, n, first, together, None if n else reached)
                for n in range(many)
            ]
        return next((why for each in ended if (why := each.result()) is not None), None)

    def _carry_on(
        self,
        number: int,
        first: int,
        together: Barrier,
        reached: Callable[[int], None] | None,
    ) -> ReasonCode | None:
        """Carry one thread's states on, in step with the others."""
        count = self._counts[number]
        try:
            for layer in range(first, count.layers):
                if self.statistics.nodes > self._budget.nodes:
                    # Each thread finds the same: none spends anything before all have looked.
                    return ReasonCode.NODES
                taken = self._taken(layer, number)
                # The tables in which these states lie are used again from here on.
                together.wait()
                why = _carried(layer, count, taken)
                if why is not None:
                    together.abort()
                    return why
                if reached is not None:
                    reached(layer + 1)
                if layer + 1 < count.layers:
                    self._found[layer + 1].append(count.by_bucket())
                    together.wait()
        except BrokenBarrierError:
            # Another thread tells why.
            return None
        except BaseException:
            together.abort()
            raise
        return None

    def _taken(self, layer: int, number: int) -> list[Sorted]:
        """Copy the states that one thread carries on, wherever they were reached."""
        found = self._found[layer]
        cuts = _even_cuts([begins for _, begins in found], len(self._counts))
        start, stop = cuts[number], cuts[number + 1]
        return [
            (rows[begins[start] : begins[stop]].copy(), begins[start : stop + 1] - begins[start])
            for rows, begins in found
        ]


def _even_cuts(begins: Sequence[npt.NDArray[np.int64]], into: int) -> list[int]:
    """Cut the buckets into ranges of about as many states."""
    import numpy as np

    before = np.sum(begins, axis=0)
    wanted = [int(before[-1]) * i // into for i in range(1, into)]
    return [0, *np.searchsorted(before, wanted).tolist(), len(before) - 1]


def _carried(layer: int, count: LayeredCount, taken: list[Sorted]) -> ReasonCode | None:
    count.clear()
    for rows, begins in taken:
        if not count.hold(rows, begins):
            return ReasonCode.TABLE_BYTES
    taken.clear()
    if not count.gather_held():
        return ReasonCode.TABLE_BYTES
    return count.advance(layer, layer + 1)[1]
