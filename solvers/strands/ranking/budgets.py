"""Budgets of rankings: their seconds bound several searches and the steps between them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from nightgrid.solvers.algebra import Budget
from nightgrid.solvers.stop import stopped_after


@contextmanager
def timed(budget: Budget) -> Iterator[Budget]:
    """Yield a budget whose stop is set when its seconds are over, or when its own stop is.

    Pieces are found, covers searched and compared in the block: the seconds are those of all
    together.
    """
    with stopped_after(budget.seconds, budget.stop) as stop:
        yield replace(budget, stop=stop)
