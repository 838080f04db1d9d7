"""Missing words of published boards are reported by a check and restored by a repair."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from nightgrid.archive.ingest.fetch import fetch
from nightgrid.archive.ingest.normalise import normalise
from nightgrid.archive.lake.schemas import EDITIONS
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.sources.folder import FolderSource
from nightgrid.archive.words.dictionaries import (
    DICTIONARY_FILES,
    dictionary_ids,
)
from nightgrid.flows.maintenance.check import Mend, check_lake_files
from nightgrid.flows.maintenance.repair import repair_lake
from tests.flows.conftest import SAMPLE

DAYS = 5


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """Return a lake of a few days of Letter Boxed."""
    source = tmp_path / "source"
    source.mkdir()
    for path in sorted((SAMPLE.parent / "letterboxed").glob("*.json"))[:DAYS]:
        shutil.copy(path, source)
    lake = Lake.open(str(tmp_path / "lake"))
    fetch(lake, FolderSource(source), game="letterboxed")
    normalise(lake, game="letterboxed")
    return lake


EDITIONS_PATH = "editions/letterboxed.parquet"


def tables(lake: Lake) -> dict[str, bytes]:
    """Read what a repair of words must not change."""
    names = (name for folder in ("editions", "puzzles", "quarantine") for name in lake.list(folder))
    return {name: lake.read_bytes(name) for name in names}


def test_a_folder_of_words_that_is_missing_is_named_and_rebuilt(lake: Lake) -> None:
    ids, before = sorted(dictionary_ids(lake).to_pylist()), tables(lake)
    assert list(check_lake_files(lake)) == []
    shutil.rmtree(Path(lake.url) / DICTIONARY_FILES.path)
    (found,) = check_lake_files(lake)
    assert (found.path, found.fault, found.can_mend) == (EDITIONS_PATH, "lost", True)
    assert [done.mended for done in repair_lake(lake)] == [True]
    assert sorted(dictionary_ids(lake).to_pylist()) == ids
    assert tables(lake) == before
    assert list(check_lake_files(lake)) == []


def test_payloads_that_are_back_restore_their_editions(lake: Lake) -> None:
    """Given tables rebuilt without a payload, When it is back, Then they are as before."""
    before = tables(lake)
    body = next(name for name in lake.list("raw") if name.endswith(".body"))
    held = lake.read_bytes(body)
    lake.delete(body)
    normalise(lake, game="letterboxed", rebuild=True)
    assert tables(lake) != before
    lake.write_bytes(body, held)
    (found,) = check_lake_files(lake)
    assert (found.fault, found.mend) == ("lost", Mend.RAW)
    assert [done.mended for done in repair_lake(lake)] == [True]
    assert list(check_lake_files(lake)) == []
    assert lake.read_table(EDITIONS_PATH, EDITIONS).num_rows == DAYS
