"""Solutions one by one: depth first over the same states as counting, dead ends remembered.

Each dead state is walked once and then known, so after it the search runs from solution to
solution, and the time of `all` grows with their number. The search stops when the caller's rows
are full and goes on from there at the next call.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.clock import monotonic_ns
from solvers.compiling import kernel
from solvers.kernel_codes import DONE, KERNEL_CODES, OUT_OF_BYTES, OUT_OF_NODES, OUT_OF_SECONDS
from solvers.pips.board import POSITION, Forest
from solvers.pips.count import (
    CLOCK_STRIDE,
    EMPTY,
    SMALLEST_INDEX,
    hash_key,
)
from solvers.pips.expand import examine, expand, node_of, write_root
from solvers.pips.prepare import READY, prepare

MORE = KERNEL_CODES
"""The rows for solutions are full; call again for the next ones."""

# Slots of `run`, the search's registers between calls.
DEPTH, DEAD, SLOTS, NODES, STATES, KERNEL_NS = range(6)
REGISTERS = 8
# Columns of `stack`, by depth: row of the state, next child, end of the children, any solution
# found; slot of the index where the state belongs, and how many dead states there were then.
AT, NEXT, END, ALIVE, SLOT, STAMP = range(6)
STACK_COLUMNS = 6


@kernel
def begin(
    board: Any, forest: Forest, words: Any, arena: Any, index: Any, children: Any, moves: Any,
    columns: Any, row: int, tiles: Any, halves: Any, stack: Any, run: Any, budget_ns: int,
) -> int:  # fmt: skip
    """Prepare a row (see `prepare`, whose code is returned) and stand at its empty board.

    arena (rows, len(words) + 2) uint64 is scratch; index is that of the search to come.
    """
    begun = monotonic_ns(board.timespec)
    run[:] = 0
    code = prepare(
        board, forest, words, arena, index, children, moves, columns, row, tiles, halves,
        begun + budget_ns,
    )  # fmt: skip
    if code == READY:
        write_root(board, words, children, 0)
        stack[0, AT] = 0
        stack[0, NEXT] = -1
        stack[0, ALIVE] = 0
        stack[0, STAMP] = -1
        run[SLOTS] = SMALLEST_INDEX
        index[:SMALLEST_INDEX] = EMPTY
    run[KERNEL_NS] = monotonic_ns(board.timespec) - begun
    return code


@kernel
def _find(words: Any, table: Any, index: Any, slots: int, keys: Any, at: int) -> int:
    # The key's slot: its own, or the empty one where it belongs.
    slot = np.int64(hash_key(words, keys, at) >> np.uint64(20)) & (slots - 1)
    while True:
        if index[slot] == EMPTY:
            return slot
        known = np.int64(index[slot])
        same = True
        for i in range(len(words)):
            same = same and table[known, i] == keys[at, i]
        if same:
            return slot
        slot = (slot + 1) & (slots - 1)


@kernel
def _bury(
    words: Any, table: Any, index: Any, run: Any, keys: Any, at: int, slot: int, stamp: int
) -> bool:
    dead, slots = run[DEAD], run[SLOTS]
    if dead >= len(table):
        return False
    if 2 * dead >= slots:
        if 2 * slots > len(index):
            return False
        slots *= 2
        run[SLOTS] = slots
        index[:slots] = EMPTY
        for known in range(dead):
            index[_find(words, table, index, slots, table, known)] = np.uint32(known)
        stamp = -1
    if stamp != dead:
        slot = _find(words, table, index, slots, keys, at)
    for i in range(len(words)):
        table[dead, i] = keys[at, i]
    index[slot] = np.uint32(dead)
    run[DEAD] = dead + 1
    return True


@kernel
def _write_solution(
    board: Any, forest: Forest, moves: Any, stack: Any, nodes: Any, row: int, pips: Any,
    partners: Any,
) -> None:  # fmt: skip
    for d in range(board.dominoes):
        move = stack[d + 1, AT]
        a = board.order[forest.nodes[nodes[d], POSITION]]
        b = board.order[moves[move, 0]]
        pips[row, a] = board.pips[moves[move, 1]]
        pips[row, b] = board.pips[moves[move, 2]]
        partners[row, a] = b
        partners[row, b] = a


@kernel
def search_board(
    board: Any, forest: Forest, words: Any, children: Any, moves: Any, stack: Any,
    path: Any, table: Any, index: Any, run: Any, pips: Any, partners: Any, wanted: int,
    eager: bool, node_limit: int, budget_ns: int,
) -> tuple[int, int]:  # fmt: skip
    """Write up to `wanted` further solutions into rows of pips and partners (rows, cells) int32.

    children and moves have room for the children of every depth, stack (depths, STACK_COLUMNS)
    and path (depths) int64 hold the way there, table and index the dead states. Returns (code,
    solutions written). Code MORE means that one more solution is known to exist, or, if eager,
    that it stopped at the last one wanted. Limits are for all calls together; after OUT_OF_BYTES
    the search goes on with larger copies of table and index.
    """
    begun = monotonic_ns(board.timespec)
    deadline_ns = begun + budget_ns - run[KERNEL_NS]
    code, found = _walk(
        board, forest, words, children, moves, stack, path, table, index, run, pips, partners,
        wanted, eager, node_limit, deadline_ns,
    )  # fmt: skip
    run[KERNEL_NS] += monotonic_ns(board.timespec) - begun
    return code, found


@kernel
def _walk(
    board: Any, forest: Forest, words: Any, children: Any, moves: Any, stack: Any,
    path: Any, table: Any, index: Any, run: Any, pips: Any, partners: Any, wanted: int,
    eager: bool, node_limit: int, deadline_ns: int,
) -> tuple[int, int]:  # fmt: skip
    layers = board.dominoes
    found = 0
    depth = run[DEPTH]
    # The first look at the clock comes at once: a call may end before the stride is over.
    states, nodes, expanded = run[STATES], run[NODES], CLOCK_STRIDE - 1
    code = DONE
    while depth >= 0:
        if depth == layers:
            if found == wanted:
                code = MORE
                break
            _write_solution(board, forest, moves, stack, path, found, pips, partners)  # fmt: skip
            found += 1
            depth -= 1
            stack[depth, ALIVE] = 1
            if eager and found == wanted:
                code = MORE
                break
            continue
        child, end = stack[depth, NEXT], stack[depth, END]
        if child < 0:
            expanded += 1
            if expanded % CLOCK_STRIDE == 0 and monotonic_ns(board.timespec) > deadline_ns:
                code = OUT_OF_SECONDS
                break
            at = stack[depth, AT]
            node = node_of(board, children, at, depth)
            path[depth] = node
            # Children lie right behind those of the state before, dense in the cache.
            child = end = stack[depth - 1, END] if depth > 0 else 1
            # A child was examined when it was picked, and nothing else since.
            if depth > 0 or examine(board, forest, words, children, at, node):
                end += expand(
                    board, forest, words, children, at, depth, node, children, moves, child
                )
            stack[depth, END] = end
            nodes += end - child
            if nodes > node_limit:
                code = OUT_OF_NODES
                break
        slot = np.int64(0)
        while child < end:
            slot = _find(words, table, index, run[SLOTS], children, child)
            if index[slot] == EMPTY:
                states += 1
                if depth + 1 == layers:
                    break
                node = node_of(board, children, child, depth + 1)
                # What is dead at a glance is seen again as fast as it is remembered.
                if examine(board, forest, words, children, child, node):
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
        elif not _bury(
            words,
            table,
            index,
            run,
            children,
            stack[depth, AT],
            stack[depth, SLOT],
            stack[depth, STAMP],
        ):
            code = OUT_OF_BYTES
            break
        depth -= 1
    run[DEPTH] = depth
    run[STATES], run[NODES] = states, nodes
    return code, found
