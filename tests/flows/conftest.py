"""Days of the bundled archive as a source, and the settings of a night over them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nightgrid.flows.night.settings import NightGame, NightSettings
from nightgrid.flows.prefect import server
from nightgrid.workers.settings import Settings

# Some tests here import Prefect; it reads its environment once.
server.set_environment()

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "service" / "sample" / "pips"


@pytest.fixture(autouse=True)
def _chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut the few boards of a night into enough chunks to be stopped between two."""
    monkeypatch.setattr("nightgrid.workers.runs.plan.plan_pass.CHUNK_MIN_S", 0.002)


@pytest.fixture
def source(tmp_path: Path) -> Callable[[int], Path]:
    """Fill the folder of payloads with the first days of the bundled archive."""
    folder = tmp_path / "payloads"
    folder.mkdir()

    def days(count: int) -> Path:
        for path in sorted(SAMPLE.glob("*.json"))[:count]:
            shutil.copyfile(path, folder / path.name)
        return folder

    return days


@pytest.fixture
def night(tmp_path: Path) -> Callable[..., NightSettings]:
    def settings(source: Path, lake: str = "lake", **others: Any) -> NightSettings:
        workers = Settings(lake=str(tmp_path / lake), games="pips")
        games = (NightGame(source=str(source), **others),)
        return NightSettings(games=games, executor="inline", workers=workers)

    return settings
