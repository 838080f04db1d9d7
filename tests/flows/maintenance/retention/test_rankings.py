"""Retention of rankings: those of superseded rankers go, each by the age of its board."""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path

import pyarrow as pa
import pytest

from nightgrid.archive.games import ranking_plug
from nightgrid.archive.ingest.editions import editions_path
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import EDITIONS
from nightgrid.archive.results.rankings import keep_ranking, known_rankings
from nightgrid.archive.skipped_files import forget, skipped_files
from nightgrid.flows.maintenance.check import check_lake_files
from nightgrid.flows.maintenance.prune import prune_lake
from nightgrid.flows.maintenance.retention.pruned import Kept
from tests.flows.maintenance.retention.lakes import ranking

NOW = dt.datetime(2026, 6, 1, tzinfo=dt.UTC)
OLD, YOUNG = "a" * 32, "b" * 32
"""Boards of dates long ago and a week ago."""


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    lake = Lake.open(str(tmp_path / "lake"))
    dates = {OLD: dt.date(2026, 1, 1), YOUNG: dt.date(2026, 5, 25)}
    seen = {"seen_at": NOW, "raw_sha256": "", "level": "daily", "game": "strands", "revision": 1}
    rows = [{**seen, "puzzle_id": name, "date": date} for name, date in dates.items()]
    lake.write_table(editions_path("strands"), pa.Table.from_pylist(rows, EDITIONS))
    here = ranking_plug().ranker_here()
    rankers = {
        "1": "meant-1",
        "2": "meant-1-alone",
        "3": here,
        "4": f"{here.removesuffix('-alone')}-alone",
    }
    for digit, ranker in rankers.items():
        keep_ranking(lake, ranking(digit * 32, OLD, ranker))
    keep_ranking(lake, ranking("5" * 32, YOUNG, "meant-1"))
    keep_ranking(lake, ranking("6" * 32, "c" * 32, "meant-1"))
    keep_ranking(lake, ranking("7" * 32, "d" * 32, "meant-1"))
    os.utime(Path(lake.url) / "rankings" / f"{'6' * 32}.parquet", (0, 0))
    return lake


def test_rankings_of_superseded_rankers_go_by_the_age_of_their_boards(lake: Lake) -> None:
    before = known_rankings(lake)
    (would,) = prune_lake(lake, {Kept.RANKINGS: 30.0}, dry_run=True, now=NOW)
    assert known_rankings(lake) == before
    (done,) = prune_lake(lake, {Kept.RANKINGS: 30.0}, now=NOW)
    assert done == would
    assert (done.game, done.count) == ("strands", 3)
    assert done.freed_bytes > 0
    assert sorted(before - known_rankings(lake)) == ["1" * 32, "2" * 32, "6" * 32]
    assert [one.count for one in prune_lake(lake, {Kept.RANKINGS: 30.0}, now=NOW)] == [0]
    assert [found for found in check_lake_files(lake) if "rankings" in found.path] == []


@pytest.mark.parametrize(
    ("ranker", "goes"),
    [
        ("meant-1+wordfreq-3.1+symspellpy-6.9", True),
        ("meant-1+wordfreq-3.1+symspellpy-6.9-alone", True),
        ("{here}+wordfreq-9.9+symspellpy-9.9", False),
        ("{here}+wordfreq-9.9+symspellpy-9.9-alone", False),
        ("meant-1000", False),
        ("meant-1000-alone", False),
        ("meant-1x", False),
        ("guessed-1", False),
        ("", False),
    ],
)
def test_only_rankings_of_earlier_weights_go(tmp_path: Path, ranker: str, goes: bool) -> None:
    lake = Lake.open(str(tmp_path / "lake"))
    weights = ranking_plug().ranker_here().partition("+")[0].removesuffix("-alone")
    keep_ranking(lake, ranking("8" * 32, OLD, ranker.format(here=weights)))
    os.utime(Path(lake.url) / "rankings" / f"{'8' * 32}.parquet", (0, 0))
    (done,) = prune_lake(lake, {Kept.RANKINGS: 30.0}, now=NOW)
    assert done.count == int(goes)


def test_a_game_without_rankings_drops_none(lake: Lake) -> None:
    (done,) = prune_lake(lake, {Kept.RANKINGS: 0.0}, ["pips"], now=NOW)
    assert (done.game, done.count, len(known_rankings(lake))) == ("pips", 0, 7)


def test_a_damaged_ranking_is_passed_over(lake: Lake) -> None:
    lake.write_bytes(f"rankings/{'1' * 32}.parquet", b"harm")
    (done,) = prune_lake(lake, {Kept.RANKINGS: 30.0}, now=NOW)
    assert done.count == 2
    assert f"{'1' * 32}" in known_rankings(lake)
    forget(*skipped_files())
