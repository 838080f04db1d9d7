"""A count carried on layer by layer, whose states can be handed out in between.

All states with k dominoes laid form layer k. Whoever has some of them can carry their counts on to
a later layer without the others; states of that layer which several have reached are one state
again when they are gathered. So buckets of states can be carried on by different processes, each
with a table of its own, and no process needs memory for a whole layer.
"""

from __future__ import annotations

import hashlib
import time
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.algebra import Budget, Statistics, count_of
from solvers.bits import trailing_zeros
from solvers.compiling import search_kernel
from solvers.kernel_codes import DONE
from solvers.pips.buckets import BUCKETS, Buckets, sort_by_bucket
from solvers.pips.columns import kernel_columns, to_arrays
from solvers.pips.count import (
    PREFETCH_SLOTS,
    SMALLEST_INDEX,
    ask_ahead,
    begin_with_root,
    count_layers,
    entry_of,
    find,
    first_row,
    hash_key,
    index_again,
)
from solvers.pips.parts import part_arrays
from solvers.pips.prepare import (
    FOREST_TOO_LARGE,
    KEY_TOO_LONG,
    READY,
    TIME_IS_UP,
    UNTILEABLE,
    prepare,
)
from solvers.pips.puzzle import Puzzle
from solvers.pips.scratch import (
    MOST_NODES,
    NARROW,
    NODE_BYTES,
    SMALL_BYTES,
    SMALL_NODES,
    WIDE,
    Scratch,
    allocate_tables,
)
from solvers.reasons import ReasonCode, reason_code_of
from solvers.wide import add

Rows = npt.NDArray[np.uint64]
"""uint64[states, words + 2]: the words of each state's key, then its count, high half first."""

AHEAD_ROWS = 32
"""Rows whose places in the table are asked for before the first of them is looked up."""


@search_kernel
def gather(words: Any, arena: Any, index: Any, slots: int, here: int, rows: Any, runs: Any) -> Any:
    """Add states to the first `here` rows of the arena, which `slots` of the index find.

    Equal states become one. `rows` may lie in the arena itself, behind what has been gathered and
    will be. runs (n, 2) int64 says from where to where rows are taken, one run after the other.
    Returns (states, slots), states -1 if there is no room; slots 0 before the first call.
    """
    width = len(words)
    first = slots == 0
    if first:
        slots = SMALLEST_INDEX
        while slots < 2 * len(rows) and slots < len(index):
            slots *= 2
    shift = np.uint64(64 - trailing_zeros(np.uint64(slots)))
    if first:
        index_again(words, arena, index, slots, shift, here, False)
    for run in range(len(runs)):
        begin, end = runs[run, 0], runs[run, 1]
        for r in range(begin, end):
            if (r - begin) % AHEAD_ROWS == 0 and slots >= PREFETCH_SLOTS:
                stop = min(r + AHEAD_ROWS, end)
                ask_ahead(words, arena, index, rows, r, stop, shift, False)
            mixed = hash_key(words, rows, r)
            slot, row = find(words, arena, index, slots, mixed, shift, rows, r, False)
            if row >= 0:
                hi, lo = add(
                    arena[row, width], arena[row, width + 1], rows[r, width], rows[r, width + 1]
                )
                arena[row, width] = hi
                arena[row, width + 1] = lo
                continue
            if here == len(arena):
                return -1, slots
            for i in range(width + 2):
                arena[here, i] = rows[r, i]
            index[slot] = entry_of(mixed, here)
            here += 1
            if 2 * here > slots:
                if 2 * slots <= len(index):
                    slots *= 2
                    shift -= np.uint64(1)
                    index_again(words, arena, index, slots, shift, here, False)
                elif 8 * here > 7 * slots:
                    return -1, slots
    return here, slots


