"""Retention lists and deletes everything past its age, and nothing that is needed."""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow.compute as pc
import pytest

from benchmarks.chaos.lakes.nights import night_of, write_days
from benchmarks.chaos.lakes.stepping import KilledError
from benchmarks.tuned import retuned
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.results import read_results
from nightgrid.archive.views.catalogue import view_named
from nightgrid.flows.count.count import work_count
from nightgrid.flows.count.report import CountReport
from nightgrid.flows.count.settings import CountSettings
from nightgrid.flows.maintenance.check import check_lake_files
from nightgrid.flows.maintenance.prune import TABLES, Old, prune_lake
from nightgrid.flows.maintenance.repair import LEASE
from nightgrid.flows.night.night import work_night
from nightgrid.flows.night.report import GameReport
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.errors import TransientError
from nightgrid.solvers.pips.game import PipsGame
from nightgrid.workers.lease import holding

CORPUS = "pips:n=4,seed=7"
LATE = dt.datetime.now(dt.UTC) + dt.timedelta(days=400)


def night(folder: Path) -> GameReport:
    return work_night(night_of(folder / "lake", folder / "source")).games[0]


def count(folder: Path, ask: str = "count", **more: int) -> CountReport:
    """Count a corpus, or list it; `more` are settings of workers."""
    workers = retuned(night_of(folder / "lake", folder / "source").workers, **more)
    settings = CountSettings(corpus=CORPUS, ask=Ask.parse(ask), executor="inline", workers=workers)
    return work_count(settings)


@contextmanager
def new_version() -> Iterator[None]:
    with mock.patch.object(PipsGame, "solver_version", "pips-next"):
        yield


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake after a night over two days and a count that lists into files."""
    folder = tmp_path_factory.mktemp("worked")
    write_days(folder / "source", [0, 1])
    night(folder)
    count(folder, "all", listing_row_bytes=1, listing_chunk_bytes=1, listing_rows=4)
    return folder


@pytest.fixture
def lake(worked: Path, tmp_path: Path) -> Lake:
    shutil.copytree(worked, tmp_path, dirs_exist_ok=True)
    return Lake.open(str(tmp_path / "lake"))


def pruned(lake: Lake, *tables: str, **more: Any) -> dict[str, int]:
    """Delete what is older than 30 days, 400 days from now; return the numbers by kind."""
    keep = dict.fromkeys(tables or TABLES, 30.0)
    return {old.noun: old.count for old in prune_lake(lake, keep, **{"now": LATE, **more})}


def files(lake: Lake) -> dict[str, bytes]:
    return {path: lake.read_bytes(path) for path in lake.list("") if "leases" not in path}


def counts_by_date(lake: Lake) -> list[dict[str, Any]]:
    names = ["date", "level", "puzzle_id", "status", "count"]
    return view_named("counts").read(lake, names).sort_by("puzzle_id").to_pylist()


def test_recent_items_stay(lake: Lake) -> None:
    before = files(lake)
    now = dt.datetime.now(dt.UTC)
    # The boards of the nights have a date long ago.
    assert pruned(lake, now=now) == {}
    assert files(lake) == before


def test_a_dry_run_lists_what_the_call_deletes(lake: Lake) -> None:
    before = files(lake)
    would = list(prune_lake(lake, dict.fromkeys(TABLES, 30.0), dry_run=True, now=LATE))
    assert files(lake) == before
    assert [old.table for old in would] == ["results", "corpora", "runs"]
    paths = [path for old in would for path in old.paths]
    assert len(paths) == len(set(paths))
    done = list(prune_lake(lake, {"results": 30.0, "runs": 30.0}, now=LATE))
    assert [old.to_json() for old in done][:1] == [old.to_json() for old in would][:1]
    assert not any(lake.list(path) for old in done for path in old.paths)


def test_answers_about_boards_of_nights_stay_and_others_go(lake: Lake, tmp_path: Path) -> None:
    before = counts_by_date(lake)
    assert lake.list("listings")
    assert pruned(lake, "results") == {"rows of pips": 4}
    assert counts_by_date(lake) == before
    assert lake.list("listings") == []
    assert set(read_results(lake).column("ask").to_pylist()) == {"count"}
    assert list(check_lake_files(lake)) == []
    assert night(tmp_path).planned == 0
    assert count(tmp_path, "all").figures.statuses == {"solved": 4}, "it is solved again"
    assert pruned(lake, "results", now=dt.datetime.now(dt.UTC)) == {}


def test_rows_of_an_earlier_solver_are_deleted_if_the_present_one_has_answered(
    lake: Lake, tmp_path: Path
) -> None:
    with new_version():
        assert night(tmp_path).planned == 6
        assert pruned(lake, "results")["rows of pips"] == 6 + 4
        versions = read_results(lake).column("solver_version").to_pylist()
        assert set(versions) == {"pips-next"}
        assert night(tmp_path).planned == 0
        assert list(check_lake_files(lake)) == []


def test_runs_and_corpora_go_and_are_rebuilt(lake: Lake, tmp_path: Path) -> None:
    before = read_results(lake)
    assert pruned(lake, "runs", "corpora") == {"ended runs": 2, "corpora": 1}
    assert lake.list("runs") == [path for path in lake.list("runs") if "run=" not in path]
    assert lake.list("corpora") == []
    assert read_results(lake).equals(before)
    report = count(tmp_path, "all")
    assert (report.figures.statuses, report.planned) == ({"solved": 4}, 0)


def test_a_call_that_was_killed_is_ended_by_the_next(
    lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nightgrid.workers.lease.EXPIRY_S", 2.0)
    before, delete, left = counts_by_date(lake), Lake.delete, [0]

    def dying(self: Lake, path: str, **how: Any) -> None:
        if not left[0]:
            raise KilledError(path)
        left[0] -= 1
        delete(self, path, **how)

    done, survived = False, 0
    while not done:
        left[0] = survived = 2 * survived + 1
        with monkeypatch.context() as patch:
            patch.setattr(Lake, "delete", dying)
            try:
                pruned(lake, "results")
                done = True
            except KilledError:
                assert counts_by_date(lake) == before
                assert [f for f in check_lake_files(lake) if f.fault != "lost"] == []
    rows = read_results(lake)
    assert set(rows.column("ask").to_pylist()) == {"count"}
    assert not pc.any(pc.is_null(rows.column("count"))).as_py()
    assert list(check_lake_files(lake)) == []


def test_nothing_is_deleted_while_a_night_is_at_work(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nightgrid.workers.lease.RENEW_EVERY_S", 0.1)
    with holding(lake, LEASE, ""), pytest.raises(TransientError, match="a night or a repair"):
        pruned(lake)
    assert isinstance(next(iter(prune_lake(lake, {"runs": 1.0}, dry_run=True, now=LATE))), Old)
