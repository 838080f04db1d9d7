"""Which moves could clear a board in any order: a sharper bound, by search.

A walk pairs the tiles of each feature: two tiles are a pair of the feature if a move between them
deletes it. The moves of the walk are the edges of a graph on the tiles, an edge for each two tiles
that are a pair of anything. A component of that graph in which every tile has an even number of
edges takes one visit more than its tiles need (the walk has to start there and end there), and a
matching cannot tell whether such components can be avoided. The search decides feature by feature
which tiles are paired; a decided pair becomes a feature of its own, so that every step of the
search is a board again and has the bound of one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nightgrid.solvers.kernel.codes import KERNEL_CODES, OUT_OF_NODES, OUT_OF_SECONDS
from nightgrid.solvers.kernel.compiling import I64, U64, Int, search_kernel
from nightgrid.solvers.kernel.machine import ONE, is_late
from nightgrid.solvers.tiles.fewest_moves.bound import moves_left

POSSIBLE, IMPOSSIBLE = range(KERNEL_CODES, KERNEL_CODES + 2)

_SIX = np.uint64(6)
_LOW = np.uint64(63)


class PlanBoard(NamedTuple):
    """A board in which pairs of tiles become features of their own."""

    alive: U64
    """uint64[tiles, words]: the features left of each tile, with room for one more a pair."""
    left: I64
    """int64[tiles]: their number."""
    single: U64
    """uint64[words]: the features that exactly two tiles have. Zeros before a search."""
    role: I64
    mate: I64
    space: I64
    """int64[tiles], int64[tiles], int64[5, tiles]: scratch of the bound, and its matching."""
    clock: I64
    """See nightgrid.solvers.kernel.machine."""


class PlanStack(NamedTuple):
    """Arrays with a row for each depth, two more than there are pairs."""

    chosen: I64
    """int64[depth, 3]: a tile, its feature, and its partner."""
    child: I64
    """int64[depth, tiles]: its possible partners."""
    counter: I64
    """int64[depth, 2]: how many of them were tried, and how many there are."""


class PlanTry(NamedTuple):
    """Limits of one search."""

    limit: int
    """Most visits of a plan."""
    one_trail: bool
    """Whether the moves must form a single trail, without a teleport."""
    most_nodes: int
    """Most nodes of all searches together."""
    deadline_ns: int
    """On the monotonic clock."""


@search_kernel
def _rename(alive: U64, a: Int, b: Int, old: Int, new: Int) -> None:
    """Turn a feature of two tiles into another that neither has."""
    for bit in (np.uint64(old), np.uint64(new)):
        alive[a, bit >> _SIX] ^= ONE << (bit & _LOW)
        alive[b, bit >> _SIX] ^= ONE << (bit & _LOW)


@search_kernel
def _holders(alive: U64, feature: Int) -> Int:
    word, bit = feature >> 6, ONE << (np.uint64(feature) & _LOW)
    count = 0
    for t in range(alive.shape[0]):
        if alive[t, word] & bit:
            count += 1
    return count


@search_kernel
def _settled(alive: U64, left: I64, single: U64, space: I64) -> tuple[Int, Int, Int]:
    """Count the fully decided components, those of them in which every tile has an even number of
    edges, and the tiles with an odd number that is decided.

    `single` marks the features that exactly two tiles have: pairs.
    """
    label, stack = space[0], space[1]
    tiles, words = alive.shape
    for t in range(tiles):
        label[t] = 0
    settled = even = odd = 0
    for root in range(tiles):
        if label[root] or left[root] == 0:
            continue
        label[root] = 1
        stack[0] = root
        height = 1
        whole = all_even = True
        while height:
            height -= 1
            t = stack[height]
            decided = True
            for w in range(words):
                if alive[t, w] & ~single[w]:
                    decided = False
            edges = 0
            for u in range(tiles):
                if u == t:
                    continue
                joined = False
                for w in range(words):
                    if alive[t, w] & alive[u, w] & single[w]:
                        joined = True
                if joined:
                    edges += 1
                    if not label[u]:
                        label[u] = 1
                        stack[height] = u
                        height += 1
            if edges & 1:
                all_even = False
                odd += decided
            whole = whole and decided
        if whole:
            settled += 1
            even += all_even
    return settled, even, odd


@search_kernel
def _fits(board: PlanBoard, limit: Int, one_trail: bool) -> bool:
    """Return whether a plan may still have at most `limit` visits, and be one trail if required."""
    alive, left, single, role, mate, space, _ = board
    visits, odd, _ = moves_left(alive, left, -1, role, mate, space)
    if visits > limit or (one_trail and odd > 2):
        return False
    settled, even, odd = _settled(alive, left, single, space)
    if one_trail and (odd > 2 or settled > 1 or (settled and _open_tiles(alive, single))):
        return False
    return bool(visits + even <= limit)


@search_kernel
def _open_tiles(alive: U64, single: U64) -> bool:
    for t in range(alive.shape[0]):
        for w in range(alive.shape[1]):
            if alive[t, w] & ~single[w]:
                return True
    return False


@search_kernel
def can_be_planned(
    board: PlanBoard, features: Int, trial: PlanTry, stack: PlanStack, cost: I64
) -> Int:
    """Return whether moves exist that clear the board with at most `limit` visits, in any order.

    The board has `features` features; `alive` is as before when the search ends. `cost`: int64[2],
    nodes so far first.
    """
    alive, single, space, clock = board.alive, board.single, board.space, board.clock
    chosen, child, counter = stack
    tiles = alive.shape[0]
    depth = 0
    ending = -1
    opening = True
    fresh = features
    for f in range(features):
        if _holders(alive, f) == 2:
            single[f >> 6] |= ONE << (np.uint64(f) & _LOW)
    if not _fits(board, trial.limit, trial.one_trail):
        return IMPOSSIBLE
    while True:
        if opening:
            opening = False
            # The slot with the fewest possible partners.
            fewest = tiles + 1
            counter[depth, 0] = counter[depth, 1] = 0
            open_features = False
            for f in range(features):
                word, bit = f >> 6, ONE << (np.uint64(f) & _LOW)
                if single[word] & bit or fewest < 2 or ending >= 0:
                    continue
                if _holders(alive, f) == 0:
                    continue
                open_features = True
                for t in range(tiles):
                    if not alive[t, word] & bit or fewest < 2 or ending >= 0:
                        continue
                    n = 0
                    for u in range(tiles):
                        if u == t or not alive[u, word] & bit:
                            continue
                        cost[0] += 1
                        if cost[0] > trial.most_nodes:
                            ending = OUT_OF_NODES
                        elif is_late(clock, trial.deadline_ns):
                            ending = OUT_OF_SECONDS
                        if ending >= 0:
                            break
                        if _pair_fits(t, u, f, fresh, trial, board):
                            space[4, n] = u
                            n += 1
                            if n >= fewest:
                                break
                    if n < fewest:
                        fewest = n
                        chosen[depth, 0] = t
                        chosen[depth, 1] = f
                        for i in range(n):
                            child[depth, i] = space[4, i]
                        counter[depth, 1] = n
            if ending < 0 and not open_features:
                ending = POSSIBLE
        if ending >= 0 or counter[depth, 0] == counter[depth, 1]:
            if depth == 0:
                return IMPOSSIBLE if ending < 0 else ending
            depth -= 1
            fresh -= 1
            _set_single(alive, single, chosen[depth, 1], fresh, False)
            _rename(alive, chosen[depth, 0], chosen[depth, 2], fresh, chosen[depth, 1])
            continue
        u = child[depth, counter[depth, 0]]
        counter[depth, 0] += 1
        chosen[depth, 2] = u
        _rename(alive, chosen[depth, 0], u, chosen[depth, 1], fresh)
        _set_single(alive, single, chosen[depth, 1], fresh, True)
        fresh += 1
        depth += 1
        opening = True


@search_kernel
def _set_single(alive: U64, single: U64, old: Int, new: Int, to: bool) -> None:
    """Update `single` after a feature became a pair, or before that is undone."""
    word, bit = old >> 6, ONE << (np.uint64(old) & _LOW)
    if to:
        if _holders(alive, old) == 2:
            single[word] |= bit
        single[new >> 6] |= ONE << (np.uint64(new) & _LOW)
    else:
        single[word] &= ~bit
        single[new >> 6] &= ~(ONE << (np.uint64(new) & _LOW))


@search_kernel
def _pair_fits(a: Int, b: Int, feature: Int, fresh: Int, trial: PlanTry, board: PlanBoard) -> bool:
    alive, single = board.alive, board.single
    _rename(alive, a, b, feature, fresh)
    _set_single(alive, single, feature, fresh, True)
    fits = _fits(board, trial.limit, trial.one_trail)
    _set_single(alive, single, feature, fresh, False)
    _rename(alive, a, b, fresh, feature)
    return fits
