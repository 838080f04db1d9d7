"""Everything that happens to a board before its first state: order, tilings, key layout."""

from __future__ import annotations

from typing import Any

from solvers.compiling import search_kernel
from solvers.pips.board import Forest
from solvers.pips.layout import lay_out
from solvers.pips.model import NO_BOARD, TOO_LARGE, load
from solvers.pips.order import choose_order
from solvers.pips.tilings import NO_TILING, TOO_MANY, TOO_SLOW, TOO_WIDE, build_tilings

(
    READY,
    BAD_ROW,
    BOARD_TOO_LARGE,
    UNTILEABLE,
    ORDER_TOO_WIDE,
    FOREST_TOO_LARGE,
    KEY_TOO_LONG,
    TIME_IS_UP,
) = range(8)


@search_kernel
def prepare(
    board: Any, forest: Forest, words: Any, arena: Any, index: Any, children: Any, moves: Any,
    columns: Any, row: int, tiles: Any, halves: Any, deadline_ns: int,
) -> int:  # fmt: skip
    """Load a row, choose its cell order, build its tilings and lay out its keys.

    tiles (m, 2) int64 names pairs of cells (by index in the row) that must share a tile, halves
    (m, 2) int64 cells and the pips that must lie on them: a part of a job. The cell order does
    not depend on them, so that all parts of a job share it. The tables are scratch for choosing
    it. Returns READY or why it is not.
    """
    code = load(board, columns, row)
    if code == NO_BOARD:
        return BAD_ROW
    if code == TOO_LARGE:
        return BOARD_TOO_LARGE
    choose_order(board, forest, words, arena, index, children, moves, deadline_ns)
    if len(tiles) > 0:
        # A part is refused like its whole, or it would be searched in another cell order.
        code = _fold(board, forest, words, deadline_ns)
        if code != READY:
            return code
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
    return _fold(board, forest, words, deadline_ns)


@search_kernel
def _fold(board: Any, forest: Forest, words: Any, deadline_ns: int) -> int:
    code = build_tilings(board, forest, deadline_ns)
    if code == NO_TILING:
        return UNTILEABLE
    if code == TOO_WIDE:
        return ORDER_TOO_WIDE
    if code == TOO_MANY:
        return FOREST_TOO_LARGE
    if code == TOO_SLOW:
        return TIME_IS_UP
    return READY if lay_out(board, words) else KEY_TOO_LONG
