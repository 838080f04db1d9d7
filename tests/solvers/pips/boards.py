"""Random Pips boards in the payload's own form, and plain facts about them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from nightgrid.solvers.pips.puzzle import Puzzle
from nightgrid.solvers.pips.solution import Solution
from tests.oracles.brute_force import Arrangement, Cell, count_tilings, region_holds

Payload = dict[str, Any]

PIP_SETS: tuple[tuple[int, ...], ...] = (
    tuple(range(7)),
    (0, 1),
    (0, 1, 2, 3),
    (3,),
    (0, 7, 1000),
    tuple(range(41)),
    (5, 1_000_000),
)


def puzzle_of(payload: Mapping[str, Any]) -> Puzzle:
    return Puzzle.from_json(payload)


def payload_of(
    dominoes: Iterable[Sequence[int]],
    regions: Iterable[tuple[str, int | None, Iterable[Cell]]],
) -> Payload:
    return {
        "dominoes": [list(domino) for domino in dominoes],
        "regions": [
            {"type": kind, "indices": [list(cell) for cell in cells]}
            | ({} if target is None else {"target": target})
            for kind, target, cells in regions
        ],
    }


def rectangle(rows: int, columns: int) -> list[Cell]:
    return [(row, column) for row in range(rows) for column in range(columns)]


def unconstrained(cells: Iterable[Cell], dominoes: Iterable[Sequence[int]]) -> Payload:
    return payload_of(dominoes, [("empty", None, cells)])


def unconstrained_count(payload: Mapping[str, Any]) -> int:
    """Closed form for a board without constraints: tilings, orders of dominoes, directions."""
    dominoes = Counter((min(d), max(d)) for d in payload["dominoes"])
    orders = math.factorial(dominoes.total())
    for copies in dominoes.values():
        orders //= math.factorial(copies)
    flips = sum(copies for (a, b), copies in dominoes.items() if a != b)
    cells = frozenset((r, c) for region in payload["regions"] for r, c in region["indices"])
    return count_tilings(cells) * orders << flips


def cornered(rows: int, columns: int, kinds: int, *, by_sum: bool = True) -> tuple[Payload, int]:
    """Make a rectangle of repeated dominoes whose opposite corners are pinned, and its count.

    Kind i is the domino (2 i, 2 i + 1), so that a pip belongs to one kind. The first corner
    shows the least pip and the last the greatest: one domino of the first kind and one of the
    last lie there, in one direction. They are pinned by `sum`, or by `less` and `greater`.
    """
    size = rows * columns // 2
    dominoes = [(2 * (i % kinds), 2 * (i % kinds) + 1) for i in range(size)]
    low, high = (0, 0), (rows - 1, columns - 1)
    inner = [cell for cell in rectangle(rows, columns) if cell not in (low, high)]
    top = 2 * kinds - 1
    regions: list[tuple[str, int | None, Iterable[Cell]]] = (
        [("sum", 0, [low]), ("sum", top, [high])]
        if by_sum
        else [("less", 1, [low]), ("greater", top - 1, [high])]
    )
    payload = payload_of(dominoes, [*regions, ("empty", None, inner)])
    left = Counter(dominoes)
    left[dominoes[0]] -= 1
    left[2 * kinds - 2, top] -= 1
    orders = math.factorial(size - 2)
    for copies in left.values():
        orders //= math.factorial(copies)
    return payload, count_tilings(frozenset(rectangle(rows, columns))) * orders << (size - 2)


def arrangement_of(solution: Solution) -> Arrangement:
    return tuple((p.cell_a, p.cell_b, p.pip_a, p.pip_b) for p in solution)


def official_arrangement(payload: Mapping[str, Any]) -> Arrangement:
    """Read a payload's `solution`: entry i belongs to domino i, first pip on the first cell."""
    placed = []
    for (pip_a, pip_b), (a, b) in zip(payload["dominoes"], payload["solution"], strict=True):
        (cell_a, first), (cell_b, second) = sorted(((tuple(a), pip_a), (tuple(b), pip_b)))
        placed.append((cell_a, cell_b, first, second))
    return tuple(sorted(placed))


def is_solution(payload: Mapping[str, Any], arrangement: Arrangement) -> bool:
    """Return whether an arrangement solves the board, from the rules and nothing else."""
    pips: dict[Cell, int] = {}
    for cell_a, cell_b, pip_a, pip_b in arrangement:
        if abs(cell_a[0] - cell_b[0]) + abs(cell_a[1] - cell_b[1]) != 1:
            return False
        if cell_a in pips or cell_b in pips or cell_a >= cell_b:
            return False
        pips[cell_a], pips[cell_b] = pip_a, pip_b
    board = {(r, c) for region in payload["regions"] for r, c in region["indices"]}
    used = Counter((min(a, b), max(a, b)) for _, _, a, b in arrangement)
    return (
        set(pips) == board
        and used == Counter((min(d), max(d)) for d in payload["dominoes"])
        and all(
            region_holds(r["type"], r.get("target"), [pips[i, j] for i, j in r["indices"]])
            for r in payload["regions"]
        )
    )


