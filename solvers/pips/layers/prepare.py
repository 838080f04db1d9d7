"""Preparation of a board before its first state.

Load it from a row of columns, choose its cell order, build its tilings and lay out its keys.
"""

from __future__ import annotations

from nightgrid.solvers.kernel.compiling import Int, search_kernel
from nightgrid.solvers.pips.columns import Columns
from nightgrid.solvers.pips.layers import space as spaces
from nightgrid.solvers.pips.layers.layout import lay_out
from nightgrid.solvers.pips.layers.load import load
from nightgrid.solvers.pips.layers.order import choose_order
from nightgrid.solvers.pips.layers.space import Children, Space, Table, Work
from nightgrid.solvers.pips.layers.tilings import build_tilings
from nightgrid.solvers.pips.parts import PartArrays


@search_kernel
def prepare(
    space: Space, table: Table, children: Children, columns: Columns, row: Int, part: PartArrays,
    deadline_ns: Int,
) -> Int:  # fmt: skip
    """Load a row, choose its cell order, build its tilings and lay out its keys.

    The cell order does not depend on the part, so that all parts of a job share it. The table and
    the children are scratch for choosing it. Returns READY or the reason why not.
    """
    board = space.board
    code = load(board, columns, row)
    if code != spaces.READY:
        return code
    choose_order(space, table, children, deadline_ns)
    tiles, halves = part.tiles, part.halves
    if len(tiles) > 0:
        # Refuse a part if the whole is refused, or it would be searched in another cell order.
        code = _fold(space, deadline_ns)
        if code != spaces.READY:
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
        # No domino has such a half: use an index that no domino has.
        board.fixed[board.position[halves[i, 0]]] = at
    return _fold(space, deadline_ns)


@search_kernel
def prepare_work(work: Work, columns: Columns, row: Int, part: PartArrays, deadline_ns: Int) -> Int:
    """Prepare a row in memory passed from Python: see `prepare`."""
    space = Space(work.boards[0], work.forest, work.width)
    return prepare(space, work.table, work.children, columns, row, part, deadline_ns)


@search_kernel
def _fold(space: Space, deadline_ns: Int) -> Int:
    code = build_tilings(space.board, space.forest, deadline_ns)
    if code != spaces.READY:
        return code
    return spaces.READY if lay_out(space.board, space.width) else spaces.KEY_TOO_LONG
