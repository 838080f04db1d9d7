"""Tables that a worker keeps between parts of a staged count."""

import pytest

from nightgrid.solvers.algebra import Budget
from nightgrid.workers.chunks.stage_part import drop_tables, keep_tables, take_tables
from tests.workers.toys.toy_layers import ToyLayers

KEY = ("lake", "run", "job")


@pytest.fixture(autouse=True)
def nothing_kept():
    drop_tables()
    yield
    drop_tables()


def used():
    count = ToyLayers(1, Budget())
    count.begin()
    count.advance(0, 3)
    return count


def test_a_job_reuses_its_tables_after_a_reset():
    count = used()
    keep_tables(KEY, count)
    assert take_tables(KEY, Budget()) is count
    assert (len(count.rows), count.statistics.states) == (0, 0)


def test_tables_in_use_are_not_shared():
    keep_tables(KEY, used())
    assert take_tables(KEY, Budget()) is not None
    assert take_tables(KEY, Budget()) is None


def test_dropped_tables_are_gone():
    keep_tables(KEY, used())
    drop_tables()
    assert take_tables(KEY, Budget()) is None
