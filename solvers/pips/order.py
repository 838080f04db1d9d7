"""The cell order: which free cell is filled first decides how many states there are."""

from __future__ import annotations

from typing import Any

from solvers.compiling import kernel
from solvers.pips.tilings import place_cells


@kernel
def choose_order(board: Any) -> None:
    """Choose a cell order for the board and fill the arrays that depend on it."""
    for p in range(board.cells):
        board.order[p] = p
    place_cells(board)