class LayeredCount:
    """One board and a table for its states, which belong to one layer at a time.

    The budget holds for everything that it does together.
    """

    def __init__(self, scratch: Scratch | None, layers: int, budget: Budget, taken_ns: int) -> None:
        self.layers = layers if scratch is not None else 0
        """Number of the layer that holds the one state of the full board; 0 if no tiling exists."""
        self.buckets = BUCKETS
        self.row_words = len(NARROW if scratch is None else scratch.words) + 2
        self.layout = ""
        """Names what the words of a row mean; rows of different layouts have nothing in common."""
        self._budget = budget
        self._scratch = scratch
        self._spent = Statistics(kernel_ns=taken_ns, engine="layers")
        self._size = self._side = self._slots = self._layer = 0
        self._held: list[npt.NDArray[np.int64]] = []
        self._held_rows = 0
        if scratch is not None:
            self._of = Buckets.of(scratch.board, scratch.forest, scratch.words)
            self.layout = _layout(scratch)

    @property
    def statistics(self) -> Statistics:
        """What everything together has cost so far."""
        return self._spent

    @property
    def rows(self) -> Rows:
        """States of the present layer, as a view that is good until the next call."""
        if self._scratch is None:
            return np.empty((0, self.row_words), np.uint64)
        begin = int(first_row(self._scratch.arena, self._size, self._side))
        return self._scratch.arena[begin : begin + self._size]

    def begin(self) -> None:
        """Make the one state of the empty board the present layer."""
        self.clear()
        scratch = self._scratch
        if scratch is not None:
            begin_with_root(
                scratch.board, scratch.forest, scratch.words, scratch.arena, scratch.children
            )
            self._size = 1

    def clear(self) -> None:
        """Forget every state."""
        self._size = self._side = self._slots = self._layer = self._held_rows = 0
        self._held = []

    def renew(self) -> None:
        """Forget every state and what was spent, as if the board had just been taken up."""
        self.clear()
        self._spent = Statistics(engine="layers")

    def gather(self, rows: Rows) -> bool:
        """Add states of one layer to those gathered since `clear`; False if the table is full."""
        return self._gather(rows, np.array([[0, len(rows)]]), 0)

    def hold(self, rows: Rows, begins: npt.NDArray[np.int64]) -> bool:
        """Keep states that are sorted by bucket for `gather_held`; False if the table is full.

        `begins` tells where each bucket begins, and where the last one ends; it says so of the same
        buckets in every call.
        """
        scratch = self._scratch
        if scratch is None:
            return True
        arena = scratch.arena
        if self._size + 2 * (self._held_rows + len(rows)) > len(arena):
            if not self.gather_held():
                return False
            if self._size + 2 * len(rows) > len(arena):
                return self.gather(rows)
        # From the arena's end backwards: what is gathered grows towards it from the start.
        stop = len(arena) - self._held_rows
        self._held_rows += len(rows)
        arena[stop - len(rows) : stop] = rows
        self._held.append(begins + (stop - len(rows)))
        return True

    def gather_held(self) -> bool:
        """Gather the states that are held, bucket by bucket; False if the table is full.

        What lies together leads to states that lie together: carrying a layer on in this order
        finds more of what it needs in the cache.
        """
        scratch, held, held_rows = self._scratch, self._held, self._held_rows
        self._held, self._held_rows = [], 0
        if scratch is None or not held_rows:
            return True
        begins = np.array(held) - (len(scratch.arena) - held_rows)
        runs = np.stack([begins[:, :-1].T.ravel(), begins[:, 1:].T.ravel()], axis=1)
        runs = np.ascontiguousarray(runs[runs[:, 0] < runs[:, 1]])
        return self._gather(scratch.arena[-held_rows:], runs, held_rows)

    def _gather(self, rows: Rows, runs: npt.NDArray[np.int64], beside: int) -> bool:
        scratch = self._scratch
        if scratch is None:
            return True
        begun = time.perf_counter_ns()
        size, slots = gather(
            scratch.words, scratch.arena, scratch.index, self._slots, self._size, rows, runs
        )
        self._slots = int(slots)
        full = size < 0
        self._size = len(scratch.arena) if full else int(size)
        self._spend(begun, peak=min(self._size + beside, len(scratch.arena)), slots=self._slots)
        return not full

    def advance(
        self, first: int, last: int, rows_max: int | None = None
    ) -> tuple[int, ReasonCode | None]:
        """Carry the states of layer `first` on to `last`, or to the first with over `rows_max`."""
        scratch = self._scratch
        if scratch is None or first >= last:
            return last, None
        begun = time.perf_counter_ns()
        nodes_left = self._budget.nodes - self._spent.nodes
        ns_left = int(self._budget.seconds * 1e9) - self._spent.kernel_ns
        carried = self._size
        code, here, states, nodes, peak, slots, layer = count_layers(
            scratch.board, scratch.forest, scratch.words, scratch.arena, scratch.index,
            scratch.children, scratch.moves, carried, self._side, first, last,
            len(scratch.arena) if rows_max is None else rows_max,
            nodes_left, time.monotonic_ns() + ns_left,
        )  # fmt: skip
        code, here, layer = int(code), int(here), int(layer)
        # Whoever carries a state on has its cost; the full board is carried no further.
        left = 0 if layer == self.layers or code != DONE else here
        self._spend(
            begun, states=carried + int(states) - left, nodes=int(nodes), peak=int(peak),
            slots=int(slots),
        )  # fmt: skip
        if code != DONE:
            self._size = self._slots = 0
            return layer, reason_code_of(code)
        self._size, self._slots, self._layer = here, 0, layer
        self._side = (self._side + layer - first) % 2
        return layer, None

    def by_bucket(self) -> tuple[Rows, npt.NDArray[np.int64]]:
        """Sort the states that `advance` has left by bucket, in place."""
        rows = self.rows
        begins = np.zeros(self.buckets + 1, np.int64)
        scratch = self._scratch
        if scratch is not None:
            begun = time.perf_counter_ns()
            of = self._of
            sort_by_bucket(
                scratch.board, scratch.words, of.group, of.kept, of.word, of.shift, of.bits,
                self._layer, rows, np.empty(self.buckets, np.int64), begins[1:],
            )  # fmt: skip
            self._spend(begun)
        return rows, begins

    def total(self) -> int:
        """Add the counts of the present layer up: the count of the board after the last layer."""
        return sum(count_of(hi, lo) for hi, lo in self.rows[:, -2:].tolist())

    def _spend(
        self, begun: int, *, states: int = 0, nodes: int = 0, peak: int = 0, slots: int = 0
    ) -> None:
        self._spent += Statistics(
            states=states,
            nodes=nodes,
            kernel_ns=time.perf_counter_ns() - begun,
            table_bytes=peak * 8 * self.row_words + slots * 4,
        )


