"""Damaged tables of a game are set aside by a night and rebuilt from the raw payloads."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.chaos.harm import harm
from nightgrid.archive.lake.schemas import EDITIONS, QUARANTINE, RAW
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.skipped_files import forget, skipped_files
from nightgrid.flows.night import steps
from nightgrid.flows.night.report import GameReport
from nightgrid.flows.night.settings import NightGame, NightSettings
from nightgrid.workers.settings import Settings
from tests.flows.conftest import SAMPLE

TABLES = {"raw": RAW, "editions": EDITIONS, "quarantine": QUARANTINE}


@pytest.fixture
def night(tmp_path: Path) -> Iterator[NightSettings]:
    """A night over two sound days, and one with a broken level."""
    source = tmp_path / "payloads"
    source.mkdir()
    first, second, third = sorted(SAMPLE.glob("*.json"))[:3]
    for path in (first, second):
        shutil.copyfile(path, source / path.name)
    broken = json.loads(third.read_bytes())
    broken["hard"]["dominoes"].pop()
    (source / third.name).write_text(json.dumps(broken))
    games = (NightGame(game="pips", source=str(source)),)
    workers = Settings(lake=str(tmp_path / "lake"), games="pips")
    yield NightSettings(games=games, executor="inline", workers=workers)
    forget(*skipped_files())


def ingest(night: NightSettings) -> GameReport:
    (game,) = night.games
    report = steps.fetch(night, game, GameReport(game="pips", ask="count"))
    return steps.normalise(night, game, report)


def tables(lake: Lake) -> dict[str, Any]:
    return {
        name: lake.read_table(f"{name}/pips.parquet", schema).to_pylist()
        for name, schema in TABLES.items()
    }


@pytest.mark.parametrize("kind", ["truncate", "blank", "empty"])
@pytest.mark.parametrize("name", TABLES)
def test_a_night_rebuilds_a_damaged_table(night: NightSettings, name: str, kind: str) -> None:
    ingest(night)
    lake = night.lake
    before = tables(lake)
    assert all(before.values())
    assert any(
        row["date"] in {edition["date"] for edition in before["editions"]}
        for row in before["quarantine"]
    ), "a date that has an edition as well is not told by its edition"
    path = f"{name}/pips.parquet"
    harm(lake, path, kind)
    ingest(night)
    assert tables(lake) == before
    assert list(skipped_files()) == [path]
    assert lake.exists(f"damaged/{path}")
    forget(path)
    assert ingest(night).quarantined == 0
    assert not skipped_files()
