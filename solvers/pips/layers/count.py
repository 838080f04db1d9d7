"""Exact counting: the number of ways to each state, layer by layer, equal states merged.

Only two layers of states are alive at a time: they grow towards each other from the two ends of one
arena, so a budget in bytes bounds all memory. Once every constraint is settled, the remaining
dominoes fit in any order, and one state represents all of them by a factor.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nightgrid.solvers.kernel import codes
from nightgrid.solvers.kernel.compiling import U64, Int, inlined_kernel, search_kernel
from nightgrid.solvers.kernel.hash_table import clear, enter, hash_row, is_crowded
from nightgrid.solvers.kernel.machine import ONE, ZERO, is_late
from nightgrid.solvers.kernel.wide import add, over_limit, times_over
from nightgrid.solvers.pips.layers import expand
from nightgrid.solvers.pips.layers import space as spaces
from nightgrid.solvers.pips.layers.board import Board
from nightgrid.solvers.pips.layers.space import Children, Limits, Space, Table, Work

CLOCK_STRIDE = 1024
"""States between two clock checks."""


class Span(NamedTuple):
    """Which states to advance from which layer to which."""

    here: Int
    """States of layer `first`,"""
    side: Int
    """which lie at the arena's start (0) or end (1)."""
    first: Int
    last: Int
    rows_max: Int
    """Ends early in a layer with more states than this."""


class Carried(NamedTuple):
    """The result of advancing states."""

    code: Int
    here: Int
    """States of the layer reached."""
    states: Int
    """States reached in all, without the initial ones."""
    nodes: Int
    peak: Int
    """The most rows in use,"""
    bits: Int
    """and the largest index: 2^bits slots."""
    layer: Int
    """The layer reached."""


