"""A count advanced layer by layer, whose states can be distributed in between.

All states with k dominoes laid form layer k. A process can advance some of them without the others;
equal states reached by several processes are merged when gathered. So each process advances buckets
of states with its own table, and none needs memory for a whole layer.
"""

from __future__ import annotations

import hashlib
import time

import numpy as np

from nightgrid.solvers.algebra import Budget, Statistics, count_of
from nightgrid.solvers.kernel.codes import DONE
from nightgrid.solvers.kernel.compiling import I64, U64, Int, search_kernel
from nightgrid.solvers.kernel.hash_table import enter, hash_row, is_crowded
from nightgrid.solvers.kernel.machine import is_stopped
from nightgrid.solvers.kernel.wide import add
from nightgrid.solvers.pips.columns import kernel_columns, to_arrays
from nightgrid.solvers.pips.layers import scratch
from nightgrid.solvers.pips.layers import space as spaces
from nightgrid.solvers.pips.layers.count import Span, begin_count, carry
from nightgrid.solvers.pips.layers.prepare import prepare_work
from nightgrid.solvers.pips.layers.space import Table, Work
from nightgrid.solvers.pips.parts import part_arrays
from nightgrid.solvers.pips.puzzle import Puzzle
from nightgrid.solvers.pips.staged.buckets import BUCKETS, Buckets, sort_by_bucket
from nightgrid.solvers.reasons import ReasonCode, reason_code_of

Rows = U64
"""uint64[states, words + 2]: the words of each state's key, then its count, high half first."""

AHEAD_ROWS = 32
"""Rows whose slots are prefetched before the first look-up."""


@search_kernel
def gather(
    width: tuple[int, ...], table: Table, bits: Int, here: Int, rows: U64, runs: I64, stop: Int
) -> tuple[Int, Int]:
    """Add states to the first `here` rows of the table, which has an index of 2^bits slots.

    Equal states become one. `rows` may be in the table itself, after all gathered rows. runs,
    int64[n, 2], has the ranges of rows to take. Returns (states, bits), states -1 if there is no
    room or the solve was stopped (`stop`: address of the flag); bits 0 before the first call.
    """
    words = len(width)
    arena, index = table.rows, table.slots
    if bits == 0:
        bits = spaces.bits_for(table, len(rows))
        spaces.index_again(width, table, bits, here, False)
    for run in range(len(runs)):
        begin, end = runs[run, 0], runs[run, 1]
        for r in range(begin, end):
            if (r - begin) % AHEAD_ROWS == 0 and is_stopped(stop):
                return -1, bits
            if (r - begin) % AHEAD_ROWS == 0 and bits >= spaces.PREFETCH_BITS:
                spaces.ask_ahead(width, table, bits, rows, r, min(r + AHEAD_ROWS, end), False)
            mixed = hash_row(width, rows, r)
            slot, row = spaces.find_state(width, table, bits, mixed, rows, r, False)
            if row >= 0:
                hi, lo = add(
                    arena[row, words], arena[row, words + 1], rows[r, words], rows[r, words + 1]
                )
                arena[row, words] = hi
                arena[row, words + 1] = lo
                continue
            if here == len(arena):
                return -1, bits
            for i in range(words + 2):
                arena[here, i] = rows[r, i]
            enter(index, slot, mixed, here)
            here += 1
            if is_crowded(here, bits):
                if 2 << bits <= len(index):
                    bits += 1
                    spaces.index_again(width, table, bits, here, False)
                elif 8 * here > 7 << bits:
                    return -1, bits
    return here, bits


