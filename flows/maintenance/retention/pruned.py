"""What retention drops: the kinds, and what was dropped of one."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Kept(StrEnum):
    """What has an age after which it is dropped."""

    REVISIONS = "revisions"
    RESULTS = "results"
    CONTRADICTED = "contradicted"
    SOLUTIONS = "solutions"
    RANKINGS = "rankings"
    RUNS = "runs"
    DAMAGED = "damaged"


@dataclass(frozen=True, slots=True, kw_only=True)
class WithResults:
    """What was dropped with results."""

    corpora: int = 0
    puzzles: int = 0
    """Puzzles that came with questions."""
    divisions: int = 0
    """Files that say what the jobs of a run were divided into."""
    dictionaries: int = 0
    """Words of boards that are in the lake no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """What was dropped of one table, or would be."""

    what: Kept
    game: str | None
    """None: it is not of one game."""
    count: int
    """Payloads, rows of results, answers with their solutions, rankings, runs or files."""
    freed_bytes: int
    stays: int | None = None
    """Old answers with listings that stay, since no row of `count` has their count; None: another
    kind."""
    with_them: WithResults | None = None
    """None: another kind than results."""

    @classmethod
    def nothing(cls, what: Kept) -> Pruned:
        """Say that nothing of a kind was dropped, of no game."""
        stays = 0 if what is Kept.SOLUTIONS else None
        with_them = WithResults() if what is Kept.RESULTS else None
        return cls(what=what, game=None, count=0, freed_bytes=0, stays=stays, with_them=with_them)

    def to_json(self) -> dict[str, Any]:
        """Write it for programs."""
        told: dict[str, Any] = {"what": self.what.value, "game": self.game}
        told |= {"count": self.count, "freed_bytes": self.freed_bytes}
        if self.stays is not None:
            told |= {"stays": self.stays}
        return told if self.with_them is None else told | asdict(self.with_them)
