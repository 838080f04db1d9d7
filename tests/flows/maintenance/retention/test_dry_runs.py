"""A dry run tells what the same call then drops, whichever kinds are named together."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Collection
from pathlib import Path

import pyarrow.compute as pc
import pytest

from benchmarks.chaos.lakes.nights import write_days
from nightgrid.archive.ingest.editions import current_editions
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.asked import AskedPuzzle, keep_asked
from nightgrid.archive.results.rankings import keep_ranking
from nightgrid.archive.results.results import read_results
from nightgrid.flows.maintenance.prune import prune_lake
from nightgrid.flows.maintenance.retention.pruned import Kept
from tests.flows.maintenance.retention import questions
from tests.flows.maintenance.retention.lakes import (
    LATE,
    add_loser,
    age_files,
    change_count,
    count,
    listing_night,
    new_version,
    ranking,
)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake of which each kind has something to drop, much of it under several names."""
    folder = tmp_path_factory.mktemp("worked")
    write_days(folder / "source", [0], seed=7_000)
    listing_night(folder)
    write_days(folder / "source", [0])
    listing_night(folder)
    for ask in ("count", "all"):
        count(folder, ask=ask, listing_row_bytes=1, listing_chunk_bytes=1)
    lake = Lake.open(str(folder / "lake"))
    rows = read_results(lake)
    published = current_editions(lake).column("puzzle_id")[0]
    counted = pc.and_(
        pc.equal(rows.column("ask"), "count"), pc.equal(rows.column("puzzle_id"), published)
    )
    change_count(lake, rows.filter(counted).column("job_id")[0].as_py())
    add_loser(lake)
    with new_version():
        listing_night(folder)
    keep_ranking(lake, ranking("1" * 32, "a" * 32, "meant-1"))
    lake.write_bytes("damaged/results/old.parquet", b"old")
    questions.ask(lake, 0, 1)
    questions.answer(lake, 0, 1)
    keep_asked(lake, [AskedPuzzle("9" * 32, "strands", {})])
    age_files(lake, "rankings", "damaged", "corpora", "results", "asked", "divisions")
    return lake


def check(lake: Lake, folder: Path, kinds: Collection[Kept], games: Collection[str] = ()) -> None:
    """Compare what a dry run tells of a lake with what the call then drops of a copy."""
    keep = dict.fromkeys(kinds, 30.0)
    before = lake.stamps("", deep=True)
    with new_version():
        would = list(prune_lake(lake, keep, games, dry_run=True, now=LATE))
        assert lake.stamps("", deep=True) == before
        shutil.copytree(lake.url, folder)
        done = list(prune_lake(Lake.open(str(folder)), keep, games, now=LATE))
    assert done == would
    assert {one.what for one in done if one.count} <= {*kinds}


@pytest.mark.parametrize("kind", Kept)
def test_each_kind_has_something_to_drop(lake: Lake, kind: Kept) -> None:
    with new_version():
        told = list(prune_lake(lake, {kind: 30.0}, dry_run=True, now=LATE))
    assert [one.what for one in told if one.count and one.freed_bytes] == [kind]


@pytest.mark.parametrize("others", range(len(Kept)))
def test_a_dry_run_of_several_kinds_tells_what_they_drop(
    lake: Lake, tmp_path: Path, others: int
) -> None:
    """Given all kinds, and all but one, Then each row is told under the kind that drops it."""
    named = list(Kept)
    if others:
        del named[others - 1]
    check(lake, tmp_path / "lake", named)


def test_a_dry_run_of_one_game_tells_what_it_drops(lake: Lake, tmp_path: Path) -> None:
    of_games = [kind for kind in Kept if kind is not Kept.DAMAGED]
    check(lake, tmp_path / "lake", of_games, ["pips"])


@pytest.mark.long(
    short="tests/flows/maintenance/retention/test_dry_runs.py::"
    "test_a_dry_run_of_several_kinds_tells_what_they_drop"
)
@pytest.mark.parametrize("number", range(1, len(Kept) + 1))
def test_a_dry_run_of_any_kinds_tells_what_they_drop(
    lake: Lake, tmp_path: Path, number: int
) -> None:
    for at, kinds in enumerate(itertools.combinations(Kept, number)):
        check(lake, tmp_path / f"{at}", kinds)
        shutil.rmtree(tmp_path / f"{at}")
