"""Boards of our own whose answers are known by hand, and a clean environment for processes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

PAIR = {
    "dominoes": [[1, 2], [3, 4]],
    "regions": [
        {"indices": [[0, 0], [0, 1], [1, 0]], "type": "empty"},
        {"indices": [[1, 1]], "type": "sum", "target": 4},
    ],
}
"""A 2 x 2 square whose lower right corner is a 4: 2 tilings, and [1, 2] fits either way round."""
PAIR_COUNT = 4
STUCK = {
    "dominoes": [[1, 2]],
    "regions": [{"indices": [[0, 0], [0, 1]], "type": "sum", "target": 9}],
}
"""No domino has nine pips."""
BROKEN = {"dominoes": [[1, 2]], "regions": [{"indices": [[0, 0], [0, 0]], "type": "empty"}]}
"""A cell is in a region twice."""


def payload(**levels: Any) -> dict[str, Any]:
    return {"printDate": "2026-01-05", "editor": "nightgrid generator", **levels}


def environment(**extra: str) -> dict[str, str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("NIGHTGRID_", "PREFECT_"))}
    # A deterministic width, and our packages wherever the process is started.
    return {**clean, "COLUMNS": "100", "PYTHONPATH": str(ROOT), **extra}
