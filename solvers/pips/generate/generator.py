"""Random Pips boards that are solvable because their constraints are read off a planted solution.

A board is grown domino by domino (so that it can be tiled), its cells are divided into connected
regions, its tiles get dominoes, and every region gets a constraint that the planted pips satisfy.

The same mix and seed give the same board on every machine and Python version: the only source of
randomness is `random.Random(int).random()`, whose sequence Python guarantees, and no set or hash
order matters.
"""

from __future__ import annotations

import datetime as dt
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.pips.generate.mix import Mix, Random, Weights, draw
from nightgrid.solvers.pips.generate.planting import divide, plant
from nightgrid.solvers.pips.puzzle import Puzzle
from nightgrid.solvers.pips.regions import Cell, Domino, Region, RegionType
from nightgrid.solvers.pips.solution import Placement, Solution

Tile = tuple[Cell, Cell]
"""The two cells that one domino covers."""
_FLIPS_PER_CELL = 4
"""Random flips of 2 x 2 blocks that mix a rectangle's tiling, for each of its cells."""
_COMPACTNESS = 3
"""Candidate places of a domino, of which the one that widens the bounding box least is taken."""
_STRIDE = 1 << 14
"""While a blob grows, its cells are row * _STRIDE + column, half of it off the edge."""
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


def grow_blob(count: int, rnd: Random) -> list[Tile]:
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
        while tries < _COMPACTNESS:
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


MILLIBITS = 1000


@lru_cache(maxsize=1024)
def arrangements_millibits(max_pip: int, dominoes: int) -> int:
    """Estimate the ways to lay distinct dominoes of a set on one tiling, in millibits."""
    whole = (max_pip + 1) * (max_pip + 2) // 2
    return round(MILLIBITS * (math.log2(math.perm(max(whole, dominoes), dominoes)) + dominoes))


@lru_cache(maxsize=65_536)
def chance_millibits(kind: RegionType, cells: int, target: int, max_pip: int) -> int:
    """Estimate the chance that random pips satisfy a region, as a logarithm in millibits.

    Summed over a board's regions, plus `arrangements_millibits`, this measures the freedom that its
    constraints leave. On random boards it explains three quarters of the variance of the logarithm
    of a counting search's states, and designers keep it low. Rounded, so that estimates compare
    alike on every machine.

    `target` is 0 for a kind without one.
    """
    pips = max_pip + 1
    if kind is RegionType.EMPTY:
        return 0
    if kind is RegionType.EQUALS:
        ways = pips
    elif kind is RegionType.UNEQUAL:
        ways = math.perm(pips, cells)
    else:
        sums = _sums(cells, max_pip)
        if kind is RegionType.SUM:
            ways = sums[target] if target < len(sums) else 0
        elif kind is RegionType.LESS:
            ways = sum(sums[:target])
        else:
            ways = sum(sums[target + 1 :])
    return round(MILLIBITS * (math.log2(max(ways, 1)) - cells * math.log2(pips)))


@lru_cache(maxsize=1024)
def _sums(cells: int, max_pip: int) -> tuple[int, ...]:
    """Count the ways to reach every sum with this many pips from 0 to `max_pip`."""
    if cells == 0:
        return (1,)
    before = _sums(cells - 1, max_pip)
    return tuple(
        sum(before[max(0, total - max_pip) : total + 1]) for total in range(len(before) + max_pip)
    )


GENERATOR_NAME = "nightgrid generator"
SEEDS_PER_STREAM = 2**32
"""Board i of a stream has the seed `stream * SEEDS_PER_STREAM + i`."""

_FREEDOM_TRIES = 5
"""Choices of regions and pips that are tried to meet a bound on freedom ..."""
_WILD_TRIES = 30
_WILD_BITS = 4
"""... and as long as the tightest is this far above the bound: such boards can be wild."""
_TARGETED = (RegionType.SUM, RegionType.LESS, RegionType.GREATER)
_SLACK: Weights[int] = ((0, 0.65), (1, 0.25), (2, 0.1))
"""How far `less` and `greater` targets lie from the tightest true one."""


def generate(mix: Mix, seed: int) -> tuple[Puzzle, Solution]:
    """Generate one board and the solution planted in it.

    `seed` is 0 or more. Raises PermanentError for a negative one.
    """
    if seed < 0:
        raise PermanentError(f"seed is {seed}; expected 0 or more")
    rnd = random.Random(seed).random
    tiles = _tiles(mix, rnd)
    cells = [cell for tile in tiles for cell in tile]
    pips, regions = _constrained(mix, cells, rnd)
    placements = []
    dominoes: list[Domino] = []
    for i in range(0, len(cells), 2):
        a, b = (i, i + 1) if cells[i] < cells[i + 1] else (i + 1, i)
        placements.append(Placement(cell_a=cells[a], cell_b=cells[b], pip_a=pips[a], pip_b=pips[b]))
        dominoes.append((pips[a], pips[b]))
    placements.sort(key=lambda placement: placement.cell_a)
    return Puzzle(regions=tuple(regions), dominoes=tuple(dominoes)), tuple(placements)