def take_up(puzzle: Puzzle, budget: Budget) -> tuple[LayeredCount | None, int]:
    """Prepare a board to be counted by layers; returns it, or None and why (code of `prepare`).

    Everybody who takes up the same board lays its keys out alike, whatever the budget.
    """
    begun = time.perf_counter_ns()
    deadline = time.monotonic_ns() + int(budget.seconds * 1e9)
    columns = kernel_columns(to_arrays([puzzle]))
    tiles, halves = part_arrays(puzzle, None)
    words, nodes = NARROW, SMALL_NODES
    while True:
        # Orders are tried in tables of one size, on which the choice may depend.
        trial = Scratch.allocate(words, SMALL_BYTES, nodes)
        code = prepare(
            trial.board, trial.forest, trial.words, trial.arena, trial.index, trial.children,
            trial.moves, columns, 0, tiles, halves, deadline,
        )  # fmt: skip
        if code == KEY_TOO_LONG and words is NARROW:
            words = WIDE
        elif code == FOREST_TOO_LARGE and nodes == SMALL_NODES:
            nodes = MOST_NODES
        else:
            break
    if code == UNTILEABLE:
        return LayeredCount(None, 0, budget, time.perf_counter_ns() - begun), code
    if code != READY:
        return None, int(code)
    forest_bytes = NODE_BYTES * int(trial.board["layer"][len(puzzle.dominoes) + 1])
    if nodes != SMALL_NODES and 4 * forest_bytes > budget.table_bytes:
        return None, FOREST_TOO_LARGE
    if time.monotonic_ns() > deadline:
        # An order may not have been tried for want of time: others would choose another.
        return None, TIME_IS_UP
    arena, index = allocate_tables(words, max(budget.table_bytes - forest_bytes, 4096))
    scratch = Scratch(
        words=words,
        board=trial.board,
        forest=trial.forest,
        arena=arena,
        index=index,
        children=trial.children,
        moves=trial.moves,
    )
    taken_ns = time.perf_counter_ns() - begun
    return LayeredCount(scratch, len(puzzle.dominoes), budget, taken_ns), READY


def _layout(scratch: Scratch) -> str:
    # Estimates are floating-point numbers: another machine might choose another order.
    board = scratch.board
    whole = hashlib.sha256(repr((scratch.words, BUCKETS)).encode("ascii"))
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
