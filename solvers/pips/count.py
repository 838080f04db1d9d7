"""Exact counting: how many ways lead to each state, layer by layer, equal states merged.

Only two layers of states are alive at a time: they grow towards each other from the two ends of
one arena, so a budget in bytes is all memory there is. Once every constraint is settled the
dominoes left fit in any order, and a state stands for all of them by a factor.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.bits import prefetch, trailing_zeros
from solvers.clock import monotonic_ns
from solvers.compiling import inlined_kernel, search_kernel
from solvers.kernel_codes import COUNT_TOO_LARGE, DONE, OUT_OF_BYTES, OUT_OF_NODES, OUT_OF_SECONDS
from solvers.pips.board import CHILD, EDGE, FREE, Forest
from solvers.pips.expand import examine, expand, extra_copies, node_of, type_mask, write_root
from solvers.wide import add, over_limit, times_over

SMALLEST_INDEX = 256
CLOCK_STRIDE = 1024
"""States between two looks at the clock."""
PREFETCH_SLOTS = 1 << 15
"""Index size from which on its lines are asked for ahead: beyond the nearer caches."""
# An entry of the index: a few more bits of the hash above the number of the row, so that a
# collision is seldom looked up in vain.
ROW_BITS = 28
ROW_MASK = (1 << ROW_BITS) - 1
MOST_ROWS = ROW_MASK
"""An arena may not have more rows."""
TAG_MASK = 15
TAG_AT = np.uint64(20)
EMPTY = np.uint32(0xFFFFFFFF)
_ONE = np.uint64(1)
_ZERO = np.uint64(0)


@inlined_kernel
def hash_key(words: Any, keys: Any, at: int) -> np.uint64:
    """Mix a key's words into 64 bits, of which the high ones are good."""
    h = keys[at, 0] * np.uint64(0x9E3779B97F4A7C15)
    for i in range(1, len(words)):
        h = (h ^ (h >> np.uint64(32)) ^ keys[at, i]) * np.uint64(0xD6E8FEB86659FD93)
    return (h ^ (h >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)


@search_kernel
def _settle(
    board: Any, words: Any, keys: Any, at: int, hi: np.uint64, lo: np.uint64
) -> tuple[np.uint64, np.uint64]:
    # Nothing constrains what is left: any domino on any tile in any direction. Take them all
    # out of the key, so that states which differ in nothing else become one.
    laid = np.uint64(0)
    for t in range(board.types):
        if not (keys[at, t // 64] >> np.uint64(t % 64)) & _ONE:
            continue
        copies = 1 + (extra_copies(board, keys, at, t) if board.copies[t] > 1 else 0)
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


@search_kernel
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


@search_kernel
def count_board(
    board: Any, forest: Forest, words: Any, arena: Any, index: Any, children: Any, moves: Any,
    node_limit: int, deadline_ns: int,
) -> Any:  # fmt: skip
    """Count the solutions of a board whose order, tilings and layout are in place.

    arena (rows, len(words) + 2) uint64 holds keys and counts, index (a power of two) uint32 finds
    them. Returns (code, hi, lo, states, nodes, peak rows, peak index slots, layers done).
    """
    width = len(words)
    layers = board.dominoes
    begin_with_root(board, forest, words, arena, children)
    # Not literals, for which Numba would compile a second time.
    code, here, states, nodes, peak, slots, layer = count_layers(
        board, forest, words, arena, index, children, moves, int(np.int64(1)), int(np.int64(0)),
        int(np.int64(0)), layers, len(arena), node_limit, deadline_ns,
    )  # fmt: skip
    states += 1
    if code != DONE or here == 0:
        return code, _ZERO, _ZERO, states, nodes, peak, slots, layer
    at = first_row(arena, here, layers % 2)
    hi, lo = arena[at, width], arena[at, width + 1]
    code = COUNT_TOO_LARGE if over_limit(hi, lo) else DONE
    return code, hi, lo, states, nodes, peak, slots, layers


@search_kernel
def begin_with_root(board: Any, forest: Forest, words: Any, arena: Any, children: Any) -> None:
    """Write the one state of the empty board into row 0 of the arena, with its count."""
    width = len(words)
    write_root(board, words, children, 0)
    hi, lo = _ZERO, _ONE
    if forest.nodes[0, FREE] == 0:
        hi, lo = _settle(board, words, children, 0, hi, lo)
    for i in range(width):
        arena[0, i] = children[0, i]
    arena[0, width] = hi
    arena[0, width + 1] = lo


@search_kernel
def first_row(arena: Any, here: int, side: int) -> int:
    """Find where `here` states begin that lie at the arena's start (side 0) or end (side 1)."""
    return 0 if side == 0 else len(arena) - here


@search_kernel
def count_layers(
    board: Any, forest: Forest, words: Any, arena: Any, index: Any, children: Any, moves: Any,
    here: int, side: int, first: int, last: int, rows_max: int, node_limit: int, deadline_ns: int,
) -> Any:  # fmt: skip
    """Carry the `here` states of layer `first`, which lie on `side` of the arena, on to `last`.

    Every layer changes sides. It ends early in a layer of no states, or of more than `rows_max`.
    Returns (code, states of the layer reached, states reached, nodes, peak rows, peak index slots,
    layers done).
    """
    width = len(words)
    capacity = len(arena)
    root = int(np.int64(0))
    states = 0
    nodes = 0
    peak = here
    peak_slots = SMALLEST_INDEX
    for layer in range(first, last):
        even = (layer - first + side) % 2 == 0
        there = 0
        slots = SMALLEST_INDEX
        while slots < 2 * here and slots < len(index):
            slots *= 2
        index[:slots] = EMPTY
        shift = np.uint64(64 - trailing_zeros(np.uint64(slots)))
        for s in range(here):
            if s % CLOCK_STRIDE == CLOCK_STRIDE - 1 and monotonic_ns(board.timespec) > deadline_ns:
                return OUT_OF_SECONDS, here, states, nodes, peak, peak_slots, layer
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
                return OUT_OF_NODES, here, states, nodes, peak, peak_slots, layer
            if slots >= PREFETCH_SLOTS:
                ask_ahead(words, arena, index, children, root, found, shift, even)
            for c in range(found):
                hi, lo = arena[at, width], arena[at, width + 1]
                if not settled:
                    child = node_of(board, children, c, layer + 1)
                    if forest.nodes[child, FREE] == 0:
                        hi, lo = _settle(board, words, children, c, hi, lo)
                mixed = hash_key(words, children, c)
                slot, row = find(words, arena, index, slots, mixed, shift, children, c, even)
                if row >= 0:
                    hi, lo = add(arena[row, width], arena[row, width + 1], hi, lo)
                    arena[row, width] = hi
                    arena[row, width + 1] = lo
                    continue
                if here + there >= capacity:
                    peak, peak_slots = max(peak, here + there), max(peak_slots, slots)
                    return OUT_OF_BYTES, here, states, nodes, peak, peak_slots, layer
                row = capacity - 1 - there if even else there
                for i in range(width):
                    arena[row, i] = children[c, i]
                arena[row, width] = hi
                arena[row, width + 1] = lo
                index[slot] = entry_of(mixed, there)
                there += 1
                states += 1
                if 2 * there > slots:
                    if 2 * slots <= len(index):
                        slots *= 2
                        shift -= _ONE
                        index_again(words, arena, index, slots, shift, there, even)
                    elif 8 * there > 7 * slots:
                        peak, peak_slots = max(peak, here + there), max(peak_slots, slots)
                        return OUT_OF_BYTES, here, states, nodes, peak, peak_slots, layer
        peak = max(peak, here + there)
        peak_slots = max(peak_slots, slots)
        here = there
        if here == 0:
            break
        if here > rows_max:
            return DONE, here, states, nodes, peak, peak_slots, layer + 1
    return DONE, here, states, nodes, peak, peak_slots, last


@inlined_kernel
def find(
    words: Any, arena: Any, index: Any, slots: int, mixed: np.uint64, shift: np.uint64,
    keys: Any, at: int, backwards: bool,
) -> tuple[int, int]:  # fmt: skip
    """Look a key up whose hash is `mixed`, among rows numbered from the arena's start or end.

    Returns its slot in the index and its row, or the slot that is free for it and -1.
    """
    tag = np.int64(mixed >> TAG_AT) & TAG_MASK
    slot = np.int64(mixed >> shift)
    row = np.int64(-1)
    while index[slot] != EMPTY:
        entry = np.int64(index[slot])
        if entry >> ROW_BITS == tag:
            known = entry & ROW_MASK
            row = len(arena) - 1 - known if backwards else known
            for i in range(len(words)):
                if arena[row, i] != keys[at, i]:
                    row = np.int64(-1)
                    break
            if row >= 0:
                break
        slot = (slot + 1) & (slots - 1)
    return slot, row


@inlined_kernel
def entry_of(mixed: np.uint64, number: int) -> np.uint32:
    """Make what the index holds for the row of this number, whose key has the hash `mixed`."""
    tag = np.int64(mixed >> TAG_AT) & TAG_MASK
    return np.uint32((tag << ROW_BITS) | number)


@search_kernel
def ask_ahead(
    words: Any, arena: Any, index: Any, keys: Any, start: int, stop: int, shift: np.uint64,
    backwards: bool,
) -> None:  # fmt: skip
    """Ask for the memory in which keys `start` to `stop` - 1 will be looked up.

    A large index misses the cache nearly every time: with all lines asked for before the first is
    needed, the memory works on many at once.
    """
    for c in range(start, stop):
        prefetch(index, np.int64(hash_key(words, keys, c) >> shift))
    width = arena.shape[1]
    for c in range(start, stop):
        mixed = hash_key(words, keys, c)
        entry = np.int64(index[np.int64(mixed >> shift)])
        if entry != EMPTY and entry >> ROW_BITS == np.int64(mixed >> TAG_AT) & TAG_MASK:
            known = entry & ROW_MASK
            prefetch(arena, (len(arena) - 1 - known if backwards else known) * width)


@search_kernel
def index_again(
    words: Any, arena: Any, index: Any, slots: int, shift: np.uint64, there: int, backwards: bool
) -> None:
    """Make an index of so many slots over rows numbered from the arena's start or end."""
    index[:slots] = EMPTY
    for known in range(there):
        row = len(arena) - 1 - known if backwards else known
        mixed = hash_key(words, arena, row)
        slot = np.int64(mixed >> shift)
        while index[slot] != EMPTY:
            slot = (slot + 1) & (slots - 1)
        index[slot] = entry_of(mixed, known)
