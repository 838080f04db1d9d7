"""Tables that a worker keeps from one part of a staged count to the next."""

import time

import pytest

from nightgrid.solvers.algebra import Budget
from nightgrid.workers.chunks import stage_part as tables
from nightgrid.workers.chunks.stage_part import KeptTables
from tests.workers.toys.toy_layers import ToyLayers

KEY = ("lake", "run", "job")


@pytest.fixture
def kept():
    kept = KeptTables()
    yield kept
    kept.drop()


def used():
    count = ToyLayers(1, Budget())
    count.begin()
    count.advance(0, 3)
    return count


def test_a_job_finds_its_tables_again_as_good_as_new(kept):
    count = used()
    kept.keep(KEY, count)
    assert kept.take(KEY, Budget()) is count
    assert (len(count.rows), count.statistics.states) == (0, 0)


def test_nobody_has_tables_that_are_in_use(kept):
    kept.keep(KEY, used())
    assert kept.take(KEY, Budget()) is not None
    assert kept.take(KEY, Budget()) is None


def test_another_job_does_not_find_them_and_they_are_gone(kept):
    kept.keep(KEY, used())
    assert kept.take(("lake", "run", "another"), Budget()) is None
    assert kept.take(KEY, Budget()) is None


def test_only_one_count_is_kept(kept):
    kept.keep(KEY, used())
    kept.keep(("lake", "another", "job"), used())
    assert kept.take(KEY, Budget()) is None


def test_tables_that_nobody_asks_for_are_given_up(kept, monkeypatch):
    monkeypatch.setattr(tables, "KEPT_SECONDS", 0.01)
    kept.keep(KEY, used())
    deadline = time.monotonic() + 10
    while kept._kept is not None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert kept.take(KEY, Budget()) is None
