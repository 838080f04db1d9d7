"""How many random cases a test draws: a share of them in `make test`, all in `make test-long`."""

from __future__ import annotations

import os

VARIABLE = "TEST_EXAMPLES"
"""Its value `all` has tests draw everything; `make test-long` sets it."""
SHARE = 4
FEWEST = 5
"""A test draws so many at least, where it has as many."""


def drawn(whole: int) -> int:
    """Return how many of `whole` random cases this run draws.

    Property tests give it to `max_examples`. A test that draws cases by itself is marked `drawn`,
    so that `make test-long` runs it again.
    """
    if os.environ.get(VARIABLE) == "all":
        return whole
    return max(min(whole, FEWEST), whole // SHARE)
