"""What one row of a chunk may spend, and how many rows are solved before the clock is looked at."""

from __future__ import annotations

import time
from collections.abc import Iterator

from nightgrid.solvers.algebra import Budget
from nightgrid.workers.settings import Settings


def share_of_row(settings: Settings, expected_s: float) -> tuple[Budget, int]:
    """Say what one row of a chunk of many may spend, and how many rows make a slice.

    `expected_s` is what the game expects a row to take, on the average. A row that is expected to
    take long may spend more than `batch_row_seconds`; its slice has fewer rows, so that no slice
    takes longer than one of ordinary rows.
    """
    wanted_s = settings.tuning.batch_row_cost_factor * expected_s
    seconds = max(settings.tuning.batch_row_seconds, min(wanted_s, settings.batch_slice_seconds))
    more = seconds / settings.tuning.batch_row_seconds
    budget = Budget(
        nodes=min(int(settings.tuning.batch_row_nodes * more), settings.budget_nodes),
        table_bytes=min(settings.tuning.batch_row_table_bytes, settings.budget_table_bytes),
        seconds=min(seconds, settings.budget_seconds),
    )
    return budget, max(1, int(settings.tuning.batch_slice_rows / more))


def smaller_budget(share: Budget, whole: Budget) -> Budget:
    """Give the smaller of each limit, and the flag that stops the `whole`."""
    return Budget(
        nodes=min(share.nodes, whole.nodes),
        table_bytes=min(share.table_bytes, whole.table_bytes),
        seconds=min(share.seconds, whole.seconds),
        stop=whole.stop,
    )


def slices_in_time(
    rows: int, step: int, seconds: float, budget: Budget
) -> Iterator[tuple[int, int]]:
    """Yield where slices of `step` rows begin and end, until the chunk has used up its `seconds`.

    There is one slice at least. No other one begins once the budget's flag says stop.
    """
    deadline = time.monotonic() + seconds
    for start in range(0, rows, step):
        if start and (time.monotonic() > deadline or budget.stopped is not None):
            return
        yield start, min(start + step, rows)
