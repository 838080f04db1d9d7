"""What each kind of process takes by itself, as benchmarks/RESULTS.md says."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = r"<!-- begin footprint -->(.*?)<!-- end footprint -->"


def most_bytes() -> dict[str, int]:
    """Read the last column of the table, by kind of process."""
    found = re.search(TABLE, (ROOT / "benchmarks/RESULTS.md").read_text(), re.DOTALL)
    assert found
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in found[1].splitlines()]
    return {row[0]: int(row[-1]) * 2**20 for row in rows if row and row[-1].isdigit()}


def as_bytes(text: str) -> int:
    """Read a size as Compose and systemd write it."""
    units = {"K": 2**10, "M": 2**20, "G": 2**30}
    return int(text[:-1]) * units[text[-1].upper()]
