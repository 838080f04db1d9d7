"""Random Pips boards that are solvable because their constraints are read off a planted solution.

A board is grown domino by domino (so that it can be tiled), its tiles get dominoes, its cells are
divided into connected regions, and every region gets a constraint that the planted pips satisfy.

The same mix and seed give the same board on every machine and Python version: the only source of
randomness is `random.Random(int).random()`, whose sequence Python guarantees, and no set or hash
order is ever looked at.
"""

from __future__ import annotations

import datetime as dt
import itertools
import random
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, TypeVar

from solvers.errors import PermanentError
from solvers.pips.mix import (
    DEFAULT_SIZES,
    EASY,
    HARD,
    LEVELS,
    LOOSE,
    MEDIUM,
    PRESETS,
    Mix,
    Weights,
)
from solvers.pips.puzzle import (
    Cell,
    Domino,
    Placement,
    Puzzle,
    Region,
    RegionType,
    Solution,
)
from solvers.pips.shapes import Random, Tile, grow_blob, spread, tile_rectangle

T = TypeVar("T")

GENERATOR_NAME = "nightgrid generator"
SEEDS_PER_STREAM = 2**32
"""Board i of a stream has the seed `stream * SEEDS_PER_STREAM + i`."""

_GROWTH_TRIES = 4
"""Places from which a region of any pips is tried before it stays smaller than wished."""
_LARGEST_WHOLE_SET_PIP = 40
"""Above this pip the dominoes to choose from are a sample and not the whole set."""
_GRANT_ORDER = {
    RegionType.EQUALS: 0,
    RegionType.UNEQUAL: 1,
    RegionType.SUM: 2,
    RegionType.LESS: 2,
    RegionType.GREATER: 2,
}
_NEEDS_TWO = (RegionType.EQUALS, RegionType.UNEQUAL)
_TARGETED = (RegionType.SUM, RegionType.LESS, RegionType.GREATER)


