"""Words of published boards that are gone are named by a check and read again by a repair."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from nightgrid.archive.ingest.fetch import fetch
from nightgrid.archive.ingest.normalise import normalise
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.sources.folder import FolderSource
from nightgrid.archive.words.dictionaries import ARCHIVE_PATH, LakeDictionaries, archive_ids
from nightgrid.flows.maintenance.check import check_lake_files
from nightgrid.flows.maintenance.repair import repair_lake
from tests.flows.conftest import SAMPLE

DAYS = 5


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """Give a lake of a few days of Letter Boxed."""
    source = tmp_path / "source"
    source.mkdir()
    for path in sorted((SAMPLE.parent / "letterboxed").glob("*.json"))[:DAYS]:
        shutil.copy(path, source)
    lake = Lake.open(str(tmp_path / "lake"))
    fetch(lake, FolderSource(source), game="letterboxed")
    normalise(lake, game="letterboxed")
    return lake


@pytest.mark.parametrize("away", ["dictionaries", ARCHIVE_PATH])
def test_a_folder_of_words_that_is_away_is_named_and_made_again(lake: Lake, away: str) -> None:
    ids = sorted(archive_ids(lake).to_pylist())
    assert list(check_lake_files(lake)) == []
    shutil.rmtree(Path(lake.url) / away)
    (found,) = check_lake_files(lake)
    assert (found.path, found.fault, found.can_mend) == (ARCHIVE_PATH, "lost", True)
    assert found.what == "5 of the 5 dictionaries of letterboxed boards are gone"
    assert [done.mended for done in repair_lake(lake)] == [True]
    assert sorted(archive_ids(lake).to_pylist()) == ids
    assert list(check_lake_files(lake)) == []


def test_one_dictionary_that_is_gone_is_counted(lake: Lake) -> None:
    (path,) = lake.list(ARCHIVE_PATH)
    first, *_ = ids = archive_ids(lake).to_pylist()
    rows = lake.read_row_groups(path, [0])
    lake.delete(path)
    lake.write_row_groups(path, [rows.slice(1)], rows.schema)
    (found,) = check_lake_files(lake)
    assert found.what.startswith(f"1 of the {len(ids)} dictionaries")
    list(repair_lake(lake))
    assert LakeDictionaries(lake)(first)


def test_a_lake_without_boards_misses_no_words(tmp_path: Path) -> None:
    lake = Lake.open(str(tmp_path))
    lake.write_bytes("gold/nightly-pips.json", b"{}")
    assert [found for found in check_lake_files(lake) if found.fault == "lost"] == []
