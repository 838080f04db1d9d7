"""A lower bound on the moves that a position still needs: the visits of its tiles.

A walk visits each tile some number of times, and its moves are its visits less one. A tile on which
d standard moves begin or end has at least half as many visits, rounded up: each visit serves one
move in and one out. On the player's current tile, the ongoing visit serves the move out, so half of
d, rounded down, is still to come. The remaining features of a tile are taken in d portions of at
least one feature; to save a visit, a tile of three features takes two of them at once. Tiles of
four features or more are examined one by one: which portions could their neighbours share with
them?

Which tiles of three features can take two at once is a question of matching. Each visit of a tile
serves at most two standard moves, the one in and the one out, and each of them takes at least one
feature. A tile of three features that is visited once therefore has a move that takes two or three,
and on each of the two tiles at most one such move fits; so the tiles that save a visit can be
matched with one another. Edmonds' blossom algorithm covers as many as any matching; covered sets
are the independent sets of a matroid, so adding one tile after the other is optimal.
"""

from __future__ import annotations

from nightgrid.solvers.kernel.compiling import I64, U64, Int, inlined_kernel, search_kernel
from nightgrid.solvers.kernel.machine import popcount

NO, HELPER, SAVED = 0, 1, 2
"""Role of a tile in the matching: excluded, only a partner, or worth covering."""
WIDE = 4
"""From this many features on, a tile may share portions with several, which a matching cannot
express."""


@inlined_kernel
def shared(alive: U64, a: Int, b: Int) -> Int:
    """Count the features left on both of two tiles."""
    count = 0
    for w in range(alive.shape[1]):
        count += popcount(alive[a, w] & alive[b, w])
    return count


@search_kernel
def cover(alive: U64, role: I64, mate: I64, space: I64) -> Int:
    """Extend a matching until it covers as many SAVED tiles as any; return how many.

    Two tiles that are not NO may be matched if they share two features. `mate` (int64, -1 for none)
    is a valid matching before and after; covered tiles stay covered. `space` is int64[4, tiles].
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
def _grow(alive: U64, role: I64, mate: I64, space: I64, root: Int) -> None:
    """Search alternating paths from an exposed tile; cover it if that uncovers no SAVED tile."""
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
def _flip(mate: I64, parent: I64, last: Int) -> None:
    v = last
    while v >= 0:
        before = parent[v]
        following = mate[before]
        mate[v] = before
        mate[before] = v
        v = following


@search_kernel
def _common_base(mate: I64, parent: I64, base: I64, mark: I64, a: Int, b: Int) -> Int:
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
def _mark_path(mate: I64, parent: I64, base: I64, mark: I64, v: Int, top: Int, child: Int) -> None:
    while base[v] != top:
        mark[base[v]] |= 4
        mark[base[mate[v]]] |= 4
        parent[v] = child
        child = mate[v]
        v = parent[mate[v]]


@search_kernel
def moves_left(
    alive: U64, left: I64, now: Int, role: I64, mate: I64, space: I64
) -> tuple[Int, Int, Int]:
    """Bound the moves that clear a position on tile `now` (-1: before the walk begins, where the
    first selection counts as one), and the other tiles on which an odd number of moves will end.

    alive: uint64[tiles, words], features left; left: their number. `mate` is a matching of an
    earlier position, and is repaired; role and space are scratch. Returns (moves, odd tiles, visits
    if every portion were one feature).
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
                    # The wide tile may save it and still save another.
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
def _portions(alive: U64, left: I64, t: Int, near: I64) -> Int:
    """Bound the portions in which the features of a tile are taken, each shared with one other.

    Exact up to two portions; beyond that, portions are counted as if none overlapped.
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
def connected(alive: U64, left: I64, now: Int, reach: U64) -> bool:
    """Return whether everything left is connected to tile `now`; reach: uint64[words]."""
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
def take(alive: U64, left: I64, a: Int, b: Int, common: U64) -> Int:
    """Delete the common features of two tiles; count them, and write them into `common`."""
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
def put_back(alive: U64, left: I64, a: Int, b: Int, common: U64) -> Int:
    """Undo what `take` did."""
    count = 0
    for w in range(alive.shape[1]):
        alive[a, w] ^= common[w]
        alive[b, w] ^= common[w]
        count += popcount(common[w])
    left[a] += count
    left[b] += count
    return count