def generate(mix: Mix, seed: int) -> tuple[Puzzle, Solution]:
    """Generate one board and the solution planted in it.

    `seed` is 0 or more. Raises PermanentError for a negative one.
    """
    if seed < 0:
        raise PermanentError(f"seed is {seed}; expected 0 or more")
    draws = _draws(mix)
    rnd = random.Random(seed).random
    tiles = _tiles(mix, draws, rnd)
    cells = [cell for tile in tiles for cell in tile]
    neighbours = _neighbours(cells)
    pips = _lay_dominoes(mix, len(tiles), neighbours, rnd)
    regions = _regions(mix, draws, cells, pips, neighbours, rnd)
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
    """Generate boards `start` to `start + n - 1` of a stream that goes round the mixes.

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


class _Table(Generic[T]):
    """Weighted values, drawn by one random number."""

    __slots__ = ("_sums", "_values")

    def __init__(self, weights: Weights[T]) -> None:
        self._values = [value for value, _ in weights]
        total = sum(weight for _, weight in weights)
        self._sums = [s / total for s in itertools.accumulate(weight for _, weight in weights)]

    def draw(self, x: float) -> T:
        return self._values[min(bisect_right(self._sums, x), len(self._values) - 1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draws:
    dominoes: _Table[int]
    components: _Table[int]
    kinds: _Table[RegionType]
    sizes: Mapping[RegionType, _Table[int]]
    slack: _Table[int]
    leftover: _Table[RegionType]


@lru_cache(maxsize=64)
def _draws(mix: Mix) -> _Draws:
    sizes = dict.fromkeys(RegionType, DEFAULT_SIZES) | dict(mix.sizes)
    kinds = dict(mix.kinds)
    singles = tuple(
        (kind, kinds.get(kind, 0.0) * sum(w for size, w in sizes[kind] if size == 1))
        for kind in _TARGETED
    )
    if not sum(weight for _, weight in singles) > 0:
        singles = ((RegionType.SUM, 1.0),)
    return _Draws(
        dominoes=_Table(mix.dominoes),
        components=_Table(mix.components),
        kinds=_Table(mix.kinds),
        sizes={kind: _Table(weights) for kind, weights in sizes.items()},
        slack=_Table(mix.slack),
        leftover=_Table(singles),
    )


def _tiles(mix: Mix, draws: _Draws, rnd: Random) -> list[Tile]:
    """Shape a board as the list of its tiles."""
    count = draws.dominoes.draw(rnd())
    if mix.shape == "rectangle":
        rows, cols = mix.rows, mix.cols
        if rows is None:
            rows = 2 * count // (cols or 1)
        if cols is None:
            cols = 2 * count // rows
        return tile_rectangle(rows, cols, rnd)
    parts = count if mix.shape == "scattered" else min(count, draws.components.draw(rnd()))
    shares = [1] * parts
    for _ in range(count - parts):
        shares[int(rnd() * parts)] += 1
    blobs = [grow_blob(share, mix.compactness, rnd) for share in shares]
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


@lru_cache(maxsize=64)
def _domino_set(max_pip: int) -> tuple[Domino, ...]:
    return tuple((a, b) for a in range(max_pip + 1) for b in range(a, max_pip + 1))


def _box(mix: Mix, count: int, rnd: Random) -> tuple[int, list[Domino]]:
    """Choose the dominoes to draw from: the highest pip and at least `count` dominoes."""
    max_pip = mix.max_pip
    if not mix.duplicates:
        while (max_pip + 1) * (max_pip + 2) // 2 < count:
            max_pip += 1
    whole = (max_pip + 1) * (max_pip + 2) // 2
    if max_pip <= _LARGEST_WHOLE_SET_PIP or whole <= 4 * count:
        return max_pip, list(_domino_set(max_pip))
    box: dict[Domino, None] = {}
    while len(box) < 2 * count:
        x, y = int(rnd() * (max_pip + 1)), int(rnd() * (max_pip + 1))
        box[min(x, y), max(x, y)] = None
    return max_pip, list(box)


def _lay_dominoes(mix: Mix, count: int, neighbours: list[list[int]], rnd: Random) -> list[int]:
    """Choose a domino for every tile; cells 2 i and 2 i + 1 are tile i. Returns pips by cell."""
    max_pip, box = _box(mix, count, rnd)
    pips = [-1] * (2 * count)
    for tile in range(count):
        a, b = 2 * tile, 2 * tile + 1
        chosen = int(rnd() * len(box))
        x, y = box[chosen]
        if rnd() < 0.5:
            x, y = y, x
        if rnd() < mix.clustering:
            near_a = [0] * (max_pip + 1)
            near_b = [0] * (max_pip + 1)
            for near, cell in ((near_a, a), (near_b, b)):
                for n in neighbours[cell]:
                    if pips[n] >= 0:
                        near[pips[n]] += 1
            best = near_a[x] + near_b[y]
            # From a random place on, so that equally good dominoes are equally likely.
            for j in itertools.chain(range(chosen, len(box)), range(chosen)):
                p, q = box[j]
                there, back = near_a[p] + near_b[q], near_a[q] + near_b[p]
                if there > best:
                    best, chosen, x, y = there, j, p, q
                if back > best:
                    best, chosen, x, y = back, j, q, p
        pips[a], pips[b] = x, y
        if not mix.duplicates:
            box[chosen] = box[-1]
            box.pop()
    return pips


def _regions(
    mix: Mix,
    draws: _Draws,
    cells: list[Cell],
    pips: list[int],
    neighbours: list[list[int]],
    rnd: Random,
) -> list[Region]:
    """Divide the board into connected regions whose constraints the pips satisfy.

    Wishes (a kind and a size) are drawn for all constrained cells and granted in the order in
    which they are hard to grant: equals, unequal, then the others from large to small. What a
    wish leaves over is wished for again, and the unconstrained cells take what remains.
    """
    total = len(cells)
    free = [True] * total
    groups: list[tuple[RegionType, list[int]]] = []
    exact = mix.unconstrained * total
    empty = int(exact) + (rnd() < exact - int(exact))

    wishes: list[tuple[int, int, RegionType]] = []
    left = total - empty
    while left:
        kind = draws.kinds.draw(rnd())
        size = min(left, draws.sizes[kind].draw(rnd()))
        wishes.append((_GRANT_ORDER[kind], -size, kind))
        left -= size
    wishes.sort()
    left = total - empty
    while left:
        if wishes:
            _, size, kind = wishes.pop(0)
            size = min(left, -size)
            again = False
        else:
            kind = draws.kinds.draw(rnd())
            size = min(left, draws.sizes[kind].draw(rnd()))
            again = True
        group = _grow_group(kind, size, pips, neighbours, free, rnd)
        if kind in _NEEDS_TWO and len(group) < 2:
            if not again:
                continue
            kind = draws.leftover.draw(rnd())
            group = _grow_group(kind, size, pips, neighbours, free, rnd)
        for cell in group:
            free[cell] = False
        left -= len(group)
        groups.append((kind, group))
    while empty:
        size = min(empty, draws.sizes[RegionType.EMPTY].draw(rnd()))
        group = _grow_group(RegionType.EMPTY, size, pips, neighbours, free, rnd)
        for cell in group:
            free[cell] = False
        empty -= len(group)
        groups.append((RegionType.EMPTY, group))
    return [
        _constrain(kind, [cells[i] for i in group], [pips[i] for i in group], draws, rnd)
        for kind, group in groups
    ]


def _grow_group(
    kind: RegionType,
    size: int,
    pips: list[int],
    neighbours: list[list[int]],
    free: list[bool],
    rnd: Random,
) -> list[int]:
    """Grow connected free cells that allow the kind: `size` of them, or the most that are found.

    A kind that needs two cells is tried from every cell, the others from a few.
    """
    total = len(free)
    tries = total if kind in _NEEDS_TWO else _GROWTH_TRIES
    first = int(rnd() * total)
    best: list[int] = []
    for seed in itertools.chain(range(first, total), range(first)):
        if not free[seed]:
            continue
        group = [seed]
        rim = [n for n in neighbours[seed] if free[n]]
        while len(group) < size and rim:
            at = int(rnd() * len(rim))
            cell = rim[at]
            rim[at] = rim[-1]
            rim.pop()
            if cell in group:
                continue
            if kind is RegionType.EQUALS:
                if pips[cell] != pips[seed]:
                    continue
            elif kind is RegionType.UNEQUAL and any(pips[cell] == pips[g] for g in group):
                continue
            group.append(cell)
            rim += [n for n in neighbours[cell] if free[n]]
        if len(group) == size:
            return group
        if len(group) > len(best):
            best = group
        tries -= 1
        if not tries:
            break
    return best


def _constrain(
    kind: RegionType, cells: list[Cell], pips: list[int], draws: _Draws, rnd: Random
) -> Region:
    """Read a region's target off the planted pips."""
    target: int | None = None
    if kind in _TARGETED:
        target = sum(pips)
        if kind is RegionType.LESS:
            target += 1 + draws.slack.draw(rnd())
        elif kind is RegionType.GREATER:
            if target == 0:
                # No sum lies above a target below 0, and no target lies below 0.
                kind = RegionType.SUM
            else:
                target = max(0, target - 1 - draws.slack.draw(rnd()))
    return Region(cells=tuple(cells), type=kind, target=target)


__all__ = [
    "EASY",
    "GENERATOR_NAME",
    "HARD",
    "LEVELS",
    "LOOSE",
    "MEDIUM",
    "PRESETS",
    "SEEDS_PER_STREAM",
    "Mix",
    "generate",
    "generate_many",
    "to_payload",
]
