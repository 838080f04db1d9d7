"""Yield solutions one by one: depth first over the states of counting, remembering dead ends.

Each dead state is explored once and then remembered, after which the search runs from solution to
solution, and the time of `all` grows with their number. The search stops when the caller's rows are
full and continues from there at the next call.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nightgrid.solvers.kernel import codes, hash_table
from nightgrid.solvers.kernel.compiling import I32, I64, U64, Int, search_kernel
from nightgrid.solvers.kernel.machine import is_late, monotonic_ns
from nightgrid.solvers.pips.columns import Columns
from nightgrid.solvers.pips.layers import space as spaces
from nightgrid.solvers.pips.layers.count import CLOCK_STRIDE
from nightgrid.solvers.pips.layers.expand import examine, expand, node_of, write_root
from nightgrid.solvers.pips.layers.prepare import prepare
from nightgrid.solvers.pips.layers.space import Children, Limits, Space, Table, Work
from nightgrid.solvers.pips.parts import PartArrays

MORE = codes.KERNEL_CODES
"""The requested number of solutions was found; call again for the next ones."""

# Entries of Walk.run: depth, dead states, their index's size (2^bits slots), and what was spent.
DEPTH, DEAD, BITS, NODES, STATES, KERNEL_NS = range(6)
REGISTERS = 8
# Columns of Walk.stack, by depth: row of the state, next child, end of the children, any solution
# found; the state's slot of the index, and the number of dead states then.
AT, NEXT, END, ALIVE, SLOT, STAMP = range(6)
STACK_COLUMNS = 6


class Walk(NamedTuple):
    """State of a search between two calls."""

    stack: I64
    """int64[depths, STACK_COLUMNS]"""
    path: I64
    """int64[depths]: nodes of the path in the forest of tilings."""
    run: I64
    """int64[REGISTERS]"""


class Found(NamedTuple):
    """Solutions, one a row."""

    pips: I32
    """int32[rows, cells]"""
    partners: I32
    """int32[rows, cells]: the cell with which each cell shares a tile."""


@search_kernel
def begin(
    work: Work, columns: Columns, row: Int, part: PartArrays, walk: Walk, budget_ns: Int
) -> Int:
    """Prepare a row (see `prepare`, whose code is returned) and start at its empty board.

    The work's table is scratch; its index is used by the search.
    """
    space = Space(work.boards[0], work.forest, work.width)
    board, stack, run = space.board, walk.stack, walk.run
    begun = monotonic_ns(board.clock)
    run[:] = 0
    code = prepare(space, work.table, work.children, columns, row, part, begun + budget_ns)
    if code == spaces.READY:
        write_root(board, space.width, work.children.keys, np.int64(0))
        stack[0, AT] = 0
        stack[0, NEXT] = -1
        stack[0, ALIVE] = 0
        stack[0, STAMP] = -1
        run[BITS] = spaces.SMALLEST_BITS
        hash_table.clear(work.table.slots, np.int64(spaces.SMALLEST_BITS))
    run[KERNEL_NS] = monotonic_ns(board.clock) - begun
    return code


@search_kernel
def _remember_dead(width: tuple[int, ...], dead: Table, walk: Walk, keys: U64, depth: Int) -> bool:
    # False if there is no room.
    run, stack = walk.run, walk.stack
    held, bits = run[DEAD], run[BITS]
    at, slot, stamp = stack[depth, AT], stack[depth, SLOT], stack[depth, STAMP]
    if held >= len(dead.rows):
        return False
    if hash_table.is_crowded(held + 1, bits):
        if 2 << bits > len(dead.slots):
            return False
        bits += 1
        run[BITS] = bits
        spaces.index_again(width, dead, bits, held, False)
        stamp = -1
    mixed = hash_table.hash_row(width, keys, at)
    if stamp != held:
        slot, _ = spaces.find_state(width, dead, bits, mixed, keys, at, False)
    for i in range(len(width)):
        dead.rows[held, i] = keys[at, i]
    hash_table.enter(dead.slots, slot, mixed, held)
    run[DEAD] = held + 1
    return True


@search_kernel
def _write_solution(space: Space, moves: I64, walk: Walk, row: Int, into: Found) -> None:
    board, nodes = space.board, space.forest.nodes
    pips, partners = into.pips, into.partners
    for d in range(board.dominoes):
        move = walk.stack[d + 1, AT]
        a = board.order[nodes[walk.path[d], spaces.POSITION]]
        b = board.order[moves[move, 0]]
        pips[row, a] = board.pips[moves[move, 1]]
        pips[row, b] = board.pips[moves[move, 2]]
        partners[row, a] = b
        partners[row, b] = a


@search_kernel
def search_board(
    work: Work, dead: Table, walk: Walk, into: Found, wanted: Int, node_limit: Int,
    budget_ns: Int,
) -> tuple[Int, Int]:  # fmt: skip
    """Write `wanted` further solutions into the rows of `into`.

    Returns (code, solutions written). Code MORE means that it stopped at the last wanted one. Both
    limits are for all calls together; after OUT_OF_BYTES, continue with a larger copy of the table
    of dead states.
    """
    space = Space(work.boards[0], work.forest, work.width)
    begun = monotonic_ns(space.board.clock)
    limits = Limits(node_limit, begun + budget_ns - walk.run[KERNEL_NS])
    code, found = _walk(space, work.children, dead, walk, into, wanted, limits)
    walk.run[KERNEL_NS] += monotonic_ns(space.board.clock) - begun
    return code, found


@search_kernel
def _walk(
    space: Space, children: Children, dead: Table, walk: Walk, into: Found, wanted: Int,
    limits: Limits,
) -> tuple[Int, Int]:  # fmt: skip
    board, width = space.board, space.width
    keys, moves = children.keys, children.moves
    stack, run = walk.stack, walk.run
    layers = board.dominoes
    found = 0
    depth = run[DEPTH]
    # Check the clock at once: a call may end before the stride is over.
    states, nodes, expanded = run[STATES], run[NODES], CLOCK_STRIDE - 1
    code = codes.DONE
    while depth >= 0:
        if depth == layers:
            _write_solution(space, moves, walk, found, into)
            found += 1
            depth -= 1
            stack[depth, ALIVE] = 1
            if found == wanted:
                code = MORE
                break
            continue
        child, end = stack[depth, NEXT], stack[depth, END]
        if child < 0:
            expanded += 1
            if expanded % CLOCK_STRIDE == 0 and is_late(board.clock, limits.deadline_ns):
                code = codes.OUT_OF_SECONDS
                break
            at = stack[depth, AT]
            node = node_of(board, keys, at, depth)
            walk.path[depth] = node
            # Children directly follow those of the previous state, dense in the cache.
            child = end = stack[depth - 1, END] if depth > 0 else 1
            # A child was examined when it was picked, and no other since.
            if depth > 0 or examine(space, keys, at, node):
                end += expand(space, keys, at, depth, node, children, child)
            stack[depth, END] = end
            nodes += end - child
            if nodes > limits.nodes:
                code = codes.OUT_OF_NODES
                break
        slot: Int = np.int64(0)
        while child < end:
            mixed = hash_table.hash_row(width, keys, child)
            slot, known = spaces.find_state(width, dead, run[BITS], mixed, keys, child, False)
            if known < 0:
                states += 1
                if depth + 1 == layers:
                    break
                node = node_of(board, keys, child, depth + 1)
                # A trivially dead state is detected again as fast as it is looked up.
                if examine(space, keys, child, node):
                    break
            child += 1
        if child < end:
            stack[depth, NEXT] = child + 1
            depth += 1
            stack[depth, AT] = child
            stack[depth, NEXT] = -1
            stack[depth, ALIVE] = 0
            stack[depth, SLOT] = slot
            stack[depth, STAMP] = run[DEAD]
            continue
        stack[depth, NEXT] = end
        if stack[depth, ALIVE]:
            if depth > 0:
                stack[depth - 1, ALIVE] = 1
        elif not _remember_dead(width, dead, walk, keys, depth):
            code = codes.OUT_OF_BYTES
            break
        depth -= 1
    run[DEPTH] = depth
    run[STATES], run[NODES] = states, nodes
    return code, found