class LayeredCount:
    """One board and a table for its states, which belong to one layer at a time.

    The budget covers all its work.
    """

    def __init__(self, work: Work, layers: int, budget: Budget, taken_ns: int) -> None:
        self.layers = layers
        """Number of the layer with the single state of the full board; 0 if no tiling exists."""
        self.buckets = BUCKETS
        self.row_words = len(work.width) + 2
        self.layout = ""
        """Identifies the layout of a row's words; rows of different layouts are incompatible."""
        self._budget = budget
        self._work = work
        self.statistics = Statistics(kernel_ns=taken_ns, engine="layers")
        """Total cost so far."""
        self._size = self._side = self._bits = self._layer = 0
        self._held: list[I64] = []
        self._held_rows = 0
        if layers:
            self._of = Buckets.of(work)
            self.layout = _layout(work)

    @property
    def rows(self) -> Rows:
        """States of the current layer, as a view that is valid until the next call."""
        arena = self._work.table.rows
        begin = 0 if self._side == 0 else len(arena) - self._size
        return arena[begin : begin + self._size]

    def begin(self) -> None:
        """Make the single state of the empty board the current layer."""
        self.clear()
        if self.layers:
            begin_count(self._work)
            self._size = 1

    def clear(self) -> None:
        """Delete all states."""
        self._size = self._side = self._bits = self._layer = self._held_rows = 0
        self._held = []

    def renew(self, budget: Budget) -> None:
        """Delete all states and reset the cost, as for a newly prepared board."""
        self.clear()
        self._budget = budget
        scratch.heed(self._work, budget)
        self.statistics = Statistics(engine="layers")

    def gather(self, rows: Rows) -> bool:
        """Add states of one layer to those gathered since `clear`; False if the table is full."""
        return self._gather(rows, np.array([[0, len(rows)]]), 0)

    def hold(self, rows: Rows, begins: I64) -> bool:
        """Keep states that are sorted by bucket for `gather_held`; False if the table is full.

        `begins` has the start of each bucket, and the end of the last one; the buckets are the same
        in every call.
        """
        arena = self._work.table.rows
        if self._size + 2 * (self._held_rows + len(rows)) > len(arena):
            if not self.gather_held():
                return False
            if self._size + 2 * len(rows) > len(arena):
                return self.gather(rows)
        # From the arena's end backwards: gathered states grow towards it from the start.
        stop = len(arena) - self._held_rows
        self._held_rows += len(rows)
        arena[stop - len(rows) : stop] = rows
        self._held.append(begins + (stop - len(rows)))
        return True

    def gather_held(self) -> bool:
        """Gather the held states bucket by bucket; False if the table is full.

        Neighbouring states lead to neighbouring states: advancing a layer in this order has more
        cache hits.
        """
        held, held_rows = self._held, self._held_rows
        self._held, self._held_rows = [], 0
        if not held_rows:
            return True
        arena = self._work.table.rows
        begins = np.array(held) - (len(arena) - held_rows)
        runs = np.stack([begins[:, :-1].T.ravel(), begins[:, 1:].T.ravel()], axis=1)
        runs = np.ascontiguousarray(runs[runs[:, 0] < runs[:, 1]])
        return self._gather(arena[-held_rows:], runs, held_rows)

    def _gather(self, rows: Rows, runs: I64, beside: int) -> bool:
        work = self._work
        begun = time.perf_counter_ns()
        size, bits = gather(
            work.width, work.table, self._bits, self._size, rows, runs, self._budget.stop_address
        )
        self._bits = int(bits)
        full = size < 0
        most = len(work.table.rows)
        self._size = most if full else int(size)
        self._spend(begun, peak=min(self._size + beside, most), slots=1 << self._bits)
        return not full

    def advance(
        self, first: int, last: int, rows_max: int | None = None
    ) -> tuple[int, ReasonCode | None]:
        """Advance the states of layer `first` to `last`, or to the first with over `rows_max`."""
        work = self._work
        if first >= last:
            return last, None
        begun = time.perf_counter_ns()
        nodes_left = self._budget.nodes - self.statistics.nodes
        ns_left = int(self._budget.seconds * 1e9) - self.statistics.kernel_ns
        here = self._size
        span = Span(
            here=here,
            side=self._side,
            first=first,
            last=last,
            rows_max=len(work.table.rows) if rows_max is None else rows_max,
        )
        carried = carry(work, span, nodes_left, time.monotonic_ns() + ns_left)
        code, layer = int(carried.code), int(carried.layer)
        # The process that advances a state counts it; the full board is never advanced.
        left = 0 if layer == self.layers or code != DONE else int(carried.here)
        self._spend(
            begun,
            states=here + int(carried.states) - left,
            nodes=int(carried.nodes),
            peak=int(carried.peak),
            slots=1 << int(carried.bits),
        )
        if code != DONE:
            self._size = self._bits = 0
            why = reason_code_of(code)
            return layer, (why is ReasonCode.SECONDS and self._budget.stopped) or why
        self._size, self._bits, self._layer = int(carried.here), 0, layer
        self._side = (self._side + layer - first) % 2
        return layer, None

    def by_bucket(self) -> tuple[Rows, I64]:
        """Sort the states that `advance` has left by bucket, in place."""
        rows = self.rows
        begins = np.zeros(self.buckets + 1, np.int64)
        if self.layers:
            begun = time.perf_counter_ns()
            heads = np.empty(self.buckets, np.int64)
            sort_by_bucket(self._work, self._of, self._layer, rows, heads, begins[1:])
            self._spend(begun)
        return rows, begins

    def total(self) -> int:
        """Sum up the counts of the current layer: the count of the board after the last layer."""
        return sum(count_of(hi, lo) for hi, lo in self.rows[:, -2:].tolist())

    def _spend(
        self, begun: int, *, states: int = 0, nodes: int = 0, peak: int = 0, slots: int = 0
    ) -> None:
        self.statistics += Statistics(
            states=states,
            nodes=nodes,
            kernel_ns=time.perf_counter_ns() - begun,
            table_bytes=peak * 8 * self.row_words + slots * 4,
        )


