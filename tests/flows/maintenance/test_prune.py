"""Retention drops superseded boards and their payloads, and nothing that an answer rests on."""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path
from typing import Any

import pytest

from benchmarks.chaos.lakes.nights import FIRST, night_of, write_days
from benchmarks.nights.month_night import Killed, dying_at, raise_killed
from nightgrid.archive.ingest.editions import current_editions, editions_path
from nightgrid.archive.ingest.normalise import normalise
from nightgrid.archive.lake.json_files import write_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import EDITIONS, QUARANTINE
from nightgrid.archive.results.results import read_results
from nightgrid.flows.maintenance.check import check_lake_files
from nightgrid.flows.maintenance.prune import prune_lake
from nightgrid.flows.maintenance.retention.pruned import Kept
from nightgrid.flows.night.night import work_night
from nightgrid.solvers.errors import PermanentError
from nightgrid.workers.runs.status import resume_run

NOW = dt.datetime(2026, 6, 1, tzinfo=dt.UTC)
ALL = {Kept.REVISIONS: 30.0}


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """A lake with a board replaced on the first day, and a payload on the second that was none."""
    source, night = tmp_path / "source", night_of(tmp_path / "lake", tmp_path / "source")
    write_days(source, [0], seed=7_000)
    (source / f"{FIRST + dt.timedelta(days=1)}.json").write_text("{")
    work_night(night)
    write_days(source, [0, 1])
    work_night(night)
    return Lake.open(str(tmp_path / "lake"))


def current(lake: Lake) -> list[dict[str, Any]]:
    return current_editions(lake).drop_columns(["revision"]).to_pylist()


def counts(lake: Lake) -> tuple[int, int, int]:
    bodies = [path for path in lake.list("raw") if path.endswith(".body")]
    rows = lake.read_table("quarantine/pips.parquet", QUARANTINE)
    return len(bodies), len(lake.read_table(editions_path("pips"), EDITIONS)), len(rows)


def test_superseded_revisions_go_and_current_ones_and_answers_stay(lake: Lake) -> None:
    before, answers = current(lake), read_results(lake)
    bodies, editions, broken = counts(lake)
    assert (bodies, editions) == (4, 9)
    assert broken
    (done,) = prune_lake(lake, ALL, now=NOW)
    assert (done.game, done.count) == ("pips", 2)
    assert done.freed_bytes > 0
    assert counts(lake) == (2, 6, 0)
    assert current(lake) == before
    assert read_results(lake).equals(answers)
    assert list(check_lake_files(lake)) == []
    normalise(lake, rebuild=True)
    assert current(lake) == before
    assert [one.count for one in prune_lake(lake, ALL, now=NOW)] == [0]


def test_a_dry_run_says_the_same_and_changes_nothing(lake: Lake) -> None:
    before = {path: lake.read_bytes(path) for path in lake.list("")}
    (would,) = prune_lake(lake, ALL, dry_run=True, now=NOW)
    assert {path: lake.read_bytes(path) for path in lake.list("")} == before
    (done,) = prune_lake(lake, ALL, now=NOW)
    assert done == would


def test_what_is_young_stays(lake: Lake) -> None:
    days = float((NOW.date() - FIRST).days)
    assert [one.count for one in prune_lake(lake, {Kept.REVISIONS: days}, now=NOW)] == [0]
    assert counts(lake)[0] == 4


@pytest.mark.parametrize("write", range(3, 8))
def test_one_that_is_killed_is_ended_by_the_next(lake: Lake, write: int) -> None:
    before = current(lake)
    try:
        with dying_at(write, raise_killed):
            list(prune_lake(lake, ALL, now=NOW))
    except Killed:
        pass
    assert current(lake) == before
    list(prune_lake(lake, ALL, now=NOW))
    assert counts(lake) == (2, 6, 0)
    assert current(lake) == before
    assert list(check_lake_files(lake)) == []


def test_a_night_after_it_has_nothing_to_solve(lake: Lake, tmp_path: Path) -> None:
    list(prune_lake(lake, ALL, now=NOW))
    report = work_night(night_of(lake.url, tmp_path / "source")).games[0]
    assert (report.planned, report.new_payloads, report.failed) == (0, 0, False)


