"""Retention of results drops corpora of whose boards the lake has no result."""

from __future__ import annotations

import datetime as dt
import os
import shutil
import time
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from nightgrid.archive.corpus.corpus import open_corpus
from nightgrid.archive.lake.faults import MissingFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lookup.boards import find_boards
from nightgrid.archive.lookup.reference import IdReference
from nightgrid.archive.results.results import read_results
from nightgrid.archive.skipped_files import forget, skipped_files
from nightgrid.flows.count import planner
from nightgrid.flows.count.count import TRIES
from nightgrid.flows.maintenance.retention import results
from nightgrid.flows.maintenance.retention.corpora import drop_corpus
from nightgrid.flows.maintenance.retention.pruned import Kept, Pruned
from nightgrid.solvers.errors import TransientError
from nightgrid.workers.runs.run_files import done_path
from nightgrid.workers.runs.status import cancel_run
from tests.flows.maintenance.retention.lakes import CORPUS, age_files, count, pruned


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus that was never counted."""
    folder = tmp_path_factory.mktemp("worked")
    (folder / "source").mkdir()
    open_corpus(Lake.open(str(folder / "lake")), CORPUS)
    return folder


@pytest.fixture
def lake(worked: Path, tmp_path: Path) -> Lake:
    shutil.copytree(worked, tmp_path, dirs_exist_ok=True)
    return Lake.open(str(tmp_path / "lake"))


def prune(lake: Lake, **more: Any) -> Pruned:
    done = pruned(lake, Kept.RESULTS, **more)
    assert done.with_them is not None
    assert bool(done.with_them.corpora) == (not lake.folders("corpora"))
    return done


def test_a_corpus_that_was_never_counted_goes_and_is_made_again(lake: Lake, tmp_path: Path) -> None:
    before = {path: lake.read_bytes(path) for path in lake.list("corpora")}
    done = prune(lake)
    assert (done.count, done.freed_bytes) == (0, sum(map(len, before.values())))
    assert lake.list("corpora") == []
    assert count(tmp_path).figures.statuses == {"solved": 4}
    assert {path: lake.read_bytes(path) for path in lake.list("corpora")} == before


def test_a_corpus_that_was_made_in_part_goes(lake: Lake) -> None:
    (path,) = (path for path in lake.list("corpora") if path.endswith("/corpus.json"))
    lake.delete(path)
    prune(lake)
    assert lake.list("corpora") == []


def test_a_corpus_of_which_a_board_has_a_result_stays(lake: Lake, tmp_path: Path) -> None:
    """Given a larger corpus, When a count of some of its boards is young, Then both stay."""
    open_corpus(lake, "pips:n=8,seed=7")
    count(tmp_path)
    age_files(lake, "corpora")
    prune(lake, now=dt.datetime.now(dt.UTC))
    assert len(lake.folders("corpora")) == 2


def test_the_corpus_of_a_count_that_is_cancelled_stays(lake: Lake, tmp_path: Path) -> None:
    run_id = count(tmp_path).run_id
    assert run_id is not None
    lake.delete(done_path(run_id))
    cancel_run(lake, run_id)
    lake.delete(lake.list("results")[0])
    prune(lake)
    assert lake.folders("corpora")


def test_a_corpus_younger_than_two_days_stays_whatever_is_kept(lake: Lake) -> None:
    """Given no retention at all, Then a corpus that is being made is not dropped."""
    prune(lake, days=0, now=dt.datetime.now(dt.UTC))
    assert lake.folders("corpora")
    prune(lake, days=0, now=dt.datetime.now(dt.UTC) + dt.timedelta(days=3))
    assert lake.list("corpora") == []


def test_a_corpus_whose_slices_are_young_stays(lake: Lake) -> None:
    """Given a corpus that was begun long ago, When its slices are being made, Then it stays."""
    age_files(lake, "corpora")
    now = time.time()
    for path in lake.list("corpora"):
        if path.endswith("/corpus.json"):
            lake.delete(path)
        elif "/rows/" in path:
            os.utime(Path(lake.url) / path, (now, now))
    prune(lake, now=dt.datetime.now(dt.UTC))
    assert lake.folders("corpora")


def test_a_corpus_stays_while_results_cannot_be_read(lake: Lake) -> None:
    path = f"results/{'d' * 32}.parquet"
    lake.write_bytes(path, b"harm")
    prune(lake)
    assert lake.folders("corpora")
    assert path in skipped_files()
    forget(*skipped_files())


def test_a_count_that_ends_while_rows_are_dropped_keeps_its_corpus(
    lake: Lake, tmp_path: Path
) -> None:
    """Given rows that go, When the corpus is counted again meanwhile, Then its boards are there."""
    first = count(tmp_path)
    choose = results.corpora_to_drop

    def counting(*given: Any) -> Any:
        second = count(tmp_path)
        assert second.planned == first.planned
        return choose(*given)

    with mock.patch.object(results, "corpora_to_drop", counting):
        assert prune(lake).count == 4
    ids = read_results(lake).column("puzzle_id").to_pylist()
    assert len(ids) == 4
    for name in ids:
        assert find_boards(lake, IdReference(prefix=name))


def test_a_count_that_begins_after_corpora_are_chosen_keeps_its_corpus(
    lake: Lake, tmp_path: Path
) -> None:
    """Given a corpus that goes, When a run of it is begun meanwhile, Then it stays."""
    choose = results.corpora_to_drop

    def choosing(*given: Any) -> Any:
        found = choose(*given)
        run_id = count(tmp_path).run_id
        assert run_id is not None
        lake.delete(done_path(run_id))
        return found

    with mock.patch.object(results, "corpora_to_drop", choosing):
        prune(lake)
    assert lake.folders("corpora")


def dropping(lake: Lake, times: int, *, remade: bool = False) -> Any:
    """Drop the corpus before planning reads it, so often; let another count make it anew."""
    extend, left = planner.extend_run, [None] * times

    def extending(*given: Any, **named: Any) -> Any:
        if not left:
            return extend(*given, **named)
        left.pop()
        for folder in lake.folders("corpora"):
            drop_corpus(lake, folder)
        try:
            return extend(*given, **named)
        finally:
            if remade:
                open_corpus(lake, CORPUS)

    return mock.patch.object(planner, "extend_run", extending)


def test_a_count_whose_corpus_is_dropped_brings_it_again(lake: Lake, tmp_path: Path) -> None:
    """Given a corpus that goes when it is planned, Then the same call makes it again."""
    with dropping(lake, 1):
        assert count(tmp_path).figures.statuses == {"solved": 4}
    assert lake.folders("corpora")


def test_a_count_whose_corpus_is_dropped_each_time_may_succeed_later(
    lake: Lake, tmp_path: Path
) -> None:
    with dropping(lake, 2), pytest.raises(TransientError, match="dropped"):
        count(tmp_path)
    assert count(tmp_path).figures.statuses == {"solved": 4}


def test_a_count_whose_corpus_another_one_has_made_anew_goes_on(lake: Lake, tmp_path: Path) -> None:
    """Given a corpus that goes when it is planned, When it is whole at once, Then it is counted."""
    with dropping(lake, 1, remade=True):
        assert count(tmp_path).figures.statuses == {"solved": 4}


def test_a_file_that_is_missed_and_none_of_the_corpus_is_told(lake: Lake, tmp_path: Path) -> None:
    missing = mock.patch.object(planner, "extend_run", side_effect=MissingFileError("other"))
    with missing as called, pytest.raises(MissingFileError, match="other"):
        count(tmp_path)
    assert called.call_count == TRIES
    assert lake.folders("corpora")
