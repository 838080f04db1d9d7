"""Drafts: boards seen before their date are marked, and not shown until they are final."""

from __future__ import annotations

import datetime as dt
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from nightgrid.archive.ingest.editions import current_editions, editions_path
from nightgrid.archive.ingest.fetch import fetch
from nightgrid.archive.ingest.normalise import normalise
from nightgrid.archive.lake.schemas import COUNTS_BY_DATE, EDITIONS
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.gold.rebuild import COUNTS_PATH, write_gold
from nightgrid.archive.sources.folder import FolderSource
from nightgrid.solvers.registry import game

SAMPLE = Path(__file__).parents[3] / "service" / "sample" / "strands"
DATE = dt.date(2026, 1, 3)
See = Callable[..., None]


@pytest.fixture
def see(lake: Lake, tmp_path: Path) -> See:
    """see(day, sample): fetch a board of the sample on that day of January, as that of DATE."""
    folder = tmp_path / "source"
    folder.mkdir()

    def look(day: int, sample: int) -> None:
        payload = json.loads((SAMPLE / f"2026-01-0{sample}.json").read_text())
        (folder / f"{DATE}.json").write_text(json.dumps(payload | {"printDate": str(DATE)}))
        moment = dt.datetime(2026, 1, day, 4, 30, tzinfo=dt.UTC)
        fetch(lake, FolderSource(folder), game="strands", now=lambda: moment)
        normalise(lake, game="strands")

    return look


def drafts(lake: Lake) -> list[tuple[int, bool]]:
    table = lake.read_table(editions_path("strands"), EDITIONS)
    return [(row["revision"], row["draft"]) for row in table.to_pylist()]


def test_a_draft_stays_one_until_it_is_seen_on_its_date(lake: Lake, see: See) -> None:
    see(1, 1)
    see(2, 1)
    assert drafts(lake) == [(1, True)]
    assert current_editions(lake, "strands").num_rows == 0
    see(3, 1)
    assert drafts(lake) == [(1, False)]
    assert current_editions(lake, "strands").num_rows == 1
    see(4, 1)
    assert drafts(lake) == [(1, False)]


def test_a_draft_that_was_replaced_stays_one(lake: Lake, see: See) -> None:
    see(1, 1)
    see(2, 2)
    see(5, 3)
    assert drafts(lake) == [(1, True), (2, True), (3, False)]


def test_gold_tables_omit_drafts(lake: Lake, see: See) -> None:
    see(1, 1)
    strands = game("strands")
    write_gold(lake, strands)
    assert lake.read_table(COUNTS_PATH, COUNTS_BY_DATE).num_rows == 0
    see(3, 1)
    write_gold(lake, strands)
    assert lake.read_table(COUNTS_PATH, COUNTS_BY_DATE).num_rows == 1


def test_two_games_of_one_lake_have_separate_tables(
    lake: Lake, see: See, write_archive: Callable[..., Path], now: Callable[[], dt.datetime]
) -> None:
    fetch(lake, FolderSource(write_archive("pips", {str(DATE): 1})), now=now)
    normalise(lake)
    before = {path: lake.read_bytes(path) for path in lake.list()}
    see(3, 1)
    assert {path: lake.read_bytes(path) for path in before} == before
    shutil.rmtree(Path(lake.url) / "raw" / "game=strands")
    write_gold(lake, game("pips"))
    write_gold(lake, game("strands"))
    write_gold(lake, game("pips"))
    counts = lake.read_table(COUNTS_PATH, COUNTS_BY_DATE)
    assert [row["game"] for row in counts.to_pylist()] == ["pips"] * 3 + ["strands"]
