"""Which questions quick processes take, and how long they try."""

from __future__ import annotations

from nightgrid.service.http.solves.asking.solve_request import SolveRequest

TRY_SECONDS = 0.05
"""What one board may take of a core; what takes longer is for the workers."""
TRY_LONGER_MAX = 20.0
"""How many times as long it may take where other processes have the cores."""
TRY_TABLE_BYTES = 64 * 1024**2
QUICK_S = 10 * TRY_SECONDS
"""What is expected to take longer is not tried. Of generated hard boards of Pips one in 300 is
expected to take longer than a try, and takes a tenth of that: in the queue it would wait for as
long as the largest one before it."""


def is_small(wanted: SolveRequest) -> bool:
    """Tell whether a question is tried in the request that asks it."""
    # A board with words of its own, or played with others than usual, needs these in the lake.
    has_words = getattr(wanted.asked.puzzle, "dictionary", None) is not None
    return wanted.expected.seconds <= QUICK_S and wanted.split != "ahead" and not has_words
