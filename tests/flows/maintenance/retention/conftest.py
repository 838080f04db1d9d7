"""A lake of a night that counted and listed its boards."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchmarks.chaos.lakes.nights import write_days
from nightgrid.archive.lake.storage import Lake
from tests.flows.maintenance.retention.lakes import listing_night


@pytest.fixture(scope="package")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three boards of a night that were counted and listed."""
    folder = tmp_path_factory.mktemp("worked")
    write_days(folder / "source", [0])
    listing_night(folder)
    return folder


@pytest.fixture
def lake(worked: Path, tmp_path: Path) -> Lake:
    """Copy the lake of that night."""
    for name in ("lake", "source"):
        shutil.copytree(worked / name, tmp_path / name)
    return Lake.open(str(tmp_path / "lake"))
