"""How a chunk shares its time among its rows."""

import pytest

from benchmarks.tuned import tuned_settings
from nightgrid.solvers.algebra import Budget
from nightgrid.workers.chunks import solved_rows
from nightgrid.workers.chunks.solved_rows import share_of_row, slices_in_time


def test_no_slice_takes_longer_than_one_of_ordinary_rows():
    settings = tuned_settings(batch_slice_rows=100, batch_row_seconds=0.2, batch_row_cost_factor=10)
    assert settings.batch_slice_seconds == 20.0
    for expected_s, seconds, step in ((0.001, 0.2, 100), (0.1, 1.0, 20), (0.5, 5.0, 4)):
        budget, rows = share_of_row(settings.budget, settings, expected_s)
        assert (budget.seconds, rows) == (pytest.approx(seconds), step)
    budget, rows = share_of_row(settings.budget, settings, 1000.0)
    assert (budget.seconds, rows) == (20.0, 1)


def test_a_chunk_whose_time_is_over_begins_no_other_slice(monkeypatch: pytest.MonkeyPatch):
    """Given a clock, When a slice takes all of a chunk's time, Then the other rows are left."""
    clock = [0.0]
    monkeypatch.setattr(solved_rows.time, "monotonic", lambda: clock[0])
    slices = slices_in_time(5, 2, 10.0, Budget())
    assert next(slices) == (0, 2)
    clock[0] = 10.0
    assert next(slices) == (2, 4)
    clock[0] = 10.5
    assert list(slices) == []


def test_a_row_gets_the_smaller_of_each_limit():
    settings = tuned_settings(batch_row_nodes=1, batch_row_seconds=3.0, batch_row_table_bytes=20)
    found, _ = share_of_row(Budget(nodes=10, table_bytes=2, seconds=30.0), settings, 0.0)
    assert (found.nodes, found.table_bytes, found.seconds) == (1, 2, 3.0)
