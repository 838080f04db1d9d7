"""What retention drops: the kinds, and what was dropped of one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Kept(StrEnum):
    """What has an age after which it is dropped."""

    REVISIONS = "revisions"
    RESULTS = "results"
    CONTRADICTED = "contradicted"
    RANKINGS = "rankings"
    RUNS = "runs"
    DAMAGED = "damaged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """What was dropped of one table, or would be."""

    what: Kept
    game: str | None
    """None: it is not of one game."""
    count: int
    """Payloads, rows of results, rankings, runs or files."""
    freed_bytes: int

    def to_json(self) -> dict[str, Any]:
        """Write it for programs."""
        told = {"what": self.what.value, "game": self.game}
        return told | {"count": self.count, "freed_bytes": self.freed_bytes}