def test_a_body_that_comes_back_keeps_its_file(lake: Lake, tmp_path: Path) -> None:
    """Given a board that was replaced and came back, Then its payload is not dropped."""
    write_days(tmp_path / "source", [0], seed=7_000)
    work_night(night_of(lake.url, tmp_path / "source"))
    before = current(lake)
    list(prune_lake(lake, ALL, now=NOW))
    assert current(lake) == before
    assert counts(lake)[:2] == (2, 6)
    assert list(check_lake_files(lake)) == []
    normalise(lake, rebuild=True)
    assert current(lake) == before


def test_runs_and_damaged_files_go_by_age(lake: Lake) -> None:
    lake.write_bytes("damaged/results/old.parquet", b"old")
    lake.write_bytes("damaged/results/new.parquet", b"new")
    os.utime(Path(lake.url) / "damaged/results/old.parquet", (0, 0))
    keep = {Kept.RUNS: 30.0, Kept.DAMAGED: 30.0}
    late = dt.datetime.now(dt.UTC) + dt.timedelta(days=20)
    told = {one.what: one.count for one in prune_lake(lake, keep, now=late)}
    assert told == {Kept.RUNS: 0, Kept.DAMAGED: 1}
    assert lake.list("damaged") == ["damaged/results/new.parquet"]
    answers = read_results(lake)
    told = {one.what: one.count for one in prune_lake(lake, {Kept.RUNS: 10.0}, now=late)}
    assert told == {Kept.RUNS: 2}
    assert not lake.folders("runs/run=")
    assert read_results(lake).equals(answers)


def test_a_game_without_payloads_is_refused(lake: Lake) -> None:
    with pytest.raises(PermanentError, match="no payloads of strands"):
        list(prune_lake(lake, ALL, ["strands"], now=NOW))


def test_runs_go_by_the_game_that_they_ask_about(lake: Lake) -> None:
    """Given runs of Pips alone, When those of Strands are to go, Then none does."""
    late = dt.datetime.now(dt.UTC) + dt.timedelta(days=20)
    keep = {Kept.RUNS: 10.0}
    before = lake.folders("runs/run=") or lake.folders("runs")
    (done,) = prune_lake(lake, keep, ["strands"], now=late)
    assert (done.game, done.count, done.freed_bytes) == ("strands", 0, 0)
    assert (lake.folders("runs/run=") or lake.folders("runs")) == before
    (would,) = prune_lake(lake, keep, ["pips"], dry_run=True, now=late)
    (done,) = prune_lake(lake, keep, ["pips"], now=late)
    assert (done, done.count) == (would, 2)


def give_up(lake: Lake, run_id: str) -> None:
    note = {"cancelled_at": "2026-01-01T00:00:00+00:00", "drop_states": True}
    write_json(lake, f"runs/run={run_id}/CANCELLED.json", note)
    lake.write_bytes(f"listings/{run_id}/left", b"solutions")


def test_a_run_that_is_resumed_meanwhile_stays_and_is_not_counted(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given two old runs, When one is resumed after the look, Then only the other one goes."""
    resumed, other = "a" * 32, "b" * 32
    give_up(lake, other)
    (only_other,) = prune_lake(lake, {Kept.RUNS: 10.0}, dry_run=True, now=NOW)
    give_up(lake, resumed)
    sizes = Lake.sizes

    def resumed_meanwhile(self: Lake, folder: str, **more: Any) -> dict[str, int]:
        found = sizes(self, folder, **more)
        if folder == f"listings/{resumed}":
            resume_run(lake, resumed)
        return found

    monkeypatch.setattr(Lake, "sizes", resumed_meanwhile)
    (done,) = prune_lake(lake, {Kept.RUNS: 10.0}, now=NOW)
    assert done == only_other
    assert lake.list("listings") == [f"listings/{resumed}/left"]


def test_a_dry_run_counts_the_runs_that_were_given_up(lake: Lake) -> None:
    give_up(lake, "a" * 32)
    (would,) = prune_lake(lake, {Kept.RUNS: 10.0}, dry_run=True, now=NOW)
    (done,) = prune_lake(lake, {Kept.RUNS: 10.0}, now=NOW)
    assert done == would
    assert done.freed_bytes > len(b"solutions")


def test_damaged_files_of_one_game_are_refused(lake: Lake) -> None:
    with pytest.raises(PermanentError, match="damaged files are of no game; expected"):
        list(prune_lake(lake, {Kept.DAMAGED: 1.0}, ["pips"], now=NOW))
