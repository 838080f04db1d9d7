"""Clear a board in a single combo: the greedy walk of article 000, Theorem 4.

From the current tile to any tile that shares a feature with it; when nothing is left on the current
tile, a forced teleport to any tile that has something left. By parity the walk is stuck nowhere
else. What takes care is the time: a move deletes all that two tiles share, so the two have to be
compared. The features of the one with fewer left are looked up on the other. Two tiles are compared
at most once in the whole walk (after that they share nothing), so that the time is linear in the
size of the board where the features of a tile are bounded, and at most size^1.5 (times the
logarithm of a lookup) whatever the board. Memory is linear.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.kernel.compiling import I32, I64, Bools, Int, inlined_kernel, search_kernel
from nightgrid.solvers.tiles.model import Model
from nightgrid.solvers.tiles.solution import Walk


def combo(model: Model) -> tuple[Walk, int]:
    """Build a walk of standard moves and forced teleports; return it and the memory it took.

    The board has to be solvable.
    """
    tiles, size = model.tile_count, len(model.feature)
    feature = model.feature.copy()
    dead = np.zeros(size, np.bool_)
    listed = np.diff(model.start).astype(np.int32)
    left = listed.copy()
    cursor = model.feature_start[:-1].copy()
    # At least one feature leaves two tiles with every standard move, and a teleport is for good.
    walk = np.empty(size // 2 + tiles + 1, np.int32)
    teleport = np.zeros(len(walk), np.bool_)
    used = int(clear(model, Remaining(feature, listed, left, dead, cursor), walk, teleport))
    arrays: tuple[npt.NDArray[np.generic], ...] = (
        feature, dead, listed, left, cursor, walk, teleport
    )  # fmt: skip
    found = Walk(
        tiles=tuple(walk[:used].tolist()),
        teleports=tuple(np.flatnonzero(teleport[:used]).tolist()),
    )
    return found, model.bytes + sum(array.nbytes for array in arrays)


@inlined_kernel
def _place(feature: I32, low: Int, high: Int, wanted: Int) -> Int:
    """Find a feature in an ascending list, or -1."""
    end = high
    while low < high:
        middle = (low + high) >> 1
        if feature[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < end and feature[low] == wanted else -1


class Remaining(NamedTuple):
    """What is left of a board."""

    feature: I32
    """As in the model; the features left of each tile are moved to its front."""
    listed: I32
    """int32[tiles]: tile t lists feature[start[t]:start[t] + listed[t]]."""
    left: I32
    """int32[tiles]: how many of them are not dead."""
    dead: Bools
    """bool, for each that is listed: whether it was deleted."""
    cursor: I64
    """int64[features]: a holder of each feature before which no tile has it any more."""


@search_kernel
def clear(model: Model, remaining: Remaining, walk: I32, teleport: Bools) -> Int:
    """Walk until the board is clear; return the number of selections.

    Writes the tiles to `walk`, and to `teleport` (False everywhere) which of them are jumped to.
    """
    start, holder = model.start, model.holder
    feature, listed, left = remaining.feature, remaining.listed, remaining.left
    dead, cursor = remaining.dead, remaining.cursor
    tiles = len(start) - 1
    rest = 0
    for t in range(tiles):
        rest += left[t]
    first = 0
    while first < tiles - 1 and left[first] == 0:
        first += 1
    now = first if left[first] else 0
    walk[0] = now
    used = 1
    while rest:
        if left[now] == 0:
            while left[first] == 0:
                first += 1
            now = first
            walk[used] = now
            teleport[used] = True
            used += 1
            continue
        last = start[now] + listed[now] - 1
        while dead[last]:
            last -= 1
        listed[now] = last + 1 - start[now]
        wanted = feature[last]
        at = cursor[wanted]
        while not _has(model, remaining, holder[at], wanted):
            at += 1
        cursor[wanted] = at
        if holder[at] == now:
            at += 1
            while not _has(model, remaining, holder[at], wanted):
                at += 1
        other = holder[at]
        few, many = (now, other) if left[now] < left[other] else (other, now)
        kept = begin = start[few]
        for i in range(begin, begin + listed[few]):
            if dead[i]:
                continue
            low = start[many]
            place = _place(feature, low, low + listed[many], feature[i])
            if place >= 0 and not dead[place]:
                dead[place] = True
                left[many] -= 1
                rest -= 2
            else:
                feature[kept] = feature[i]
                dead[kept] = False
                kept += 1
        listed[few] = left[few] = kept - begin
        now = other
        walk[used] = now
        used += 1
    return used


@inlined_kernel
def _has(model: Model, remaining: Remaining, tile: Int, wanted: Int) -> bool:
    start = model.start[tile]
    place = _place(remaining.feature, start, start + remaining.listed[tile], wanted)
    return bool(place >= 0 and not remaining.dead[place])
