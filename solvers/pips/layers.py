"""A count carried on layer by layer, whose states can be handed out in shards in between.

All states with k dominoes laid form layer k. Whoever has some of them can carry their counts on to
a later layer without the others; states of that layer which several have reached are one state
again when they are gathered. A state belongs to one shard, which its key alone decides, so that
shards can be carried on by different processes, each with a table of its own, and no process needs
memory for a whole layer.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.algebra import Budget, Statistics, count_of
from solvers.bits import trailing_zeros
from solvers.compiling import kernel
from solvers.errors import PermanentError
from solvers.pips.columns import kernel_columns, to_arrays
from solvers.pips.count import (
    DONE,
    EMPTY,
    ROW_BITS,
    ROW_MASK,
    TAG_AT,
    TAG_MASK,
    begin_with_root,
    count_layers,
    first_row,
    hash_key,
)
from solvers.pips.endings import SOLVING, ending
from solvers.pips.parts import part_arrays
from solvers.pips.prepare import FOREST_TOO_LARGE, KEY_TOO_LONG, READY, UNTILEABLE, prepare
from solvers.pips.puzzle import Puzzle
from solvers.pips.scratch import NARROW, WIDE, Scratch
from solvers.wide import add

Rows = npt.NDArray[np.uint64]
"""uint64[states, words + 2]: the words of each state's key, then its count, high half first."""

BUCKETS = 256
FULL_EIGHTHS = 7
"""Eighths of the index that may be in use."""
_32 = np.uint64(32)


@kernel
def gather(words: Any, arena: Any, index: Any, here: int, rows: Any) -> int:
    """Add states to the `here` that the arena holds; return how many it holds then, -1 if full.

    Equal states become one. The index has to be EMPTY before the first call.
    """
    width = len(words)
    slots = len(index)
    shift = np.uint64(64 - trailing_zeros(np.uint64(slots)))
    for r in range(len(rows)):
        mixed = hash_key(words, rows, r)
        tag = np.int64(mixed >> TAG_AT) & TAG_MASK
        slot = np.int64(mixed >> shift)
        found = False
        while index[slot] != EMPTY and not found:
            entry = np.int64(index[slot])
            if entry >> ROW_BITS == tag:
                at = entry & ROW_MASK
                found = True
                for i in range(width):
                    if arena[at, i] != rows[r, i]:
                        found = False
                        break
                if found:
                    hi, lo = add(
                        arena[at, width], arena[at, width + 1], rows[r, width], rows[r, width + 1]
                    )
                    arena[at, width] = hi
                    arena[at, width + 1] = lo
            slot = (slot + 1) & (slots - 1)
        if found:
            continue
        if here == len(arena) or 8 * here > FULL_EIGHTHS * slots:
            return -1
        for i in range(width + 2):
            arena[here, i] = rows[r, i]
        index[slot] = np.uint32((tag << ROW_BITS) | here)
        here += 1
    return here


@kernel
def by_bucket(words: Any, rows: Any, heads: Any, ends: Any) -> None:
    """Sort states by bucket, in place.

    heads and ends (buckets,) int64 are scratch; ends then says where each bucket ends.
    """
    buckets = len(heads)
    ends[:] = 0
    for r in range(len(rows)):
        ends[bucket_of(words, rows, r, buckets)] += 1
    at = np.int64(0)
    for b in range(buckets):
        heads[b] = at
        at += ends[b]
        ends[b] = at
    for b in range(buckets):
        while heads[b] < ends[b]:
            here = heads[b]
            right = bucket_of(words, rows, here, buckets)
            if right == b:
                heads[b] += 1
                continue
            # Into its own bucket, and what lay there comes here.
            there = heads[right]
            heads[right] += 1
            for i in range(rows.shape[1]):
                rows[here, i], rows[there, i] = rows[there, i], rows[here, i]


@kernel
def bucket_of(words: Any, keys: Any, at: int, buckets: int) -> np.int64:
    """Tell the bucket, 0 to buckets - 1, of a state."""
    # Other bits than those by which the index finds its slots: those are alike in a bucket.
    mixed = hash_key(words, keys, at) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64(((mixed >> _32) * np.uint64(buckets)) >> _32)


