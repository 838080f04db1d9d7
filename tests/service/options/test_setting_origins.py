"""Settings are listed with the place where each is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from nightgrid.service.options.setting_origins import origins
from nightgrid.workers.settings import load_settings


def test_what_is_said_is_listed_with_its_place_and_without_passwords(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "nightgrid.toml"
    file.write_text('redis_url = "redis://me:secret@host:6379/0"\nbudget_seconds = 5\n')
    monkeypatch.setenv("NIGHTGRID_BUDGET_SECONDS", "4")
    assert origins(load_settings(lake="x"), ["lake"]) == [
        ("lake", str(tmp_path / "x"), "option"),
        ("redis_url", "redis://***@host:6379/0", str(file)),
        ("budget_seconds", "4.0", "environment"),
    ]
