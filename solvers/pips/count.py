"""Exact counting: how many ways lead to each state, layer by layer, equal states merged.

Only two layers of states are alive at a time: they grow towards each other from the two ends of
one arena, so a budget in bytes is all memory there is. Once every constraint is settled the
dominoes left fit in any order, and a state stands for all of them by a factor.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.clock import monotonic_ns
from solvers.compiling import kernel
from solvers.pips.board import CHILD, EDGE, FREE, Forest
from solvers.pips.expand import _extra, examine, expand, node_of, type_mask, write_root
from solvers.wide import add, over_limit, times_over

DONE, OUT_OF_NODES, OUT_OF_BYTES, OUT_OF_SECONDS, COUNT_TOO_LARGE = range(5)

SMALLEST_INDEX = 256
CLOCK_STRIDE = 1024
"""States between two looks at the clock."""
_ONE = np.uint64(1)
_ZERO = np.uint64(0)


@kernel
def hash_key(words: Any, keys: Any, at: int) -> np.uint64:
    """Mix a key's words into 64 bits, of which the high ones are good."""
    h = keys[at, 0] * np.uint64(0x9E3779B97F4A7C15)
    for i in range(1, len(words)):
        h = (h ^ (h >> np.uint64(32)) ^ keys[at, i]) * np.uint64(0xD6E8FEB86659FD93)
    return (h ^ (h >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)


@kernel
def _settle(
    board: Any, words: Any, keys: Any, at: int, hi: np.uint64, lo: np.uint64
) -> tuple[np.uint64, np.uint64]:
    # Nothing constrains what is left: any domino on any tile in any direction. Take them all
    # out of the key, so that states which differ in nothing else become one.
    laid = np.uint64(0)
    for t in range(board.types):
        if not (keys[at, t // 64] >> np.uint64(t % 64)) & _ONE:
            continue
        copies = 1 + (_extra(board, keys, at, t) if board.copies[t] > 1 else 0)
        double = (board.double[board.index_sum[t] // 2, t // 64] >> np.uint64(t % 64)) & _ONE
        for i in range(1, copies + 1):
            laid += _ONE
            factor = laid if double else laid * np.uint64(2)
            hi, lo = times_over(hi, lo, factor, np.uint64(i))
        if board.copies[t] > 1:
            unit = np.uint64(copies - 1) << np.uint64(board.extra_shift[t])
            keys[at, board.extra_word[t]] -= unit
    for w in range(len(words) // 2):
        keys[at, w] &= ~type_mask(board.types, w)
    return hi, lo


@kernel
def _follow_tilings(
    board: Any,
    forest: Forest,
    words: Any,
    keys: Any,
    at: int,
    layer: int,
    node: int,
    children: Any,
) -> int:
    # Children of a settled state: only the tiles differ.
    count = 0
    word = board.node_word
    shift = np.uint64(board.node_shift)
    clear = ~(np.uint64(board.node_mask) << shift)
    for e in range(forest.nodes[node, EDGE], forest.nodes[node + 1, EDGE]):
        for i in range(len(words)):
            children[count, i] = keys[at, i]
        child = np.uint64(forest.edges[e, CHILD] - board.layer[layer + 1]) << shift
        children[count, word] = (children[count, word] & clear) | child
        count += 1
    return count


@kernel
def count_board(
    board: Any, forest: Forest, words: Any, arena: Any, index: Any, children: Any, moves: Any,
    node_limit: int, deadline_ns: int,
) -> Any:  # fmt: skip
    """Count the solutions of a board whose order, tilings and layout are in place.

    arena (rows, len(words) + 2) uint64 holds keys and counts, index (a power of two) int32 finds
    them. Returns (code, hi, lo, states, nodes, peak rows, peak index slots, layers done).
    """
    width = len(words)
    layers = board.dominoes
    capacity = len(arena)
    write_root(board, words, children, 0)
    hi, lo = _ZERO, _ONE
    if forest.nodes[0, FREE] == 0:
        hi, lo = _settle(board, words, children, 0, hi, lo)
    for i in range(width):
        arena[0, i] = children[0, i]
    arena[0, width] = hi
    arena[0, width + 1] = lo
    here = 1
    # Not a literal, for which Numba would compile `expand` a second time.
    root = int(np.int64(0))
    states = 1
    nodes = 0
    peak = 1
    peak_slots = SMALLEST_INDEX
    for layer in range(layers):
        even = layer % 2 == 0
        there = 0
        slots = SMALLEST_INDEX
        while slots < 2 * here and slots < len(index):
            slots *= 2
        bits = 0
        while (1 << bits) < slots:
            bits += 1
        index[:slots] = -1
        shift = np.uint64(64 - bits)
        for s in range(here):
            if s % CLOCK_STRIDE == CLOCK_STRIDE - 1 and monotonic_ns(board.timespec) > deadline_ns:
                return OUT_OF_SECONDS, _ZERO, _ZERO, states, nodes, peak, peak_slots, layer
            at = s if even else capacity - 1 - s
            node = node_of(board, arena, at, layer)
            settled = forest.nodes[node, FREE] == 0
            if settled:
                found = _follow_tilings(board, forest, words, arena, at, layer, node, children)
            elif examine(board, forest, words, arena, at, node):
                found = expand(board, forest, words, arena, at, layer, node, children, moves, root)
            else:
                continue
            nodes += found
            if nodes > node_limit:
                return OUT_OF_NODES, _ZERO, _ZERO, states, nodes, peak, peak_slots, layer
            for c in range(found):
                hi, lo = arena[at, width], arena[at, width + 1]
                if not settled:
                    child = node_of(board, children, c, layer + 1)
                    if forest.nodes[child, FREE] == 0:
                        hi, lo = _settle(board, words, children, c, hi, lo)
                slot = np.int64(hash_key(words, children, c) >> shift)
                while True:
                    known = np.int64(index[slot])
                    if known < 0:
                        break
                    row = capacity - 1 - known if even else known
                    same = True
                    for i in range(width):
                        same = same and arena[row, i] == children[c, i]
                    if same:
                        break
                    slot = (slot + 1) & (slots - 1)
                if known >= 0:
                    row = capacity - 1 - known if even else known
                    hi, lo = add(arena[row, width], arena[row, width + 1], hi, lo)
                    arena[row, width] = hi
                    arena[row, width + 1] = lo
                    continue
                if here + there >= capacity:
                    return OUT_OF_BYTES, _ZERO, _ZERO, states, nodes, peak, peak_slots, layer
                row = capacity - 1 - there if even else there
                for i in range(width):
                    arena[row, i] = children[c, i]
                arena[row, width] = hi
                arena[row, width + 1] = lo
                index[slot] = there
                there += 1
                if 2 * there > slots:
                    if 2 * slots <= len(index):
                        slots *= 2
                        bits += 1
                        shift = np.uint64(64 - bits)
                        _index_again(words, arena, index, slots, shift, there, even)
                    elif 8 * there > 7 * slots:
                        return OUT_OF_BYTES, _ZERO, _ZERO, states, nodes, peak, peak_slots, layer
        peak = max(peak, here + there)
        peak_slots = max(peak_slots, slots)
        states += there
        here = there
        if here == 0:
            return DONE, _ZERO, _ZERO, states, nodes, peak, peak_slots, layers
    at = 0 if layers % 2 == 0 else capacity - 1
    hi, lo = arena[at, width], arena[at, width + 1]
    code = COUNT_TOO_LARGE if over_limit(hi, lo) else DONE
    return code, hi, lo, states, nodes, peak, peak_slots, layers


@kernel
def _index_again(
    words: Any, arena: Any, index: Any, slots: int, shift: np.uint64, there: int, even: bool
) -> None:
    index[:slots] = -1
    for known in range(there):
        row = len(arena) - 1 - known if even else known
        slot = np.int64(hash_key(words, arena, row) >> shift)
        while index[slot] >= 0:
            slot = (slot + 1) & (slots - 1)
        index[slot] = known
