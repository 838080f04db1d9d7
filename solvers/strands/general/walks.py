"""Walk words over a board, all paths of one beginning at once.

A word may go round blocks in thousands of ways over the same cells (article 000, Theorem 20). Words
are therefore walked letter by letter from each cell, and walks that stand on the same cell, have
used the same cells (and diagonals, where words must not cross) and spell beginnings of the same
words are one walk from then on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nightgrid.solvers.kernel.compiling import I32, I64, Int, kernel
from nightgrid.solvers.kernel.machine import ONE, is_stopped, popcount
from nightgrid.solvers.lexicon.lexicon import Trie
from nightgrid.solvers.strands.pieces.words import NO_LETTER, STOP_STRIDE, Grid

WALKED, TOO_MANY_WALKS = range(2)
NODE, AT, DIAGONALS, HEAD = range(4)
"""A walk: node of the trie, cell, number of diagonals; then its cells and diagonals, ascending."""
Walk = I32

_MIX = np.uint64(0x9E3779B97F4A7C15)


class WalkSpace(NamedTuple):
    """Arrays to work in and to write to."""

    walks: I32
    """int32[2, numbers]: the walks of one length and the next."""
    offsets: I64
    """int64[2, walks + 1]: where each begins."""
    slots: I64
    """int64[power of two], zeros: finds equal walks. Not nightgrid.solvers.kernel.hash_table: an
    entry says which length it belongs to, so that the slots need not be emptied for each cell and
    length."""
    out: I32
    """The words found, each as word, number of cells and of blocks, cells, blocks."""
    starts: I64
    """Where each of them begins."""


class WalkStep(NamedTuple):
    """The step that a walk takes, and how the board is made."""

    node: Int
    to: Int
    columns: int
    crossing: bool
    """Whether words may cross: then diagonals are not kept."""


@kernel
def _holds(walk: Walk, at: Int, size: Int, cell: Int) -> bool:
    low, high = at, at + size
    while low < high:
        middle = (low + high) >> 1
        if walk[middle] < cell:
            low = middle + 1
        else:
            high = middle
    return bool(low < at + size and walk[low] == cell)


@kernel
def _write_step(walk: Walk, at: Int, size: Int, step: WalkStep, out: Walk, start: Int) -> Int:
    """Write the walk at `walk[at:]`, of `size` cells, with one more cell; return its end."""
    to, columns = step.to, step.columns
    out[start + NODE] = step.node
    out[start + AT] = to
    o = start + HEAD
    placed = False
    for i in range(at + HEAD, at + HEAD + size):
        if not placed and walk[i] > to:
            out[o] = to
            o += 1
            placed = True
        out[o] = walk[i]
        o += 1
    if not placed:
        out[o] = to
        o += 1
    kept = 0
    if not step.crossing:
        own, cells = start + HEAD, size + 1
        a, b = min(walk[at + AT], to), max(walk[at + AT], to)
        new = -1
        if a // columns != b // columns and a % columns != b % columns:
            new = 2 * b if b % columns > a % columns else 2 * (b + 1) + 1
        before = at + HEAD + size
        for i in range(walk[at + DIAGONALS] + 1):
            # Kept in order: the new one goes where it belongs.
            last = i == walk[at + DIAGONALS]
            if new >= 0 and (last or walk[before + i] > new):
                if _open(out, own, cells, new, columns):
                    out[o + kept] = new
                    kept += 1
                new = -1
            if not last and _open(out, own, cells, walk[before + i], columns):
                out[o + kept] = walk[before + i]
                kept += 1
    out[start + DIAGONALS] = kept
    return o + kept


@kernel
def _open(walk: Walk, at: Int, size: Int, diagonal: Int, columns: Int) -> bool:
    """Return whether neither of the two other cells of a diagonal's block is on a walk."""
    corner, rising = diagonal >> 1, diagonal & 1
    if rising:
        one, other = corner, corner - columns - 1
    else:
        one, other = corner - 1, corner - columns
    return not _holds(walk, at, size, one) and not _holds(walk, at, size, other)


