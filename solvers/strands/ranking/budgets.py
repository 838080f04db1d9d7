"""Budgets of rankings: their seconds bound several searches and the steps between them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from nightgrid.solvers.algebra import Budget
from nightgrid.solvers.stop import stopped_after


@contextmanager
def timed(budget: Budget) -> Iterator[Budget]:
    """Yield a budget whose stop is set after its seconds, or with its own stop.

    The block finds pieces, and searches and compares covers: the seconds cover all of it.
    """
    with stopped_after(budget.seconds, budget.stop) as stop:
        yield replace(budget, stop=stop)