@st.composite
def _tiles(draw: st.DrawFn, count: int) -> list[tuple[Cell, Cell]]:
    """Draw disjoint tiles on a small grid: close together, or anywhere."""
    side = draw(st.integers(3, 6))
    apart = draw(st.booleans())
    grid = set(rectangle(side, side + 1))
    tiles: list[tuple[Cell, Cell]] = []
    taken: set[Cell] = set()
    for _ in range(count):
        free = [
            (cell, other)
            for cell in sorted(grid - taken)
            for other in ((cell[0], cell[1] + 1), (cell[0] + 1, cell[1]))
            if other in grid - taken
        ]
        near = [
            tile
            for tile in free
            if any(abs(r - i) + abs(c - j) == 1 for r, c in tile for i, j in taken)
        ]
        choices = free if apart or not near else near
        if not choices:
            break
        tile = draw(st.sampled_from(choices))
        tiles.append(tile)
        taken.update(tile)
    return tiles


@st.composite
def _region(
    draw: st.DrawFn, cells: list[Cell], pips: Mapping[Cell, int]
) -> tuple[str, int | None, list[Cell]]:
    """Draw a constraint that the hidden pips satisfy, or one that is off by a little or a lot."""
    shown = [pips[cell] for cell in cells]
    total = sum(shown)
    true_kinds = ["empty", "sum", "less", "greater"]
    if len(set(shown)) == 1:
        true_kinds += ["equals"] * 3
    if len(set(shown)) == len(shown):
        true_kinds += ["unequal"] * 2
    honest = draw(st.integers(0, 11)) > 0
    kind = draw(
        st.sampled_from(
            true_kinds if honest else ["empty", "sum", "less", "greater", "equals", "unequal"]
        )
    )
    if kind not in ("sum", "less", "greater"):
        return kind, None, cells
    if not honest:
        target = draw(st.sampled_from([0, 1, max(total - 1, 0), total + 1, total, 3 * total + 5]))
    elif kind == "sum":
        target = total
    elif kind == "less":
        target = total + draw(st.sampled_from([1, 1, 2, 5, 100]))
    else:
        target = total - draw(st.sampled_from([1, 1, 2, 5, 100]))
        if target < 0:
            return "empty", None, cells
    return kind, target, cells


@st.composite
def payloads(
    draw: st.DrawFn,
    *,
    min_dominoes: int = 1,
    max_dominoes: int = 5,
    min_regions_per_domino: float = 0.0,
) -> Payload:
    """Draw a board: any shape, with holes or in pieces, any dominoes, any partition."""
    wanted = draw(st.integers(min_dominoes, max_dominoes))
    tiles = draw(_tiles(wanted))
    cells = sorted(cell for tile in tiles for cell in tile)
    pip_set = draw(st.sampled_from(PIP_SETS))
    pip = st.sampled_from(pip_set)
    dominoes = [(draw(pip), draw(pip)) for _ in tiles]
    if draw(st.integers(0, 3)) == 0:  # many copies
        dominoes = [draw(st.sampled_from(dominoes[:2])) for _ in tiles]
    pips: dict[Cell, int] = {}
    for (a, b), (pip_a, pip_b) in zip(tiles, dominoes, strict=True):
        pips[a], pips[b] = pip_a, pip_b
    least = math.ceil(min_regions_per_domino * len(tiles)) or 1
    region_count = draw(st.integers(least, max(least, len(cells))))
    groups: dict[int, list[Cell]] = {}
    if draw(st.booleans()):  # runs of the sorted cells: mostly connected
        for i, cell in enumerate(cells):
            groups.setdefault(i * region_count // len(cells), []).append(cell)
    else:  # any partition
        for cell in cells:
            groups.setdefault(draw(st.integers(0, region_count - 1)), []).append(cell)
    regions = [draw(_region(group, pips)) for group in groups.values()]
    if draw(st.integers(0, 9)) == 0:  # perhaps without any tiling
        moved = draw(st.sampled_from(cells))
        spot = draw(st.sampled_from([(8, 8), (0, 9), (moved[0] + 1, moved[1] + 1)]))
        if spot not in cells:
            regions = [
                (kind, target, [spot if c == moved else c for c in inside])
                for kind, target, inside in regions
            ]
    return payload_of(dominoes, regions)


def bands(count: int, length: int) -> Payload:
    """Lay strips side by side, each of equal pips, half of them zeros and half ones."""
    strips = [[(2 * i, c) for c in range(length)] for i in range(count)]
    half = count * length // 4
    return payload_of(
        [(0, 0)] * half + [(1, 1)] * half, [("equals", None, cells) for cells in strips]
    )
