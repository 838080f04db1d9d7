"""Count many boards in one call: columns in, columns out, no Python object in between."""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.clock import monotonic_ns
from solvers.compiling import search_kernel
from solvers.pips.board import Forest
from solvers.pips.count import count_board
from solvers.pips.endings import SOLVING
from solvers.pips.prepare import READY, prepare


@search_kernel
def count_rows(
    board: Any, forest: Forest, words: Any, arena: Any, index: Any, children: Any, moves: Any,
    columns: Any, start: int, stop: int, tiles: Any, halves: Any, node_limit: int,
    budget_ns: int, out: Any, counts: Any,
) -> None:  # fmt: skip
    """Count the solutions of rows start to stop.

    Writes out[row] = (code, states, nodes, kernel_ns, table_bytes) int64 and counts[row] =
    (hi, lo) uint64. Codes below SOLVING are those of `prepare`, the others SOLVING plus
    those of `count_board`. The budget holds for each row by itself.
    """
    no_count = np.uint64(0)
    row_bytes = 8 * (len(words) + 2)
    for row in range(start, stop):
        begun = monotonic_ns(board.timespec)
        code = prepare(
            board,
            forest,
            words,
            arena,
            index,
            children,
            moves,
            columns,
            row,
            tiles,
            halves,
            begun + budget_ns,
        )
        hi, lo, states, nodes, peak, slots = no_count, no_count, 0, 0, 0, 0
        if code == READY:
            code, hi, lo, states, nodes, peak, slots, _layers = count_board(
                board, forest, words, arena, index, children, moves, node_limit, begun + budget_ns
            )
            code += SOLVING
        out[row, 0] = code
        out[row, 1] = states
        out[row, 2] = nodes
        out[row, 4] = peak * row_bytes + slots * 4
        counts[row, 0] = hi
        counts[row, 1] = lo
        out[row, 3] = monotonic_ns(board.timespec) - begun
