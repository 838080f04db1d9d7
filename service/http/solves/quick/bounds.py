"""Which questions quick processes take, and how long they try."""

from __future__ import annotations

from nightgrid.service.http.solves.asking.solve_request import SolveRequest

TRY_SECONDS = 0.25
"""Wall time that one board may take; what takes longer is for the workers. Ten times what a small
board takes of a core, because other processes may have it meanwhile."""
TRY_TABLE_BYTES = 64 * 1024**2
QUICK_S = 0.5
"""What is expected to take longer is not tried. Estimates are high more often than low."""


def is_small(wanted: SolveRequest) -> bool:
    """Tell whether a question is tried in the request that asks it."""
    # A board with words of its own, or played with others than usual, needs these in the lake.
    has_words = getattr(wanted.asked.puzzle, "dictionary", None) is not None
    return wanted.expected.seconds <= QUICK_S and wanted.split != "ahead" and not has_words
