"""A lake that a fetch has filled from bundled payloads, one of them broken."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from nightgrid.archive.ingest.fetch import fetch
from nightgrid.archive.ingest.normalise import normalise
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.sources.folder import FolderSource

SAMPLE = Path(__file__).resolve().parents[3] / "service" / "sample"
DAYS = ("2026-01-01", "2026-01-02", "2026-01-04")
GAMES = ("pips", "strands", "letterboxed")


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """Days of three games; a fourth day of Pips is in quarantine, and nothing is solved."""
    folder = tmp_path_factory.mktemp("lookup")
    lake = Lake.open(str(folder / "lake"))
    for game in GAMES:
        source = folder / game
        source.mkdir()
        for day in DAYS:
            shutil.copy(SAMPLE / game / f"{day}.json", source)
        if game == "pips":
            (source / "2026-01-05.json").write_text("[}")
        fetch(lake, FolderSource(source), game=game)
        normalise(lake, game=game)
    return lake
