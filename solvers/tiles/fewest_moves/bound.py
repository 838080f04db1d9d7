"""How many moves a position still takes at least: the visits that its tiles need.

A walk visits each tile some number of times, and its moves are its visits less one. A tile on which
d standard moves begin or end has at least half as many visits, rounded up: each visit serves one
move in and one out. On the tile that the player stands on, the move out is served by the visit that
has begun, so that half of d, rounded down, is still to come. What is left of a tile is taken in d
portions, at most one for each feature; to need a visit less, a tile of three features takes two of
them at once, and which tiles can is a question of matching
(`nightgrid.solvers.tiles.fewest_moves.matching`). A tile of four features or more is looked at by
itself: which portions could its neighbours share with it?
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.kernel.bits import popcount
from nightgrid.solvers.kernel.compiling import Int, search_kernel
from nightgrid.solvers.tiles.fewest_moves.matching import HELPER, NO, SAVED, cover, shared

WIDE = 4
"""Features of a tile that one matching does not describe: it may share portions with several."""


@search_kernel
def moves_left(
    alive: npt.NDArray[np.uint64],
    left: npt.NDArray[np.int64],
    now: Int,
    role: npt.NDArray[np.int64],
    mate: npt.NDArray[np.int64],
    space: npt.NDArray[np.int64],
) -> tuple[Int, Int, Int]:
    """Bound the moves that clear a position on tile `now` (-1: before the walk begins, where the
    first selection counts as one), and the other tiles on which an odd number of moves will end.

    alive: uint64[tiles, words], features left; left: their number. `mate` is a matching of an
    earlier position, and is repaired; role and space are scratch. Returns (moves, odd tiles,
    visits if no portion were ever larger than one feature).
    """
    tiles = len(left)
    visits = odd = wide = saved = 0
    for t in range(tiles):
        r = left[t]
        role[t] = NO
        if r >= WIDE:
            wide += 1
        if t == now:
            visits += r >> 1
            if r == 2:
                role[t] = SAVED
            elif r == 3:
                role[t] = HELPER
                for u in range(tiles):
                    if u != t and shared(alive, t, u) == 3:
                        role[t] = SAVED
                        break
        else:
            visits += (r + 1) >> 1
            if r == 1:
                odd += 1
            elif r == 2:
                role[t] = HELPER
            elif r == 3:
                role[t] = SAVED
                saved += 1
    least: Int = visits
    if wide:
        for t in range(tiles):
            r = left[t]
            if r < WIDE:
                continue
            role[t] = NO
            portions = _portions(alive, left, t, space[0])
            least -= (
                (r >> 1) - (portions >> 1) if t == now else ((r + 1) >> 1) - ((portions + 1) >> 1)
            )
            for u in range(tiles):
                if role[u] == SAVED and u != t and shared(alive, t, u) > 1:
                    # It may be saved by the wide tile, and save another itself all the same.
                    least -= 1
                    role[u] = HELPER
                    if u != now:
                        saved -= 1
    for t in range(tiles):
        m = mate[t]
        if m >= 0 and (role[t] == NO or role[m] == NO or shared(alive, t, m) < 2):
            mate[t] = -1
            mate[m] = -1
    covered = cover(alive, role, mate, space)
    least -= covered
    return least, odd + max(0, saved - covered), visits


@search_kernel
def _portions(
    alive: npt.NDArray[np.uint64], left: npt.NDArray[np.int64], t: Int, near: npt.NDArray[np.int64]
) -> Int:
    """Bound the portions in which the features of a tile are taken, each shared with one other.

    Exact up to two portions; beyond, portions are counted as if none overlapped.
    """
    words = alive.shape[1]
    rest = left[t]
    n = 0
    for u in range(len(left)):
        if u == t or left[u] < 2:
            continue
        size = shared(alive, t, u)
        if size == rest:
            return 1
        if size < 2:
            continue
        # The largest first.
        k = n
        while k > 0 and shared(alive, t, near[k - 1]) < size:
            near[k] = near[k - 1]
            k -= 1
        near[k] = u
        n += 1
    if n and shared(alive, t, near[0]) == rest - 1:
        return 2
    for i in range(n):
        for j in range(i):
            whole = True
            for w in range(words):
                if alive[t, w] & ~(alive[near[i], w] | alive[near[j], w]):
                    whole = False
            if whole:
                return 2
    portions = 0
    for i in range(n):
        rest -= shared(alive, t, near[i])
        portions += 1
        if rest <= 0:
            return max(portions, 3)
    return max(portions + rest, 3)


@search_kernel
def connected(
    alive: npt.NDArray[np.uint64],
    left: npt.NDArray[np.int64],
    now: Int,
    reach: npt.NDArray[np.uint64],
) -> bool:
    """Tell whether all that is left hangs together with tile `now`; reach: uint64[words]."""
    tiles, words = alive.shape
    for w in range(words):
        reach[w] = alive[now, w]
    rest = 0
    for t in range(tiles):
        rest += left[t] > 0
    grown = True
    while grown:
        grown = False
        seen = 0
        for t in range(tiles):
            if left[t] == 0:
                continue
            meets = False
            for w in range(words):
                if alive[t, w] & reach[w]:
                    meets = True
            if not meets:
                continue
            seen += 1
            for w in range(words):
                if alive[t, w] & ~reach[w]:
                    reach[w] |= alive[t, w]
                    grown = True
        if seen == rest:
            return True
    return False


@search_kernel
def take(
    alive: npt.NDArray[np.uint64],
    left: npt.NDArray[np.int64],
    a: Int,
    b: Int,
    common: npt.NDArray[np.uint64],
) -> Int:
    """Delete what two tiles share; write it into `common` (uint64[words]) and count it."""
    count = 0
    for w in range(alive.shape[1]):
        both = alive[a, w] & alive[b, w]
        common[w] = both
        alive[a, w] ^= both
        alive[b, w] ^= both
        count += popcount(both)
    left[a] -= count
    left[b] -= count
    return count


@search_kernel
def put_back(
    alive: npt.NDArray[np.uint64],
    left: npt.NDArray[np.int64],
    a: Int,
    b: Int,
    common: npt.NDArray[np.uint64],
) -> Int:
    """Undo what `take` did."""
    count = 0
    for w in range(alive.shape[1]):
        alive[a, w] ^= common[w]
        alive[b, w] ^= common[w]
        count += popcount(common[w])
    left[a] += count
    left[b] += count
    return count
