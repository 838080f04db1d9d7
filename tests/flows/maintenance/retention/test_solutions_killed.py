"""Retention of solutions that is killed is ended by the next call, and no count is lost."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from benchmarks.nights.month_night import Killed, dying_at, raise_killed
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.dropped import DroppedError, read_dropped
from nightgrid.flows.maintenance.check import check_lake_files
from nightgrid.flows.maintenance.repair import repair_lake
from nightgrid.flows.maintenance.retention import going
from nightgrid.flows.maintenance.retention.pruned import Kept, Pruned
from nightgrid.workers.ondemand.jobs.results import result
from tests.flows.maintenance.retention.lakes import (
    LISTED,
    asks,
    counts_by_date,
    dying_at_delete,
    listed_jobs,
    listing_night,
    pruned,
    times_killed,
)


def prune(lake: Lake, what: Kept = Kept.SOLUTIONS, **more: Any) -> Pruned:
    return pruned(lake, what, **more)


@pytest.fixture
def killed_in(lake: Lake, tmp_path: Path) -> Callable[[str, Any], bool]:
    """Kill a call in a copy of a lake, and end it by another one."""
    counts = counts_by_date(lake)

    def is_ended_after(name: str, dying: Any) -> bool:
        folder = tmp_path / name
        for part in ("lake", "source"):
            shutil.copytree(tmp_path / part, folder / part)
        at = Lake.open(str(folder / "lake"))
        killed = False
        try:
            with dying:
                prune(at)
        except Killed:
            killed = True
        assert counts_by_date(at) == counts
        noted = len(read_dropped(at, "pips"))
        assert noted in (0, LISTED)
        assert noted or at.list("listings")
        prune(at)
        assert asks(at) == {"count": LISTED}
        assert at.list("listings") == []
        assert len(read_dropped(at, "pips")) == LISTED
        assert counts_by_date(at) == counts
        assert list(check_lake_files(at)) == []
        assert list(repair_lake(at)) == []
        assert not at.exists("checked/pips-pruned.json")
        assert listing_night(folder)[0].planned == 0
        return killed

    return is_ended_after


def test_one_that_is_killed_is_ended_by_the_next(
    killed_in: Callable[[str, Any], bool],
) -> None:
    assert killed_in("write", dying_at(3, raise_killed))
    assert killed_in("delete", dying_at_delete(8))


@pytest.mark.long(
    short="tests/flows/maintenance/retention/test_solutions_killed.py::"
    "test_one_that_is_killed_is_ended_by_the_next"
)
def test_one_that_is_killed_anywhere_is_ended_by_the_next(
    killed_in: Callable[[str, Any], bool],
) -> None:
    writes, deletes = times_killed(killed_in)
    assert writes > 3
    assert deletes > 5


def test_one_that_is_killed_before_results_are_dropped_stays_noted(lake: Lake) -> None:
    """Given listings that are gone and rows that are there, Then results= forgets neither."""
    with mock.patch.object(going, "drop_rows", side_effect=Killed), pytest.raises(Killed):
        prune(lake)
    assert asks(lake) == {"count": LISTED, "all": LISTED}
    with pytest.raises(DroppedError):
        result(lake, listed_jobs(lake)[0])
    prune(lake, Kept.RESULTS)
    assert len(read_dropped(lake, "pips")) == LISTED
    assert prune(lake).count == LISTED
    assert asks(lake) == {"count": LISTED}
