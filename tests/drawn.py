"""The number of random cases of a test: a share in `make test`, all in `make test-long`."""

from __future__ import annotations

import os

VARIABLE = "TEST_EXAMPLES"
"""`all` makes tests draw everything; set by `make test-long`."""
SHARE = 4
FEWEST = 5
"""Least number of cases of a test that has as many."""


def drawn(whole: int) -> int:
    """Return how many of `whole` random cases this run draws.

    Property tests give it to `max_examples`. A test that draws cases by itself is marked `drawn`,
    so that `make test-long` runs it again.
    """
    if os.environ.get(VARIABLE) == "all":
        return whole
    return max(min(whole, FEWEST), whole // SHARE)
