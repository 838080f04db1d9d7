"""Check a Pips solution against its board, independently of all solvers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from nightgrid.solvers.errors import InvalidPuzzleError
from nightgrid.solvers.pips.puzzle import Puzzle
from nightgrid.solvers.pips.regions import Cell, Domino, holds
from nightgrid.solvers.pips.solution import Placement


def check_solution(puzzle: Puzzle, solution: Sequence[Placement], place: str = "solution") -> None:
    """Check that placements, in any order, are one solution of the board.

    `place` is the path of the solution in its document; placement i is named `place[i]`.

    Raises InvalidPuzzleError for the first rule broken: every placement lies on two neighbouring
    cells of the board with `cell_a` first, every cell is covered once, the dominoes are those of
    the puzzle, and every region holds.
    """
    pips = _pips_by_cell(puzzle, solution, place)
    missing = next((cell for cell in puzzle.cells if cell not in pips), None)
    if missing is not None:
        raise InvalidPuzzleError(
            "solution-uncovered-cell",
            place,
            f"no domino lies on cell {list(missing)}; expected one on every cell",
        )
    given = Counter(puzzle.dominoes)
    laid = Counter(_domino(placement) for placement in solution)
    for domino, times in sorted((laid - given).items()):
        raise InvalidPuzzleError(
            "solution-wrong-domino",
            place,
            f"domino {list(domino)} is laid {laid[domino]} times, {times} more than the puzzle has",
        )
    for region in puzzle.regions:
        held = [pips[cell] for cell in region.cells]
        if not holds(region, held):
            target = "" if region.target is None else f" {region.target}"
            raise InvalidPuzzleError(
                "solution-breaks-region",
                place,
                f"the region at {list(region.cells[0])} demands {region.type}{target} and holds "
                f"pips {held}",
            )


def _domino(placement: Placement) -> Domino:
    a, b = placement.pip_a, placement.pip_b
    return (min(a, b), max(a, b))


def _halves(solution: Sequence[Placement]) -> Iterator[tuple[int, Cell, int]]:
    for i, placement in enumerate(solution):
        yield i, placement.cell_a, placement.pip_a
        yield i, placement.cell_b, placement.pip_b


def _pips_by_cell(puzzle: Puzzle, solution: Sequence[Placement], place: str) -> Mapping[Cell, int]:
    board = set(puzzle.cells)
    for i, placement in enumerate(solution):
        (row_a, col_a), (row_b, col_b) = placement.cell_a, placement.cell_b
        if abs(row_a - row_b) + abs(col_a - col_b) != 1:
            raise InvalidPuzzleError(
                "solution-not-neighbours",
                f"{place}[{i}]",
                f"cells {[row_a, col_a]} and {[row_b, col_b]} are not neighbours; a domino lies "
                "on two that share an edge",
            )
        if placement.cell_a > placement.cell_b:
            raise InvalidPuzzleError(
                "solution-cell-order",
                f"{place}[{i}]",
                f"expected the smaller cell first, got {[row_a, col_a]} before {[row_b, col_b]}",
            )
    pips: dict[Cell, int] = {}
    for i, cell, pip in _halves(solution):
        if cell not in board:
            raise InvalidPuzzleError(
                "solution-off-board",
                f"{place}[{i}]",
                f"cell {list(cell)} is not on the board",
            )
        if cell in pips:
            raise InvalidPuzzleError(
                "solution-overlap",
                f"{place}[{i}]",
                f"cell {list(cell)} is covered twice; expected one domino on every cell",
            )
        pips[cell] = pip
    return pips
