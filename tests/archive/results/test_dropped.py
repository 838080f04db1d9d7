"""Solutions that were dropped are told apart from those that came to harm."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import DROPPED, SOLUTIONS
from nightgrid.archive.results.dropped import (
    DroppedError,
    check_dropped_job,
    dropped_jobs,
    dropped_on,
    dropped_path,
    read_dropped,
    write_dropped,
)
from nightgrid.archive.results.results import listed_files, solution_tables
from nightgrid.archive.results.solution_files import file_path, files_folder
from nightgrid.archive.skipped_files import forget, skipped_files
from nightgrid.solvers.errors import PermanentError

DAY = dt.date(2026, 6, 1)
RUN = "a" * 32
ROW = {"job_id": "1" * 32, "run_id": RUN, "game": "pips", "ask": "all", "count": 4}


def solutions(*ranks: int) -> pa.Table:
    told = {"job_id": ROW["job_id"], "puzzle_id": "", "game": "pips", "ask": "all", "run_id": RUN}
    return pa.Table.from_pylist(
        [{**told, "rank": rank, "solution": "[]"} for rank in ranks], SOLUTIONS
    )


def noted(day: dt.date = DAY, **more: Any) -> pa.Table:
    told = {"job_id": ROW["job_id"], "run_id": RUN, "table": "solutions", "day": day}
    return pa.Table.from_pylist([{**told, **more}], DROPPED)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake.open(str(tmp_path / "lake"))


def test_what_was_dropped_is_told_with_its_day(lake: Lake) -> None:
    assert dropped_on(lake, ROW) is None
    write_dropped(lake, "pips", noted())
    assert dropped_on(lake, ROW) == DAY
    assert dropped_on(lake, {**ROW, "run_id": "b" * 32}) is None
    with pytest.raises(DroppedError, match="were dropped on 2026-06-01; ask again to have them"):
        list(solution_tables(lake, ROW))


def test_a_listing_of_which_some_files_are_gone_was_dropped(lake: Lake) -> None:
    lake.write_table(file_path(files_folder(RUN), ROW["job_id"], 2, 4), solutions(2, 3))
    with pytest.raises(PermanentError, match="lacks some of the 4 solutions"):
        listed_files(lake, ROW)
    write_dropped(lake, "pips", noted())
    with pytest.raises(DroppedError):
        listed_files(lake, ROW)


def test_solutions_that_are_there_again_are_read(lake: Lake) -> None:
    write_dropped(lake, "pips", noted())
    lake.write_table(f"solutions/{RUN}.parquet", solutions(0, 1, 2, 3))
    (table,) = solution_tables(lake, ROW)
    assert table.column("rank").to_pylist() == [0, 1, 2, 3]


def test_the_last_day_counts_and_an_empty_table_goes(lake: Lake) -> None:
    later = DAY + dt.timedelta(days=1)
    write_dropped(lake, "pips", pa.concat_tables([noted(), noted(later)]))
    assert dropped_on(lake, ROW) == later
    assert len(read_dropped(lake, "pips")) == 1
    write_dropped(lake, "pips", DROPPED.empty_table())
    assert not lake.exists(dropped_path("pips"))


def test_a_job_without_a_row_says_when_its_solutions_were_dropped(lake: Lake) -> None:
    check_dropped_job(lake, ROW["job_id"])
    write_dropped(lake, "pips", noted(table="listings"))
    write_dropped(lake, "strands", noted(job_id="2" * 32))
    for job in (ROW["job_id"], "2" * 32):
        with pytest.raises(DroppedError, match=f"of job {job} were dropped on 2026-06-01"):
            check_dropped_job(lake, job)
    check_dropped_job(lake, "3" * 32)
    assert dropped_on(lake, ROW) == DAY


def test_jobs_of_dropped_listings_are_told_apart(lake: Lake) -> None:
    assert dropped_jobs(lake, "pips").to_pylist() == []
    both = [noted(), noted(job_id="2" * 32, table="listings")]
    write_dropped(lake, "pips", pa.concat_tables(both))
    assert dropped_jobs(lake, "pips").to_pylist() == ["2" * 32]


def test_a_damaged_table_is_named_and_knows_nothing(lake: Lake) -> None:
    lake.write_bytes(dropped_path("pips"), b"harm")
    assert dropped_jobs(lake, "pips").to_pylist() == []
    assert dropped_path("pips") in skipped_files()
    forget(*skipped_files())


def test_a_damaged_table_is_passed_over_by_who_asks_for_a_job(lake: Lake) -> None:
    lake.write_bytes(dropped_path("pips"), b"harm")
    write_dropped(lake, "strands", noted(job_id="2" * 32, table="listings"))
    check_dropped_job(lake, ROW["job_id"])
    assert dropped_path("pips") in skipped_files()
    with pytest.raises(DroppedError):
        check_dropped_job(lake, "2" * 32)
    assert dropped_on(lake, ROW) is None
    forget(*skipped_files())
