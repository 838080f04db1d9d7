"""Kernels for keys of four words: compiled when a board first needs them, before its time runs.

A key of two words holds every published board. The kernels for longer ones take as long to compile
as the others, so that they are not compiled ahead.
"""

from __future__ import annotations

from nightgrid.solvers.algebra import Budget
from nightgrid.solvers.pips.puzzle import Puzzle

WIDE_DOMINOES = 65
"""Distinct dominoes of a board that needs a key of four words."""
_is_ready = False


def wide_board() -> Puzzle:
    """Make a board that needs a key of four words."""
    strip = [[r, c] for r in range(2) for c in range(WIDE_DOMINOES)]
    return Puzzle.from_json(
        {
            "dominoes": [[a, a + 1] for a in range(WIDE_DOMINOES)],
            "regions": [{"indices": strip, "type": "empty"}],
        }
    )


def make_ready() -> None:
    """Compile or load what counts by layers with keys of four words; once a process.

    Counts and searches need no such call: their clock starts inside the compiled kernel.
    """
    global _is_ready
    if _is_ready:
        return
    # The count below comes here again.
    _is_ready = True
    from nightgrid.solvers.pips.staged.layer_parts import count_layer_part

    count_layer_part(wide_board(), {"layer": 1, "buckets": [0, 1]}, Budget())
