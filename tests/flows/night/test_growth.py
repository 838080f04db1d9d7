"""A night costs as much on an old lake as on a young one, in files opened and requests."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pytest
from obstore.store import MemoryStore

from benchmarks.counted_lake import Counts, counted
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.results import read_results
from nightgrid.flows.night.night import work_night
from nightgrid.flows.night.settings import NightGame, NightSettings
from nightgrid.solvers.pips.generate.generator import generate, to_payload
from nightgrid.solvers.pips.generate.mix import PRESETS
from nightgrid.workers.settings import Settings
from nightgrid.workers.upkeep import RUNS

YOUNG, OLD = 5, 12
FIRST = dt.date(2026, 1, 1)


def test_a_night_asks_no_more_of_an_old_lake_than_of_a_young_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MemoryStore()
    monkeypatch.setattr("nightgrid.archive.lake.object_store.connect", lambda _url, **_: store)
    url = "s3://bucket"
    source = tmp_path / "source"
    source.mkdir()
    # Runs are deleted at once, and not after as many nights as there are here.
    workers = Settings(lake=url, var_dir=tmp_path / "var", batch_processes=1, runs_kept_days=0)
    games = (NightGame(source=str(source)),)
    night = NightSettings(games=games, workers=workers, executor="inline")
    told: dict[int, Counts] = {}
    with counted() as counts:
        for number in range(1, OLD + 1):
            date = FIRST + dt.timedelta(days=number)
            board = generate(PRESETS["easy"], number)
            payload = to_payload(date, dict.fromkeys(("easy", "medium", "hard"), board))
            (source / f"{date}.json").write_text(json.dumps(payload))
            before = counts.copy()
            work_night(night)
            told[number] = counts.since(before)
    young, old = told[YOUNG], told[OLD]
    assert old.opened <= young.opened
    assert old.listed <= young.listed
    assert old.looked <= young.looked
    assert old.written <= young.written
    assert old.deleted <= young.deleted
    assert old.requests <= young.requests
    assert young.requests > 0
    lake = Lake.open(url)
    assert read_results(lake).num_rows == OLD
    assert len(lake.list("results")) == 1
    assert len(lake.folders(RUNS)) <= 3