def _warm_wide() -> int:
    """Compile or load the kernels of wide keys; return the nanoseconds that took."""
    from nightgrid.solvers.pips.game import PipsGame

    begun = time.perf_counter_ns()
    PipsGame().warm_rare_once()
    return time.perf_counter_ns() - begun


def take_up(puzzle: Puzzle, budget: Budget) -> tuple[LayeredCount | None, int]:
    """Prepare a board for counting by layers; return it, or None and the code of `prepare`.

    All processes lay out the keys of a board in the same way, whatever the budget.
    """
    begun = time.perf_counter_ns()
    deadline = budget.deadline_ns()
    columns = kernel_columns(to_arrays([puzzle]))
    width, nodes = scratch.NARROW, scratch.SMALL_NODES
    while True:
        # Orders are tried in tables of a fixed size, because the choice may depend on it.
        trial = scratch.allocate(width, scratch.SMALL_BYTES, nodes)
        scratch.heed(trial, budget)
        code = int(prepare_work(trial, columns, 0, part_arrays(puzzle, None), deadline))
        if code == spaces.KEY_TOO_LONG and width is scratch.NARROW:
            width = scratch.WIDE
            waited = _warm_wide()
            begun, deadline = begun + waited, deadline + waited
        elif code == spaces.FOREST_TOO_LARGE and nodes == scratch.SMALL_NODES:
            nodes = scratch.MOST_NODES
        else:
            break
    if code == spaces.UNTILEABLE:
        return LayeredCount(trial, 0, budget, time.perf_counter_ns() - begun), code
    if code != spaces.READY:
        return None, code
    forest_bytes = scratch.NODE_BYTES * int(trial.boards[0]["layer"][len(puzzle.dominoes) + 1])
    if nodes != scratch.SMALL_NODES and 4 * forest_bytes > budget.table_bytes:
        return None, spaces.FOREST_TOO_LARGE
    if budget.is_over(deadline):
        # Time may have run out before a trial, and other processes would choose differently.
        return None, spaces.TIME_IS_UP
    table = scratch.allocate_table(width, max(budget.table_bytes - forest_bytes, 4096))
    taken_ns = time.perf_counter_ns() - begun
    return LayeredCount(
        trial._replace(table=table), len(puzzle.dominoes), budget, taken_ns
    ), spaces.READY


def _layout(work: Work) -> str:
    # Estimates are floating-point numbers: another machine might choose another order.
    board = work.boards[0]
    whole = hashlib.sha256(repr((work.width, BUCKETS)).encode("ascii"))
    for name, size in (
        ("order", "cells"),
        ("field_word", "regions"),
        ("field_shift", "regions"),
        ("field_bits", "regions"),
        ("extra_word", "types"),
        ("extra_shift", "types"),
    ):
        whole.update(board[name][: board[size]].tobytes())
    whole.update(board["layer"][: board["dominoes"] + 2].tobytes())
    whole.update(repr([int(board[f"node_{x}"]) for x in ("word", "shift", "mask")]).encode("ascii"))
    return whole.hexdigest()[:16]
