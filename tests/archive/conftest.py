"""Fixtures of the archive's tests: payloads of generated boards, lakes and a stopped clock."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nightgrid.archive.lake.local_commit import STAGING
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.pips.generate.generator import generate, to_payload
from nightgrid.solvers.pips.generate.mix import PRESETS

MakePayload = Callable[..., dict[str, Any]]
NOW = dt.datetime(2026, 1, 15, 4, 30, tzinfo=dt.UTC)


def _make_payload(date: dt.date, seed: int = 0) -> dict[str, Any]:
    boards = {
        level: generate(PRESETS["easy"], seed * 3 + i)
        for i, level in enumerate(("easy", "medium", "hard"))
    }
    # Through text and back, as a payload arrives: lists, not tuples.
    payload: dict[str, Any] = json.loads(json.dumps(to_payload(date, boards)))
    return payload


@pytest.fixture(scope="session")
def make_payload() -> MakePayload:
    """make_payload(date, seed=0): a payload of three generated boards as a JSON value."""
    return _make_payload


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake.open(str(tmp_path / "lake"))


@pytest.fixture
def now() -> Callable[[], dt.datetime]:
    return lambda: NOW


@pytest.fixture(scope="session")
def snapshot() -> Callable[[Path], dict[str, str]]:
    """snapshot(folder): the SHA-256 of every file that readers of the lake can see."""

    def take(folder: Path) -> dict[str, str]:
        return {
            str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and STAGING not in path.relative_to(folder).parts
        }

    return take


@pytest.fixture
def write_archive(tmp_path: Path, make_payload: MakePayload) -> Callable[..., Path]:
    """write_archive(name, {date: seed}): a folder of generated payloads."""

    def write(name: str, seeds: dict[str, int]) -> Path:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        for text, seed in seeds.items():
            payload = make_payload(dt.date.fromisoformat(text), seed)
            (folder / f"{text}.json").write_text(json.dumps(payload), encoding="utf-8")
        return folder

    return write


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
