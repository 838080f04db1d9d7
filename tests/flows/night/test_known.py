"""A night skips exactly what is already answered."""

from __future__ import annotations

from unittest import mock

import pytest

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.gold import rebuild
from tests.flows.nights import results, run_one


@pytest.fixture
def worked(source, night):
    """Return the settings of a night that ran twice and answered all."""
    settings = night(source(2))
    run_one(settings)
    assert run_one(settings).already_known == 6
    return settings


def test_answers_that_are_lost_are_solved_again(worked):
    lake, before = Lake.open(worked.workers.lake), results(worked)
    for path in [*lake.list("results"), *lake.list("runs")]:
        lake.delete(path)

    report = run_one(worked)

    assert (report.planned, report.already_known, report.solved) == (6, 0, 6)
    assert results(worked).equals(before)


def test_a_night_with_nothing_new_reads_neither_boards_nor_results(worked):
    before = results(worked)
    opened = []
    open_parquet = Lake.open_parquet

    def opening(self, path):
        opened.append(path)
        return open_parquet(self, path)

    with mock.patch.object(Lake, "open_parquet", opening):
        first = run_one(worked)
        opened.clear()
        report = run_one(worked)
    assert (report.planned, report.already_known, report.run_id) == (0, 6, first.run_id)
    assert report.paths == first.paths
    folders = {path.split("/")[0] for path in opened}
    assert folders == {"raw"}
    assert results(worked).equals(before)


def test_gold_is_made_once_by_the_night_that_has_news(source, night):
    for days in (2, 3):
        # The results of the second night are merged with those of the first.
        settings = night(source(days))
        run_one(settings)
    with mock.patch.object(rebuild, "counts_by_date", side_effect=AssertionError):
        assert not run_one(settings).failed
