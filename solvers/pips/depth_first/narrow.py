"""Propagate a placement: remove pips and tiles that no solution of a level has."""

from __future__ import annotations

from nightgrid.solvers.kernel.compiling import Int, search_kernel
from nightgrid.solvers.pips.depth_first.levels import Levels, size_of
from nightgrid.solvers.pips.layers.board import EMPTY, EQUALS, UNEQUAL, Board


@search_kernel
def narrow_regions(board: Board, s: Levels, d: Int) -> bool:
    """Remove pips that would break their cell's region; return False if one is broken."""
    can, values, free = s.can, board.values, s.free[d]
    r = 0
    for v in range(values):
        for _ in range(min(s.supply[v], s.most - r)):
            s.low[r + 1] = s.low[r] + board.pips[v]
            r += 1
    r = 0
    for v in range(values - 1, -1, -1):
        for _ in range(min(s.supply[v], s.most - r)):
            s.high[r + 1] = s.high[r] + board.pips[v]
            r += 1
    for g in range(board.regions):
        kind = board.kind[g]
        if kind == EMPTY:
            continue
        cells = s.cells[g]
        rest = size_of(cells & free)
        if kind == EQUALS:
            ways = 0
            for v in range(values):
                here = can[d, v] & cells
                if here == cells and s.supply[v] >= rest:
                    ways += 1
                else:
                    can[d, v] ^= here
            if ways == 0:
                return False
        elif kind == UNEQUAL:
            some, several, ways = 0, 0, 0
            for v in range(values):
                here = can[d, v] & cells
                several |= some & here
                some |= here
                ways += here != 0
            if ways < board.size[g]:
                return False
            for v in range(values):
                here = can[d, v] & cells
                sure = here & ~several
                if sure & (sure - 1):
                    return False
                if sure:
                    can[d, v] ^= here ^ sure
        elif not _narrow_sum(board, s, d, g, rest):
            return False
    return True


@search_kernel
def _narrow_sum(board: Board, s: Levels, d: Int, g: Int, rest: Int) -> bool:
    can, values, free = s.can, board.values, s.free[d]
    cells, pips = s.cells[g], board.pips
    low: Int = 0
    high: Int = 0
    laid: Int = 0
    left = cells
    for v in range(values):
        here = left & can[d, v]
        left ^= here
        s.least[v] = here & free
        laid += pips[v] * size_of(here & ~free)
        low += pips[v] * size_of(here)
    if left:
        return False
    left = cells
    for v in range(values - 1, -1, -1):
        here = left & can[d, v]
        left ^= here
        s.greatest[v] = here & free
        high += pips[v] * size_of(here)
    bottom, top = board.least[g], board.most[g]
    if max(low, laid + s.low[rest]) > top or min(high, laid + s.high[rest]) < bottom:
        return False
    if rest == 0:
        return True
    # Bounds of a cell if the others hold their least or greatest, or the pips left.
    most = top - laid - s.low[rest - 1]
    fewest = bottom - laid - s.high[rest - 1]
    cells &= free
    over: Int = 0
    u: Int = 0
    for v in range(values):
        while pips[u] + top - low < pips[v]:
            over |= s.least[u]
            u += 1
        can[d, v] &= ~(cells if pips[v] > most else over)
    over, u = 0, values - 1
    for v in range(values - 1, -1, -1):
        while pips[u] - high + bottom > pips[v]:
            over |= s.greatest[u]
            u -= 1
        can[d, v] &= ~(cells if pips[v] < fewest else over)
    return True


@search_kernel
def narrow_tiles(board: Board, s: Levels, d: Int) -> bool:
    """Drop tiles that fit no remaining domino, and pips that no remaining tile supports.

    Returns False if a cell has no tile or no pips left, or if too few halves are left.
    """
    can, edges, values, free = s.can, s.edges, board.values, s.free[d]
    for v in range(values):
        s.beside[v] = 0
        s.supported[v] = 0
    for t in range(board.types):
        a, b, left = s.low_pips[t], s.high_pips[t], s.any_left[t] & free
        s.beside[a] |= can[d, b] & left
        s.beside[b] |= can[d, a] & left
    some, several = 0, 0
    for k in range(s.offsets):
        far = s.offset[k]
        tiles = 0
        for v in range(values):
            tiles |= can[d, v] & (s.beside[v] >> far)
        tiles &= edges[d, k]
        edges[d, k] = tiles
        for v in range(values):
            s.supported[v] |= (s.beside[v] >> far) & tiles | (s.beside[v] & tiles) << far
        several |= some & tiles
        some |= tiles
        several |= some & tiles << far
        some |= tiles << far
    if free & ~some:
        return False
    single = some & ~several
    taken = 0
    for k in range(s.offsets):
        # A cell with one tile left: its partner has no other tile.
        far = s.offset[k]
        forced = edges[d, k] & (single | single >> far)
        if taken & forced:
            return False
        taken |= forced
        if taken & forced << far:
            return False
        taken |= forced << far
    for k in range(s.offsets):
        far = s.offset[k]
        edges[d, k] &= single | single >> far | ~(taken | taken >> far)
    some, several = 0, 0
    for v in range(values):
        can[d, v] &= s.supported[v] | ~free
        several |= some & can[d, v]
        some |= can[d, v]
    if some != s.free[0]:
        return False
    sure = free & ~several
    for v in range(values):
        here = can[d, v] & free
        must, may = size_of(here & sure), size_of(here)
        if may < s.supply[v] or must > s.supply[v]:
            return False
        if must < may == s.supply[v]:
            for w in range(values):
                if w != v:
                    can[d, w] &= ~here
            sure |= here
        elif must == s.supply[v]:
            can[d, v] ^= here & ~sure
    return True
