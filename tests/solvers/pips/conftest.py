"""Fixtures of the solvers' tests: the game under test and the published boards."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.registry import game

Level = tuple[str, str]
"""(date, level)"""


@pytest.fixture(scope="session")
def pips() -> Game[Any, Any]:
    found = game("pips")
    found.warm()
    return found


def _levels(path: Path) -> dict[Level, dict[str, Any]]:
    payload = json.loads(path.read_text(encoding="utf-8"))
    return {
        (payload["printDate"], level): payload[level]
        for level in ("easy", "medium", "hard")
        if payload.get(level) and payload[level].get("dominoes")
    }


@pytest.fixture(scope="session")
def published_boards(published: Path) -> Mapping[Level, dict[str, Any]]:
    """Every published board by (date, level)."""
    boards: dict[Level, dict[str, Any]] = {}
    for path in sorted((published / "pips").glob("*.json")):
        boards |= _levels(path)
    return boards


@pytest.fixture(scope="session")
def revisions(published: Path) -> list[tuple[str, Level, dict[str, Any]]]:
    """Every board of the revisions folder that is not null, with the path it came from."""
    root = published / "pips-revisions"
    return [
        (str(path.relative_to(root)), level, board)
        for path in sorted(root.rglob("*.json"))
        for level, board in _levels(path).items()
    ]


@pytest.fixture(scope="session")
def article_counts(published: Path) -> Mapping[Level, int]:
    """The counts of the F# article: hard boards of the archive's days."""
    path = published / "pips-published-counts" / "brianberns_hard_counts.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {(row["date"], "hard"): int(row["readme"]) for row in rows if row["readme"]}


@pytest.fixture(scope="session")
def second_counts(published: Path) -> Mapping[Level, int]:
    """The counts that a second program published, all levels."""
    path = published / "pips-published-counts" / "prb_solution_counts.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return {(row["date"], row["difficulty"]): int(row["count"]) for row in csv.DictReader(file)}