def generate_many(
    seed: int, n: int, mixes: Sequence[Mix], start: int = 0
) -> Iterator[tuple[Puzzle, Solution]]:
    """Generate boards `start` to `start + n - 1` of a stream that cycles through the mixes.

    Board i is `generate(mixes[i % len(mixes)], seed * SEEDS_PER_STREAM + i)`, so any slice of a
    stream can be made by itself.
    """
    if not mixes:
        raise PermanentError("generate_many: expected at least one mix, got none")
    for i in range(start, start + n):
        yield generate(mixes[i % len(mixes)], seed * SEEDS_PER_STREAM + i)


def to_payload(date: dt.date, boards: Mapping[str, tuple[Puzzle, Solution]]) -> dict[str, Any]:
    """Write one day's boards, by level, in the published payload format.

    `solution[i]` holds the two cells of `dominoes[i]`, the cell of the first pip first.
    """
    payload: dict[str, Any] = {"printDate": date.isoformat(), "editor": GENERATOR_NAME}
    for number, (level, (puzzle, solution)) in enumerate(boards.items()):
        tiles: dict[Domino, list[list[Cell]]] = {}
        for put in solution:
            cells = [put.cell_a, put.cell_b]
            if put.pip_a > put.pip_b:
                cells.reverse()
            halves = (min(put.pip_a, put.pip_b), max(put.pip_a, put.pip_b))
            tiles.setdefault(halves, []).append(cells)
        canonical = puzzle.to_json()
        payload[level] = {
            "id": date.toordinal() * len(boards) + number,
            "backendId": puzzle.puzzle_id,
            "constructors": GENERATOR_NAME,
            "dominoes": canonical["dominoes"],
            "regions": canonical["regions"],
            "solution": [
                [list(cell) for cell in tiles[domino].pop(0)] for domino in puzzle.dominoes
            ],
        }
    return payload


def _tiles(mix: Mix, rnd: Random) -> list[Tile]:
    """Shape a board as the list of its tiles."""
    count = draw(mix.dominoes, rnd)
    if mix.rows is not None:
        return tile_rectangle(mix.rows, 2 * count // mix.rows, rnd)
    parts = min(count, draw(mix.components, rnd))
    shares = [1] * parts
    for _ in range(count - parts):
        shares[int(rnd() * parts)] += 1
    blobs = [grow_blob(share, rnd) for share in shares]
    return blobs[0] if parts == 1 else spread(blobs, rnd)


def _neighbours(cells: list[Cell]) -> list[list[int]]:
    index = {cell: i for i, cell in enumerate(cells)}
    found: list[list[int]] = [[] for _ in cells]
    for (r, c), i in index.items():
        for cell in ((r, c + 1), (r + 1, c)):
            j = index.get(cell)
            if j is not None:
                found[i].append(j)
                found[j].append(i)
    return found


def _constrained(mix: Mix, cells: list[Cell], rnd: Random) -> tuple[list[int], list[Region]]:
    """Choose regions and pips; return the pips by cell and the regions.

    With a bound on freedom, the first choice within it is taken, or the tightest of a few.
    """
    neighbours = _neighbours(cells)
    pips: list[int] = []
    made: list[_Made] = []
    least: int | None = None
    for tried in range(1, _WILD_TRIES + 1):
        groups = divide(mix, neighbours, rnd)
        planted = plant(mix, len(cells), groups, rnd)
        found = [
            (*_constrain(kind, [planted[i] for i in group], rnd), group) for kind, group in groups
        ]
        if mix.freedom_bits is None:
            pips, made = planted, found
            break
        freedom = arrangements_millibits(mix.max_pip, len(cells) // 2)
        for kind, target, group in found:
            freedom += chance_millibits(kind, len(group), target or 0, mix.max_pip)
        if least is None or freedom < least:
            least, pips, made = freedom, planted, found
        above_bits = least / MILLIBITS - mix.freedom_bits
        if above_bits <= 0 or (tried >= _FREEDOM_TRIES and above_bits <= _WILD_BITS):
            break
    regions = [
        Region(cells=tuple([cells[i] for i in group]), type=kind, target=target)
        for kind, target, group in made
    ]
    return pips, regions


_Made = tuple[RegionType, int | None, list[int]]
"""Kind, target and cells of a region."""


def _constrain(kind: RegionType, pips: list[int], rnd: Random) -> tuple[RegionType, int | None]:
    """Read a region's target off the planted pips; return its kind, perhaps another, and target."""
    target: int | None = None
    if kind is RegionType.UNEQUAL and len(set(pips)) < len(pips):
        kind = RegionType.SUM
    if kind in _TARGETED:
        target = sum(pips)
        if kind is RegionType.LESS:
            target += 1 + draw(_SLACK, rnd)
        elif kind is RegionType.GREATER:
            if target == 0:
                # No sum lies above a target below 0, and no target lies below 0.
                kind = RegionType.SUM
            else:
                target = max(0, target - 1 - draw(_SLACK, rnd))
    return kind, target
