"""Continue from a player's placed dominoes: the rest of the board is a board again.

Covered cells are dropped, and regions keep what they still demand of their other cells. Only
`unequal` cannot express that: each pip that its other cells must avoid stays in the region, on an
island of two cells that only one domino can cover.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from nightgrid.solvers.algebra import Ask, Budget, Outcome, Status
from nightgrid.solvers.errors import IllegalMoveError
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.pips.puzzle import Puzzle
from nightgrid.solvers.pips.regions import Cell, Domino, Region, RegionType, holds
from nightgrid.solvers.pips.solution import Solution


def continue_board(
    game: Game[Puzzle, Solution], puzzle: Puzzle, moves: Sequence[Any], budget: Budget
) -> Outcome[tuple[Any, ...]]:
    """Find placements that complete those of a player, as `Game.continuation`."""
    pips, left = read_placements(puzzle, moves)
    if not left:
        is_solved = all(holds(region, [pips[c] for c in region.cells]) for region in puzzle.regions)
        if is_solved:
            return Outcome(status=Status.SOLVED, count=1, solutions=((),))
        return Outcome(status=Status.UNSOLVABLE, count=0)
    rest = residual(puzzle, pips, left)
    if rest is None:
        return Outcome(status=Status.UNSOLVABLE, count=0)
    found: Outcome[Any] = game.solve(rest, Ask(kind="first"), None, budget)
    last_row = max(r for r, _ in puzzle.cells)
    placed = (
        tuple([[*p.cell_a], [*p.cell_b], p.pip_a, p.pip_b] for p in one if p.cell_a[0] <= last_row)
        for one in found.solutions
    )
    return replace(found, solutions=tuple(placed))


def read_placements(puzzle: Puzzle, moves: Sequence[Any]) -> tuple[dict[Cell, int], list[Domino]]:
    """Parse placements, [cell, cell, pips, pips] each: the pips on cells, and the dominoes left.

    Raises IllegalMoveError for one that does not lie on two free neighbours, or whose domino is
    not left.
    """
    free, left = set(puzzle.cells), Counter(puzzle.dominoes)
    pips: dict[Cell, int] = {}
    for i, move in enumerate(moves):
        try:
            (r, c), (s, d), a, b = move
            domino = (min(a, b), max(a, b))
            is_left = left[domino] > 0
            is_beside = abs(r - s) + abs(c - d) == 1 and {(r, c), (s, d)} <= free
        except (TypeError, ValueError):
            raise IllegalMoveError(i, "expected [[row, column], [row, column], a, b]") from None
        if not is_beside:
            raise IllegalMoveError(i, "a domino lies on two free cells that are neighbours")
        if not is_left:
            raise IllegalMoveError(i, f"no domino {domino[0]}-{domino[1]} is left")
        left[domino] -= 1
        free -= {(r, c), (s, d)}
        pips |= {(r, c): a, (s, d): b}
    return pips, sorted(left.elements())


def residual(puzzle: Puzzle, pips: Mapping[Cell, int], dominoes: Sequence[Domino]) -> Puzzle | None:
    """Return the board that placed dominoes leave; None if they break a region.

    `dominoes` are those left. Its solutions are the continuations, with islands beyond the board.
    """
    regions: list[Region] = []
    islands: list[Domino] = []
    row = max(r for r, _ in puzzle.cells) + 2
    bigger = count(max(max(d) for d in puzzle.dominoes) + 1)
    for region in puzzle.regions:
        on = [pips[cell] for cell in region.cells if cell in pips]
        cells = tuple(cell for cell in region.cells if cell not in pips)
        if not cells:
            if not holds(region, on):
                return None
            continue
        if region.type is RegionType.UNEQUAL and on:
            if len(set(on)) < len(on):
                return None
            for pip in on:
                at, unique = row + 2 * len(islands), next(bigger)
                cells += ((at, 0),)
                regions.append(Region(cells=((at, 1),), type=RegionType.SUM, target=unique))
                islands.append((pip, unique))
            regions.append(Region(cells=cells, type=region.type))
            continue
        left = list(_left_of(region, cells, on))
        if not left:
            return None
        regions += left
    return Puzzle(regions=tuple(regions), dominoes=(*dominoes, *islands))


def _left_of(region: Region, cells: tuple[Cell, ...], on: Sequence[int]) -> Iterator[Region]:
    """Yield what a region demands of its other cells; nothing if it is impossible."""
    target = (region.target or 0) - sum(on)
    match region.type:
        case RegionType.EQUALS if on:
            if len(set(on)) == 1:
                for cell in cells:
                    yield Region(cells=(cell,), type=RegionType.SUM, target=on[0])
        case RegionType.GREATER if target < 0:
            yield Region(cells=cells, type=RegionType.EMPTY)
        case RegionType.SUM | RegionType.LESS | RegionType.GREATER:
            if target >= (region.type is RegionType.LESS):
                yield Region(cells=cells, type=region.type, target=target)
        case _:
            yield Region(cells=cells, type=region.type)
