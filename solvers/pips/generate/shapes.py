"""Random shapes of Pips boards, grown tile by tile so that dominoes can cover them.

Randomness comes only from the `rnd` that a caller passes in: a function that returns the next
random number from 0 to 1. Equal numbers give equal shapes on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from nightgrid.solvers.pips.puzzle import Cell

Tile = tuple[Cell, Cell]
"""The two cells that one domino covers."""
Random = Callable[[], float]


_FLIPS_PER_CELL = 4
"""Random flips of 2 x 2 blocks that mix a rectangle's tiling, for each of its cells."""
_STRIDE = 1 << 14
"""Cells are kept as row * _STRIDE + column, off the edge by half of it, while a blob grows."""
_ORIGIN = (_STRIDE // 2) * _STRIDE + _STRIDE // 2
_STEPS = (1, -1, _STRIDE, -_STRIDE)


def tile_rectangle(rows: int, cols: int, rnd: Random) -> list[Tile]:
    """Tile a rectangle at random: start with parallel dominoes and flip 2 x 2 blocks."""
    partner: dict[Cell, Cell] = {}
    for r in range(rows):
        for c in range(cols):
            if cols % 2 == 0:
                partner[r, c] = (r, c ^ 1)
            else:
                partner[r, c] = (r ^ 1, c)
    if rows > 1 and cols > 1:
        for _ in range(_FLIPS_PER_CELL * rows * cols):
            r, c = int(rnd() * (rows - 1)), int(rnd() * (cols - 1))
            nw, ne, sw, se = (r, c), (r, c + 1), (r + 1, c), (r + 1, c + 1)
            if partner[nw] == ne and partner[sw] == se:
                pairs = ((nw, sw), (ne, se))
            elif partner[nw] == sw and partner[ne] == se:
                pairs = ((nw, ne), (sw, se))
            else:
                continue
            for a, b in pairs:
                partner[a], partner[b] = b, a
    return [(a, b) for a, b in partner.items() if a < b]


def grow_blob(count: int, compactness: int, rnd: Random) -> list[Tile]:
    """Grow a connected shape domino by domino, from row 0 and column 0 on."""
    taken = {_ORIGIN, _ORIGIN + _STEPS[int(rnd() * 4)]}
    keys = sorted(taken)
    rim = [key + step for key in keys for step in _STEPS if key + step not in taken]
    top, left = divmod(keys[0], _STRIDE)
    below, right = divmod(keys[1], _STRIDE)
    while len(keys) < 2 * count:
        best = (0, 0)
        best_growth = 3
        tries = 0
        while tries < compactness:
            a = rim[int(rnd() * len(rim))]
            b = a + _STEPS[int(rnd() * 4)]
            if a in taken or b in taken:
                continue
            tries += 1
            growth = 0
            for key in (a, b):
                row, col = divmod(key, _STRIDE)
                growth += not (top <= row <= below and left <= col <= right)
            if growth < best_growth:
                best_growth = growth
                best = (a, b)
        for key in best:
            taken.add(key)
            keys.append(key)
            row, col = divmod(key, _STRIDE)
            top, below = min(top, row), max(below, row)
            left, right = min(left, col), max(right, col)
        for key in best:
            rim += [key + step for step in _STEPS if key + step not in taken]
        if len(rim) > 8 * len(keys):
            rim = [key for key in rim if key not in taken]
    cells = [(key // _STRIDE - top, key % _STRIDE - left) for key in keys]
    return list(zip(cells[::2], cells[1::2], strict=True))


def spread(blobs: list[list[Tile]], rnd: Random) -> list[Tile]:
    """Lay components side by side in bands, at least one empty line between any two."""
    per_band = math.ceil(math.sqrt(len(blobs)))
    tiles: list[Tile] = []
    top = 0
    for start in range(0, len(blobs), per_band):
        left = below = 0
        for blob in blobs[start : start + per_band]:
            down = top + int(rnd() * 2)
            height = 1 + max(cell[0] for tile in blob for cell in tile)
            width = 1 + max(cell[1] for tile in blob for cell in tile)
            tiles += [((a[0] + down, a[1] + left), (b[0] + down, b[1] + left)) for a, b in blob]
            left += width + 1
            below = max(below, down + height + 1)
        top = below
    highest = min(cell[0] for tile in tiles for cell in tile)
    if highest:
        tiles = [((a[0] - highest, a[1]), (b[0] - highest, b[1])) for a, b in tiles]
    return tiles
