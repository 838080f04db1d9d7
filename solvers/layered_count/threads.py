"""A count by layers that several threads of one process carry on side by side.

The states of a layer are sorted by bucket. Most of them are cut into as many ranges of the same
number of states as there are threads, and the rest of a large layer into small ones. Each thread
gathers the states of its range, wherever they were reached, and carries them on by one layer; then
it takes small ranges as long as there are any, since states of different buckets differ in what
they cost. So every state is carried on once, as in a count by one thread.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from threading import Barrier, BrokenBarrierError
from typing import TYPE_CHECKING, NamedTuple

from nightgrid.solvers.algebra import Budget, Statistics
from nightgrid.solvers.layered_count import LayeredCount
from nightgrid.solvers.reasons import ReasonCode

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Rows = npt.NDArray[np.uint64]
    Begins = npt.NDArray[np.int64]

TakeUp = Callable[[Budget], LayeredCount | None]
TABLE_SHARE = 0.75
"""The tables' part of the budget; the rest is for the states on their way between threads."""
SPARE_FROM = 50_000
"""States of a layer from which on some are left for the threads that are done first, ..."""
SPARE_SHARE = 0.25
"""... this share of them ..."""
SPARE_RANGES = 4
"""... in so many ranges for each thread: one is three hundredths of a layer with two threads."""
NEXT_LAYER_MAX = 2
"""With spare ranges, states of the next layer leave the tables one range after the other, and have
room beside these as well. No more of them are expected than so many times those of the layer."""


class _Sorted(NamedTuple):
    """States of one layer, sorted by bucket."""

    rows: Rows
    begins: Begins
    """Where each bucket begins, and where the last one ends."""

    def between(self, start: int, stop: int) -> _Sorted:
        """Copy the states of the buckets from `start` to `stop`."""
        begins = self.begins[start : stop + 1]
        rows = self.rows[begins[0] : begins[-1]].copy()
        return _Sorted(rows, begins - begins[0])


_States = list[_Sorted]
"""States of the same buckets of one layer, as several threads have reached them."""


class ThreadedCount:
    """One board's count, carried on by threads from a layer on that one count has reached."""

    def __init__(self, alone: LayeredCount, counts: Sequence[LayeredCount], budget: Budget) -> None:
        self._alone, self._counts = alone, counts
        self._budget = budget
        self._found: dict[int, _States] = {}
        """All states of a layer."""
        self._spare: deque[_States] = deque()
        """Ranges of the present layer that a thread takes when it is done with its own."""
        self._totals = [0] * len(counts)

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
        """Return the count that each thread has found."""
        return list(self._totals)

    def advance(
        self, first: int, reached: Callable[[int], None] | None = None
    ) -> ReasonCode | None:
        """Carry the states of layer `first` on to the last one; tell why it could not be done.

        `first` comes before the last layer. `reached` is told each layer, by one of the threads.
        """
        many = len(self._counts)
        self._totals = [0] * many
        self._found = {first: [_Sorted(*self._alone.by_bucket())]}
        self._found |= {layer: [] for layer in range(first + 1, self._counts[0].layers)}
        together = Barrier(many)
        try:
            with ThreadPoolExecutor(many, "layer") as pool:
                ended = [
                    pool.submit(self._carry_on, n, first, together, None if n else reached)
                    for n in range(many)
                ]
        finally:
            self._found.clear()
            self._spare.clear()
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
                mine = self._taken(layer, number)
                # The tables in which these states lie are used again from here on.
                together.wait()
                if number == 0:
                    del self._found[layer]
                why = _carried(layer, count, mine)
                while why is None and (more := self._next_spare()) is not None:
                    self._keep(layer + 1, number, copied=True)
                    why = _carried(layer, count, more)
                if why is not None:
                    together.abort()
                    return why
                if reached is not None:
                    reached(layer + 1)
                self._keep(layer + 1, number)
                if layer + 1 < count.layers:
                    together.wait()
        except BrokenBarrierError:
            # Another thread tells why.
            return None
        except BaseException:
            together.abort()
            raise
        return None

    def _taken(self, layer: int, number: int) -> _States:
        """Copy the states that one thread carries on, and its share of those that are spare."""
        found, many = self._found[layer], len(self._counts)
        beside_tables = (1 - TABLE_SHARE) * self._budget.table_bytes
        has_room = NEXT_LAYER_MAX * sum(states.rows.nbytes for states in found) <= beside_tables
        cuts = _cut_buckets([states.begins for states in found], many, with_spare=has_room)

        def copy(start: int, stop: int) -> _States:
            return [states.between(start, stop) for states in found]

        self._spare.extend(copy(*ends) for ends in cuts[many + number :: many])
        return copy(*cuts[number])

    def _next_spare(self) -> _States | None:
        try:
            return self._spare.popleft()
        except IndexError:
            return None

    def _keep(self, layer: int, number: int, *, copied: bool = False) -> None:
        """Keep the states that one thread has reached, or add their counts up in the last layer.

        They stay in its table, which is not used again before all threads have copied theirs, or
        are `copied`.
        """
        count = self._counts[number]
        if layer == count.layers:
            self._totals[number] += count.total()
            return
        rows, begins = count.by_bucket()
        self._found[layer].append(_Sorted(rows.copy() if copied else rows, begins))


def _cut_buckets(
    begins: Sequence[Begins], threads: int, *, with_spare: bool
) -> list[tuple[int, int]]:
    """Cut the buckets into ranges: one for each thread, then those that are spare."""
    import numpy as np

    before = np.sum(begins, axis=0)
    states = int(before[-1])
    spare = int(states * SPARE_SHARE) if with_spare and states >= SPARE_FROM else 0
    wanted = [(states - spare) * i // threads for i in range(1, threads + 1)]
    small = threads * SPARE_RANGES if spare else 0
    wanted += [states - spare + spare * i // small for i in range(1, small + 1)]
    ends = [0, *np.searchsorted(before, wanted[:-1]).tolist(), len(before) - 1]
    return list(pairwise(ends))


def _carried(layer: int, count: LayeredCount, taken: _States) -> ReasonCode | None:
    count.clear()
    for states in taken:
        if not count.hold(states.rows, states.begins):
            return ReasonCode.TABLE_BYTES
    taken.clear()
    if not count.gather_held():
        return ReasonCode.TABLE_BYTES
    return count.advance(layer, layer + 1)[1]
