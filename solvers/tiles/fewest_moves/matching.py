"""Which tiles can do with fewer visits: a matching among tiles that share two features or more.

Each visit of a tile serves at most two standard moves, the one in and the one out, and each of them
takes at least one feature. A tile of three features that is visited once therefore has a move that
takes two or three, and on each of the two tiles at most one such move fits; so the tiles that are
saved a visit can be matched with one another. The most that any matching covers is found by
Edmonds' blossom algorithm; covered sets are the independent sets of a matroid, so that taking
in one tile after the other is best.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.kernel.bits import popcount
from nightgrid.solvers.kernel.compiling import Int, inlined_kernel, search_kernel

NO, HELPER, SAVED = 0, 1, 2
"""What a tile is in the matching: out of it, a partner only, or one that it pays to cover."""


Tiles = npt.NDArray[np.int64]


@inlined_kernel
def shared(alive: npt.NDArray[np.uint64], a: Int, b: Int) -> Int:
    """Count the features left on both of two tiles."""
    count = 0
    for w in range(alive.shape[1]):
        count += popcount(alive[a, w] & alive[b, w])
    return count


@search_kernel
def cover(
    alive: npt.NDArray[np.uint64],
    role: Tiles,
    mate: Tiles,
    space: Tiles,
) -> Int:
    """Extend a matching until it covers as many SAVED tiles as any; return how many.

    Two tiles that are not NO may be matched if they share two features. `mate` (int64, -1 for none)
    is a valid matching before and after; what it covers stays covered. `space` is int64[4, tiles].
    """
    tiles = len(mate)
    covered = 0
    for v in range(tiles):
        if role[v] == SAVED:
            if mate[v] < 0:
                _grow(alive, role, mate, space, v)
            if mate[v] >= 0:
                covered += 1
    return covered


@search_kernel
def _grow(
    alive: npt.NDArray[np.uint64],
    role: Tiles,
    mate: Tiles,
    space: Tiles,
    root: Int,
) -> None:
    """Search alternating paths from an exposed tile; cover it if that costs no SAVED tile."""
    parent, base, queue, mark = space[0], space[1], space[2], space[3]
    tiles = len(mate)
    for v in range(tiles):
        parent[v] = -1
        base[v] = v
        mark[v] = 0
    # Bit 0 of a mark: outer, in the queue. Bits 1 and 2 belong to the contraction of a blossom.
    mark[root] = 1
    queue[0] = root
    head, tail = 0, 1
    swap = -1
    while head < tail:
        v = queue[head]
        head += 1
        for to in range(tiles):
            if role[to] == NO or base[v] == base[to] or mate[v] == to or to == v:
                continue
            if shared(alive, v, to) < 2:
                continue
            if to == root or (mate[to] >= 0 and parent[mate[to]] >= 0):
                top = _common_base(mate, parent, base, mark, v, to)
                for i in range(tiles):
                    mark[i] &= 1
                _mark_path(mate, parent, base, mark, v, top, to)
                _mark_path(mate, parent, base, mark, to, top, v)
                for i in range(tiles):
                    if mark[base[i]] & 4:
                        base[i] = top
                        if not mark[i] & 1:
                            mark[i] |= 1
                            queue[tail] = i
                            tail += 1
                            if role[i] == HELPER:
                                swap = i
            elif parent[to] < 0:
                parent[to] = v
                if mate[to] < 0:
                    _flip(mate, parent, to)
                    return
                outer = mate[to]
                mark[outer] |= 1
                queue[tail] = outer
                tail += 1
                if role[outer] == HELPER:
                    swap = outer
    if swap >= 0:
        inner = mate[swap]
        mate[swap] = -1
        _flip(mate, parent, inner)


@inlined_kernel
def _flip(mate: Tiles, parent: Tiles, last: Int) -> None:
    v = last
    while v >= 0:
        before = parent[v]
        following = mate[before]
        mate[v] = before
        mate[before] = v
        v = following


@search_kernel
def _common_base(
    mate: Tiles,
    parent: Tiles,
    base: Tiles,
    mark: Tiles,
    a: Int,
    b: Int,
) -> Int:
    for i in range(len(mark)):
        mark[i] &= 1
    while True:
        a = base[a]
        mark[a] |= 2
        if mate[a] < 0:
            break
        a = parent[mate[a]]
    while True:
        b = base[b]
        if mark[b] & 2:
            return b
        b = parent[mate[b]]


@search_kernel
def _mark_path(
    mate: Tiles, parent: Tiles, base: Tiles, mark: Tiles, v: Int, top: Int, child: Int
) -> None:
    while base[v] != top:
        mark[base[v]] |= 4
        mark[base[mate[v]]] |= 4
        parent[v] = child
        child = mate[v]
        v = parent[mate[v]]
