"""A night costs as much on an old lake as on a young one: in files, requests and rows."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from obstore.store import MemoryStore

from benchmarks.instruments.counted_lake import Counts, counted
from nightgrid.archive.ingest import raw
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.results import read_results
from nightgrid.archive.sources import AnswerKind, folder
from nightgrid.archive.sources.folder import FolderSource
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
    monkeypatch.setattr("nightgrid.archive.lake.objects.store.connect", lambda _url, **_: store)
    url = "s3://bucket"
    source = tmp_path / "source"
    source.mkdir()
    # Runs are deleted at once, and not after as many nights as there are here.
    workers = Settings(lake=url, var_dir=tmp_path / "var", batch_processes=1, runs_kept_days=0)
    games = (NightGame(source=str(source)),)
    night = NightSettings(games=games, workers=workers, executor="inline")
    told: dict[int, Counts] = {}
    looked_at: Counter[str] = Counter()
    rows: dict[int, Counter[str]] = {}
    idle: dict[int, tuple[Counts, Counter[str]]] = {}

    def count(owner: Any, name: str, what: str, many: Callable[[Any], int] = lambda _: 1) -> None:
        call = getattr(owner, name)

        def counting(*given: Any, **named: Any) -> Any:
            found = call(*given, **named)
            looked_at[what] += many(found)
            return found

        monkeypatch.setattr(owner, name, counting)

    monkeypatch.setattr(folder, "SETTLED_S", 0.0)
    # A report reads the lake for each date that it draws: those seen since an earlier night ended.
    # Daily nights have one; here the number depends on their speed.
    monkeypatch.setattr("nightgrid.service.report.boards.BOARDS_MAX", 3)
    was_read = "files of the source that were read"
    count(FolderSource, "fetch", was_read, lambda answer: answer.kind == AnswerKind.BODY)
    count(Lake, "_infos", "names in listings of the lake", len)
    count(raw, "Sighting", "sightings that were made")
    with counted() as counts:
        for number in range(1, OLD + 1):
            date = FIRST + dt.timedelta(days=number)
            board = generate(PRESETS["easy"], number)
            payload = to_payload(date, dict.fromkeys(("easy", "medium", "hard"), board))
            (source / f"{date}.json").write_text(json.dumps(payload))
            told[number], rows[number] = _worked(night, counts, looked_at)
            if number in (1, YOUNG, OLD):
                # Twice: the first night with nothing new writes the marks that later ones read.
                idle[number] = [_worked(night, counts, looked_at) for _ in range(2)][1]
    young, old = told[YOUNG], told[OLD]
    assert old.opened <= young.opened
    assert old.listed <= young.listed
    assert old.looked <= young.looked
    assert old.written <= young.written
    assert old.deleted <= young.deleted
    assert old.requests <= young.requests
    assert young.requests > 0
    assert len(rows[YOUNG]) == 3
    assert rows[OLD] <= rows[YOUNG]
    assert idle[OLD] == idle[YOUNG]
    counted_idle, looked_at_idle = idle[OLD]
    # Marks, leases, indexes and what is in quarantine or seen.
    assert counted_idle.opened < old.opened / 3
    assert counted_idle.written <= 5
    assert (+looked_at_idle).keys() <= {"names in listings of the lake", "sightings that were made"}
    lake = Lake.open(url)
    assert read_results(lake).num_rows == OLD
    assert len(lake.list("results")) == 1
    assert len(lake.folders(RUNS)) <= 3


def _worked(
    night: NightSettings, counts: Counts, looked_at: Counter[str]
) -> tuple[Counts, Counter[str]]:
    before = counts.copy()
    looked_at.clear()
    work_night(night)
    return counts.since(before), looked_at.copy()
