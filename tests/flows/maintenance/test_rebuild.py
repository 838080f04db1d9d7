"""The tables of a lake are rebuilt from its payloads."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from benchmarks.chaos.lakes.nights import answers, night_of, write_days
from nightgrid.archive.ingest.editions import editions_path
from nightgrid.archive.lake.schemas import EDITIONS
from nightgrid.archive.lake.storage import Lake
from nightgrid.flows.count.count import work_count
from nightgrid.flows.count.settings import CountSettings
from nightgrid.flows.maintenance.check import check_lake_files
from nightgrid.flows.maintenance.repair import rebuild_lake
from nightgrid.flows.night.night import work_night
from nightgrid.solvers.errors import PermanentError


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    write_days(tmp_path / "source", [0, 1])
    work_night(night_of(tmp_path / "lake", tmp_path / "source"))
    return Lake.open(str(tmp_path / "lake"))


def editions(lake: Lake) -> pa.Table:
    return lake.read_table(editions_path("pips"), EDITIONS)


def test_tables_are_rebuilt_and_answers_are_kept(lake: Lake, tmp_path: Path) -> None:
    before, known = editions(lake), answers(lake)
    for folder in ("editions", "puzzles", "quarantine"):
        for path in lake.list(folder):
            lake.delete(path)
    (done,) = rebuild_lake(lake)
    assert (done.game, done.editions) == ("pips", 6)
    assert editions(lake).equals(before)
    assert answers(lake).equals(known)
    assert work_night(night_of(lake.url, tmp_path / "source")).games[0].planned == 0
    assert list(check_lake_files(lake)) == []


def test_a_lake_of_copied_payloads_solves_the_same_again(lake: Lake, tmp_path: Path) -> None:
    new = Lake.open(str(tmp_path / "new"))
    shutil.copytree(Path(lake.url) / "raw" / "game=pips", tmp_path / "new" / "raw" / "game=pips")
    list(rebuild_lake(new))
    assert editions(new).equals(editions(lake))
    workers = night_of(new.url, tmp_path).workers
    work_count(CountSettings(corpus="lake", executor="inline", workers=workers))
    drop = ["kernel_ns"]
    assert answers(new).drop_columns(drop).equals(answers(lake).drop_columns(drop))


def test_a_lake_without_payloads_is_refused(lake: Lake) -> None:
    with pytest.raises(PermanentError, match="no payloads of strands"):
        list(rebuild_lake(lake, ["strands"]))
