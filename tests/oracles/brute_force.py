"""Enumerate the solutions of a small Pips board by trying everything.

Written to be obviously right, not fast, and without a line of the solver: boards have the payload's
form (`dominoes`, `regions` with `indices`, `type` and `target`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Cell = tuple[int, int]
Tile = tuple[Cell, Cell]
Arrangement = tuple[tuple[Cell, Cell, int, int], ...]
"""One solution: (cell_a, cell_b, pip on cell_a, pip on cell_b) with cell_a < cell_b, sorted."""


def tilings(cells: frozenset[Cell]) -> Iterator[tuple[Tile, ...]]:
    """Yield every way to cut the cells into tiles of two neighbours."""
    if not cells:
        yield ()
        return
    row, column = first = min(cells)
    for other in ((row, column + 1), (row + 1, column)):
        if other in cells:
            for rest in tilings(cells - {first, other}):
                yield ((first, other), *rest)


def region_holds(kind: str, target: int | None, pips: Sequence[int]) -> bool:
    """Return whether the pips on all cells of a region satisfy it."""
    if kind == "empty":
        return True
    if kind == "equals":
        return len(set(pips)) == 1
    if kind == "unequal":
        return len(set(pips)) == len(pips)
    assert target is not None
    return {
        "sum": sum(pips) == target,
        "less": sum(pips) < target,
        "greater": sum(pips) > target,
    }[kind]


def enumerate_solutions(board: Mapping[str, Any]) -> list[Arrangement]:
    """List every solution, each once, in ascending order.

    Equal dominoes are interchangeable and a double has one direction, so each tile tries every
    domino type with a copy left, in each of its distinct directions.
    """
    regions = [
        (r["type"], r.get("target"), [(c[0], c[1]) for c in r["indices"]]) for r in board["regions"]
    ]
    region_of = {cell: i for i, (_, _, cells) in enumerate(regions) for cell in cells}
    supply = Counter((min(d), max(d)) for d in board["dominoes"])
    pips: dict[Cell, int] = {}
    solutions: list[Arrangement] = []

    def broken(cell: Cell) -> bool:
        kind, target, cells = regions[region_of[cell]]
        return all(c in pips for c in cells) and not region_holds(
            kind, target, [pips[c] for c in cells]
        )

    def assign(tiles: Sequence[Tile], depth: int) -> None:
        if depth == len(tiles):
            solutions.append(tuple(sorted((a, b, pips[a], pips[b]) for a, b in tiles)))
            return
        a, b = tiles[depth]
        for low, high in sorted(supply):
            if supply[low, high] == 0:
                continue
            supply[low, high] -= 1
            for pip_a, pip_b in {(low, high), (high, low)}:
                pips[a], pips[b] = pip_a, pip_b
                if not broken(a) and not broken(b):
                    assign(tiles, depth + 1)
                del pips[a], pips[b]
            supply[low, high] += 1

    for tiling in tilings(frozenset(region_of)):
        assign(tiling, 0)
    return sorted(solutions)


def count_tilings(cells: frozenset[Cell]) -> int:
    """Count the tilings of a set of cells, for boards too large to enumerate them.

    Walks the cells along the board's longer side and counts the ways to each set of cells that
    stick out of the covered part.
    """
    if max(column for _, column in cells) > max(row for row, _ in cells):
        cells = frozenset((column, row) for row, column in cells)
    states = Counter({frozenset[Cell](): 1})
    for row, column in sorted(cells):
        cell = (row, column)
        following: Counter[frozenset[Cell]] = Counter()
        for covered, ways in states.items():
            if cell in covered:
                following[covered - {cell}] += ways
                continue
            for other in ((row, column + 1), (row + 1, column)):
                if other in cells and other not in covered:
                    following[covered | {other}] += ways
        states = following
    return states[frozenset()]