@kernel
def walk_words(
    trie: Trie, grid: Grid, min_letters: Int, crossing: bool, space: WalkSpace, steps_max: Int
) -> tuple[Int, Int]:
    """Write every word with every set of cells (and diagonals) as (word, cells, blocks, ...).

    Returns (WALKED or TOO_MANY_WALKS, rows written); one word on the same cells may be written
    repeatedly.
    """
    node_children, node_first, node_word = trie.children, trie.first, trie.word
    board, near, columns = grid.letters, grid.near, grid.columns
    walks, offsets, slots = space.walks, space.offsets, space.slots
    out, starts = space.out, space.starts
    found, room = 0, 0
    steps = 0
    last_slot = len(slots) - 1
    stamp = np.int64(0)
    for start in range(len(board)):
        letter = np.uint64(board[start])
        if board[start] == NO_LETTER or not (node_children[0] >> letter) & ONE:
            continue
        now, count, size = 0, 1, 1
        walk = walks[0]
        walk[NODE] = node_first[0] + popcount(node_children[0] & ((ONE << letter) - ONE))
        walk[AT], walk[DIAGONALS], walk[HEAD] = start, 0, start
        offsets[0, 0] = 0
        while count:
            after = 1 - now
            walk, longer = walks[now], walks[after]
            made = 0
            end: Int = np.int64(0)
            stamp += 1
            for w in range(count):
                at = offsets[now, w]
                node = walk[at + NODE]
                if node_word[node] >= 0 and size >= min_letters:
                    blocks = walk[at + DIAGONALS]
                    if found + 1 >= len(starts) or room + 3 + size + blocks > len(out):
                        return TOO_MANY_WALKS, found
                    starts[found] = room
                    out[room], out[room + 1], out[room + 2] = node_word[node], size, blocks
                    room += 3
                    for i in range(size + blocks):
                        number = walk[at + HEAD + i]
                        out[room + i] = number if i < size else number >> 1
                    room += size + blocks
                    found += 1
                children = node_children[node]
                if children == np.uint64(0):
                    continue
                cell = walk[at + AT]
                for turn in range(8):
                    to = near[cell, turn]
                    if to < 0:
                        break
                    if board[to] == NO_LETTER or not (children >> np.uint64(board[to])) & ONE:
                        continue
                    if _holds(walk, at + HEAD, size, to):
                        continue
                    steps += 1
                    if (
                        steps > steps_max
                        or (steps % STOP_STRIDE == 0 and is_stopped(grid.stop))
                        or end + HEAD + 2 * size + 2 > len(longer)
                        or made + 1 >= offsets.shape[1]
                    ):
                        return TOO_MANY_WALKS, found
                    letter = np.uint64(board[to])
                    child = node_first[node] + popcount(children & ((ONE << letter) - ONE))
                    step = WalkStep(child, to, columns, crossing)
                    stop = _write_step(walk, at, size, step, longer, end)
                    h = np.uint64(0)
                    for i in range(end, stop):
                        h = (h ^ np.uint64(longer[i])) * _MIX
                        h ^= h >> np.uint64(29)
                    slot = np.int64(h & np.uint64(last_slot))
                    same = False
                    # A slot holds the number of a layer and of a walk in it.
                    while slots[slot] >> 22 == stamp:
                        other = offsets[after, slots[slot] & 0x3FFFFF]
                        i = 0
                        while i < stop - end and longer[other + i] == longer[end + i]:
                            i += 1
                        if i == stop - end:
                            same = True
                            break
                        slot = (slot + 1) & last_slot
                    if not same:
                        slots[slot] = (stamp << 22) | made
                        offsets[after, made] = end
                        made += 1
                        end = stop
            now, count = after, made
            size += 1
    return WALKED, found