@search_kernel
def _settle(
    board: Board, width: tuple[int, ...], keys: U64, at: Int, hi: np.uint64, lo: np.uint64
) -> tuple[np.uint64, np.uint64]:
    # The rest is unconstrained: any domino on any tile in any direction. Drop the dominoes from the
    # key, so that states that differ only in them are merged.
    laid = np.uint64(0)
    for t in range(board.types):
        if not (keys[at, t // 64] >> np.uint64(t % 64)) & ONE:
            continue
        copies = 1 + (expand.extra_copies(board, keys, at, t) if board.copies[t] > 1 else 0)
        double = (board.double[board.index_sum[t] // 2, t // 64] >> np.uint64(t % 64)) & ONE
        for i in range(1, copies + 1):
            laid += ONE
            factor = laid if double else laid * np.uint64(2)
            hi, lo = times_over(hi, lo, factor, np.uint64(i))
        if board.copies[t] > 1:
            unit = np.uint64(copies - 1) << np.uint64(board.extra_shift[t])
            keys[at, board.extra_word[t]] -= unit
    for w in range(len(width) // 2):
        keys[at, w] &= ~expand.type_mask(board.types, w)
    return hi, lo


@search_kernel
def _follow_tilings(space: Space, keys: U64, at: Int, layer: Int, node: Int, children: U64) -> Int:
    # Children of a settled state: only the tiles differ.
    board, forest = space.board, space.forest
    count = 0
    word = board.node_word
    shift = np.uint64(board.node_shift)
    clear_node = ~(np.uint64(board.node_mask) << shift)
    for e in range(forest.nodes[node, spaces.EDGE], forest.nodes[node + 1, spaces.EDGE]):
        for i in range(len(space.width)):
            children[count, i] = keys[at, i]
        child = np.uint64(forest.edges[e, spaces.CHILD] - board.layer[layer + 1]) << shift
        children[count, word] = (children[count, word] & clear_node) | child
        count += 1
    return count


@search_kernel
def count_board(
    space: Space, table: Table, children: Children, limits: Limits
) -> tuple[Int, np.uint64, np.uint64, Carried]:
    """Count the solutions of a board whose order, tilings and layout are in place.

    Returns a code, the count and its cost.
    """
    width = len(space.width)
    layers = space.board.dominoes
    begin_with_root(space, table, children)
    zero = np.int64(0)
    span = Span(np.int64(1), zero, zero, np.int64(layers), np.int64(len(table.rows)))
    carried = count_layers(space, table, children, span, limits)
    code = carried.code
    if code != codes.DONE or carried.here == 0:
        return code, ZERO, ZERO, carried
    at = first_row(table, carried.here, layers % 2)
    hi, lo = table.rows[at, width], table.rows[at, width + 1]
    if over_limit(hi, lo):
        code = np.int64(codes.COUNT_TOO_LARGE)
    return code, hi, lo, carried


@search_kernel
def begin_with_root(space: Space, table: Table, children: Children) -> None:
    """Write the one state of the empty board into row 0 of the table, with its count."""
    width = len(space.width)
    keys, rows = children.keys, table.rows
    expand.write_root(space.board, space.width, keys, np.int64(0))
    hi, lo = ZERO, ONE
    if space.forest.nodes[0, spaces.FREE] == 0:
        hi, lo = _settle(space.board, space.width, keys, np.int64(0), hi, lo)
    for i in range(width):
        rows[0, i] = keys[0, i]
    rows[0, width] = hi
    rows[0, width + 1] = lo


@search_kernel
def begin_count(work: Work) -> None:
    """Write the state of the empty board into memory passed from Python."""
    space = Space(work.boards[0], work.forest, work.width)
    begin_with_root(space, work.table, work.children)


@search_kernel
def carry(work: Work, span: Span, node_limit: Int, deadline_ns: Int) -> Carried:
    """Advance states in memory passed from Python: see `count_layers`."""
    space = Space(work.boards[0], work.forest, work.width)
    limits = Limits(node_limit, deadline_ns)
    return count_layers(space, work.table, work.children, span, limits)


@inlined_kernel
def first_row(table: Table, here: Int, side: Int) -> Int:
    """Return the first row of `here` states at the table's start (side 0) or end (side 1)."""
    return 0 if side == 0 else len(table.rows) - here


@search_kernel
def count_layers(
    space: Space, table: Table, children: Children, span: Span, limits: Limits
) -> Carried:
    """Advance states from one layer to another. Every layer changes sides.

    Ends early in a layer without states, or with more than span.rows_max.
    """
    board, forest, key_width = space.board, space.forest, space.width
    arena, index, keys = table.rows, table.slots, children.keys
    width = len(key_width)
    capacity = len(arena)
    here: Int = np.int64(span.here)
    root = np.int64(0)
    states = np.int64(0)
    nodes = np.int64(0)
    peak: Int = here
    peak_bits: Int = np.int64(spaces.SMALLEST_BITS)
    code = np.int64(codes.DONE)
    last: Int = np.int64(span.last)
    for layer in range(span.first, span.last):
        even = (layer - span.first + span.side) % 2 == 0
        there = np.int64(0)
        bits = spaces.bits_for(table, here)
        clear(index, bits)
        for s in range(here):
            if s % CLOCK_STRIDE == CLOCK_STRIDE - 1:
                if is_late(board.clock, limits.deadline_ns):
                    code = np.int64(codes.OUT_OF_SECONDS)
                    break
            at = spaces.row_of(table, s, not even)
            node = expand.node_of(board, arena, at, layer)
            settled = forest.nodes[node, spaces.FREE] == 0
            if settled:
                found = _follow_tilings(space, arena, at, layer, node, keys)
            elif expand.examine(space, arena, at, node):
                found = expand.expand(space, arena, at, layer, node, children, root)
            else:
                continue
            nodes += found
            if nodes > limits.nodes:
                code = np.int64(codes.OUT_OF_NODES)
                break
            if bits >= spaces.PREFETCH_BITS:
                spaces.ask_ahead(key_width, table, bits, keys, root, found, even)
            for c in range(found):
                hi, lo = arena[at, width], arena[at, width + 1]
                if not settled:
                    child = expand.node_of(board, keys, c, layer + 1)
                    if forest.nodes[child, spaces.FREE] == 0:
                        hi, lo = _settle(board, key_width, keys, c, hi, lo)
                mixed = hash_row(key_width, keys, c)
                slot, row = spaces.find_state(key_width, table, bits, mixed, keys, c, even)
                if row >= 0:
                    hi, lo = add(arena[row, width], arena[row, width + 1], hi, lo)
                    arena[row, width] = hi
                    arena[row, width + 1] = lo
                    continue
                if here + there >= capacity:
                    code = np.int64(codes.OUT_OF_BYTES)
                    break
                row = spaces.row_of(table, there, even)
                for i in range(width):
                    arena[row, i] = keys[c, i]
                arena[row, width] = hi
                arena[row, width + 1] = lo
                enter(index, slot, mixed, there)
                there += 1
                states += 1
                if is_crowded(there, bits):
                    if 2 << bits <= len(index):
                        bits += 1
                        spaces.index_again(key_width, table, bits, there, even)
                    elif 8 * there > 7 << bits:
                        code = np.int64(codes.OUT_OF_BYTES)
                        break
            if code != codes.DONE:
                break
        if code in (codes.DONE, codes.OUT_OF_BYTES):
            peak = max(peak, here + there)
            peak_bits = max(peak_bits, bits)
        if code != codes.DONE:
            last = layer
            break
        here = there
        if here == 0:
            break
        if here > span.rows_max:
            last = layer + 1
            break
    return Carried(code, here, states, nodes, peak, peak_bits, last)