class LayeredCount:
    """One board and a table for its states, which belong to one layer at a time.

    Raises PermanentError for a board that cannot be counted by layers, with the reason, when it is
    made.
    """

    def __init__(self, puzzle: Puzzle, budget: Budget) -> None:
        self._budget = budget
        self._scratch = _prepared(puzzle, budget)
        self.buckets = BUCKETS
        self.row_words = 4 if self._scratch is None else len(self._scratch.words) + 2
        self._size = 0
        self._first = 0
        self._spent = Statistics()
        self.layers = 0 if self._scratch is None else len(puzzle.dominoes)
        """Number of the layer that holds the one state of the full board; 0 if no tiling exists."""

    @property
    def statistics(self) -> Statistics:
        """What all layers together have cost so far."""
        return self._spent

    @property
    def rows(self) -> Rows:
        """States of the present layer, as a view that is good until the next call."""
        if self._scratch is None:
            return np.empty((0, 4), np.uint64)
        return self._scratch.arena[self._first : self._first + self._size]

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
        self._first = self._size = 0
        if self._scratch is not None:
            self._scratch.index.fill(EMPTY)

    def gather(self, rows: Rows) -> bool:
        """Add states of one layer to those gathered since `clear`; False if the table is full."""
        scratch = self._scratch
        assert scratch is not None, "a board without a tiling has no states"
        begun = time.perf_counter_ns()
        size = int(gather(scratch.words, scratch.arena, scratch.index, self._size, rows))
        self._spent += Statistics(kernel_ns=time.perf_counter_ns() - begun)
        if size < 0:
            return False
        self._size = size
        return True

    def advance(self, first: int, last: int, rows_max: int | None = None) -> tuple[int, str]:
        """Carry the states of layer `first` on to `last`, or to the first with over `rows_max`."""
        scratch = self._scratch
        if scratch is None or self._size == 0:
            return last, ""
        begun = time.perf_counter_ns()
        deadline = time.monotonic_ns() + int(self._budget.seconds * 1e9)
        most = len(scratch.arena) if rows_max is None else rows_max
        if self._first:
            self.gather_again()
        carried = self._size
        code, here, states, nodes, peak, slots, layer = count_layers(
            scratch.board, scratch.forest, scratch.words, scratch.arena, scratch.index,
            scratch.children, scratch.moves, carried, first, last, most, self._budget.nodes,
            deadline,
        )  # fmt: skip
        code, here, layer = int(code), int(here), int(layer)
        # Whoever carries a state on has its cost; nobody does that with the full board.
        states = carried + int(states) - (0 if layer == self.layers else here)
        self._spent += Statistics(
            states=states,
            nodes=int(nodes),
            kernel_ns=time.perf_counter_ns() - begun,
            table_bytes=int(peak) * 8 * (len(scratch.words) + 2) + int(slots) * 4,
            engine="layers",
        )
        if code != DONE:
            self.clear()
            return layer, ending(SOLVING + code)[1]
        self._size = here
        self._first = int(first_row(scratch.arena, here, layer - first))
        return layer, ""

    def gather_again(self) -> None:
        """Move the states to where `count_layers` expects them."""
        scratch = self._scratch
        assert scratch is not None
        size = self._size
        begin = self._first
        # From the back to the front, a block at a time so that none is written over.
        block = begin
        for at in range(0, size, block):
            n = min(block, size - at)
            scratch.arena[at : at + n] = scratch.arena[begin + at : begin + at + n]
        self._first = 0

    def by_bucket(self) -> tuple[Rows, npt.NDArray[np.int64]]:
        """Sort the present states by bucket, in place."""
        begins = np.zeros(self.buckets + 1, np.int64)
        rows = self.rows
        if self._scratch is not None:
            begun = time.perf_counter_ns()
            heads = np.zeros(self.buckets, np.int64)
            by_bucket(self._scratch.words, rows, heads, begins[1:])
            self._spent += Statistics(kernel_ns=time.perf_counter_ns() - begun)
        return rows, begins

    def total(self) -> int:
        """Add the counts of the present layer up: the count of the board after the last layer."""
        rows = self.rows
        return sum(count_of(hi, lo) for hi, lo in rows[:, -2:].tolist())


def layered(puzzle: Puzzle, budget: Budget) -> LayeredCount | None:
    """Take up a board to count it by layers; None if its keys or tilings do not fit."""
    try:
        return LayeredCount(puzzle, budget)
    except PermanentError:
        return None


def _prepared(puzzle: Puzzle, budget: Budget) -> Scratch | None:
    columns = kernel_columns(to_arrays([puzzle]))
    tiles, halves = part_arrays(puzzle, None)
    words, wide_forest = NARROW, False
    while True:
        scratch = Scratch.for_budget(words, budget.table_bytes, wide_forest=wide_forest)
        code = prepare(
            scratch.board, scratch.forest, scratch.words, scratch.arena, scratch.index,
            scratch.children, scratch.moves, columns, 0, tiles, halves,
            time.monotonic_ns() + int(budget.seconds * 1e9),
        )  # fmt: skip
        if code == READY:
            return scratch
        if code == UNTILEABLE:
            return None
        if code == KEY_TOO_LONG and words is NARROW:
            words = WIDE
        elif code == FOREST_TOO_LARGE and not wide_forest:
            wide_forest = True
        else:
            raise PermanentError(ending(int(code))[1])


__all__ = ["LayeredCount", "Rows", "layered"]
