"""Everything that happens to a board before its first state: order, tilings, key layout."""

from __future__ import annotations

from typing import Any

from solvers.compiling import kernel
from solvers.pips.board import Forest
from solvers.pips.layout import lay_out
from solvers.pips.model import NO_BOARD, TOO_LARGE, load
from solvers.pips.order import choose_order
from solvers.pips.tilings import NO_TILING, TOO_MANY, TOO_WIDE, build_tilings

READY, BAD_ROW, BOARD_TOO_LARGE, UNTILEABLE, ORDER_TOO_WIDE, FOREST_TOO_LARGE, KEY_TOO_LONG = range(
    7
)


@kernel
def prepare(
    board: Any, forest: Forest, words: Any, columns: Any, row: int, tiles: Any, halves: Any
) -> int:
    """Load a row, choose its cell order, build its tilings and lay out its keys.

    tiles (m, 2) int64 names pairs of cells (by index in the row) that must share a tile, halves
    (m, 2) int64 cells and the pips that must lie on them: a part of a job. The cell order does
    not depend on them, so that all parts of a job share it. Returns READY or why it is not.
    """
    code = load(board, columns, row)
    if code == NO_BOARD:
        return BAD_ROW
    if code == TOO_LARGE:
        return BOARD_TOO_LARGE
    choose_order(board)
    for i in range(len(tiles)):
        p, q = board.position[tiles[i, 0]], board.position[tiles[i, 1]]
        board.tile[p] = q
        board.tile[q] = p
    for i in range(len(halves)):
        at = board.values
        for v in range(board.values):
            if board.pips[v] == halves[i, 1]:
                at = v
        # No domino has such a half: an index that no domino has either.
        board.fixed[board.position[halves[i, 0]]] = at
    code = build_tilings(board, forest)
    if code == NO_TILING:
        return UNTILEABLE
    if code == TOO_WIDE:
        return ORDER_TOO_WIDE
    if code == TOO_MANY:
        return FOREST_TOO_LARGE
    return READY if lay_out(board, words) else KEY_TOO_LONG


@kernel
def order_row(board: Any, columns: Any, row: int) -> int:
    """Load a row and choose its cell order, nothing more; return READY or why not."""
    code = load(board, columns, row)
    if code == NO_BOARD:
        return BAD_ROW
    if code == TOO_LARGE:
        return BOARD_TOO_LARGE
    choose_order(board)
    return READY
