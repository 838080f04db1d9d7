"""A count works again what it took for answered and retention has dropped meanwhile."""

from __future__ import annotations

import datetime as dt
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from benchmarks.chaos.lakes.nights import write_days
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.results import read_results
from nightgrid.flows.count.report import CountReport
from nightgrid.flows.maintenance.check import check_lake_files
from nightgrid.flows.maintenance.retention.pruned import Kept, Pruned
from nightgrid.solvers.errors import TransientError
from tests.flows.maintenance.retention.lakes import (
    age_run,
    called_at_report,
    called_at_work,
    count,
    night,
    pruned,
)

BOARDS = 6
LARGER = "pips:n=8,seed=7"
"""The boards of the corpus and four more."""


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """Six boards of nights and four of a corpus."""
    write_days(tmp_path / "source", [0, 1])
    night(tmp_path)
    count(tmp_path)
    return Lake.open(str(tmp_path / "lake"))


def prune(lake: Lake, **more: Any) -> Pruned:
    return pruned(lake, Kept.RESULTS, **more)


def test_a_count_that_took_over_what_was_dropped_works_it(lake: Lake, tmp_path: Path) -> None:
    first, second = count(tmp_path), count(tmp_path, LARGER)
    assert (second.planned, second.already_known) == (4, 4)
    age_run(lake, first.run_id, 100)
    age_run(lake, second.run_id, 10)
    assert prune(lake, now=dt.datetime.now(dt.UTC)).count == 4
    for finished_before in (False, True, True):
        again = count(tmp_path, LARGER)
        assert again.figures.statuses == {"solved": 8}
        assert again.finished_before is finished_before
    assert len(read_results(lake)) == BOARDS + 8
    assert list(check_lake_files(lake)) == []


def test_a_count_works_what_is_dropped_while_it_is_worked(lake: Lake, tmp_path: Path) -> None:
    dropped = []
    with called_at_work(lambda: dropped.append(prune(lake).count)):
        report = count(tmp_path, LARGER)
    assert dropped == [4]
    assert report.figures.statuses == {"solved": 8}
    assert count(tmp_path, LARGER).finished_before


def test_a_count_whose_answers_are_dropped_at_once_says_so(lake: Lake, tmp_path: Path) -> None:
    def drop() -> None:
        prune(lake)
        again.enter_context(called_at_work(lambda: prune(lake)))

    with ExitStack() as again, called_at_work(drop), pytest.raises(TransientError, match="dropped"):
        count(tmp_path, LARGER)
    assert count(tmp_path, LARGER).figures.statuses == {"solved": 8}


def test_a_count_that_is_wholly_known_works_what_is_dropped_before_its_report(
    lake: Lake, tmp_path: Path
) -> None:
    """Given boards of a larger count, When their rows go before a report, Then they are worked."""
    larger = count(tmp_path, LARGER)
    dropped: list[int] = []
    age_run(lake, larger.run_id, 0)
    with called_at_report(lambda: dropped.append(prune(lake).count)):
        report = count(tmp_path, "pips:n=3,seed=7")
    assert dropped == [8]
    assert (report.planned, report.finished_before) == (3, False)
    assert report.figures.statuses == {"solved": 3}
    assert count(tmp_path, "pips:n=3,seed=7").finished_before


def test_a_count_found_finished_works_what_is_dropped_before_its_report(
    lake: Lake, tmp_path: Path
) -> None:
    """Given the same count again, When its run goes before its report, Then it is worked."""
    dropped: list[int] = []
    with called_at_report(lambda: dropped.append(prune(lake).count)):
        report = count(tmp_path)
    assert dropped == [4]
    assert (report.planned, report.finished_before) == (4, False)
    assert report.figures.statuses == {"solved": 4}


def test_a_count_whose_rows_go_before_each_report_says_so(lake: Lake, tmp_path: Path) -> None:
    def drop() -> None:
        prune(lake, days=0)
        again.enter_context(called_at_report(lambda: prune(lake, days=0)))

    with (
        ExitStack() as again,
        called_at_report(drop),
        pytest.raises(TransientError, match="dropped"),
    ):
        count(tmp_path)
    assert count(tmp_path).figures.statuses == {"solved": 4}


def test_a_count_shows_what_another_one_has_answered_meanwhile(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    with called_at_work(lambda: count(tmp_path)):
        report = count(tmp_path, LARGER)
    assert (report.planned, report.figures.statuses) == (8, {"solved": 8})
    again = count(tmp_path, LARGER)
    assert (again.finished_before, again.figures.statuses) == (True, {"solved": 8})


def test_a_count_works_what_another_one_has_answered_and_retention_dropped(tmp_path: Path) -> None:
    """Given boards that another run answered while a count was worked, When they are dropped."""
    (tmp_path / "source").mkdir()
    others: list[CountReport] = []
    with called_at_work(lambda: others.append(count(tmp_path))):
        count(tmp_path, LARGER)
    lake = Lake.open(str(tmp_path / "lake"))
    age_run(lake, others[0].run_id, 100)
    assert prune(lake, now=dt.datetime.now(dt.UTC)).count == 4
    assert count(tmp_path, LARGER).figures.statuses == {"solved": 8}
    assert len(read_results(lake)) == 8
